package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServeConn serves one client over a connection until that or ctx ends, and closes it. What the
// client asked before it closed its side is answered; a call that waits for the user or acts is
// stopped after [lastAnswers]. The workspace's session belongs to the connection.
func (s *Server) ServeConn(ctx context.Context, conn io.ReadWriteCloser, w Workspace) error {
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	defer leave()
	v := Visitor{Workspace: w, Reads: true, Key: "connection " + newID()}
	p := s.newPeer(v)
	p.lasting = true
	defer s.forget(v)
	err = p.server.Run(ctx, answering{&mcp.IOTransport{Reader: conn, Writer: unclosed{conn}}, func() bool { return s.held(ctx, p) }})
	if err == nil || ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, mcp.ErrConnectionClosed) {
		return nil
	}
	return fmt.Errorf("what came is no message of the Model Context Protocol (%w), so the connection was ended; MCP clients start this command by themselves, see webchat mcp install", err)
}

// unclosed is the writing side of a connection that its reading side closes.
type unclosed struct{ io.Writer }

// Close implements [io.Closer].
func (unclosed) Close() error { return nil }

// lastAnswers is how long the end of what a client asks waits for calls that are held. They are
// stopped then: a client that ends closes its side, and reads no answers.
const lastAnswers = 400 * time.Millisecond

// answering is a transport that reports the end of what it reads only when all that was asked is
// answered, or [lastAnswers] have passed and a call is held: a script closes its side at once.
type answering struct {
	mcp.Transport
	held func() bool
}

// Connect implements [mcp.Transport].
func (t answering) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &answeringConn{Connection: c, held: t.held, closed: make(chan struct{}), asked: map[jsonrpc.ID]bool{}, none: make(chan struct{}, 1)}, nil
}

type answeringConn struct {
	mcp.Connection
	held   func() bool   // a call waits for the user, or acts
	closed chan struct{} // closed by Close
	once   sync.Once
	none   chan struct{} // has room for one: nothing is open any more

	mu    sync.Mutex // guards asked
	asked map[jsonrpc.ID]bool
}

// Read implements [mcp.Connection].
func (c *answeringConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && err == nil && r.IsCall() {
		c.mu.Lock()
		c.asked[r.ID] = true
		c.mu.Unlock()
	}
	if !errors.Is(err, io.EOF) {
		return m, err
	}
	limit := time.NewTicker(lastAnswers)
	defer limit.Stop()
	for c.open() {
		select {
		case <-c.none:
		case <-limit.C:
			if c.held() {
				return m, err
			}
		case <-c.closed:
			return m, err
		case <-ctx.Done():
			return m, err
		}
	}
	return m, err
}

func (c *answeringConn) open() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.asked) > 0
}

// Write implements [mcp.Connection].
func (c *answeringConn) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	r, ok := m.(*jsonrpc.Response)
	if !ok && err == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if ok {
		delete(c.asked, r.ID)
	}
	if err != nil { // the answers go nowhere
		clear(c.asked)
	}
	if len(c.asked) == 0 {
		select {
		case c.none <- struct{}{}:
		default:
		}
	}
	return err
}

// Close implements [mcp.Connection].
func (c *answeringConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
