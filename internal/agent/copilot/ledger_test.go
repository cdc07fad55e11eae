package copilot_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"webchat/internal/agent/copilot"
	"webchat/internal/agent/copilot/copilottest"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/session"
)

// recording is a model that records what its answers cost.
type recording struct {
	mu   sync.Mutex // guards what follows
	cost event.Usage
	hurt map[string]bool // prompts that it failed once
}

// answer does what the first word of a prompt says.
func (m *recording) answer(r copilottest.Request) *copilottest.Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	prompt := r.Prompt()
	verb, n, _ := strings.Cut(prompt, " ")
	reply := summing(r)
	told := r.Messages[len(r.Messages)-1].Role == "tool"
	switch {
	case reply != nil:
	case verb == "stay":
		return &copilottest.Reply{Text: strings.Repeat("word ", 1000), Pause: 20 * time.Millisecond} // it is killed
	case verb == "retry" && !m.hurt[prompt]:
		m.hurt[prompt] = true
		return &copilottest.Reply{Status: 500}
	case verb == "tool" && !told:
		reply = &copilottest.Reply{Calls: []copilottest.Call{{Tool: "run_and_display", Arguments: `{"command":"echo ` + n + `"}`}}}
	case verb == "helper" && !told:
		reply = &copilottest.Reply{Calls: []copilottest.Call{{Tool: "task", Arguments: `{"description":"look","prompt":"tool ` + n + `","agent_type":"general-purpose","name":"h` + n + `"}`}}}
	default:
		reply = &copilottest.Reply{Text: "Said: " + prompt}
	}
	m.cost.Calls++
	reply.In, reply.Out = 100+7*int(m.cost.Calls), 10+int(m.cost.Calls)%13
	m.cost.InputTokens += int64(reply.In)
	m.cost.OutputTokens += int64(reply.Out)
	return reply
}

// total is what the answers cost so far.
func (m *recording) total() event.Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cost
}

// ledger has a session of so many turns, with every kind of call of a model, two
// compactions and a kill -9, and compares what it says they cost with the recording.
func ledger(t *testing.T, turns int) {
	h := newHouse(t, alone)
	m := &recording{hurt: map[string]bool{}}
	h.model.Answer(m.answer)
	s := h.session()
	for i := range turns {
		switch {
		case i == turns/3 || i == 2*turns/3:
			if err := s.Compact(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		case i == turns/2:
			h.killed(s)
		}
		verb := "say"
		switch {
		case i%40 == 4:
			verb = "retry"
		case i%5 == 2:
			verb = "helper"
		case i%2 == 1:
			verb = "tool"
		}
		if r := h.ask(s, fmt.Sprintf("%s %d", verb, i)); r.Error != "" {
			t.Fatalf("turn %d: %s", i, r.Error)
		}
	}
	want := m.total()
	h.until("the last report of a cost", func() bool { return s.Summary().Usage.Calls >= want.Calls })
	got := s.Summary().Usage
	if got.Calls != want.Calls || got.InputTokens != want.InputTokens || got.OutputTokens != want.OutputTokens {
		t.Errorf("the ledger says %d calls, %d tokens in and %d out; the recording %d, %d and %d",
			got.Calls, got.InputTokens, got.OutputTokens, want.Calls, want.InputTokens, want.OutputTokens)
	}
	compacted, failed := 0, 0
	for _, d := range h.sofar(s) {
		if _, ok := d.(event.SessionCompactionComplete); ok {
			compacted++
		} else if retried(d) {
			failed++
		}
	}
	if compacted != 2 || failed != len(m.hurt) || failed == 0 {
		t.Errorf("%d compactions, %d retries", compacted, failed)
	}
	t.Logf("soak: a session of %d turns and %d calls of a model, with two compactions, helpers, %d retries and a kill: every token is in the ledger", turns, got.Calls, failed)
}

// killed sends a prompt and kills the CLI in the middle of its answer.
func (h *house) killed(s *session.Session) {
	h.t.Helper()
	if r := h.cut(s, func() { kill(h.t, copilot.PID(h.backend)) }); !strings.Contains(r.Error, "was killed") {
		h.t.Fatalf("%+v", r)
	}
}

// cut sends a prompt that is answered slowly, and does something in the middle of the answer.
func (h *house) cut(s *session.Session, do func()) eventlog.TurnResult {
	h.t.Helper()
	live := s.Subscribe()
	defer live.Close()
	id, err := s.Send(h.t.Context(), session.Message{Content: "stay"})
	if err != nil {
		h.t.Fatal(err)
	}
	for streams := false; !streams; {
		entries, err := live.Next(h.t.Context())
		if err != nil {
			h.t.Fatal(err)
		}
		for _, e := range entries {
			_, delta := e.Event.Data.(event.AssistantMessageDelta)
			streams = streams || delta
		}
	}
	do()
	r, err := s.WaitTurn(h.t.Context(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// The ledger says what a recording model counted: compactions, helpers, retries and a
// turn that kill -9 cut off included.
func TestRealLedger(t *testing.T) { ledger(t, 9) }

// The same over a day.
func TestRealLedgerSoak(t *testing.T) {
	if os.Getenv("WEBCHAT_SOAK") == "" {
		t.Skip("a long run: set WEBCHAT_SOAK to a seed")
	}
	ledger(t, 200)
}
