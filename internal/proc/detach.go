package proc

import (
	"fmt"
	"os"
)

// Detach starts a program that belongs to the user and not to us, such as the
// browser: it lives on when this process ends, reads nothing and its output is
// dropped. Args and env are as in [Command].
func Detach(args, env []string) error {
	path, err := LookUp(Command{Args: args, Env: env})
	if err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("start %s: %w", args[0], err)
	}
	defer null.Close()
	p, err := startDetached(path, args, &os.ProcAttr{Env: env, Files: []*os.File{null, null, null}, Sys: detachedAttr()})
	if err != nil {
		return fmt.Errorf("start %s: %w", args[0], err)
	}
	go waitOwn(p) // for as long as both live: else it would stay a zombie
	return nil
}
