package sessions_test

import (
	"sync/atomic"
	"testing"

	"webchat/internal/sessions"
)

// What a session did can be read after a restart without loading it, which would ask for its room.
func TestEventsLoadNothing(t *testing.T) {
	r := newRig(t, newDisk(), nil)
	s := r.create(sessions.Options{})
	r.ask(s)
	id := s.ID()
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	var rooms atomic.Int32
	r = newRig(t, r.disk, func(_ *rig, c *sessions.Config) {
		c.Room = func(string) (sessions.Room, error) { rooms.Add(1); return sessions.Room{}, nil }
	})
	if _, err := r.m.List(t.Context(), sessions.Query{}); err != nil { // it waits for recovery
		t.Fatal(err)
	}
	all, err := r.m.Events(t.Context(), id, 0, 100)
	if err != nil || len(all) == 0 {
		t.Fatalf("%d events, %v", len(all), err)
	}
	if all[0].Seq != 1 || rooms.Load() != 0 {
		t.Errorf("first event %d, %d rooms", all[0].Seq, rooms.Load())
	}
	if _, err := r.m.Get(t.Context(), id); err != nil || rooms.Load() == 0 {
		t.Errorf("loading asked for %d rooms: %v", rooms.Load(), err)
	}
}
