// Package jsonrpc speaks JSON-RPC 2.0 with a child process, on sourcegraph/jsonrpc2.
//
// It adds what talking to foreign programs needs: both framings that agents use ([Headers] and
// [Lines]), a bound on the size of a frame, malformed frames that are skipped and reported instead
// of ending the connection (until ten came in a row), a time limit on writes to a peer that stopped
// reading, and an end that waits for every handler. A panic in what handles the peer's words ends
// the connection to that peer, and nothing else.
//
// Notifications are handed over in the order they came, on the reading goroutine; requests run
// concurrently. A Conn may be used from any goroutine.
//
//	conn := jsonrpc.New(stream, jsonrpc.Config{Framing: jsonrpc.Headers, Notify: onEvent})
//	defer conn.Close()
//	err := conn.Call(ctx, "ping", map[string]string{"message": "hi"}, &pong)
package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"webchat/internal/contain"
)

var (
	// ErrClosed is wrapped by calls on a connection that has ended; the reason is in [Conn.Err].
	ErrClosed = errors.New("connection closed")
	// ErrGarbage ends a connection whose peer does not speak the protocol.
	ErrGarbage = errors.New("peer does not speak JSON-RPC")
	// ErrStuck ends a connection whose peer stopped reading.
	ErrStuck = errors.New("peer stopped reading")
)

// Framing is how frames follow each other on the wire.
type Framing int

// The framings.
const (
	Headers Framing = iota + 1 // "Content-Length: N", an empty line, N bytes
	Lines                      // one JSON value a line
)

// Codes of errors, from the JSON-RPC 2.0 specification.
const (
	CodeMethodNotFound = jsonrpc2.CodeMethodNotFound
	CodeInvalidParams  = jsonrpc2.CodeInvalidParams
	CodeInternal       = jsonrpc2.CodeInternalError
)

// Error is a failure the peer reports, or one that is reported to it.
type Error struct {
	Code    int64
	Message string
	Data    json.RawMessage
}

func (e *Error) Error() string { return fmt.Sprintf("%s (code %d)", e.Message, e.Code) }

// Config is what a connection needs. Framing is required.
type Config struct {
	Framing Framing
	// MaxFrame bounds one incoming frame in bytes; a larger one is skipped. 0 means 64 MiB.
	MaxFrame int
	// WriteTimeout bounds one write; then the connection ends with [ErrStuck]. 0 means 30 s.
	WriteTimeout time.Duration
	// Notify gets the peer's notifications, in order. While it runs nothing else is read. nil: they
	// are dropped.
	Notify func(method string, params json.RawMessage)
	// Request answers the peer's requests, concurrently, 256 at most; ctx ends with the connection,
	// and when the peer withdraws the request ("$/cancel_request"). An error other than *Error is
	// sent as an internal one, without its text. nil: every method is unknown.
	Request func(ctx context.Context, method string, params json.RawMessage) (any, error)
	// Lost gets errors that answer no request, which some programs send when they cannot start.
	// nil: they are dropped.
	Lost func(err *Error)
	// Skipped gets the reason why a frame was skipped; never its content. nil: skipped frames are not
	// reported.
	Skipped func(reason error)
	Logger  *slog.Logger // gets the panics of the functions above; nil: they are not logged
}

// Conn is one connection.
type Conn struct {
	rpc    *jsonrpc2.Conn
	stream *stream
	cfg    Config
	fence  contain.Fence
	ids    atomic.Uint64 // of our requests; some peers take the id 0 for none

	handlers sync.WaitGroup

	mu   sync.Mutex                         // guards what follows
	busy int                                // requests of the peer that are open
	open map[jsonrpc2.ID]context.CancelFunc // by their ids, which a peer may repeat
}

// mostOpen is how many requests of the peer may be open at the same time.
const mostOpen = 256

// New starts a connection on rwc, which it closes at its end.
func New(rwc io.ReadWriteCloser, cfg Config) *Conn {
	if cfg.MaxFrame == 0 {
		cfg.MaxFrame = 64 << 20
	}
	if cfg.WriteTimeout == 0 {
		cfg.WriteTimeout = 30 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Conn{stream: newStream(rwc, cfg), cfg: cfg, open: map[jsonrpc2.ID]context.CancelFunc{}}
	c.fence = contain.Fence{Log: cfg.Logger, What: what, Break: func(err error) {
		_ = c.stream.fail(err)
		_ = c.stream.shut()
	}}
	quiet := log.New(io.Discard, "", 0) // its lines can hold what the peer sent
	c.rpc = jsonrpc2.NewConn(context.Background(), c.stream, handler{c}, jsonrpc2.SetLogger(quiet))
	return c
}

// Call sends a request and waits for its answer, which is decoded into result unless that is nil.
// The error is an [*Error] when the peer reports one, ctx's, or wraps [ErrClosed].
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	err := c.rpc.Call(ctx, method, params, result, jsonrpc2.PickID(jsonrpc2.ID{Num: c.ids.Add(1)}))
	var theirs *jsonrpc2.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &theirs):
		e := &Error{Code: theirs.Code, Message: theirs.Message}
		if theirs.Data != nil {
			e.Data = *theirs.Data
		}
		return e
	case errors.Is(err, jsonrpc2.ErrClosed) || c.Err() != nil:
		return fmt.Errorf("%s: %w", method, c.closed())
	}
	return fmt.Errorf("%s: %w", method, err)
}

// Notify sends a notification. The error wraps [ErrClosed].
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	if err := c.rpc.Notify(ctx, method, params); err != nil {
		return fmt.Errorf("%s: %w", method, c.closed())
	}
	return nil
}

// Done is closed when the connection has ended, from whichever side.
func (c *Conn) Done() <-chan struct{} { return c.rpc.DisconnectNotify() }

// Contained returns f for a goroutine that handles what the peer sent: a panic in it ends the
// connection, with an error that wraps [contain.ErrPanic].
func (c *Conn) Contained(f func()) func() { return c.fence.Contained(f) }

// Err says why the connection ended: [io.EOF] when the peer closed it, [ErrGarbage], [ErrStuck],
// [contain.ErrPanic] when what handles its words panicked, or nil while it lives and after
// [Conn.Close].
func (c *Conn) Err() error { return c.stream.err() }

// Close ends the connection and waits for its handlers. It may be called twice, but not from a
// handler.
func (c *Conn) Close() error {
	err := c.rpc.Close()
	c.handlers.Wait()
	if errors.Is(err, jsonrpc2.ErrClosed) {
		return nil
	}
	return err
}

func (c *Conn) closed() error {
	if why := c.Err(); why != nil {
		return fmt.Errorf("%w: %w", ErrClosed, why)
	}
	return ErrClosed
}

// handler hands what comes in to the Config.
type handler struct{ c *Conn }

func (h handler) Handle(ctx context.Context, rpc *jsonrpc2.Conn, req *jsonrpc2.Request) {
	h.c.Contained(func() { h.handle(ctx, rpc, req) })()
}

func (h handler) handle(ctx context.Context, rpc *jsonrpc2.Conn, req *jsonrpc2.Request) {
	var params json.RawMessage
	if req.Params != nil {
		params = *req.Params
	}
	switch {
	case req.Notif && req.Method == cancelRequest:
		h.c.withdraw(params)
	case req.Notif:
		if h.c.cfg.Notify != nil {
			h.c.cfg.Notify(req.Method, params)
		}
	default:
		ctx, end, ok := h.c.begin(ctx, req.ID)
		if !ok {
			// the connection may have ended
			_ = rpc.ReplyWithError(ctx, req.ID, &jsonrpc2.Error{
				Code:    CodeInternal,
				Message: "too many requests are open",
			})
			return
		}
		h.c.handlers.Go(h.c.Contained(func() { defer end(); h.answer(ctx, rpc, req, params) }))
	}
}

// cancelRequest is the notification with which a peer withdraws a request of its own, as the
// Language Server Protocol and the Agent Client Protocol have it.
const cancelRequest = "$/cancel_request"

// begin counts a request of the peer until end is called; false if too many are open.
func (c *Conn) begin(ctx context.Context, id jsonrpc2.ID) (_ context.Context, end func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy >= mostOpen {
		return ctx, nil, false
	}
	c.busy++
	ctx, cancel := context.WithCancel(ctx)
	c.open[id] = cancel
	return ctx, func() {
		cancel()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.busy--
		delete(c.open, id)
	}, true
}

// withdraw ends the context of a request that the peer no longer wants answered.
func (c *Conn) withdraw(params json.RawMessage) {
	var in struct {
		RequestID jsonrpc2.ID `json:"requestId"`
	}
	if json.Unmarshal(params, &in) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.open[in.RequestID]; cancel != nil {
		cancel()
	}
}

// answer runs one request. A reply that cannot be sent needs no report: the connection has ended
// and [Conn.Err] says why.
func (h handler) answer(ctx context.Context, rpc *jsonrpc2.Conn, req *jsonrpc2.Request,
	params json.RawMessage) {
	if h.c.cfg.Request == nil {
		_ = rpc.ReplyWithError(ctx, req.ID, &jsonrpc2.Error{
			Code:    CodeMethodNotFound,
			Message: "no method " + req.Method,
		})
		return
	}
	result, err := h.c.cfg.Request(ctx, req.Method, params)
	var known *Error
	switch {
	case err == nil:
		_ = rpc.Reply(ctx, req.ID, result)
	case errors.As(err, &known):
		_ = rpc.ReplyWithError(ctx, req.ID, &jsonrpc2.Error{Code: known.Code, Message: known.Message})
	default:
		_ = rpc.ReplyWithError(ctx, req.ID, &jsonrpc2.Error{
			Code:    CodeInternal,
			Message: "internal error",
		})
	}
}
