package session

import (
	"errors"
	"strings"
	"testing"

	"webchat/internal/event"
)

// Who reads already and who comes later are told that nothing is saved, and that
// it is again; the log says nothing of it.
func TestTroubleIsTold(t *testing.T) {
	play(t, nil, func(r *rig) { troubleIsTold(r.T, r.m, r.s) })
}

func troubleIsTold(t *testing.T, m *Manager, s *Session) {
	live := s.Subscribe()
	defer live.Close()
	m.Trouble(errors.New("the disk is full"))
	m.Trouble(errors.New("the disk is full"))
	told := func(e event.Entry, kind, text string) {
		t.Helper()
		d, ok := e.Event.Data.(event.SessionError)
		if !ok || d.ErrorType != kind || !strings.Contains(d.Message, text) || !e.Event.Ephemeral || e.Seq != s.Summary().LastSeq {
			t.Errorf("told %+v", e)
		}
	}
	got, err := live.Next(t.Context())
	if err != nil || len(got) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	told(got[0], ErrorUnsaved, "the disk is full")
	snap, err := s.Join(t.Context())
	if err != nil || len(snap.Trouble) != 1 {
		t.Fatalf("%v, %v", snap.Trouble, err)
	}
	told(snap.Trouble[0], ErrorUnsaved, "in memory only")
	m.Trouble(nil)
	if got, err = live.Next(t.Context()); err != nil || len(got) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	told(got[0], ErrorSaved, "saved again")
	if snap, err = s.Join(t.Context()); err != nil || len(snap.Trouble) != 0 || m.Unsaved() != "" {
		t.Errorf("%v, %v", snap.Trouble, err)
	}
	if s.Summary().LastSeq != 1 {
		t.Errorf("the log has %d events", s.Summary().LastSeq)
	}
}
