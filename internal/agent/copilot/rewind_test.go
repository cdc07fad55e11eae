package copilot_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/session"
)

// TestRealRewind goes back to before a prompt, also after the conversation was closed, and
// looks at what the model is sent from then on.
func TestRealRewind(t *testing.T) {
	h := newHouse(t, alone)
	s := h.session()
	var ids []string
	for _, word := range []string{"alpha-prompt", "beta-prompt", "gamma-prompt"} {
		ids = append(ids, h.ask(s, "say "+word).MessageID)
	}
	if _, err := s.Rewind(t.Context(), session.RewindOf{MessageID: ids[1]}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Rewind(t.Context(), session.RewindOf{MessageID: ids[2]}); !errors.Is(err,
		eventlog.ErrNotFound) {
		t.Errorf("a prompt that was left behind can be gone back to: %v", err)
	}
	if _, err := s.BringBack(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.ask(s, "say zeta-prompt") // nothing was forgotten
	h.mustSend("gamma-prompt", true)
	if _, err := s.Rewind(t.Context(), session.RewindOf{MessageID: ids[1]}); err != nil {
		t.Fatal(err)
	}
	h.ask(s, "say delta-prompt")
	h.mustSend("alpha-prompt", true)
	h.mustSend("beta-prompt", false)
	h.mustSend("gamma-prompt", false)
	h.mustSend("delta-prompt", true)

	pid := copilot.PID(h.backend)
	kill(t, pid)
	until(t, "the end of the CLI", func() bool { return gone(pid) })
	if _, err := s.Rewind(t.Context(), session.RewindOf{MessageID: ids[0]}); err != nil {
		t.Fatal(err)
	}
	h.ask(s, "say epsilon-prompt")
	h.mustSend("alpha-prompt", false)
	h.mustSend("delta-prompt", false)
	var rewound []event.SessionRewound
	entries, err := s.Events(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if d, ok := e.Event.Data.(event.SessionRewound); ok {
			rewound = append(rewound, d)
		}
	}
	if len(rewound) != 4 || rewound[0].ToMessageID != ids[1] || rewound[1].Undoes == 0 ||
		rewound[3].ToMessageID != ids[0] {
		t.Errorf("the log says %+v", rewound)
	}
}

// TestRealRewindOfAQueuedPrompt goes back to before a prompt that waited while another turn ran:
// what is left of the log is what the model is sent from then on.
func TestRealRewindOfAQueuedPrompt(t *testing.T) {
	h := newHouse(t, nil)
	s := h.session()
	first := send(t, s, "run until [ -e go ]; do sleep 0.01; done; echo alpha-output")
	h.await(s, "the command", func(d event.Data) bool {
		_, runs := d.(event.ToolExecutionStart)
		return runs
	})
	second := send(t, s, "say beta-prompt")
	if err := os.WriteFile(filepath.Join(h.dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	h.await(s, "the end of both turns", func(d event.Data) bool {
		end, ended := d.(event.TurnEnd)
		return ended && end.MessageID == second
	})
	if _, err := s.Rewind(t.Context(), session.RewindOf{MessageID: second}); err != nil {
		t.Fatal(err)
	}
	h.ask(s, "say gamma-prompt")
	h.mustSend("Done: Command completed", true)
	h.mustSend("beta-prompt", false)
	left, err := s.Events(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, e := range left {
		if m, ok := e.Event.Data.(event.AssistantMessage); ok && m.Content != "" &&
			!eventlog.IsLeft(s.Summary().Open.Left, e.Seq) {
			said = append(said, m.Content)
		}
	}
	if len(said) != 2 || !strings.HasPrefix(said[0], "Done: Command completed") ||
		said[1] != "You said: say gamma-prompt" {
		t.Errorf("what is left of the answers to %s and later: %q", first, said)
	}
}

func send(t *testing.T, s *session.Session, prompt string) (messageID string) {
	t.Helper()
	id, err := s.Send(t.Context(), session.Message{Content: prompt})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestRealRewindToNothing asks for a prompt the CLI never had.
func TestRealRewindToNothing(t *testing.T) {
	h := newHouse(t, nil)
	k := open(t, h.backend, "nothing", false)
	if err := k.say("hello"); err != nil {
		t.Fatal(err)
	}
	err := k.conn.(agent.Rewinder).Rewind(t.Context(), "00000000-0000-4000-8000-000000000000")
	contains(t, err, agent.ErrUnsupported, "no longer knows")
}

// mustSend fails unless the last request to the model holds text, or does not.
func (h *house) mustSend(text string, want bool) {
	h.t.Helper()
	requests := h.model.Requests()
	if got := bytes.Contains(requests[len(requests)-1].Body, []byte(text)); got != want {
		h.t.Errorf("the model was sent %q: %v, want %v", text, got, want)
	}
}

// TestRealBranch begins a session with what was said in another: its agent is given that
// once, and going back to the first prompt of the branch gives it again.
func TestRealBranch(t *testing.T) {
	h := newHouse(t, nil)
	from := h.session()
	h.ask(from, "say alpha-prompt")
	second := h.ask(from, "say beta-prompt").MessageID
	b, err := h.manager.Branch(t.Context(), from.ID(), second)
	if err != nil {
		t.Fatal(err)
	}
	if u := b.Summary().Usage; u.Calls != 0 {
		t.Errorf("a branch in which nothing was said counts %+v", u)
	}
	first := h.ask(b, "say gamma-prompt").MessageID
	h.mustSend("alpha-prompt", true)
	h.mustSend("beta-prompt", false)
	h.ask(b, "say delta-prompt")
	if _, err := b.Rewind(t.Context(), session.RewindOf{MessageID: first}); err != nil {
		t.Fatal(err)
	}
	h.ask(b, "say epsilon-prompt")
	h.mustSend("alpha-prompt", true)
	h.mustSend("gamma-prompt", false)
	if _, err := h.manager.Branch(t.Context(), from.ID(), "nothing"); !errors.Is(err,
		eventlog.ErrNotFound) {
		t.Errorf("a branch before a prompt there is not: %v", err)
	}
}
