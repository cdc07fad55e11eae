package session

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/eventlog"
)

// alone is what a part stands on, without the others.
func alone(t *testing.T, c Config) *core {
	t.Helper()
	c.Log, c.Owner, c.Logger = newMemory(), &rig{T: t}, slog.New(slog.DiscardHandler)
	s := newCore(c, eventlog.Summary{ID: "alone"})
	s.open(func(context.Context, consent.HookCall) (consent.HookVerdict, error) {
		return consent.HookVerdict{Allow: true}, nil
	}, func() {}, eventlog.Summary{ID: "alone"})
	t.Cleanup(func() { s.cancel(errShutdown); s.wg.Wait() })
	return s
}

// The tools are made when they are needed, once, and again if making them failed.
func TestToolsAreMadeOnce(t *testing.T) {
	made, fails := 0, errors.New("no")
	b := &toolbox{core: alone(t, Config{Tools: func(eventlog.ID) (agent.Toolset, error) {
		made++
		return &toolset{}, fails
	}})}
	if _, err := b.tools(); !errors.Is(err, fails) {
		t.Error(err)
	}
	fails = nil
	for range 3 {
		if _, err := b.tools(); err != nil {
			t.Error(err)
		}
	}
	if made != 2 {
		t.Errorf("they were made %d times", made)
	}
	if _, err := b.tool("none"); err == nil {
		t.Error("a tool was found that is none")
	}
}

// What the workspace is is kept once for a turn, and not beside the turns.
func TestOneSnapshotIsKeptBeforeATurn(t *testing.T) {
	k := &keeper{alone(t, Config{Snapshots: &snapshotsTaken{}})}
	work := &turns{core: k.core}
	running := work.newTurn(&prompt{id: "m"})
	if k.keepBefore(nil, true) != nil || k.keepBefore(running, true) != nil {
		t.Error("a snapshot is kept beside the turns")
	}
	k.turn = running
	k.bill.counting = agent.CountsNothing
	if k.keepBefore(running, false) != nil {
		t.Error("a snapshot is kept where no model is")
	}
	first := k.keepBefore(running, true)
	if first == nil || k.keepBefore(running, false) != first {
		t.Fatal("there is no snapshot, or there are two")
	}
	<-first.done
	if taken := k.cfg.Snapshots.(*snapshotsTaken).taken; taken != 1 || first.err != nil {
		t.Errorf("%d were taken, %v", taken, first.err)
	}
}

type snapshotsTaken struct {
	Snapshots
	taken int
}

func (s *snapshotsTaken) Take(context.Context, string, string,
	string) error {
	s.taken++
	return nil
}
