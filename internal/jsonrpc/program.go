package jsonrpc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"webchat/internal/contain"
	"webchat/internal/proc"
	"webchat/internal/wording"
)

// Program is a child process that speaks JSON-RPC on its standard input and output. What it writes
// to standard error is read and its end is kept.
type Program struct {
	*Conn
	child  *proc.Child
	stderr tail
	beside sync.WaitGroup // the reader of standard error, and what ends the child after a panic
	once   sync.Once      // of Stop
	err    error          // of Stop; to be read after it
}

// Start starts c and speaks with it. The error is proc's. The caller must Stop it.
func Start(c proc.Command, with Config) (*Program, error) {
	c.Pipes = true
	child, err := proc.Start(c)
	if err != nil {
		return nil, err
	}
	p := &Program{child: child}
	p.Conn = New(pipes{child.Stdout(), child.Stdin()}, with)
	// ends with the child
	p.beside.Go(p.Contained(func() { _, _ = io.Copy(&p.stderr, child.Stderr()) }))
	p.beside.Go(p.Contained(p.endBroken))
	return p, nil
}

// endBroken ends the program when a panic ended the connection: until its caller stops it, it would
// go on with what it does.
func (p *Program) endBroken() {
	if <-p.Done(); errors.Is(p.Err(), contain.ErrPanic) {
		_, _ = p.child.Stop(context.Background()) // what it says, Stop says
	}
}

// Left lists what runs of the program and of what it started.
func (p *Program) Left() []proc.Process { return p.child.Left() }

// PID is the number of the program's process.
func (p *Program) PID() int { return p.child.PID() }

// Exit waits for the end of the program and returns how it ended.
func (p *Program) Exit() (proc.Exit, error) { return p.child.Wait() }

// Stop closes the program's standard input, gives it so long to end by itself, ends it with
// everything it started, and waits until nothing is left. It may be called twice.
func (p *Program) Stop(patience time.Duration) error {
	p.once.Do(func() {
		_ = p.child.Stdin().Close() // upon which most end by themselves
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-p.Done():
		case <-timer.C:
		}
		_, err := p.child.Stop(context.Background())
		p.err = errors.Join(err, p.Close())
		p.beside.Wait()
	})
	return p.err
}

// Said is the last line of standard error after a colon, for the end of a sentence; empty if there
// is none.
func (p *Program) Said() string { return p.stderr.text() }

// pipes are the standard input and output of a child as one stream.
type pipes struct {
	io.ReadCloser
	io.WriteCloser
}

func (p pipes) Close() error { return errors.Join(p.WriteCloser.Close(), p.ReadCloser.Close()) }

// tail keeps the end of what a program wrote.
type tail struct {
	mu   sync.Mutex // guards last
	last []byte
}

const (
	mostTail = 2 << 10 // bytes
	mostSaid = 200     // bytes
)

// Write implements [io.Writer].
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, b...)
	t.last = append(t.last[:0:0], t.last[max(0, len(t.last)-mostTail):]...)
	return len(b), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(t.last), []byte{'\n'})
	last := strings.ToValidUTF8(strings.TrimSpace(string(lines[len(lines)-1])), "")
	if last == "" {
		return ""
	}
	return ": " + wording.Cut(last, mostSaid)
}
