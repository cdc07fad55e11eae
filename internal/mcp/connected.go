package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/proc"
	"webchat/internal/wording"
)

const (
	mostError   = 4 << 10              // bytes of a server's standard error that are kept: the last
	mostMessage = 16 << 20             // bytes of a message of a server's
	mostLibrary = mostMessage + 64<<10 // the same for the library, whose error does not say it
	closeGrace  = 2 * time.Second
)

// errTooLarge is why a connection ends.
var errTooLarge = fmt.Errorf("it sent more than %s at once, the most that webchat reads. "+
	"Ask for less, such as fewer rows or one file", wording.Limit(mostMessage))

// connected is a connection to a server of the user's. Its methods may be called concurrently.
type connected struct {
	session *mcp.ClientSession // nil: it did not connect
	seen    *headerTransport
	end     context.CancelFunc
	child   *proc.Child     // nil: it is reached by an address
	lost    chan struct{}   // closed when the server has gone
	over    context.Context // ends with a message that is too large
	exceed  context.CancelFunc
	changed atomic.Bool // its list of tools, since it was asked for
	running sync.WaitGroup
	closing sync.Once
	written lastBytes // to standard error

	name string // as the user set it up

	mu    sync.Mutex // guards what follows
	calls map[string]calling
}

// calling is a call that runs.
type calling struct {
	report func(string)
	info   agent.CallInfo
}

// dial connects to a server, which learns of the folder root unless that is empty. The connection
// has to be closed, also after an error: it has the server's last words.
func (s *UserServers) dial(ctx context.Context, at place, root string) (*connected, error) {
	m := s.signed(ctx, at.name)
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	c := &connected{end: end, lost: make(chan struct{}), name: at.name, calls: map[string]calling{}}
	c.over, c.exceed = context.WithCancel(context.WithoutCancel(ctx))
	var to mcp.Transport
	c.seen = newHeaders(m, c.exceed)
	if m.Type == "stdio" {
		env := slices.Clone(s.cfg.Env(at.dir))
		for _, k := range slices.Sorted(maps.Keys(m.Env)) {
			env = append(env, k+"="+m.Env[k])
		}
		child, err := proc.Start(proc.Command{Args: append([]string{m.Command}, m.Args...),
			Dir: at.dir, Env: env, Pipes: true, Grace: time.Second})
		if err != nil {
			return c, err
		}
		c.child = child
		c.running.Go(func() { _, _ = io.Copy(&c.written, child.Stderr()) }) // its end is the child's
		to = &mcp.IOTransport{MaxLineLength: mostLibrary, Writer: child.Stdin(),
			Reader: &bounded{ReadCloser: child.Stdout(), lines: true, exceed: c.exceed}}
	} else {
		to = c.seen.transport(m, nil)
	}
	client := s.client(at, c)
	if root != "" {
		//lint:ignore SA1019 servers before 2026-07-28 ask for it
		client.AddRoots(&mcp.Root{URI: (&url.URL{Scheme: "file", Path: root}).String()})
	}
	stop := context.AfterFunc(ctx, end)
	session, err := client.Connect(life, to, nil)
	if !stop() && err == nil {
		err = errors.Join(ctx.Err(), session.Close())
	}
	if err != nil {
		return c, s.denied(c, err)
	}
	c.session = session
	of := session.InitializeResult()
	//lint:ignore SA1019 servers before 2026-07-28 log by it
	if of != nil && of.Capabilities != nil && of.Capabilities.Logging != nil {
		//lint:ignore SA1019 servers before 2026-07-28 log by it, and without it nothing
		_ = session.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: "warning"})
	}
	c.running.Go(func() {
		defer close(c.lost)
		_ = session.Wait() // what the connection ended with
	})
	return c, nil
}

// client is what webchat is to a server.
func (s *UserServers) client(at place, c *connected) *mcp.Client {
	client := mcp.NewClient(&mcp.Implementation{Name: "webchat", Version: "1"}, &mcp.ClientOptions{
		//lint:ignore SA1019 servers before 2026-07-28 ask for roots
		Capabilities: &mcp.ClientCapabilities{RootsV2: &mcp.RootCapabilities{ListChanged: true},
			Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{},
				URL: &mcp.URLElicitationCapabilities{}},
			Extensions: map[string]any{apps: map[string]any{"mimeTypes": []string{frameType}}}},
		ElicitationHandler: c.elicit,
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			c.changed.Store(true)
		},
		ProgressNotificationHandler: c.progressed,
		//lint:ignore SA1019 servers before 2026-07-28 log by it
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			s.logged(at, r.Params)
		},
	})
	client.AddReceivingMiddleware(refuseSampling)
	client.AddSendingMiddleware(c.named)
	return client
}

// named has what is asked fail at once, and say so, when a message is too large.
func (c *connected) named(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(c.over, cancel)()
		res, err := next(ctx, method, r)
		if err != nil && c.over.Err() != nil {
			return nil, errTooLarge
		}
		return res, err
	}
}

// close ends the connection and what was started for it.
func (c *connected) close() {
	c.closing.Do(func() {
		limit := time.AfterFunc(closeGrace, c.end)
		if c.session != nil {
			_ = c.session.Close() // it says how its connection ended
		}
		limit.Stop()
		if c.child != nil {
			_ = c.child.Stdin().Close()
			_, _ = c.child.Stop(context.Background()) // what is left of it is reported where it is used
		}
		c.end()
		c.running.Wait()
	})
}

// gone reports whether the server has gone.
func (c *connected) gone() bool {
	select {
	case <-c.lost:
		return true
	default:
		return false
	}
}

// words are what a server that is closed wrote last, behind a colon; empty if it wrote nothing.
func (c *connected) words() string {
	lines := strings.Split(strings.TrimSpace(c.written.text()), "\n")
	if last := oneLine(lines[len(lines)-1]); last != "" {
		return ": " + wording.Cut(last, 200)
	}
	return ""
}

// tools asks for the server's tools.
func (c *connected) tools(ctx context.Context) (tools []*mcp.Tool, err error) {
	c.changed.Store(false)
	for t, err := range c.session.Tools(ctx, nil) { // of all pages
		switch {
		case err != nil:
			return nil, withoutAddress(err)
		case len(tools) == mostTools:
			return nil, fmt.Errorf("it has more than %d tools", mostTools)
		}
		tools = append(tools, t)
	}
	return tools, nil
}

// call calls a tool. A call whose ctx ends is cancelled.
func (c *connected) call(ctx context.Context, tool string, args any,
	report func(string)) (*mcp.CallToolResult, error) {
	p := &mcp.CallToolParams{Name: tool, Arguments: args}
	token := newID()
	p.SetProgressToken(token)
	c.mu.Lock()
	c.calls[token] = calling{report, agent.CallFrom(ctx)}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, token)
	}()
	return c.session.CallTool(ctx, p)
}

// progressed reports the progress of a call.
func (c *connected) progressed(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
	p := r.Params
	token, _ := p.ProgressToken.(string)
	c.mu.Lock()
	report := c.calls[token].report
	c.mu.Unlock()
	if report == nil {
		return
	}
	text := wording.Cut(oneLine(p.Message), 200)
	if text == "" && p.Total > 0 {
		text = fmt.Sprintf("%.0f %%", 100*p.Progress/p.Total)
	}
	if text != "" {
		report(text)
	}
}

// answered reports whether an error of a call is an answer of the server's, which goes on.
func answered(err error) (*jsonrpc.Error, bool) { return errors.AsType[*jsonrpc.Error](err) }

// lastBytes keeps the last bytes that were written.
type lastBytes struct {
	mu   sync.Mutex // guards kept
	kept []byte
}

func (l *lastBytes) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, p[max(0, len(p)-mostError):]...)
	if over := len(l.kept) - mostError; over > 0 {
		l.kept = append(l.kept[:0], l.kept[over:]...)
	}
	return len(p), nil
}

func (l *lastBytes) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.ToValidUTF8(string(l.kept), "")
}

// bounded ends what a server sends with a message that is too large, and calls exceed.
type bounded struct {
	io.ReadCloser
	lines  bool // each line is a message or a part of one; else all is one
	size   int
	exceed func()
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if last := bytes.LastIndexByte(p[:n], '\n'); b.lines && last >= 0 {
		b.size = n - last - 1
	} else {
		b.size += n
	}
	if b.size > mostMessage {
		b.exceed()
		return 0, errTooLarge
	}
	return n, err
}
