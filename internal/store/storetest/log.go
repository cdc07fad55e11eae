package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
)

func exactBytes(t *testing.T, r *rig) {
	entries, s := Start(t, "a", 3)
	// An event of a later program, with an odd but valid spelling.
	odd := []byte(
		`{"id":"x","timestamp":"2026-01-02T03:04:05.000Z","parentId":null,"type":"later.thing","data":{ "b" : 1, "a":"\u00e4"}}`)
	unknown, err := event.Unmarshal(odd)
	if err != nil {
		t.Fatal(err)
	}
	big := Entry(t, 5, event.AssistantMessage{
		MessageID: "big",
		Content:   string(bytes.Repeat([]byte("long 長い "), 50_000)),
	})
	entries = append(entries, event.Entry{Seq: 4, Event: unknown, JSON: odd}, big)
	s = Fold(s, entries[3:])
	if err := r.Append(t.Context(), "a", entries, s); err != nil {
		t.Fatal(err)
	}
	r.same(r.all("a"), entries)
	r.again()
	r.same(r.all("a"), entries)
}

func after(t *testing.T, r *rig) {
	entries, s := Start(t, "a", 20)
	if err := r.Append(t.Context(), "a", entries, s); err != nil {
		t.Fatal(err)
	}
	r.begin("b", 5)
	for _, c := range []struct {
		seq      int64
		limit    int
		from, to int
	}{{0, 100, 0, 20}, {-5, 3, 0, 3}, {7, 5, 7, 12}, {19, 5, 19, 20}, {20, 5, 0, 0}, {21, 5, 0, 0},
		{1 << 62, 5, 0, 0}, {3, 0, 3, 20}} {
		got, err := r.After(t.Context(), "a", c.seq, c.limit)
		if err != nil {
			t.Errorf("After(%d): %v", c.seq, err)
		}
		r.same(got, entries[c.from:c.to])
	}
	if got, err := r.After(t.Context(), "unknown", 0, 10); err != nil || len(got) != 0 {
		t.Errorf("After of an unknown session: %v, %v", got, err)
	}
}

func sequences(t *testing.T, r *rig) {
	s := r.begin("a", 3)
	before := r.all("a")
	try := func(id eventlog.ID, seqs ...int64) {
		t.Helper()
		var entries []event.Entry
		for _, seq := range seqs {
			entries = append(entries, Entry(t, seq, event.Abort{Reason: "x"}))
		}
		bad := Fold(s, entries)
		bad.ID, bad.Title = id, "must not be written"
		if err := r.Append(t.Context(), id, entries, bad); !errors.Is(err, r.notNext) {
			t.Errorf("Append of %v to %s: %v", seqs, id, err)
		}
	}
	try("a", 5)       // a hole
	try("a", 3)       // a repeat
	try("a", 1)       // a second beginning
	try("a", 4, 6)    // a hole within
	try("a", 4, 4)    // a repeat within
	try("new", 2)     // no beginning
	try("new", 0)     // before the beginning
	try("new", -1, 0) // far before
	r.same(r.all("a"), before)
	if got, err := r.Summary(t.Context(), "a"); err != nil || got.Title != s.Title ||
		got.LastSeq != 3 {
		t.Errorf("after refusals the session is %+v, %v", got, err)
	}
	if _, err := r.Summary(t.Context(), "new"); !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("a refused beginning left a session: %v", err)
	}
	r.add(s, event.Abort{Reason: "next"})
	if n := len(r.all("a")); n != 4 {
		t.Errorf("%d entries, want 4", n)
	}
}

func refusals(t *testing.T, r *rig) {
	s := r.begin("a", 1)
	e := Entry(t, 2, event.Abort{Reason: "x"})
	next := eventlog.Summarize(s, e)
	for name, f := range map[string]func(*event.Entry, *eventlog.Summary){
		"ephemeral":         func(e *event.Entry, _ *eventlog.Summary) { e.Event.Ephemeral = true },
		"not encoded":       func(e *event.Entry, _ *eventlog.Summary) { e.JSON = nil },
		"other session":     func(_ *event.Entry, s *eventlog.Summary) { s.ID = "b" },
		"other last number": func(_ *event.Entry, s *eventlog.Summary) { s.LastSeq = 7 },
	} {
		bad, sum := e, next
		f(&bad, &sum)
		if err := r.Append(t.Context(), "a", []event.Entry{bad}, sum); !errors.Is(err,
			eventlog.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := r.Append(t.Context(), "a", nil, next); err != nil {
		t.Errorf("nothing to append: %v", err)
	}
	if n := len(r.all("a")); n != 1 {
		t.Errorf("%d entries, want 1", n)
	}
}

// concurrent: many sessions at once; each log is whole and its own.
func concurrent(t *testing.T, r *rig) {
	const writers, rounds = 12, 12
	want := make([][]event.Entry, writers)
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			id := eventlog.ID(fmt.Sprint("s", i))
			entries, s := Start(t, id, 2)
			for round := 0; ; round++ {
				if err := r.Append(t.Context(), id, entries, s); err != nil {
					t.Errorf("Append: %v", err)
					return
				}
				want[i] = append(want[i], entries...)
				if round == rounds {
					return
				}
				if got, err := r.After(t.Context(), id, s.LastSeq-1, 10); err != nil || len(got) != 1 {
					t.Errorf("an entry that was appended is not there: %v, %v", got, err)
				}
				entries = []event.Entry{Entry(t, s.LastSeq+1, event.Abort{Reason: fmt.Sprint(i, round)})}
				s = Fold(s, entries)
			}
		})
	}
	all.Wait()
	r.again()
	for i := range writers {
		r.same(r.all(eventlog.ID(fmt.Sprint("s", i))), want[i])
	}
}

// cancel: whatever the instant a context ends, Append says what is true.
func cancel(t *testing.T, r *rig) {
	const others = 4
	stop := make(chan struct{})
	var all sync.WaitGroup
	for i := range others { // so that commits are shared and queues exist
		s := r.begin(eventlog.ID(fmt.Sprint("other", i)), 1)
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				e := Entry(t, s.LastSeq+1, event.Abort{Reason: "x"})
				s = eventlog.Summarize(s, e)
				if err := r.Append(t.Context(), s.ID, []event.Entry{e}, s); err != nil {
					t.Errorf("Append: %v", err)
					return
				}
			}
		})
	}
	s := r.begin("a", 1)
	cancelled := 0
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 150 {
		e := Entry(t, s.LastSeq+1, event.Abort{Reason: "x"})
		next := eventlog.Summarize(s, e)
		ctx, cancel := context.WithCancel(t.Context())
		spins := rnd.IntN(20_000)
		all.Go(func() {
			for range spins { // an arbitrary instant
				_ = ctx.Err()
			}
			cancel()
		})
		err := r.Append(ctx, "a", []event.Entry{e}, next)
		there := len(r.all("a")) == int(next.LastSeq)
		switch {
		case err == nil && !there:
			t.Fatalf("Append returned nil, and entry %d is not in the log", next.LastSeq)
		case err != nil && there:
			t.Fatalf("Append returned %v, and entry %d is in the log", err, next.LastSeq)
		case err != nil && !errors.Is(err, context.Canceled):
			t.Fatalf("Append: %v", err)
		case err == nil:
			s = next
		default:
			cancelled++
		}
	}
	close(stop)
	all.Wait()
	ctx, end := context.WithCancel(t.Context())
	end()
	e := Entry(t, s.LastSeq+1, event.Abort{Reason: "x"})
	if err := r.Append(ctx, "a", []event.Entry{e}, eventlog.Summarize(s, e)); !errors.Is(err,
		context.Canceled) {
		t.Errorf("Append with an ended context: %v", err)
	}
	t.Logf("%d of 150 appends were withdrawn", cancelled)
}

// oddTexts: what users and agents write comes back as it was, also where it is not text.
func oddTexts(t *testing.T, r *rig) {
	entries, s := Start(t, "a", 1)
	s.Title, s.Model, s.Backend, s.Workspace = "Oddly\x00 \xff named", "m\x00\xfe", "b\x00",
		"/w\xff\x00/x"
	if err := r.Append(t.Context(), "a", entries, s); err != nil {
		t.Fatal(err)
	}
	s = r.add(s, event.UserMessage{MessageID: "m", Content: "what about\x00 gulls"})
	got, err := r.Summary(t.Context(), "a")
	if err != nil || got.Title != s.Title || got.Model != s.Model || got.Backend != s.Backend ||
		got.Workspace != s.Workspace {
		t.Errorf("%+v, %v", got, err)
	}
	for _, q := range []sessions.Query{{Text: "oddly named"}, {Text: "gulls"},
		{Filter: sessions.Filter{Workspaces: []string{s.Workspace}}}} {
		if got := r.list(q); got != "a" {
			t.Errorf("%+v lists %q", q, got)
		}
	}
	if got := r.list(sessions.Query{Text: "nothing\x00\xff"}); got != "" {
		t.Errorf("lists %q", got)
	}
	if _, err := r.Summary(t.Context(), "n\x00\xff"); !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("an odd id: %v", err)
	}
}
