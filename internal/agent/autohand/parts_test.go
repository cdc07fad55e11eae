package autohand

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
	"webchat/internal/event"
)

// warned is a session that keeps what it is warned of.
type warned struct {
	agent.Host
	all []string
}

func (w *warned) Report(_ context.Context, d event.Data) error {
	w.all = append(w.all, d.(event.SessionError).Message)
	return nil
}

type idleAgent struct{}

func (idleAgent) Ready(context.Context) error          { return nil }
func (idleAgent) Send(*convo.Turn, agent.Prompt) error { return nil }
func (idleAgent) Abort(*convo.Turn)                    {}
func (idleAgent) Finish(*convo.Turn)                   {}
func (idleAgent) End()                                 {}

// What is held back when a turn or this program ends is reported once, by the process that sees it
// first.
func TestHeldAlone(t *testing.T) {
	host, note := &warned{}, filepath.Join(t.TempDir(), "held")
	c := convo.New(convo.Config{Title: title, Host: host, Agent: idleAgent{}})
	h, later := &held{c: c, note: note}, &held{c: c, note: note}
	wrote := 0
	c.Do(func() {
		h.begin()
		if h.take(batch{BatchID: "b1", Change: change{ID: "1", FilePath: "a.txt"}}, func(change) {
			wrote++
		}) {
			t.Error("a change is to be accepted before the end of its batch")
		}
		if !h.take(batch{BatchID: "b1", ChangeCount: 1}, nil) {
			t.Error("a batch with a change is not to be accepted")
		}
		later.begin()
		later.begin()
		h.end()
		h.end()
	})
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if len(host.all) != 2 || !strings.Contains(host.all[0], "a.txt: webchat ended before") ||
		!strings.Contains(host.all[1], "a.txt: the turn ended before") {
		t.Errorf("warned %q", host.all)
	}
	if _, err := os.Stat(note); !os.IsNotExist(err) || wrote != 1 {
		t.Errorf("the note is left (%v), %d changes were given to calls", err, wrote)
	}
}
