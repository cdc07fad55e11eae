// Package witness is what clients of a server under test see of its sessions, and what must hold of
// that while the server is killed, cut off and started again. It is for tests only.
package witness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Seeded returns the random numbers of a test: the same for the same seed. The
// long runs take theirs from the environment.
func Seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("WEBCHAT_SOAK"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("WEBCHAT_SOAK is %q, want a number", text)
		}
		seed = n
	}
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// Soak skips a long run unless it was asked for.
func Soak(t *testing.T) {
	t.Helper()
	if os.Getenv("WEBCHAT_SOAK") == "" {
		t.Skip("a long run: set WEBCHAT_SOAK to a seed")
	}
}

// Logs is what a program writes to standard error.
type Logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *Logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *Logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Event is what a reader knows of one.
type Event struct {
	Raw       string
	ID        string
	ParentID  string
	Type      string
	Ephemeral bool
	Data      struct {
		MessageID, ToolCallID, RequestID, TurnID string
		Offset                                   int
		DeltaContent, Content, Outcome           string
		Partial                                  bool
		By                                       string
		Error                                    struct{ Code string }
	}
}

// Decode reads one event.
func Decode(t testing.TB, raw []byte) Event {
	t.Helper()
	e := Event{Raw: string(raw)}
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	return e
}

// Closed checks that nothing is open at the end of a session's log, and its chain of parents.
func Closed(t testing.TB, id string, log []Event) {
	t.Helper()
	tools, asks, turns, queued := map[string]int{}, map[string]int{}, map[string]int{},
		map[string]int{}
	parent := ""
	for i, e := range log {
		if e.ParentID != parent {
			t.Errorf("session %s: the parent of event %d is %q, want %q", id, i+1, e.ParentID, parent)
		}
		parent = e.ID
		switch e.Type {
		case "user.message":
			queued[e.Data.MessageID]++
		case "user.message_withdrawn":
			queued[e.Data.MessageID]--
		case "turn.start":
			turns[e.Data.TurnID]++
			queued[e.Data.MessageID]--
		case "turn.end":
			turns[e.Data.TurnID]--
		case "tool.execution_start":
			tools[e.Data.ToolCallID]++
		case "tool.execution_complete":
			tools[e.Data.ToolCallID]--
		case "permission.requested", "user_input.requested":
			asks[e.Data.RequestID]++
		case "permission.completed", "user_input.completed":
			asks[e.Data.RequestID]--
		case "assistant.message":
			if e.Data.Partial && (i+1 == len(log) || e.Data.Content == "") {
				t.Errorf("session %s: event %d is a partial message and nothing follows, or nothing is in it",
					id, i+1)
			}
		}
	}
	for what, all := range map[string]map[string]int{"tool": tools, "request": asks, "turn": turns,
		"prompt": queued} {
		for key, n := range all {
			if n != 0 && (what != "prompt" || n != 1) { // a prompt that waited goes on waiting
				t.Errorf("session %s: the %s %s is open (%+d)", id, what, key, n)
			}
		}
	}
}

// Story is what a reader of the plain stream knows of a session.
type Story struct {
	Logged []string
	Texts  map[string]string // messages as their deltas made them
	Wholes map[string]string // and as the log has them
	// Lost is how many bytes of a message may be lost that had begun when its server was killed.
	Lost int
}

// NewStory returns one that knows nothing yet.
func NewStory() *Story { return &Story{Texts: map[string]string{}, Wholes: map[string]string{}} }

// Take checks each frame against what came before: no hole, no repeat.
func (st *Story) Take(f Frame) error {
	var e Event
	if err := json.Unmarshal([]byte(f.Data), &e); err != nil {
		return err
	}
	switch e.Type {
	case "stream.resync":
		return fmt.Errorf("a resync although the place was right")
	case "assistant.message_delta":
		old := st.Texts[e.Data.MessageID]
		if e.Data.Offset > len(old) {
			return fmt.Errorf("message %s: a delta at %d of %d bytes", e.Data.MessageID, e.Data.Offset,
				len(old))
		}
		if whole, done := st.Wholes[e.Data.MessageID]; done {
			return fmt.Errorf("a delta of a message that is whole: %.50s", whole)
		}
		st.Texts[e.Data.MessageID] = old[:e.Data.Offset] + e.Data.DeltaContent
	case "assistant.message":
		// A reader that joined meanwhile may have no delta of it: then it has the whole.
		// Of a message that a kill cut off the last part may be missing.
		if old := st.Texts[e.Data.MessageID]; !strings.HasPrefix(e.Data.Content, old) &&
			!(e.Data.Partial && strings.HasPrefix(old, e.Data.Content)) {
			return fmt.Errorf("message %s: the deltas made %.80q, the whole is %.80q", e.Data.MessageID, old,
				e.Data.Content)
		}
		st.Wholes[e.Data.MessageID] = e.Data.Content
		st.Texts[e.Data.MessageID] = e.Data.Content
	}
	if e.Ephemeral {
		if f.ID != "" && f.ID != strconv.Itoa(len(st.Logged)) {
			return fmt.Errorf("%s has the id %s after %d events", e.Type, f.ID, len(st.Logged))
		}
		return nil
	}
	if f.ID != strconv.Itoa(len(st.Logged)+1) {
		return fmt.Errorf("event %s follows %d: %.80s", f.ID, len(st.Logged), f.Data)
	}
	st.Logged = append(st.Logged, f.Data)
	return nil
}

// Same compares what a reader has with the log.
func Same(t testing.TB, name string, st *Story, log []Event) {
	t.Helper()
	if len(st.Logged) != len(log) {
		t.Errorf("%s: %d events, the log has %d", name, len(st.Logged), len(log))
	}
	for i := range min(len(log), len(st.Logged)) {
		if st.Logged[i] != log[i].Raw {
			t.Errorf("%s: event %d is %s", name, i+1, st.Logged[i])
		}
	}
	for id, text := range st.Texts {
		if whole := st.Wholes[id]; !strings.HasPrefix(whole, text) &&
			!(whole == "" && len(text) < st.Lost) {
			t.Errorf("%s: message %s is %q in pieces and %q whole", name, id, text, whole)
		}
	}
}
