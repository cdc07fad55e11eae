package sessions_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/session"
	"webchat/internal/sessions"
	"webchat/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errDisk = errors.New("no space left on device")

// disk is a store that can refuse what is written.
type disk struct {
	*storetest.Memory

	mu   sync.Mutex // guards what follows
	fail error
}

func newDisk() *disk { return &disk{Memory: storetest.NewMemory()} }

func (d *disk) broken(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = err
}

func (d *disk) failure() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fail
}

func (d *disk) Append(ctx context.Context, id eventlog.ID, entries []event.Entry,
	s eventlog.Summary) error {
	if err := d.failure(); err != nil {
		return err
	}
	return d.Memory.Append(ctx, id, entries, s)
}

func (d *disk) Writable(context.Context, int) error { return d.failure() }

func (d *disk) Mark(ctx context.Context, id eventlog.ID, m sessions.Mark) error {
	if err := d.failure(); err != nil {
		return err
	}
	return d.Memory.Mark(ctx, id, m)
}

func (d *disk) Delete(ctx context.Context, id eventlog.ID) error {
	if err := d.failure(); err != nil {
		return err
	}
	return d.Memory.Delete(ctx, id)
}

// count is how many sessions there are, deleted ones included.
func (d *disk) count(t testing.TB) int {
	t.Helper()
	n := 0
	for _, kind := range []sessions.QueryKind{sessions.QueryPresent, sessions.QueryDeleted} {
		p, err := d.List(context.Background(), sessions.Query{Kind: kind})
		if err != nil {
			t.Fatal(err)
		}
		n += len(p.Sessions)
	}
	return n
}

func (d *disk) entries(t testing.TB, id eventlog.ID) []event.Entry {
	t.Helper()
	all, err := d.After(context.Background(), id, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// scripted is a Backend whose conversations do what a test says.
type scripted struct {
	info   agent.Info
	prompt func(ctx context.Context) error // nil: it is idle at once
	closes func()                          // nil: a conversation closes at once

	mu     sync.Mutex // guards what follows
	opened []agent.Options
	models []string
	titles []string
	host   agent.Host
}

func (b *scripted) Name() string                    { return "scripted" }
func (b *scripted) Info(context.Context) agent.Info { return b.info }
func (b *scripted) Models(context.Context) ([]agent.Model, error) {
	return []agent.Model{{ID: "a", Name: "A"}, {ID: "b", Name: "B"}}, nil
}

func (b *scripted) Open(_ context.Context, o agent.Options, h agent.Host) (agent.Conn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opened = append(b.opened, o)
	b.host = h
	return conn{b}, nil
}

type conn struct{ b *scripted }

func (c conn) Prompt(ctx context.Context, _ agent.Prompt) error {
	if c.b.prompt == nil {
		return nil
	}
	return c.b.prompt(ctx)
}

func (c conn) Steer(context.Context, agent.Prompt) error { return agent.ErrUnsupported }

func (c conn) SetModel(_ context.Context, m string) error {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	c.b.models = append(c.b.models, m)
	return nil
}

func (c conn) SetTitle(_ context.Context, title string) error {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	c.b.titles = append(c.b.titles, title)
	return nil
}

func (c conn) Close() error {
	if c.b.closes != nil {
		c.b.closes()
	}
	return nil
}

// rig is a running manager with one session.
type rig struct {
	*testing.T
	m       *sessions.Manager
	s       *session.Session
	disk    *disk
	backend *scripted
	stop    func() error
}

// play runs test in a bubble of fake time.
func play(t *testing.T, change func(*rig, *sessions.Config), test func(*rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newDisk(), change)
		r.s = r.create(sessions.Options{})
		test(r)
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
}

// folder is a list of one new folder.
func folder(t *testing.T) *files.Workspaces {
	t.Helper()
	list, err := files.WorkspaceIn(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func newRig(t *testing.T, d *disk, change func(*rig, *sessions.Config)) *rig {
	t.Helper()
	r := &rig{T: t, disk: d, backend: &scripted{}}
	c := sessions.Config{
		Log:        d,
		Catalog:    d,
		Backends:   []agent.Backend{r.backend},
		Workspaces: folder(t),
		Logger:     slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if change != nil {
		change(r, &c)
	}
	m, err := sessions.New(c)
	if err != nil {
		t.Fatal(err)
	}
	r.m = m
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- m.Run(ctx) }()
	r.stop = sync.OnceValue(func() error { cancel(); return <-ran })
	t.Cleanup(func() { r.stop() })
	return r
}

func (r *rig) create(o sessions.Options) *session.Session {
	r.Helper()
	s, err := r.m.Create(r.Context(), o)
	if err != nil {
		r.Fatal(err)
	}
	return s
}

// send sends a prompt to a session.
func (r *rig) send(s *session.Session) (messageID string) {
	r.Helper()
	id, err := s.Send(r.Context(), session.Message{Content: "hello"})
	if err != nil {
		r.Fatal(err)
	}
	return id
}

// ask is send, and waits for what comes of it.
func (r *rig) ask(s *session.Session) eventlog.TurnResult {
	r.Helper()
	res, err := s.WaitTurn(r.Context(), r.send(s))
	if err != nil {
		r.Fatal(err)
	}
	return res
}

// types are the types in the log of a session.
func (r *rig) types(id eventlog.ID) string {
	var out []string
	for _, e := range r.disk.entries(r, id) {
		out = append(out, string(e.Event.Type()))
	}
	return strings.Join(out, " ")
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
