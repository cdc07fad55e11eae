package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/session"
	"webchat/internal/sessions"
	"webchat/internal/store/storetest"
)

// mood is how a disk behaves.
type mood struct {
	events error         // of writing events; nil: they are taken
	rest   error         // of marks, drafts and deletions
	slow   time.Duration // how long a write of events takes
}

var moods = map[string]mood{
	"good": {}, "slow": {slow: 7 * time.Second},
	"full": {events: ErrFull, rest: ErrFull}, "read-only": {events: ErrReadOnly, rest: ErrReadOnly},
	"full for marks": {rest: ErrFull}, "full for events": {events: ErrFull},
	"slow and full": {events: ErrFull, slow: 2 * time.Second},
}

// disk is a real file on a disk with moods.
type disk struct {
	*DB
	mu     sync.Mutex // guards what follows
	now    mood
	writes int // so far
	fails  int // the number of the one write that fails whatever the mood; 0: none
}

func (d *disk) set(m mood) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = m
}

func (d *disk) mood() mood {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

// write counts a write and returns why it fails.
func (d *disk) write(of func(mood) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.writes++; d.writes == d.fails {
		return ErrFull
	}
	return of(d.now)
}

func ofEvents(m mood) error { return m.events }
func ofRest(m mood) error   { return m.rest }

// Append is of a disk that is as it is at the end of the write.
func (d *disk) Append(ctx context.Context, id eventlog.ID, entries []event.Entry,
	s eventlog.Summary) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	time.Sleep(d.mood().slow)
	if err := d.write(ofEvents); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return d.DB.Append(ctx, id, entries, s)
}

func (d *disk) Mark(ctx context.Context, id eventlog.ID, m sessions.Mark) error {
	if err := d.write(ofRest); err != nil {
		return err
	}
	return d.DB.Mark(ctx, id, m)
}

func (d *disk) Delete(ctx context.Context, id eventlog.ID) error {
	if err := d.write(ofRest); err != nil {
		return err
	}
	return d.DB.Delete(ctx, id)
}

func (d *disk) SaveDrafts(ctx context.Context, id eventlog.ID, drafts []eventlog.Draft) error {
	if err := d.write(ofRest); err != nil {
		return err
	}
	return d.DB.SaveDrafts(ctx, id, drafts)
}

func (d *disk) Writable(ctx context.Context, bytes int) error {
	if m := d.mood(); m.events != nil || m.rest != nil {
		return errors.Join(m.events, m.rest)
	}
	return d.DB.Writable(ctx, bytes)
}

// echo is an agent that repeats its prompt, or waits to be stopped.
type echo struct{ host agent.Host }

func (*echo) Name() string                                  { return "echo" }
func (*echo) Info(context.Context) agent.Info               { return agent.Info{Available: true} }
func (*echo) Models(context.Context) ([]agent.Model, error) { return nil, nil }
func (*echo) Open(_ context.Context, _ agent.Options, h agent.Host) (agent.Conn, error) {
	return &echo{h}, nil
}
func (*echo) Steer(context.Context, agent.Prompt) error { return agent.ErrUnsupported }
func (*echo) SetModel(context.Context, string) error    { return nil }
func (*echo) SetTitle(context.Context, string) error    { return nil }
func (*echo) Close() error                              { return nil }

func (e *echo) Prompt(ctx context.Context, p agent.Prompt) error {
	id, offset := "m-"+p.MessageID, int64(0)
	for word := range strings.FieldsSeq(p.Content) {
		if err := e.host.Report(ctx, event.AssistantMessageDelta{
			MessageID:    id,
			Offset:       offset,
			DeltaContent: word,
		}); err != nil {
			return err
		}
		offset += int64(len(word))
		time.Sleep(300 * time.Millisecond) // a draft is saved
	}
	if strings.HasPrefix(p.Content, "wait") {
		<-ctx.Done()
		return ctx.Err()
	}
	if _, err := e.host.CallTool(ctx, agent.ToolCall{Name: "show"}); err != nil {
		return err
	}
	return e.host.Report(ctx, event.AssistantMessage{
		MessageID: id,
		Content:   strings.Join(strings.Fields(p.Content), ""),
	})
}

// show is a tool that needs no permission.
type show struct{}

func (show) Tools() []agent.Tool  { return []agent.Tool{show{}} }
func (show) Close() error         { return nil }
func (show) Spec() agent.ToolSpec { return agent.ToolSpec{Name: "show"} }
func (show) Plan(context.Context, json.RawMessage) (agent.Action, error) {
	return agent.Action{Run: func(ctx context.Context, _ agent.Progress) (agent.Result, error) {
		return agent.Result{TextForModel: "Displayed it", Type: agent.Success,
			Telemetry: &agent.Telemetry{OutputID: "out_" + agent.CallFrom(ctx).ToolCallID}}, nil
	}}, nil
}

// program is one life of a program over a disk.
type program struct {
	disk *disk
	m    *sessions.Manager
	stop func() error
}

// start runs sessions over the file in dir. It is called in a bubble.
func start(t testing.TB, dir string, m mood) *program {
	t.Helper()
	db, err := Open(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	p := &program{disk: &disk{DB: db, now: m}}
	folders, err := files.WorkspaceIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	p.m, err = sessions.New(sessions.Config{
		Log:        p.disk,
		Catalog:    p.disk,
		Drafts:     p.disk,
		Backends:   []agent.Backend{&echo{}},
		Workspaces: folders,
		Room: func(string) (sessions.Room, error) {
			return sessions.Room{Tools: func(eventlog.ID) (agent.Toolset, error) { return show{}, nil }}, nil
		},
		Logger: quiet,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- p.m.Run(ctx) }()
	p.stop = sync.OnceValue(func() error { cancel(); return errors.Join(<-ran, db.Close()) })
	return p
}

// begin creates a session.
func (p *program) begin(t testing.TB) *session.Session {
	t.Helper()
	s, err := p.m.Create(context.Background(), sessions.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// prompts returns the prompts in the file of a program that has ended, in order.
func prompts(t testing.TB, dir string, id eventlog.ID) (contents []string) {
	t.Helper()
	db, err := Open(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	entries, err := db.After(context.Background(), id, 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if d, ok := e.Event.Data.(event.UserMessage); ok {
			contents = append(contents, d.Content)
		}
	}
	return contents
}

// TestFullDisk: a file that cannot grow fails the appends, keeps what it has,
// and takes more once it can grow again.
func TestFullDisk(t *testing.T) {
	db := mustOpen(t, t.TempDir())
	limit := func(pages int) {
		t.Helper()
		if _, err := db.file.Load().conn.ExecContext(t.Context(),
			fmt.Sprint(`PRAGMA max_page_count = `, pages)); err != nil {
			t.Fatal(err)
		}
	}
	entries, s := storetest.Start(t, "a", 1)
	if err := db.Append(t.Context(), "a", entries, s); err != nil {
		t.Fatal(err)
	}
	limit(20)
	big := event.AssistantMessage{MessageID: "m", Content: strings.Repeat("x", 30_000)}
	var full error
	for range 10 {
		e := storetest.Entry(t, s.LastSeq+1, big)
		next := eventlog.Summarize(s, e)
		if full = db.Append(t.Context(), "a", []event.Entry{e}, next); full != nil {
			break
		}
		s = next
	}
	if !errors.Is(full, ErrFull) {
		t.Fatalf("on a full disk: %v", full)
	}
	check := func() {
		t.Helper()
		if got, err := db.After(t.Context(), "a", 0, 100); err != nil || int64(len(got)) != s.LastSeq {
			t.Errorf("%d entries, want %d (%v)", len(got), s.LastSeq, err)
		}
		if err := db.Check(t.Context()); err != nil {
			t.Error(err)
		}
	}
	check()
	if err := db.Writable(t.Context(), len(big.Content)); !errors.Is(err, ErrFull) {
		t.Errorf("Writable on a full disk: %v", err)
	}
	limit(1_000_000)
	if err := db.Writable(t.Context(), len(big.Content)); err != nil {
		t.Errorf("Writable with space again: %v", err)
	}
	var left int
	if err := db.file.Load().read.QueryRow(`SELECT count(*) FROM drafts`).Scan(&left); err != nil ||
		left != 0 {
		t.Errorf("Writable left %d drafts (%v)", left, err)
	}
	e := storetest.Entry(t, s.LastSeq+1, big)
	s = eventlog.Summarize(s, e)
	if err := db.Append(t.Context(), "a", []event.Entry{e}, s); err != nil {
		t.Errorf("with space again: %v", err)
	}
	check()
}

// TestPartlyFullDiskLosesNothing: a disk that takes events again but no marks yet.
// What was accepted is in the file at the end, and so is what comes after.
func TestPartlyFullDiskLosesNothing(t *testing.T) {
	dir := t.TempDir()
	var id eventlog.ID
	var accepted []string
	synctest.Test(t, func(t *testing.T) {
		p := start(t, dir, mood{})
		s := p.begin(t)
		id = s.ID()
		pinned := true
		for i, name := range []string{"full", "full for marks", "good"} {
			p.disk.set(moods[name])
			content := fmt.Sprint("prompt ", i)
			if _, err := s.Send(context.Background(), session.Message{Content: content}); err == nil {
				accepted = append(accepted, content)
			}
			_, _ = p.m.Update(context.Background(), id, sessions.Patch{Pinned: &pinned}) // it may be refused
			time.Sleep(time.Minute)
		}
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	})
	if got := prompts(t, dir, id); !slices.Equal(got, accepted) || len(accepted) < 2 {
		t.Errorf("the file has %q, accepted were %q", got, accepted)
	}
}

// watched is a context that notices when it is looked at.
type watched struct {
	context.Context
	look func()
}

func (w watched) Err() error { w.look(); return w.Context.Err() }

// TestDiskRecoversDuringAnAppend: whatever the moment, an append is taken or refused
// for the disk's sake, never as out of sequence.
func TestDiskRecoversDuringAnAppend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, t.TempDir(), mood{})
		sum := eventlog.Summary{ID: "a"}
		add := func(ctx context.Context) {
			t.Helper()
			e := storetest.Entry(t, sum.LastSeq+1, event.Abort{Reason: "x"})
			next := eventlog.Summarize(sum, e)
			switch err := p.disk.Append(ctx, sum.ID, []event.Entry{e}, next); {
			case err == nil:
				sum = next
			case !errors.Is(err, ErrFull):
				t.Errorf("entry %d: %v", e.Seq, err)
			}
		}
		add(t.Context())
		p.disk.set(moods["full"])
		add(t.Context())
		add(watched{t.Context(), sync.OnceFunc(func() { p.disk.set(mood{}); time.Sleep(time.Minute) })})
		add(t.Context())
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	})
}
