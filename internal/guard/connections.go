package guard

import (
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// farewells is how many connections that were turned away may be read out at the
// same time; further ones are closed at once.
const farewells = 64

// busy is all that one connection too many is told: no route, no class, no host.
const busyBody = `{"error":"Too many connections are open; close some or try again in a moment.","code":"too_many_connections"}` + "\n"

var busy = fmt.Appendf(nil, "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 2\r\n"+
	"Content-Type: application/json; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n"+
	"Content-Length: %d\r\n\r\n%s", len(busyBody), busyBody)

// LimitConnections returns the listeners with at most n connections open on all of
// them together. One more is answered 503 and closed, whatever it asks: who opens
// many must not use up the program's descriptors, of which files, agents and the
// log need their share.
func LimitConnections(n int, listeners ...net.Listener) []net.Listener {
	shared := &places{most: int64(n), parting: make(chan struct{}, farewells)}
	limited := make([]net.Listener, len(listeners))
	for i, l := range listeners {
		limited[i] = &limitedListener{Listener: l, places: shared}
	}
	return limited
}

// places are the connections that may be open.
type places struct {
	most    int64
	open    atomic.Int64
	parting chan struct{} // has an element for each connection being turned away
}

type limitedListener struct {
	net.Listener
	places *places
}

// Accept implements [net.Listener].
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.places.open.Add(1) <= l.places.most {
			return &placed{Conn: c, leave: sync.OnceFunc(func() { l.places.open.Add(-1) })}, nil
		}
		l.places.open.Add(-1)
		l.places.turnAway(c)
	}
}

// turnAway says why and closes. Closing with bytes unread would destroy the
// answer on its way, so a little is read first; nobody waits for that.
func (p *places) turnAway(c net.Conn) {
	select {
	case p.parting <- struct{}{}:
	default:
		_ = c.Close() // nothing was promised
		return
	}
	go func() {
		defer func() { <-p.parting }()
		defer c.Close()
		if c.SetDeadline(time.Now().Add(time.Second)) != nil {
			return
		}
		if _, err := c.Write(busy); err != nil {
			return
		}
		if half, ok := c.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
			_, _ = io.CopyN(io.Discard, c, 64<<10) // to its end, if it is short
		}
	}()
}

// placed gives its place back when it is closed.
type placed struct {
	net.Conn
	leave func()
}

// Close implements [net.Conn].
func (c *placed) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
