package chaos

import (
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
)

// proxy is a bad line to a server: each connection is cut after a random number
// of the bytes that come from there, now between frames, now inside of a header, a
// character or a line.
type proxy struct {
	listener net.Listener
	to       string
	all      sync.WaitGroup

	mu    sync.Mutex // guards what follows
	rnd   *rand.Rand
	most  int // bytes, as a power of two
	whole bool
	cuts  int
}

func newProxy(t *testing.T, rnd *rand.Rand, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, to: strings.TrimPrefix(to, "http://"), rnd: rnd, most: 17}
	p.all.Go(p.serve)
	t.Cleanup(func() {
		_ = l.Close()
		p.all.Wait()
	})
	return p
}

func (p *proxy) url() string { return "http://" + p.listener.Addr().String() }

func (p *proxy) serve() {
	for {
		down, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.all.Go(func() { p.carry(down) })
	}
}

func (p *proxy) carry(down net.Conn) {
	defer down.Close()
	up, err := net.Dial("tcp", p.to)
	if err != nil {
		return // the server has gone: the client sees the end of the line
	}
	defer up.Close()
	p.all.Go(func() {
		_, _ = io.Copy(up, down) // ends with either side
		_ = up.Close()
	})
	if limit, cut := p.limit(); cut {
		if n, _ := io.CopyN(down, up, limit); n == limit {
			p.mu.Lock()
			p.cuts++
			p.mu.Unlock()
		}
		return
	}
	_, _ = io.Copy(down, up)
}

// limit is after how many bytes the next connection is cut.
func (p *proxy) limit() (n int64, cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return 1 + p.rnd.Int64N(1<<(4+p.rnd.IntN(p.most-4))), !p.whole
}

// heal lets what comes from now on through.
func (p *proxy) heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.whole = true
}

func (p *proxy) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}
