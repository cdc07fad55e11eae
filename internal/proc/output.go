package proc

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// drain copies a command's output to its writer, and goes on reading when the
// writer is finished with: a server left running must not die of a full or
// broken pipe when it logs a line.
type drain struct {
	r     *os.File
	done  chan struct{} // closed after the last write to w
	ended chan struct{} // closed when run returned
	over  atomic.Bool   // nothing is left of the tree
	cut   sync.Once

	mu  sync.Mutex // guards what follows, and is held during w.Write
	w   io.Writer  // nil: drop
	err error      // of w
}

func newDrain(r *os.File, w io.Writer) *drain {
	return &drain{r: r, w: w, done: make(chan struct{}), ended: make(chan struct{})}
}

func (d *drain) run() {
	defer close(d.ended)
	defer d.r.Close()
	defer d.detach()
	buf := make([]byte, 64<<10)
	for {
		n, err := d.r.Read(buf)
		d.write(buf[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			d.rest(buf)
			d.detach()
			if d.over.Load() {
				return
			}
			continue
		}
		if err != nil {
			return
		}
	}
}

// rest copies what the pipe holds at this moment: all of it may be the
// command's, which has gone. What comes later certainly is not.
func (d *drain) rest(buf []byte) {
	left := pending(d.r)
	for {
		d.r.SetReadDeadline(time.Time{}) // finish and end set one each
		if left <= 0 {
			return
		}
		n, err := d.r.Read(buf[:min(left, len(buf))])
		d.write(buf[:n])
		left -= n
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
	}
}

func (d *drain) write(b []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.w == nil || len(b) == 0 {
		return
	}
	if _, err := d.w.Write(b); err != nil {
		d.err, d.w = err, nil
	}
}

func (d *drain) detach() {
	d.cut.Do(func() {
		d.mu.Lock()
		d.w = nil
		d.mu.Unlock()
		close(d.done)
	})
}

// finish waits for the end of the output, a little, and returns the writer's
// error. The command has ended.
func (d *drain) finish() error {
	timer := time.NewTimer(holdPatience)
	defer timer.Stop()
	select {
	case <-d.done:
	case <-timer.C:
		if d.r.SetReadDeadline(time.Now()) != nil {
			d.detach() // pipes without deadlines, or closed already
		}
		<-d.done
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// end waits for run when nothing of the tree is left. A process outside the
// tree may have been handed the pipe; it does not keep us. What was written is read.
func (d *drain) end() {
	timer := time.NewTimer(holdPatience)
	defer timer.Stop()
	select {
	case <-d.ended:
	case <-timer.C:
		d.over.Store(true)
		if d.r.SetReadDeadline(time.Now()) != nil {
			d.r.Close() // pipes without deadlines, or closed already
		}
		<-d.ended
	}
}

// pipe is the read end of a command's output that closes itself at its end.
type pipe struct {
	f    *os.File
	mu   sync.Mutex
	eof  bool // guarded by mu
	over bool // guarded by mu: nothing is left of the tree
}

// Read implements [io.Reader].
func (p *pipe) Read(b []byte) (int, error) {
	for {
		n, err := p.f.Read(b)
		if err == nil {
			return n, nil
		}
		p.mu.Lock()
		late := errors.Is(err, os.ErrDeadlineExceeded) && p.over
		if late && pending(p.f) > 0 && p.f.SetReadDeadline(time.Now().Add(holdPatience)) == nil {
			p.mu.Unlock()
			continue
		}
		if late || errors.Is(err, io.EOF) {
			p.eof = true
			p.f.Close()
		}
		if p.eof {
			err = io.EOF
		}
		p.mu.Unlock()
		return n, err
	}
}

// end makes the pipe end soon when nothing is left of the tree, although a process
// outside of it may have been handed the other end. What was written is read.
func (p *pipe) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over = true; !p.eof {
		_ = p.f.SetReadDeadline(time.Now().Add(holdPatience)) // a pipe without deadlines keeps its reader
	}
}

func (p *pipe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.eof {
		return nil
	}
	return p.f.Close()
}
