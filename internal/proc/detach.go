package proc

import (
	"fmt"
	"os"
)

// Detach starts a program that belongs to the user and not to us, such as the
// browser: it lives on when this process ends, and reads nothing. What it prints is
// dropped, but its errors go to a file if that is not nil. Args and env are as in
// [Command]. The channel is closed when it has ended.
func Detach(args, env []string, errs *os.File) (ended <-chan struct{}, err error) {
	path, err := LookUp(Command{Args: args, Env: env})
	if err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	defer null.Close()
	if errs == nil {
		errs = null
	}
	p, err := startDetached(path, args, &os.ProcAttr{Env: env, Files: []*os.File{null, null, errs}, Sys: detachedAttr()})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	done := make(chan struct{})
	go func() { // for as long as both live: else it would stay a zombie
		defer close(done)
		waitOwn(p)
	}()
	return done, nil
}
