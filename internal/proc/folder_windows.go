package proc

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// become runs another program and ends as it does. The program ends when this process
// does, whose job has no other handle. It returns only if the program cannot be started.
func become(path string, args []string) error {
	job, err := newJob()
	if err == nil {
		err = windows.AssignProcessToJobObject(job, windows.CurrentProcess())
	}
	if err != nil {
		return fmt.Errorf("start %s: %w", args[0], err)
	}
	p, err := startOwn(path, args, &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys:   &syscall.SysProcAttr{CmdLine: commandLine(path, args)},
	})
	if err != nil {
		return fmt.Errorf("start %s: %w", args[0], err)
	}
	state, err := p.Wait()
	if err != nil {
		return fmt.Errorf("wait for %s: %w", args[0], err)
	}
	os.Exit(state.ExitCode())
	return nil
}
