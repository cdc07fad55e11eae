package guard

import (
	"bytes"
	"container/list"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// patience is the least that a connection gets to send its request before another one takes its
	// place. While all strangers' are younger, further ones have to wait.
	patience = 100 * time.Millisecond
	// farewells is how many connections that were turned away may be read out at the same time;
	// further ones are closed at once.
	farewells = 64
)

// busy is the answer to one connection too many: no route, no class, no host.
var busy = lastAnswer("503 Service Unavailable", "Retry-After: 2\r\n", "too_many_connections",
	"Too many connections are open; close some or try again in a moment.")

// lastAnswer is an answer without a handler, after which the connection is closed.
func lastAnswer(status, header, code, sentence string) []byte {
	body := refusal(code, sentence)
	return fmt.Appendf(nil,
		"HTTP/1.1 %s\r\nConnection: close\r\n%sContent-Type: application/json; charset=utf-8\r\n"+
			"X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nContent-Length: %d\r\n\r\n%s",
		status, header, len(body), body)
}

// Connections bounds the open connections of a server: who opens many must not use up the program's
// descriptors, of which files, agents and the log need their share.
//
// A connection belongs to a stranger until a request with credentials has come over it. Strangers
// have three quarters of the places. When these are taken, or all places are, the stranger's
// connection that has waited longest for its request is closed in favor of the new one; where there
// is none, that of the user with the most connections which has waited longest. So those who hold
// connections and say nothing exclude no one else. A connection that finds no place even so is
// answered 503.
//
// Set the server's ConnContext to Context: without it every connection remains a stranger's that
// waits. Set its ConnState to State: without it users' connections do not make room, and with both
// what net/http refuses before the handler has it is answered as the handler answers.
type Connections struct {
	most, strangers int
	parting         chan struct{} // has an element for each connection being turned away
	farewells       sync.WaitGroup

	mu      sync.Mutex // guards what follows, and what placed says it guards
	open    int
	strange int       // how many of them are strangers'
	waiting list.List // of *placed: strangers' without a request at work, longest wait first
	idle    list.List // the same of users
	owned   map[visitor]int
}

// NewConnections returns room for most connections.
func NewConnections(most int) *Connections {
	return &Connections{
		most:      most,
		strangers: max(most*3/4, 1),
		parting:   make(chan struct{}, farewells),
		owned:     map[visitor]int{},
	}
}

// Listener returns l with its connections bounded together with those of the other listeners.
func (c *Connections) Listener(l net.Listener) net.Listener { return limitedListener{l, c} }

type limitedListener struct {
	net.Listener
	places *Connections
}

func (l limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		p, wait := l.places.admit(c)
		for wait > 0 {
			time.Sleep(wait)
			p, wait = l.places.admit(c)
		}
		if p != nil {
			return p, nil
		}
		l.places.turnAway(c)
	}
}

// Close implements [net.Listener]. It waits for the answers to those that were turned away, each of
// which takes at most a second.
func (l limitedListener) Close() error {
	err := l.Listener.Close()
	l.places.farewells.Wait()
	return err
}

// admit gives conn a place, a waiting stranger's if there is no other; nil means that there is
// none, or that one can be had after a wait.
func (c *Connections) admit(conn net.Conn) (p *placed, wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open >= c.most || c.strange >= c.strangers {
		evicted := c.spareLocked()
		if evicted == nil {
			return nil, 0
		}
		if wait := patience - time.Since(evicted.since); wait > 0 {
			return nil, wait
		}
		evicted.releaseLocked()
		_ = evicted.Conn.Close() // the server that reads from it notices
	}
	p = &placed{Conn: conn, places: c}
	c.open++
	c.strange++
	p.waitLocked()
	return p, 0
}

// spareLocked returns the connection that a new one may replace; nil if there is none. c.mu is
// held.
func (c *Connections) spareLocked() (spare *placed) {
	if oldest := c.waiting.Front(); oldest != nil {
		return oldest.Value.(*placed)
	}
	if c.open < c.most { // strangers do not have the users' places
		return nil
	}
	for e := c.idle.Front(); e != nil; e = e.Next() {
		if p := e.Value.(*placed); spare == nil || c.owned[p.of] > c.owned[spare.of] {
			spare = p
		}
	}
	return spare
}

// turnAway says why and closes. Closing with bytes unread would destroy the answer on its way, so a
// little is read first; no request waits for that.
func (c *Connections) turnAway(conn net.Conn) {
	select {
	case c.parting <- struct{}{}:
	default:
		_ = conn.Close() // nothing was promised
		return
	}
	c.farewells.Go(func() {
		defer func() { <-c.parting }()
		defer conn.Close()
		err := conn.SetDeadline(time.Now().Add(time.Second))
		if err == nil {
			_, err = conn.Write(busy)
		}
		if half, ok := conn.(interface{ CloseWrite() error }); ok && err == nil &&
			half.CloseWrite() == nil {
			_, _ = io.CopyN(io.Discard, conn, 64<<10) // to its end, if it is short
		}
	})
}

// placed is a connection with a place.
type placed struct {
	net.Conn
	places *Connections

	answering atomic.Bool // the handler has a request, or its answer is on its way

	turn  *list.Element // in places.waiting or places.idle; nil: at work. Guarded by places.mu
	since time.Time     // when that turn began; guarded by places.mu
	of    visitor       // whose it is; guarded by places.mu
	left  bool          // guarded by places.mu
}

type placeKey struct{}

// Context makes the connection known to the handler, for [http.Server.ConnContext].
func (c *Connections) Context(ctx context.Context, conn net.Conn) context.Context {
	if p, ok := conn.(*placed); ok {
		return context.WithValue(ctx, placeKey{}, p)
	}
	return ctx
}

// placeOf returns the connection of a request; nil if it is not bounded.
func placeOf(ctx context.Context) *placed {
	p, _ := ctx.Value(placeKey{}).(*placed)
	return p
}

// State learns that an answer has gone out, for [http.Server.ConnState].
func (c *Connections) State(conn net.Conn, state http.ConnState) {
	p, ok := conn.(*placed)
	if !ok || state != http.StateIdle {
		return
	}
	p.answering.Store(false)
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.of.known && !p.left && p.turn == nil {
		p.waitLocked()
	}
}

// answers says that what is written from here on is the handler's.
func (p *placed) answers() {
	if p != nil {
		p.answering.Store(true)
	}
}

// Write implements [net.Conn]. What is written before the handler has a request is the text with
// which net/http refuses one that it cannot read.
func (p *placed) Write(b []byte) (int, error) {
	const version = "HTTP/1.1 "
	if p.answering.Load() || !bytes.HasPrefix(b, []byte(version)) {
		return p.Conn.Write(b)
	}
	status, _, _ := strings.Cut(string(b[len(version):]), "\r\n")
	if _, err := p.Conn.Write(lastAnswer(status, "", "unreadable_request",
		"The request cannot be read. Check that its headers name a host, have no control characters "+
			"and are not too long.")); err != nil {
		return 0, err
	}
	return len(b), nil
}

// begin says that a request is at work, so the connection is not closed in favor of another. A
// stranger who does not take the answer within the time is cut.
func (p *placed) begin(v visitor, answer time.Duration) {
	if p == nil {
		return
	}
	p.places.mu.Lock()
	first := v.known && !p.of.known
	p.workLocked()
	if first && !p.left {
		p.of = v
		p.places.strange--
		p.places.owned[v]++
	}
	strange := !p.of.known
	p.places.mu.Unlock()
	if strange { // these fail on a connection that is gone
		_ = p.SetWriteDeadline(time.Now().Add(answer))
	} else if first {
		_ = p.SetWriteDeadline(time.Time{})
	}
}

// end says that the request is over.
func (p *placed) end() {
	if p == nil {
		return
	}
	p.places.mu.Lock()
	defer p.places.mu.Unlock()
	if !p.of.known && !p.left && p.turn == nil {
		p.waitLocked()
	}
}

// waitLocked puts the connection at the end of those that wait, and workLocked takes it from there.
// places.mu is held.
func (p *placed) waitLocked() { p.turn, p.since = p.list().PushBack(p), time.Now() }

func (p *placed) workLocked() {
	if p.turn != nil {
		p.list().Remove(p.turn)
		p.turn = nil
	}
}

func (p *placed) list() *list.List {
	if p.of.known {
		return &p.places.idle
	}
	return &p.places.waiting
}

// releaseLocked gives the place back, once. places.mu is held.
func (p *placed) releaseLocked() {
	if p.left {
		return
	}
	p.left = true
	p.places.open--
	p.workLocked()
	if !p.of.known {
		p.places.strange--
	} else if p.places.owned[p.of]--; p.places.owned[p.of] == 0 {
		delete(p.places.owned, p.of)
	}
}

func (p *placed) Close() error {
	p.places.mu.Lock()
	p.releaseLocked()
	p.places.mu.Unlock()
	return p.Conn.Close()
}
