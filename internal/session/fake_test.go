package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/proc"
)

func TestMain(m *testing.M) {
	proc.Main()
	goleak.VerifyTestMain(m)
}

// scripted is a Backend whose conversations do what a test says.
type scripted struct {
	mu      sync.Mutex
	info    agent.Info
	open    func(o agent.Options) error
	prompt  func(ctx context.Context, h agent.Host, p agent.Prompt) error
	steer   func(ctx context.Context, p agent.Prompt) error
	opened  []agent.Options
	closed  int
	models  []string
	titles  []string
	prompts []agent.Prompt
	host    agent.Host
}

func (b *scripted) Name() string                    { return "scripted" }
func (b *scripted) Info(context.Context) agent.Info { return b.info }
func (b *scripted) Models(context.Context) ([]agent.Model, error) {
	return []agent.Model{{ID: "a", Name: "A"}}, nil
}

func (b *scripted) Open(_ context.Context, o agent.Options, h agent.Host) (agent.Conn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opened = append(b.opened, o)
	if b.open != nil {
		if err := b.open(o); err != nil {
			return nil, err
		}
	}
	b.host = h
	return &scriptedConn{b, h}, nil
}

type scriptedConn struct {
	b *scripted
	h agent.Host
}

func (c *scriptedConn) Prompt(ctx context.Context, p agent.Prompt) error {
	c.b.mu.Lock()
	c.b.prompts = append(c.b.prompts, p)
	f := c.b.prompt
	c.b.mu.Unlock()
	if f == nil {
		return say(ctx, c.h, "m-"+p.MessageID, "You said "+p.Content)
	}
	return f(ctx, c.h, p)
}

func (c *scriptedConn) Steer(ctx context.Context, p agent.Prompt) error {
	if c.b.steer == nil {
		return agent.ErrUnsupported
	}
	return c.b.steer(ctx, p)
}

func (c *scriptedConn) SetModel(_ context.Context, m string) error {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	c.b.models = append(c.b.models, m)
	return nil
}

func (c *scriptedConn) SetTitle(_ context.Context, title string) error {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	c.b.titles = append(c.b.titles, title)
	return nil
}

func (c *scriptedConn) Close() error {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	c.b.closed++
	return nil
}

// say streams a message word by word and ends it.
func say(ctx context.Context, h agent.Host, id, text string) error {
	if err := stream(ctx, h, id, text); err != nil {
		return err
	}
	return h.Report(ctx, event.AssistantMessage{MessageID: id, Content: text})
}

func stream(ctx context.Context, h agent.Host, id, text string) error {
	offset := int64(0)
	for _, w := range strings.SplitAfter(text, " ") {
		if err := h.Report(ctx, event.AssistantMessageDelta{
			MessageID:    id,
			Offset:       offset,
			DeltaContent: w,
		}); err != nil {
			return err
		}
		offset += int64(len(w))
	}
	return nil
}

// tool is a Tool made of functions.
type tool struct {
	name string
	plan func(ctx context.Context, args json.RawMessage) (agent.Action, error)
}

func (t tool) Spec() agent.ToolSpec { return agent.ToolSpec{Name: t.name} }
func (t tool) Plan(ctx context.Context, args json.RawMessage) (agent.Action, error) {
	return t.plan(ctx, args)
}

// acts is a tool that runs f, and asks when ask is set.
func acts(name string, ask *agent.Permission,
	f func(ctx context.Context, args json.RawMessage, p agent.Progress) (agent.Result, error)) tool {
	return tool{name, func(_ context.Context, args json.RawMessage) (agent.Action, error) {
		return agent.Action{
			Ask:    ask,
			Digest: agent.Digest(string(args)),
			Run: func(ctx context.Context, p agent.Progress) (agent.Result, error) {
				return f(ctx, args, p)
			},
		}, nil
	}}
}

func shows(name string) tool {
	return acts(name, nil, func(ctx context.Context, _ json.RawMessage,
		_ agent.Progress) (agent.Result, error) {
		return agent.Result{
			TextForModel: "Displayed go.mod to user (50 lines)",
			Type:         agent.Success,
			Telemetry: &agent.Telemetry{
				OutputID:    "out_" + agent.CallFrom(ctx).ToolCallID,
				OutputType:  "file",
				Lines:       50,
				TokensShown: 400,
				TokensSent:  9,
			},
		}, nil
	})
}

type toolset struct {
	tools  []agent.Tool
	mu     sync.Mutex
	closed int
}

func (t *toolset) Tools() []agent.Tool { return t.tools }
func (t *toolset) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed++
	return nil
}

// rig is a process with one session. It is the owner of all its sessions.
type rig struct {
	*testing.T
	cfg     Config
	s       *Session
	mem     *memory
	backend *scripted
	tools   *toolset
	stop    func() // ends all sessions

	mu       sync.Mutex // guards what follows
	sessions map[eventlog.ID]*Session
}

// Changed implements [eventlog.Owner].
func (r *rig) Changed(eventlog.Summary) {}

// Wrote implements [eventlog.Owner].
func (r *rig) Wrote(err error, _ int) error {
	if err == nil || errors.Is(err, eventlog.ErrInvalid) {
		return err
	}
	return fmt.Errorf("%w: %w", eventlog.ErrLog, err)
}

// Unsaved implements [eventlog.Owner].
func (r *rig) Unsaved() string { return "" }

// create starts a session.
func (r *rig) create(ctx context.Context) (*Session, error) {
	return r.keep(Create(ctx, r.cfg, event.SessionStart{
		SessionID: string(event.NewID()),
		Backend:   r.cfg.Backend.Name(),
	}, ""))
}

// load returns a session of the process, or one of an earlier process.
func (r *rig) load(ctx context.Context, id eventlog.ID) (*Session, error) {
	r.mu.Lock()
	s := r.sessions[id]
	r.mu.Unlock()
	if s != nil {
		return s, nil
	}
	sum, err := r.mem.Summary(ctx, id)
	if err != nil {
		return nil, err
	}
	return r.keep(Load(ctx, r.cfg, sum))
}

func (r *rig) keep(s *Session, err error) (*Session, error) {
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.sessions[s.id] = s
	}
	return s, err
}

func (r *rig) close() {
	r.mu.Lock()
	all := slices.Collect(maps.Values(r.sessions))
	r.mu.Unlock()
	var wg sync.WaitGroup
	for _, s := range all {
		wg.Go(s.Close)
	}
	wg.Wait()
}

// play runs test in a bubble of fake time with a session whose log is checked at the end.
func play(t *testing.T, change func(*rig, *Config), test func(*rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newMemory(), change)
		var err error
		if r.s, err = r.create(t.Context()); err != nil {
			t.Fatal(err)
		}
		test(r)
		r.stop()
		checkLog(t, r.mem.entries(r.s.ID()), true)
	})
}

func newRig(t *testing.T, mem *memory, change func(*rig, *Config)) *rig {
	t.Helper()
	r := &rig{
		T:        t,
		mem:      mem,
		backend:  &scripted{},
		tools:    &toolset{},
		sessions: map[eventlog.ID]*Session{},
	}
	r.cfg = Config{
		Log:       mem,
		Owner:     r,
		Backend:   r.backend,
		Workspace: t.TempDir(),
		Context:   func() event.Context { return event.Context{} },
		Tools:     func(eventlog.ID) (agent.Toolset, error) { return r.tools, nil },
		Logger:    slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if change != nil {
		change(r, &r.cfg)
	}
	r.stop = sync.OnceFunc(r.close)
	t.Cleanup(r.stop)
	return r
}

func (r *rig) send(content string) string {
	r.Helper()
	id, err := r.s.Send(r.Context(), Message{Content: content})
	if err != nil {
		r.Fatal(err)
	}
	return id
}

func (r *rig) wait(messageID string) eventlog.TurnResult {
	r.Helper()
	res, err := r.s.WaitTurn(r.Context(), messageID)
	if err != nil {
		r.Fatal(err)
	}
	return res
}

// ask sends a prompt and waits for what comes of it.
func (r *rig) ask(content string) eventlog.TurnResult {
	r.Helper()
	return r.wait(r.send(content))
}

// types are the types in the log.
func (r *rig) types() string { return typesOf(r.mem.entries(r.s.ID())) }

func typesOf(entries []event.Entry) string {
	var out []string
	for _, e := range entries {
		out = append(out, string(e.Event.Type()))
	}
	return strings.Join(out, " ")
}

// all returns the logged data of one type.
func all[T event.Data](r *rig) []T {
	var out []T
	for _, e := range r.mem.entries(r.s.ID()) {
		if d, ok := e.Event.Data.(T); ok {
			out = append(out, d)
		}
	}
	return out
}

// request waits for an open request and returns its id.
func (r *rig) request() string {
	r.Helper()
	synctest.Wait()
	snap, err := r.s.Join(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	if len(snap.Requests) != 1 {
		r.Fatalf("%d open requests", len(snap.Requests))
	}
	return eventlog.QuestionID(snap.Requests[0].Event.Data)
}

// requests waits for n open permissions and returns them.
func (r *rig) requests(n int) (open []event.PermissionRequested) {
	r.Helper()
	synctest.Wait()
	snap, err := r.s.Join(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	for _, e := range snap.Requests {
		if d, ok := e.Event.Data.(event.PermissionRequested); ok {
			open = append(open, d)
		}
	}
	if len(open) != n {
		r.Fatalf("%d open requests, want %d", len(open), n)
	}
	return open
}

func is(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got error %v, want %v", err, want)
	}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

// asked is the permission an act needs in these tests.
func asked() *agent.Permission {
	return &agent.Permission{
		Kind:     agent.KindShell,
		Action:   "run a command",
		Resource: "make test",
		Cwd:      "/w",
	}
}

var errDisk = errors.New("no space left on device")
