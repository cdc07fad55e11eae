//go:build unix

package cluster

import (
	"net"
	"sync"
	"testing"
	"time"
)

// fault is what happens to what goes over a line.
type fault int

const (
	none    fault = iota
	hole          // nothing arrives, in neither direction
	swallow       // no reply arrives: what was asked for is done
	delay         // everything arrives later
	half          // of the next reply one half arrives, then the connection ends
)

// line is between one replica and the database.
type line struct {
	listener net.Listener
	to       string // a socket
	all      sync.WaitGroup

	mu    sync.Mutex // guards what follows
	fault fault
	late  time.Duration
	open  map[net.Conn]bool
}

func newLine(t *testing.T, to string) *line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{listener: listener, to: to, open: map[net.Conn]bool{}}
	l.all.Go(l.serve)
	t.Cleanup(func() {
		_ = listener.Close()
		l.set(none, 0)
		l.cut()
		l.all.Wait()
	})
	return l
}

func (l *line) address() string { return l.listener.Addr().String() }

func (l *line) serve() {
	for {
		down, err := l.listener.Accept()
		if err != nil {
			return // closed
		}
		up, err := net.Dial("unix", l.to)
		if err != nil {
			_ = down.Close() // the database has gone
			continue
		}
		l.mu.Lock()
		l.open[down], l.open[up] = true, true
		l.mu.Unlock()
		l.all.Go(func() { l.carry(up, down, false) })
		l.all.Go(func() { l.carry(down, up, true) })
	}
}

// carry passes on what comes until either side ends.
func (l *line) carry(to, from net.Conn, reply bool) {
	defer l.close(to, from)
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		l.mu.Lock()
		f, late := l.fault, l.late
		if f == half && reply {
			l.fault = none
		}
		l.mu.Unlock()
		switch {
		case f == hole, f == swallow && reply:
			continue
		case f == delay:
			<-time.After(late)
		case f == half && reply:
			_, _ = to.Write(b[:n/2])
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

func (l *line) close(all ...net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range all {
		_ = c.Close()
		delete(l.open, c)
	}
}

// set begins a fault, or ends it: then what lost bytes is cut, too.
func (l *line) set(f fault, late time.Duration) {
	l.mu.Lock()
	before := l.fault
	l.fault, l.late = f, late
	l.mu.Unlock()
	if before == hole || before == swallow {
		l.cut()
	}
}

// cut ends all connections.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		_ = c.Close()
	}
}
