package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"webchat/internal/e2e/witness"
	"webchat/internal/store"
)

// observer is what one client saw of a session.
type observer struct {
	mu     sync.Mutex // guards what follows
	logged map[int]string
	texts  map[string]text // of messages in flight
	began  map[string]bool // what it saw begin, by kind; a message, when some of it is old
	err    error           // what it saw that cannot be
}

// text is what was seen of a message, and how much of it a while ago.
type text struct {
	all  string
	last time.Time     // of the last delta
	told time.Duration // how long its agent went on telling
	seen []seen
}

type seen struct {
	told  time.Duration
	bytes int
}

// add takes a delta that comes now. A server that rests can save nothing: a longer
// silence than an agent makes between two words counts as one of that length.
func (x *text) add(offset int, delta string) {
	now := time.Now()
	if len(x.seen) > 0 {
		x.told += min(now.Sub(x.last), silence)
	}
	x.last = now
	x.all = x.all[:offset] + delta
	x.seen = append(x.seen, seen{x.told, len(x.all)})
}

// old returns how many bytes were seen so long ago that a kill must not lose them.
func (x *text) old() (bytes int) {
	for _, p := range x.seen {
		if x.told-p.told > kept {
			bytes = p.bytes
		}
	}
	return bytes
}

// watch reads the session's stream until it ends; joined is closed when it has begun.
func (s *server) watch(id string, w *observer, joined chan<- struct{}) {
	res, err := s.ask(s.t.Context(), s.url, "GET", "/api/sessions/"+id+"/events", "",
		"Accept: text/event-stream")
	close(joined)
	if err != nil {
		return // the server has gone already
	}
	defer res.Body.Close()
	last := 0
	_ = witness.Frames(res.Body, func(f witness.Frame) bool { // it ends with the server
		w.mu.Lock()
		defer w.mu.Unlock()
		var e witness.Event
		if err := json.Unmarshal([]byte(f.Data), &e); err != nil {
			w.err = err
			return false
		}
		if n, err := strconv.Atoi(f.ID); !e.Ephemeral {
			if err != nil || n != last+1 {
				w.err = fmt.Errorf("event %q follows %d", f.ID, last)
			}
			last = n
			w.logged[n] = f.Data
		}
		if e.Type == "assistant.message_delta" {
			x := w.texts[e.Data.MessageID]
			if e.Data.Offset > len(x.all) {
				w.err = fmt.Errorf("a delta at %d of %d bytes", e.Data.Offset, len(x.all))
				return false
			}
			x.add(e.Data.Offset, e.Data.DeltaContent)
			w.texts[e.Data.MessageID] = x
			w.began["message"] = w.began["message"] || x.old() > 0
		}
		w.began[opening[e.Type]] = true
		return true
	})
}

// deeds are what users do; the agent's command asks, and no answer comes.
var deeds = []struct{ path, body string }{
	{"messages", `{"content":"stream 60 words slowly"}`},
	{"messages", `{"content":"stream 3000 words"}`},
	{"messages", `{"content":"show me go.mod then stream 40 words slowly"}`},
	{"messages", `{"content":"run sleep 30"}`},
	{"display", `{"tool":"run_and_display","arguments":{"command":"sleep 30"}}`},
	{"display", `{"tool":"render_file_contents","arguments":{"path":"docs/harbour.md"}}`},
}

// opening are the events that something begins with which a kill leaves open, and
// leading the deeds that lead to it.
var (
	opening = map[string]string{"turn.start": "turn", "tool.execution_start": "tool",
		"permission.requested": "question"}
	leading = map[string]int{"turn": 1, "message": 0, "tool": 4, "question": 3}
)

// round lets users act, kills the server when a client saw what began, or at a random
// instant if that is empty, and returns who saw what.
func (s *server) round(rnd *rand.Rand, what string) map[string]*observer {
	s.t.Helper()
	all := map[string]*observer{}
	var work sync.WaitGroup
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	for range 3 {
		id, w, joined := s.session(), &observer{
			logged: map[int]string{},
			texts:  map[string]text{},
			began:  map[string]bool{},
		}, make(chan struct{})
		all[id] = w
		work.Go(func() { s.watch(id, w, joined) })
		<-joined
		for i := range 1 + rnd.IntN(3) {
			deed := deeds[rnd.IntN(len(deeds))]
			if n, ok := leading[what]; ok && i == 0 {
				deed = deeds[n]
			}
			work.Go(func() {
				if res, err := s.ask(ctx, s.url, "POST", "/api/sessions/"+id+"/"+deed.path,
					deed.body); err == nil {
					_ = res.Body.Close() // what it said is in the log, if it was said
				}
			})
		}
	}
	if what == "" {
		<-time.After(time.Duration(rnd.Int64N(int64(900 * time.Millisecond))))
	} else {
		s.await(what, all)
	}
	s.end(syscall.SIGKILL)
	cancel()
	work.Wait()
	return all
}

// await waits until a client saw it begin.
func (s *server) await(what string, all map[string]*observer) {
	s.t.Helper()
	late := time.After(patience)
	for {
		for _, w := range all {
			w.mu.Lock()
			began := w.began[what]
			w.mu.Unlock()
			if began {
				return
			}
		}
		select {
		case <-late:
			s.t.Errorf("no %s was seen to begin", what)
			return
		case <-time.After(time.Millisecond):
		}
	}
}

const (
	// kept is the age of text that a kill must not lose: drafts are saved every 250
	// ms, and a busy machine is late.
	kept = 250*time.Millisecond + 750*time.Millisecond
	// silence is what the offline agent makes of 50 ms between two slow words, at most,
	// on a machine that runs it.
	silence = 100 * time.Millisecond
)

// judge compares a session with what was seen of it.
func (s *server) judge(id string, w *observer) {
	t := s.t
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		t.Errorf("session %s: %v", id, w.err)
	}
	log := s.logOf(id)
	for n, data := range w.logged {
		if n > len(log) || log[n-1].Raw != data {
			t.Errorf("session %s: event %d was seen and is not in the log of %d:\n%s", id, n, len(log), data)
		}
	}
	witness.Closed(t, id, log)
	for _, e := range log {
		s.tally(e)
	}
	for message, x := range w.texts {
		old := x.old()
		got, found := "", false
		for _, e := range log {
			if e.Type == "assistant.message" && e.Data.MessageID == message {
				got, found = e.Data.Content, true
			}
		}
		if old > 0 && !found || len(got) < old || !strings.HasPrefix(got, x.all) &&
			!strings.HasPrefix(x.all, got) {
			t.Errorf("session %s: of message %s %d bytes were seen long before, the log has %d\nseen: "+
				"%.200q\nlog:  %.200q", id, message, old, len(got), x.all, got)
		}
	}
}

// tally counts what a start had to close.
func (s *server) tally(e witness.Event) {
	switch {
	case e.Type == "turn.end" && e.Data.Outcome == "interrupted":
		s.closedLate["turn"]++
	case e.Type == "assistant.message" && e.Data.Partial:
		s.closedLate["message"]++
	case e.Type == "tool.execution_complete" && e.Data.Error.Code == "interrupted":
		s.closedLate["tool"]++
	case e.Type == "permission.completed" && e.Data.By == "abort":
		s.closedLate["question"]++
	}
}

// sound checks the database the killed server left, on a copy: the next start
// finds the file as it was.
func (s *server) sound() {
	s.t.Helper()
	dir := s.t.TempDir()
	for _, name := range []string{"webchat.db", "webchat.db-wal"} {
		b, err := os.ReadFile(filepath.Join(s.data, name))
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	db, err := store.Open(store.Config{Dir: dir})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := db.Check(s.t.Context()); err != nil {
		s.t.Error(err)
	}
	if err := db.Close(); err != nil {
		s.t.Error(err)
	}
}

func killRounds(t *testing.T, rounds int) {
	rnd := witness.Seeded(t)
	s := newServer(t)
	slowest := time.Duration(0)
	s.up()
	kinds := []string{"turn", "message", "tool", "question"}
	for i := range rounds {
		what := ""
		if i < len(kinds) {
			what = kinds[i]
		}
		all := s.round(rnd, what)
		s.sound()
		slowest = max(slowest, s.up())
		for id, w := range all {
			s.judge(id, w)
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("soak: %d kills, 0 lost; the slowest start took %v; closed at a start: %v", rounds,
		slowest.Round(time.Millisecond), s.closedLate)
	for _, what := range kinds {
		if s.closedLate[what] == 0 {
			t.Errorf("no %s was open at any of the kills, so nothing was tried", what)
		}
	}
	s.end(syscall.SIGTERM)
	s.sound()
}

// TestKill: whatever the instant a server is killed at, the next one has all that
// any client saw, closed and without holes.
func TestKill(t *testing.T) { killRounds(t, 20) }

func TestSoakKill(t *testing.T) {
	witness.Soak(t)
	killRounds(t, 500)
}
