package proc

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
)

// Detach starts a program that belongs to the user and not to us, such as the
// browser: it lives on when this process ends, reads nothing, and what it prints is
// dropped. Args and env are as in [Command].
func Detach(args, env []string) error {
	path, null, err := toLeave(args, env)
	if err != nil {
		return err
	}
	defer null.Close()
	attr := &os.ProcAttr{Env: env, Files: []*os.File{null, null, null}, Sys: detachedAttr()}
	p, err := startDetached(path, args, attr)
	if err != nil {
		return fmt.Errorf("start %s: %w", args[0], err)
	}
	go waitOwn(p) // for as long as both live: else it would stay a zombie
	return nil
}

// leaverName is the argv[0] of a process that starts a program of [Leave] and ends.
const leaverName = "webchat-leaver"

// Leave starts a program that has left the tree of this process when Leave returns: it
// shares neither parent, process group nor session with it or with its ancestors. So it
// lives on when the program that started this one ends everything that it finds below
// itself. It reads nothing; what it prints is dropped, but its errors go to a file. Args
// and env are as in [Command]. The function reports whether it still runs.
//
// Where an ancestor adopts orphans (Linux), that one is its parent, as nothing can leave
// such a tree. Orphans of a [Child] whose helper dies at that moment are not ended.
func Leave(args, env []string, errs *os.File) (running func() bool, err error) {
	path, null, err := toLeave(args, env)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	self, err := selfPath()
	if err != nil {
		return nil, err
	}
	messages, says, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	defer messages.Close()
	defer orphansLeave()()
	p, err := startOwn(self, append([]string{leaverName, path}, args...), &os.ProcAttr{
		Env: env, Files: []*os.File{null, says, errs}, Sys: detachedAttr(),
	})
	says.Close()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	text, err := io.ReadAll(messages)
	waitOwn(p)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		return nil, fmt.Errorf("start %s: it did not start: %s", args[0], text)
	}
	return runs(pid), nil
}

// beLeaver does not return if this process was started as one.
func beLeaver() {
	if len(os.Args) < 3 || os.Args[0] != leaverName {
		return
	}
	closeOnExec()
	_ = conceal() // its environment is that of a server
	p, err := leave(os.Args[1], os.Args[2:], &os.ProcAttr{
		// the first is the null device
		Env: os.Environ(), Files: []*os.File{os.Stdin, os.Stdin, os.Stderr},
	})
	if err != nil {
		fmt.Print(err)
	} else {
		fmt.Print(p.Pid)
	}
	syscall.Exit(0) // not os.Exit: a race-detecting build would wait a second there
}

// toLeave finds a program that is not ours to end, and opens the null device for it.
func toLeave(args, env []string) (path string, null *os.File, err error) {
	if path, err = LookUp(Command{Args: args, Env: env}); err != nil {
		return "", nil, err
	}
	if null, err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err != nil {
		return "", nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	return path, null, nil
}
