// Package daemon is the running server seen from the command line: the data folder
// that belongs to one server at a time, server.json in it and the control socket in it
// or, where it can have none, among temporary files, by which other commands find and
// ask that server, and what opens its page in the browser.
//
// # Guarantees
//
//   - A folder that other users can change is refused, with the command that mends it.
//   - The lock ends with the process, however it ends. A server whose lock was removed or
//     replaced knows it ([Folder.Held]), and gives the folder up if another server has it.
//   - The socket, and every file that is written here, can only be read by the user.
//
// A [Folder] and a [Control] belong to the goroutine that made them, but for
// [Folder.Held]; [Client] may be used from anywhere.
//
//	folder, err := daemon.Open(dir)
//	defer folder.Close()
//	control, err := daemon.Listen(ctx, daemon.ControlConfig{Dir: dir, …})
//	defer control.Close()
//	err = folder.Announce(daemon.Info{URL: url, PID: os.Getpid()})
//
//	link, err := daemon.Client{Dir: dir, Token: token}.Link(ctx) // in another process
package daemon

import (
	"errors"
	"net"
	"net/url"
	"os"
)

// Plain takes the system call and the path or address out of an error: the sentence
// around it names them better.
func Plain(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	if asked, ok := errors.AsType[*url.Error](err); ok {
		err = asked.Err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}
