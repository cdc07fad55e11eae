package outputs

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// A pinned output outlives its life and every eviction, until it is unpinned or for eight hours.
func TestPinned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Config{TTL: time.Minute, Budget: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = s.Run(ctx) }()
		defer func() { stop(); <-done }()
		put := func(name string, size int) ID {
			id, err := s.Put(Meta{Type: File, Path: name, SessionID: "s1"}, make([]byte, size))
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		there := func(id ID) bool { _, err := s.Get(id); return err == nil }
		pinned, other := put("pinned", 100<<10), put("other", 100<<10)
		if err := s.Pin(pinned); err != nil {
			t.Fatal(err)
		}
		for i := range 20 { // more than the budget
			put(fmt.Sprint(i), 200<<10)
		}
		if !there(pinned) || there(other) {
			t.Errorf("pinned there: %v, the other there: %v", there(pinned), there(other))
		}
		big := put("big", 200<<10)
		if err := s.Pin(big); !errors.Is(err, ErrPins) {
			t.Errorf("pins over their share of the budget: %v", err)
		}
		time.Sleep(2 * time.Hour)
		if list := s.Session("s1"); len(list) != 1 || list[0].ID != pinned || !list[0].Pinned {
			t.Errorf("after two hours there are %+v", list)
		}
		if err := s.Unpin(pinned); err != nil {
			t.Fatal(err)
		}
		if time.Sleep(time.Second); there(pinned) {
			t.Error("an unpinned output has more than what was left of its life")
		}
		again := put("again", 10)
		if err := s.Pin(again); err != nil {
			t.Fatal(err)
		}
		if time.Sleep(PinLimit + time.Minute); there(again) || s.Stats().Used != 0 {
			t.Errorf("a pin holds after its limit; the account is %+v", s.Stats())
		}
	})
}

// A command that was pinned while it ran is pinned when it ended, and can be dropped.
func TestPinnedWhileItGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Config{TTL: time.Minute, Budget: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		w, err := s.Create(Meta{Type: Terminal, Command: "make"}, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Pin(w.ID()); err != nil {
			t.Fatal(err)
		}
		w.Complete(nil)
		time.Sleep(time.Hour)
		o, err := s.Get(w.ID())
		if err != nil || !o.Pinned() || time.Until(o.ExpiresAt()) < 6*time.Hour {
			t.Fatalf("an hour later: %v", err)
		}
		s.Drop(w.ID())
		if _, err := s.Get(w.ID()); !errors.Is(err, ErrExpired) || s.Stats().Used != 0 || s.pinned != 0 {
			t.Errorf("dropped: %v, %+v", err, s.Stats())
		}
	})
}
