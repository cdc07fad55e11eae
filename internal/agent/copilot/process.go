package copilot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"webchat/internal/agent"
	"webchat/internal/jsonrpc"
	"webchat/internal/policy"
	"webchat/internal/proc"
	"webchat/internal/wording"
)

const (
	startPatience = 45 * time.Second // the first start on a machine unpacks 235 MB
	stopPatience  = time.Second      // for what is asked of a CLI that is to end
)

// process is one running CLI. It starts in a goroutine of its own, which ends
// when nothing of the process is left.
type process struct {
	b       *Backend
	found   finding
	refs    int // guarded by Backend.mu
	quit    context.CancelFunc
	quitted <-chan struct{}

	ready chan struct{} // closed when it answers, or will not; err is set then
	err   error
	gone  chan struct{} // closed when nothing of it is left; death is set then
	death error

	child  *proc.Child
	rpc    *jsonrpc.Conn
	stderr tail

	mu    sync.Mutex // guards conns
	conns map[string]*conn
}

// acquire returns the running process, started if none runs. The caller
// releases it.
func (b *Backend) acquire(ctx context.Context) (*process, error) {
	f, err := b.find()
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	p := b.process
	if p == nil || p.ended() {
		life, quit := context.WithCancel(context.Background())
		p = &process{b: b, found: f, quit: quit, quitted: life.Done(),
			ready: make(chan struct{}), gone: make(chan struct{}), conns: map[string]*conn{}}
		b.process = p
		go p.run(life)
	}
	p.refs++
	b.mu.Unlock()
	select {
	case <-p.ready:
	case <-ctx.Done():
		b.release(p)
		return nil, ctx.Err()
	}
	if p.err != nil {
		b.release(p)
		return nil, p.err
	}
	return p, nil
}

// release gives p back; the last one stops it and waits until it is gone.
func (b *Backend) release(p *process) {
	b.mu.Lock()
	p.refs--
	last := p.refs == 0
	if last && b.process == p {
		b.process = nil
	}
	b.mu.Unlock()
	if last {
		p.quit()
		<-p.gone
	}
}

// ended reports whether the process can take no more conversations.
func (p *process) ended() bool {
	select {
	case <-p.gone:
		return true
	case <-p.quitted:
		return true
	case <-p.ready:
		if p.err != nil {
			return true
		}
		select {
		case <-p.rpc.Done():
			return true
		default:
		}
	default:
	}
	return false
}

func (p *process) run(life context.Context) {
	defer close(p.gone)
	defer p.quit()
	err := p.start(life)
	if err != nil {
		p.err, p.death = err, err
		close(p.ready)
		return
	}
	close(p.ready)
	select {
	case <-p.rpc.Done():
	case <-life.Done():
		_ = p.child.Stdin().Close() // upon which it ends by itself
		timer := time.NewTimer(stopPatience)
		defer timer.Stop()
		select {
		case <-p.rpc.Done():
		case <-timer.C:
		}
	}
	p.death = p.finish(life.Err() == nil)
	p.mu.Lock()
	conns := slices.Collect(maps.Values(p.conns))
	p.mu.Unlock()
	for _, c := range conns {
		c.died(p.death)
	}
}

// start starts the CLI and shakes hands. On an error nothing of it is left.
func (p *process) start(life context.Context) error {
	if err := os.MkdirAll(p.b.cfg.Home, 0o700); err != nil {
		return fmt.Errorf("%w: the state folder of GitHub Copilot CLI cannot be made: %w", agent.ErrUnavailable, err)
	}
	args := []string{p.found.path, "--headless", "--stdio", "--no-auto-update"}
	if len(p.b.cfg.Providers) > 0 {
		args = append(args, "--no-auto-login")
	}
	env := p.b.environment()
	if _, withheld := policy.Inherit(env, nil, nil); len(withheld) > 0 {
		args = append(args, "--secret-env-vars="+strings.Join(withheld, ",")) // what it starts does not get them
	}
	child, err := proc.Start(proc.Command{Args: args, Dir: p.b.cfg.Home, Env: env, Pipes: true, Grace: time.Second})
	if err != nil {
		return fmt.Errorf("%w: %w", agent.ErrUnavailable, err)
	}
	p.child = child
	p.stderr.follow(child.Stderr())
	p.rpc = jsonrpc.New(pipes{child.Stdout(), child.Stdin()}, jsonrpc.Config{Framing: jsonrpc.Headers,
		Notify: p.notify, Request: p.request,
		Skipped: func(why error) { p.b.cfg.Logger.Warn("copilot: a frame was skipped", "error", why) }})
	ctx, cancel := context.WithTimeout(life, startPatience)
	defer cancel()
	var hello struct {
		ProtocolVersion int
		Version         string
	}
	err = p.rpc.Call(ctx, "connect", struct{}{}, &hello)
	if err == nil && hello.ProtocolVersion == protocol {
		return nil
	}
	died := p.finish(ctx.Err() == nil)
	switch {
	case err == nil:
		return fmt.Errorf("%w: GitHub Copilot CLI %s speaks protocol %d; %s; install another (%s)", agent.ErrUnavailable, hello.Version, hello.ProtocolVersion, supported, install)
	case life.Err() != nil:
		return fmt.Errorf("%w: GitHub Copilot CLI was stopped while it started", agent.ErrUnavailable)
	case ctx.Err() != nil:
		return fmt.Errorf("%w: GitHub Copilot CLI did not answer within %v of its start; %s", agent.ErrUnavailable, startPatience, supported)
	case errors.Is(err, jsonrpc.ErrClosed):
		return fmt.Errorf("%w: it did not start: %w; %s", agent.ErrUnavailable, died, supported)
	}
	return fmt.Errorf("%w: GitHub Copilot CLI refused to connect: %w; %s", agent.ErrUnavailable, err, supported)
}

// finish ends the whole process tree and says how the CLI ended; byItself is
// false when we wanted that.
func (p *process) finish(byItself bool) error {
	why := p.rpc.Err()
	ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
	defer cancel()
	if !byItself || errors.Is(why, jsonrpc.ErrGarbage) || errors.Is(why, jsonrpc.ErrStuck) {
		cancel() // nothing is lost
	}
	_, stopErr := p.child.Stop(ctx)
	exit, _ := p.child.Wait() // how it ended is told if known
	_ = p.rpc.Close()         // its pipes are closed
	p.stderr.wait()
	if stopErr != nil {
		p.b.cfg.Logger.Warn("copilot: not everything of the CLI could be ended", "error", stopErr)
	}
	text := "GitHub Copilot CLI was stopped"
	switch {
	case !byItself:
	case errors.Is(why, jsonrpc.ErrGarbage):
		text = "GitHub Copilot CLI sent something that is not its protocol and was stopped"
	case errors.Is(why, jsonrpc.ErrStuck):
		text = "GitHub Copilot CLI stopped reading and was stopped"
	case exit.Signal != "":
		text = "GitHub Copilot CLI was killed (" + exit.Signal + ")"
	default:
		text = fmt.Sprintf("GitHub Copilot CLI ended by itself (exit %d)", exit.Code)
	}
	if said := p.stderr.last(); said != "" && byItself {
		text += ": " + said
	}
	return &deathError{text}
}

// deathError is the end of the process, as a person reads it.
type deathError struct{ text string }

func (e *deathError) Error() string        { return e.text }
func (e *deathError) Is(target error) bool { return target == agent.ErrDied }

// died is the death of a process as the prompt that was cut off tells it.
func lost(death error) error {
	return &deathError{death.Error() + ". The session is safe; send the prompt again and it goes on with a new process"}
}

// call asks the CLI. When it ends meanwhile the error wraps [agent.ErrDied].
func (p *process) call(ctx context.Context, method string, params, result any) error {
	err := p.rpc.Call(ctx, method, params, result)
	if err == nil || ctx.Err() != nil || !errors.Is(err, jsonrpc.ErrClosed) {
		return err
	}
	<-p.gone
	return p.death
}

// notify takes what the CLI tells by itself and hands it to its conversation.
func (p *process) notify(method string, params json.RawMessage) {
	if method != "session.event" {
		return
	}
	var n struct {
		SessionID string
		Event     nativeEvent
	}
	if err := json.Unmarshal(params, &n); err != nil {
		p.b.cfg.Logger.Warn("copilot: an event could not be read", "bytes", len(params))
		return
	}
	if w := p.b.cfg.Watch; w != nil && strings.HasPrefix(n.Event.Type, "model.") {
		w.look(n.Event.Data)
	}
	if handlers[n.Event.Type] == nil {
		return // not on the list
	}
	if c := p.conn(n.SessionID); c != nil {
		c.post(func() { c.handle(n.Event) })
	}
}

// request answers what the CLI asks.
func (p *process) request(ctx context.Context, method string, params json.RawMessage) (any, error) {
	var q struct {
		SessionID string
		nativeQuestion
		nativeHook
	}
	if method != "userInput.request" && method != "hooks.invoke" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no method " + method}
	}
	if err := json.Unmarshal(params, &q); err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "not understood"}
	}
	c := p.conn(q.SessionID)
	if c == nil || !c.enter() {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no such session"}
	}
	defer c.turns.Done()
	if method == "hooks.invoke" {
		return c.hook(q.nativeHook)
	}
	return c.answer(ctx, q.nativeQuestion)
}

func (p *process) conn(id string) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conns[id]
}

func (p *process) add(c *conn) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns[c.id] != nil {
		return errors.New("the session is open already")
	}
	p.conns[c.id] = c
	return nil
}

func (p *process) remove(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c.id)
}

// pipes are the CLI's standard output and input.
type pipes struct {
	io.ReadCloser
	in io.WriteCloser
}

func (p pipes) Write(b []byte) (int, error) { return p.in.Write(b) }

func (p pipes) Close() error { return errors.Join(p.in.Close(), p.ReadCloser.Close()) }

// tail keeps the end of what a program prints.
type tail struct {
	mu   sync.Mutex // guards text
	text []byte
	done chan struct{}
}

const maxTail = 4 << 10

// Write implements [io.Writer].
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - maxTail; over > 0 {
		t.text = t.text[over:]
	}
	return len(b), nil
}

// String is what was kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.text), "\uFFFD")
}

// follow reads r until its end; wait waits for that.
func (t *tail) follow(r io.Reader) {
	t.done = make(chan struct{})
	go func() {
		defer close(t.done)
		_, _ = io.Copy(t, r) // the end of the program is the end of the pipe
	}()
}

func (t *tail) wait() { <-t.done }

// last is the last line, shortened.
func (t *tail) last() string {
	lines := strings.FieldsFunc(t.String(), func(r rune) bool { return r == '\n' || r == '\r' })
	for _, l := range slices.Backward(lines) {
		if l = strings.TrimSpace(l); l != "" {
			return wording.Cut(l, 200)
		}
	}
	return ""
}
