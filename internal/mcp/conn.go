package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
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
	v := Visitor{Workspace: w, Reads: true, Key: "connection " + newID(), connection: true}
	defer s.forget(v)
	at := answering{&mcp.IOTransport{Reader: conn, Writer: unclosed{conn}}, func() bool {
		return s.held(v)
	}}
	err = s.reading.Run(context.WithValue(ctx, visitorKey{}, v), at)
	if err == nil || ctx.Err() != nil || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, mcp.ErrConnectionClosed) {
		return nil
	}
	return fmt.Errorf(
		"what came is no message of the Model Context Protocol (%w), so the connection was ended; MCP "+
			"clients start this command by themselves, see webchat mcp install", err)
}

// held reports whether a call of a visitor waits for the user, or acts: its end is not near.
func (s *Server) held(v Visitor) bool {
	return len(s.calls(func(c *running) bool {
		return c.visitor == v && (c.acts || c.asking.Load() != nil)
	})) > 0
}

// unclosed is the writing side of a connection that its reading side closes.
type unclosed struct{ io.Writer }

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

func (t answering) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &answeringConn{
		Connection: c,
		held:       t.held,
		closed:     make(chan struct{}),
		none:       make(chan struct{}, 1),
	}, nil
}

type answeringConn struct {
	mcp.Connection
	held   func() bool   // a call waits for the user, or acts
	closed chan struct{} // closed by Close
	once   sync.Once
	asked  atomic.Int64  // requests without an answer; none or less once answers go nowhere
	none   chan struct{} // has room for one: the last request was answered
}

func (c *answeringConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && err == nil && r.IsCall() {
		c.asked.Add(1)
	}
	if !errors.Is(err, io.EOF) {
		return m, err
	}
	limit := time.NewTicker(lastAnswers)
	defer limit.Stop()
	for c.asked.Load() > 0 {
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

func (c *answeringConn) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if _, ok := m.(*jsonrpc.Response); ok {
		c.asked.Add(-1)
	}
	if err != nil { // the client has gone, and the answers go nowhere
		c.asked.Store(0)
		err = errors.Join(mcp.ErrConnectionClosed, err)
	}
	if c.asked.Load() <= 0 {
		select {
		case c.none <- struct{}{}:
		default:
		}
	}
	return err
}

func (c *answeringConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
