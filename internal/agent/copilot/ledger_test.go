package copilot_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"webchat/internal/agent/copilot"
	"webchat/internal/agent/copilot/copilottest"
	"webchat/internal/displaytools"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/session"
	"webchat/internal/tokens"
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
		// it is killed
		return &copilottest.Reply{Text: strings.Repeat("word ", 1000), Pause: 20 * time.Millisecond}
	case verb == "retry" && !m.hurt[prompt]:
		m.hurt[prompt] = true
		return &copilottest.Reply{Status: 500}
	case verb == "tool" && !told:
		reply = &copilottest.Reply{Calls: []copilottest.Call{{
			Tool:      "run_and_display",
			Arguments: `{"command":"echo ` + n + `"}`,
		}}}
	case verb == "helper" && !told:
		reply = &copilottest.Reply{Calls: []copilottest.Call{{
			Tool: "task",
			Arguments: `{"description":"look","prompt":"tool ` + n +
				`","agent_type":"general-purpose","name":"h` + n + `"}`,
		}}}
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
	want.Calls++ // the one that was cut off, of which there is no report
	h.until("the last report of a cost", func() bool { return s.Summary().Usage.Calls >= want.Calls })
	got := s.Summary().Usage
	if got.EstimatedTokens == 0 || got.Calls != want.Calls ||
		got.InputTokens-got.EstimatedTokens != want.InputTokens || got.OutputTokens != want.OutputTokens {
		t.Errorf("the ledger says %d calls, %d tokens in and %d out; the recording %d, %d and %d",
			got.Calls, got.InputTokens, got.OutputTokens, want.Calls, want.InputTokens, want.OutputTokens)
	}
	compacted, failed := 0, 0
	for _, d := range h.sofar(s) {
		if _, ok := d.(event.SessionCompactionComplete); ok {
			compacted++
		} else if e, ok := d.(event.SessionError); ok && e.Kind == event.KindRetrying {
			failed++
		}
	}
	if compacted != 2 || failed != len(m.hurt) || failed == 0 {
		t.Errorf("%d compactions, %d retries", compacted, failed)
	}
	t.Logf("soak: a session of %d turns and %d calls of a model, with two compactions, helpers, %d "+
		"retries and a kill: every token is in the ledger", turns, got.Calls, failed)
}

// killed sends a prompt and kills the CLI in the middle of its answer.
func (h *house) killed(s *session.Session) {
	h.t.Helper()
	if r := h.cut(s, func() {
		kill(h.t, copilot.PID(h.backend))
	}); !strings.Contains(r.Error, "was killed") {
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

// counting is a model that charges what a request holds, and counts what of it is webchat's, and
// what displays kept out of it, from nothing but the requests.
type counting struct {
	t     *testing.T
	mu    sync.Mutex       // guards what follows
	shown map[string]int64 // tokens of what a line stands for, by the line
	all   event.Usage
	cut   int64 // tokens of the request that was not answered to its end
}

func (m *counting) answer(r copilottest.Request) *copilottest.Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	size, _ := tokens.Count(string(r.Body))
	if r.Prompt() == "stay" {
		m.cut = int64(size)
		m.count(r, size, 0)
		return &copilottest.Reply{Text: strings.Repeat("word ", 1000), Pause: 20 * time.Millisecond}
	}
	reply := summing(r)
	path, show := strings.CutPrefix(r.Prompt(), "show ")
	switch last := r.Messages[len(r.Messages)-1]; {
	case reply != nil: // beside the conversation
		m.all.Calls++
		m.all.InputTokens += int64(size)
	case show && last.Role != "tool":
		reply = &copilottest.Reply{Calls: []copilottest.Call{{
			Tool:      displaytools.RenderFile,
			Arguments: `{"path":"` + path + `"}`,
		}}}
	default:
		reply = &copilottest.Reply{Text: "Done."}
	}
	reply.In, reply.Out = size, 7
	if m.all.OutputTokens += 7; summing(r) == nil {
		m.count(r, size, 7)
	}
	return reply
}

// count counts one request of the conversation.
func (m *counting) count(r copilottest.Request, in, out int) {
	kept, own := int64(0), definitionsIn(m.t, r)
	m.all.Calls++
	m.all.InputTokens += int64(in)
	m.all.DefinitionTokens += own
	for i, x := range r.Messages {
		if x.Role != "tool" {
			continue
		}
		if n, isDisplay := m.shown[x.Content]; isDisplay {
			line, _ := tokens.Count(x.Content)
			kept, own = kept+n, own+int64(line)
		} else if i == len(r.Messages)-1 && strings.HasPrefix(r.Prompt(), "show ") {
			// a failed display is all that this call follows
			own = int64(in + out)
		}
	}
	m.all.KeptTokens += min(kept, max(0, 128_000-int64(in)))
	m.all.OwnTokens += own
}

// compare compares what the ledger says with the requests. The estimate of the calls that were cut
// is the one figure that may differ, and how much room they left.
func (m *counting) compare(got event.Usage) {
	m.t.Helper()
	want := m.all
	off := got.EstimatedTokens - m.cut
	want.InputTokens += off
	want.EstimatedTokens = got.EstimatedTokens
	if room := got.KeptTokens - want.KeptTokens; max(room, -room) <= max(off, -off) {
		want.KeptTokens = got.KeptTokens
	}
	if got != want {
		m.t.Errorf("the ledger says %+v\nthe requests   %+v", got, want)
	}
}

// What the sheet says is what is counted from the requests: through displays, one that fails, a
// compaction, and a call that the user stops.
func TestRealSheet(t *testing.T) {
	h := newHouse(t, nil)
	m := &counting{t: t, shown: map[string]int64{}}
	for name, lines := range map[string]int{"a.txt": 2_000, "b.txt": 500, "c.txt": 40_000} {
		content := strings.Repeat("a line of it\n", lines)
		write(t, filepath.Join(h.dir, name), []byte(content))
		n, _ := tokens.Count(content)
		m.shown[fmt.Sprintf("Displayed %s to user (%d lines)", name, lines)] = int64(n)
	}
	h.model.Answer(m.answer)
	s := h.session()
	for _, prompt := range []string{"hi", "show a.txt", "show b.txt", "show none.txt", "again",
		"/compact", "hi", "show b.txt", "show c.txt", "again"} {
		if prompt == "/compact" {
			if err := s.Compact(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		} else if r := h.ask(s, prompt); r.Error != "" {
			t.Fatalf("%s: %s", prompt, r.Error)
		}
	}
	h.cut(s, func() {
		if err := s.Abort(t.Context(), ""); err != nil {
			t.Error(err)
		}
	})
	got := s.Summary().Usage
	if off := float64(got.EstimatedTokens)/float64(m.cut) - 1; off < -0.35 || off > 0.35 {
		t.Errorf("the call that was stopped is in the ledger with %d tokens, its request had %d",
			got.EstimatedTokens, m.cut)
	}
	m.compare(got)
	if net, known := got.Net(); !known || net != got.KeptTokens-got.OwnTokens {
		t.Errorf("net %d, known %v", net, known)
	}
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
