// Package proc runs other programs, each in a process tree of its own, and ends
// such a tree whole.
//
// # Guarantees
//
// On Linux a small helper (this same binary, started again) stands between us
// and the command. It is the subreaper of everything the command starts, so
// nothing gets out of the tree: not by setsid, not by a double fork. [Child.Stop]
// returns when nothing of the tree is left. When this process dies, by kill -9
// too, the helper notices a closed pipe and ends the tree itself.
//
// The helper runs as the same user as the command, which can stop or kill it. No
// call waits for a helper without a bound:
//
//   - A helper that is stopped, or that does not answer for a second while its server
//     waits for the end of its tree (otherwise for 20 s), is killed with its tree,
//     without Grace.
//   - What a killed helper leaves becomes a child of a process that called [Server],
//     and is killed at once.
//   - A helper that hears nothing from this process for 20 s ends its tree: this
//     process is stopped. Time in which the machine sleeps does not count.
//   - The kernel wakes a stopped helper when this process dies.
//
// The command gets file descriptors 0, 1 and 2 and no other, exactly the given
// environment, a session of its own without a terminal, and nothing to read
// unless [Command].Pipes is set. What it leaves running after its own end stays
// until Stop ([Child.Left] lists it), also when it still holds the output pipe.
//
// # What cannot be promised
//
//   - A process that was started by other means is not ended: by another program
//     that the command asked to (cron, at, systemd, Docker, a terminal multiplexer).
//   - A command that keeps its helper stopped when this process is killed or stopped
//     too may go on: nothing is left to end it.
//   - A process of another user (sudo) cannot be signalled: Stop says so.
//   - macOS has no subreaper. The helper looks at the process table ten times a
//     second and remembers what belongs to the tree; a process that leaves its
//     session and loses its parent between two looks gets away, and so does what
//     had left the command's session when the helper is killed.
//   - Windows has no SIGTERM. The tree is a job object, ended at once, without
//     Grace; it dies with this process.
//
// [Detach] is for what is not ours to end, such as the browser, [Leave] for a server
// that is to outlive the program that started this one.
//
// # Concurrency
//
// All methods of a [Child] may be called at any time from any goroutine. Each
// Child has at most three goroutines; they end when its tree has. A caller that starts
// a Child must Stop it, even after Wait.
//
// # Usage
//
//	func main() {
//		proc.Main()   // first: this process may be the helper of another one
//		proc.Server() // its environment is closed to commands
//		child, err := proc.Start(proc.Command{Args: []string{"make"}, Dir: dir, Env: env, Output: &buf})
//		...
//		defer child.Stop(ctx)
//		exit, err := child.Wait()
//	}
//
// No other package starts processes. As process 1 of a container, Main also
// collects orphans.
package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

const (
	defaultGrace = 3 * time.Second
	// orphanGrace replaces a longer Grace when the server is gone: the
	// process that started the tree is dead.
	orphanGrace = 500 * time.Millisecond
	// killPatience is how long a killed process may take to disappear before
	// Stop gives up on it.
	killPatience = 5 * time.Second
	// holdPatience is how long Wait goes on reading after the command's end
	// while another process holds the output pipe.
	holdPatience = 200 * time.Millisecond
)

// ErrNotFound is wrapped by Start when there is no such program.
var ErrNotFound = errors.New("program not found")

// ready is set by Main. Without it a helper would be this whole program again,
// and start helpers of its own.
var ready atomic.Bool

// Main must be the first line of main, and of each TestMain whose package starts
// children. In a process that [Start] made as a helper it does not return.
func Main() {
	ready.Store(true)
	beHelper()
	beDetacher()
	beLeaver()
	reapAsInit()
}

// Command is what to run.
type Command struct {
	// Args is the program and its arguments. A program without a path separator
	// is looked up in the PATH of Env (of this process if Env has none); a
	// relative path is relative to Dir.
	Args []string
	Dir  string   // empty: this process's directory
	Env  []string // the whole environment; nil is an empty one
	// Output receives standard output and error through one pipe, in the order
	// they were written, from one goroutine; nil means both are dropped. It is not
	// called after Wait has returned.
	Output io.Writer
	// Pipes gives Stdin, Stdout and Stderr to the caller instead, for programs
	// one talks with.
	Pipes bool
	// Grace is the time between SIGTERM and SIGKILL; 0 means 3 s.
	Grace time.Duration
	// Confine is what the whole tree may touch; nil: all that this process may.
	Confine *Confinement

	silence time.Duration // after which a helper gives us up; 0: defaultSilence
}

// Exit is how a command ended. A signal counts as code 128 plus its number, as
// shells have it.
type Exit struct {
	Code   int
	Signal string // "SIGKILL"; empty if it exited by itself
}

// Process is a member of a tree.
type Process struct {
	PID     int
	Command string // its arguments joined by spaces, or its name
}

// Child is a running command with everything it started.
type Child struct {
	tree      *tree
	stdin     *os.File
	stdout    *pipe
	stderr    *pipe
	out       *drain
	confine   *Confinement   // nil: it is not
	listeners []net.Listener // inside a confined tree
	over      chan struct{}  // closed when the tree and our goroutines for it are gone
}

// Start starts c. When it returns nil the program runs.
func Start(c Command) (*Child, error) {
	child, err := startChild(c)
	if c.Confine == nil {
		return child, err
	}
	if err != nil {
		c.Confine.end()
		return nil, err
	}
	if child.listeners, err = child.tree.heard(); err != nil {
		_, stopped := child.Stop(context.Background())
		return nil, fmt.Errorf("start %s: listen inside: %w", c.Args[0], errors.Join(err, stopped))
	}
	if c.Confine.Started != nil {
		c.Confine.Started(child)
	}
	return child, nil
}

func startChild(c Command) (*Child, error) {
	if !ready.Load() {
		return nil,
			errors.New("start a program: the main function has to call Main of this package first")
	}
	if len(c.Args) == 0 || c.Args[0] == "" {
		return nil, errors.New("start a program: no name given")
	}
	if c.Grace <= 0 {
		c.Grace = defaultGrace
	}
	if c.Dir != "" {
		if st, err := os.Stat(c.Dir); err != nil || !st.IsDir() {
			return nil, fmt.Errorf("start %s: the directory %s is not there", c.Args[0], c.Dir)
		}
	}
	path, err := LookUp(c)
	if err != nil {
		return nil, err
	}
	if c.Confine != nil {
		if err := c.Confine.check(); err != nil {
			return nil, fmt.Errorf("start %s confined: %w", c.Args[0], err)
		}
	}
	child := &Child{over: make(chan struct{}), confine: c.Confine}
	files, err := child.plumb(c)
	if err != nil {
		child.closePipes()
		return nil, fmt.Errorf("start %s: %w", c.Args[0], err)
	}
	child.tree, err = startTree(path, c, files)
	for _, f := range files {
		f.Close() // the command has its own
	}
	if err != nil {
		child.closePipes()
		return nil, fmt.Errorf("start %s: %w", c.Args[0], err)
	}
	if child.out != nil {
		go child.out.run()
	}
	go child.watch()
	return child, nil
}

// plumb makes the three files of the command and our ends of them.
func (c *Child) plumb(cmd Command) (files []*os.File, err error) {
	defer func() {
		if err != nil {
			for _, f := range files {
				f.Close()
			}
			files = nil
		}
	}()
	if cmd.Pipes {
		r, w, err := os.Pipe()
		if err != nil {
			return files, err
		}
		files, c.stdin = append(files, r), w
		for _, dst := range []**pipe{&c.stdout, &c.stderr} {
			r, w, err := os.Pipe()
			if err != nil {
				return files, err
			}
			files, *dst = append(files, w), &pipe{f: r}
		}
		return files, nil
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	files = []*os.File{null}
	if cmd.Output == nil {
		return append(files, null, null), nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return files, err
	}
	c.out = newDrain(r, cmd.Output)
	return append(files, w, w), nil
}

func (c *Child) closePipes() {
	if c.stdin != nil {
		c.stdin.Close()
	}
	for _, p := range []*pipe{c.stdout, c.stderr} {
		if p != nil {
			p.Close()
		}
	}
	if c.out != nil {
		c.out.r.Close()
	}
}

// watch sees the tree's end through.
func (c *Child) watch() {
	c.tree.watch()
	if c.out != nil {
		c.out.end()
	}
	if c.stdin != nil {
		c.stdin.Close()
		c.stdout.end()
		c.stderr.end()
	}
	if c.confine != nil {
		c.confine.end()
	}
	close(c.over)
}

// PID is the command's process.
func (c *Child) PID() int { return c.tree.pid }

// Stdin is the command's standard input, nil without Pipes. Where the system
// allows it has SetWriteDeadline. Stop closes it.
func (c *Child) Stdin() io.WriteCloser {
	if c.stdin == nil {
		return nil
	}
	return c.stdin
}

// Stdout is the command's standard output, nil without Pipes. It ends when
// the last process of the tree has closed it, and is closed then.
func (c *Child) Stdout() io.ReadCloser {
	if c.stdout == nil {
		return nil
	}
	return c.stdout
}

// Stderr is the command's standard error, like [Child.Stdout].
func (c *Child) Stderr() io.ReadCloser {
	if c.stderr == nil {
		return nil
	}
	return c.stderr
}

// Wait returns when the command itself has ended and its output is read: all it
// wrote, and what others in the tree wrote until 200 ms later. With Pipes it does
// not wait for the pipes. The error is that of Output, or that the end could not
// be observed. Wait may be called more than once.
func (c *Child) Wait() (Exit, error) {
	<-c.tree.exited
	if c.out == nil {
		return c.tree.exit, c.tree.exitErr
	}
	return c.tree.exit, errors.Join(c.tree.exitErr, c.out.finish())
}

// Left lists what lives of the tree; after Wait, that is what the command left
// running. It is empty when the list cannot be had.
func (c *Child) Left() []Process { return c.tree.list() }

// Stop ends the whole tree: SIGTERM, then, after Grace or when ctx ends,
// SIGKILL. It returns when nothing is left, with the number of processes that had
// to be ended. The error names processes that could not be ended. It may be
// called more than once; later calls wait for the same end.
func (c *Child) Stop(ctx context.Context) (ended int, err error) {
	ended, err = c.tree.stop(ctx)
	<-c.over
	return ended, err
}

// Run runs a command to its end, and ends what is left of its tree. When ctx ends before, the
// command is stopped and the error is ctx's.
func Run(ctx context.Context, cmd Command) (Exit, error) {
	child, err := Start(cmd)
	if err != nil {
		return Exit{}, err
	}
	// what it reports, the second one does
	stop := context.AfterFunc(ctx, func() { _, _ = child.Stop(ctx) })
	exit, err := child.Wait()
	stop()
	_, stopped := child.Stop(ctx)
	if ctx.Err() != nil {
		return exit, errors.Join(ctx.Err(), stopped)
	}
	return exit, errors.Join(err, stopped)
}

// LookUp returns the path of the program of c, as Start finds it.
func LookUp(c Command) (string, error) {
	name := c.Args[0]
	if filepath.Base(name) != name || strings.ContainsRune(name, '/') {
		if !filepath.IsAbs(name) {
			name = filepath.Join(c.Dir, name)
		}
		if !filepath.IsAbs(name) {
			abs, err := filepath.Abs(name)
			if err != nil {
				return "", fmt.Errorf("start %s: %w", c.Args[0], err)
			}
			name = abs
		}
		path, err := exec.LookPath(name)
		return path, notFound(c.Args[0], "", err)
	}
	list := searchPath(c.Env)
	for _, dir := range filepath.SplitList(list) {
		if !filepath.IsAbs(dir) {
			continue // what runs must not depend on where
		}
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", notFound(name, " in "+list, exec.ErrNotFound)
}

func notFound(name, where string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("start %s: it may not be executed: %w", name, err)
	default:
		return fmt.Errorf("start %s: %w%s; install it or give its path", name, ErrNotFound, where)
	}
}

// searchPath is the PATH in env; the last one counts, as for execve's callers.
func searchPath(env []string) string {
	for i := len(env) - 1; i >= 0; i-- {
		k, v, _ := strings.Cut(env[i], "=")
		if k == "PATH" || runtime.GOOS == "windows" && strings.EqualFold(k, "PATH") {
			return v
		}
	}
	return os.Getenv("PATH")
}
