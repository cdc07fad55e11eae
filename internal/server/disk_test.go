package server_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"webchat/internal/agent/offline"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
	"webchat/internal/store"
	"webchat/internal/store/storetest"
)

// fillable is a store whose disk can be full.
type fillable struct {
	*storetest.Memory
	full atomic.Bool
	away atomic.Bool // nothing can be read or written
}

func (f *fillable) List(ctx context.Context, q sessions.Query) (sessions.Page, error) {
	if f.away.Load() {
		return sessions.Page{}, store.ErrAway
	}
	return f.Memory.List(ctx, q)
}

func (f *fillable) fault() error {
	if f.full.Load() {
		return store.ErrFull
	}
	if f.away.Load() {
		return store.ErrAway
	}
	return nil
}

func (f *fillable) Append(ctx context.Context, id eventlog.ID, entries []event.Entry,
	s eventlog.Summary) error {
	if err := f.fault(); err != nil {
		return err
	}
	return f.Memory.Append(ctx, id, entries, s)
}

func (f *fillable) Mark(ctx context.Context, id eventlog.ID, m sessions.Mark) error {
	if err := f.fault(); err != nil {
		return err
	}
	return f.Memory.Mark(ctx, id, m)
}

func (f *fillable) Writable(context.Context, int) error { return f.fault() }

// On a full disk what cannot be saved is refused, every page says why, and reading
// and looking go on; with room again everything does.
func TestFullDisk(t *testing.T) {
	db := &fillable{Memory: storetest.NewMemory()}
	h := newHouseOn(t, db, offline.New(offline.Config{Path: os.Getenv("PATH")}))
	h.file("a.txt", "hello\n")
	id, path := h.session(t)
	h.say(t, path, "show a.txt")
	want := func(method, path, body string, status int, parts ...string) string {
		t.Helper()
		res, got := h.do(method, path, body)
		if res.StatusCode != status {
			t.Fatalf("%s %s: %d %s, want %d", method, path, res.StatusCode, got, status)
		}
		for _, p := range parts {
			if !strings.Contains(got, p) {
				t.Errorf("%s %s has no %s: %s", method, path, p, got)
			}
		}
		return got
	}
	const shown, hidden = `id="trouble"><`, `id="trouble" hidden`
	list, live := h.open(t, "GET", "/api/stream", ""), h.open(t, "GET", path+"/events?after=1", "")
	db.full.Store(true)
	want("POST", path+"/messages", `{"content":"hi"}`, 503, `"code":"log_unavailable"`,
		"nothing was changed: the disk is full. Free some space, then try again.")
	for _, r := range []*reader{list, live} {
		all := r.until("session.error")
		if last := all[len(all)-1].data; !strings.Contains(last, `"errorType":"log"`) ||
			!strings.Contains(last, "the disk is full. Free some space") {
			t.Errorf("told %s", last)
		}
	}
	want("GET", "/readyz", ``, 503, "log\n")
	want("GET", "/healthz", ``, 200, "ok\n")
	want("POST", "/api/sessions", `{}`, 503, `"code":"log_unavailable"`)
	want("PATCH", path, `{"pinned":true}`, 503, `"code":"log_unavailable"`)
	want("DELETE", path, ``, 503, `"code":"log_unavailable"`)
	for _, page := range []string{"/", "/sessions", "/sessions/" + id} {
		want("GET", page, ``, 200, shown, "the disk is full")
	}
	want("GET", path+"/events", ``, 200, `"turn.end"`)
	before := len(h.logOf(t, path))
	var look struct {
		NotKept bool
		Output  struct{ ID string }
	}
	if err := json.Unmarshal([]byte(want("POST", path+"/display",
		`{"tool":"render_file_contents","arguments":{"path":"a.txt"}}`,
		200)), &look); err != nil || !look.NotKept {
		t.Errorf("a look: %+v, %v", look, err)
	}
	if got := want("GET", "/api/outputs/"+look.Output.ID, ``, 200); got != "hello\n" {
		t.Errorf("the look shows %q", got)
	}
	want("POST", path+"/display", `{"tool":"render_file_contents","arguments":{"path":"no.txt"}}`, 422,
		`"notKept":true`)
	db.full.Store(false)
	for _, r := range []*reader{list, live} {
		all := r.until("session.error")
		if last := all[len(all)-1].data; !strings.Contains(last, `"errorType":"saved"`) {
			t.Errorf("told %s", last)
		}
	}
	want("GET", "/readyz", ``, 200, "ready\n")
	if after := len(h.logOf(t, path)); after != before {
		t.Errorf("the log went from %d to %d events", before, after)
	}
	db.away.Store(true)
	want("GET", "/api/sessions", ``, 503, `"code":"log_unavailable"`,
		"The database does not answer. Check that PostgreSQL runs and can be reached, then try again.")
	want("PATCH", path, `{"pinned":true}`, 503, `"code":"log_unavailable"`)
	want("GET", "/readyz", ``, 503, "engine\n")
	db.away.Store(false)
	live.until("session.error") // that it cannot be saved
	live.until("session.error") // that it can
	want("GET", "/readyz", ``, 200, "ready\n")
	for _, page := range []string{"/", "/sessions", "/sessions/" + id} {
		want("GET", page, ``, 200, hidden)
	}
	h.say(t, path, "show a.txt")
	if got := want("POST", path+"/display",
		`{"tool":"render_file_contents","arguments":{"path":"a.txt"}}`, 200); strings.Contains(got,
		"notKept") {
		t.Errorf("a look: %s", got)
	}
}
