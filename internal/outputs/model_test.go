package outputs

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// TestModel drives a store at random against a simple model: the account is exact and never over
// the budget, lives end on time, what is found is what was stored.
func TestModel(t *testing.T) {
	type op struct{ kind, a, b int }
	rapid.Check(t, func(rt *rapid.T) {
		ops := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) op {
			return op{rapid.IntRange(0, 7).Draw(t, "kind"), rapid.IntRange(0, 1<<20).Draw(t, "a"),
				rapid.IntRange(0, 1<<20).Draw(t, "b")}
		}), 1, 60).Draw(rt, "ops")
		var failure error
		synctest.Test(t, func(t *testing.T) {
			s := newStore(t, 256<<10)
			ctx, stop := context.WithCancel(t.Context())
			go s.Run(ctx)
			m := model{s: s, ends: map[ID]time.Time{}, size: map[ID]int64{}}
			for i, o := range ops {
				if err := m.step(o.kind, o.a, o.b); err != nil && failure == nil {
					failure = fmt.Errorf("op %d %+v: %w", i, o, err)
				}
			}
			for _, w := range m.writers {
				w.Complete(nil)
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			if u := s.Stats(); failure == nil && (u.Outputs != 0 || u.Used != 0 || s.fixed != 0) {
				failure = fmt.Errorf("in the end: %+v", u)
			}
			stop()
		})
		if failure != nil {
			rt.Fatal(failure)
		}
	})
}

type model struct {
	s       *Store
	writers []*Writer
	ids     []ID
	ends    map[ID]time.Time // zero: growing
	size    map[ID]int64
}

func (m *model) step(kind, a, b int) error {
	session := fmt.Sprint("s", a%3)
	switch {
	case kind == 0: // put, sometimes more than fits
		id, err := m.s.Put(Meta{Type: File, SessionID: session}, make([]byte, a))
		if errors.Is(err, ErrBudget) {
			break
		} else if err != nil {
			return err
		}
		m.ids, m.ends[id], m.size[id] = append(m.ids, id), time.Now().Add(30*time.Minute), int64(a)
		if _, err := m.s.Get(id); err != nil {
			return fmt.Errorf("just put: %w", err)
		}
	case kind == 1:
		w, err := m.s.Create(Meta{Type: Terminal, SessionID: session}, Limits{int64(a), int64(b)})
		if errors.Is(err, ErrBudget) {
			break
		} else if err != nil {
			return err
		}
		m.writers, m.ids, m.ends[w.ID()] = append(m.writers, w), append(m.ids, w.ID()), time.Time{}
	case kind <= 3 && len(m.writers) > 0:
		w := m.writers[b%len(m.writers)]
		w.Write(make([]byte, a/8))
		m.size[w.ID()] += int64(a / 8)
	case kind == 4 && len(m.writers) > 0:
		i := b % len(m.writers)
		w := m.writers[i]
		w.Complete(func(d *Meta) { d.DurationMs = int64(a) })
		m.ends[w.ID()] = time.Now().Add(30 * time.Minute)
		m.writers = append(m.writers[:i], m.writers[i+1:]...)
	case kind == 5:
		time.Sleep(time.Duration(a%20) * time.Minute)
	case kind == 6 && b%4 == 0:
		for _, o := range m.s.Session(session) {
			delete(m.ends, o.ID)
		}
		for i := 0; i < len(m.writers); i++ {
			if w := m.writers[i]; w.o.meta.SessionID == session {
				w.Complete(nil)
				m.writers = append(m.writers[:i], m.writers[i+1:]...)
				i--
			}
		}
		m.s.DeleteSession(session)
	case kind == 7:
		m.s.payAndRefund(m.ids, a, b)
	}
	return m.check()
}

func (s *Store) payAndRefund(ids []ID, a, b int) {
	if len(ids) == 0 {
		return
	}
	if o, err := s.Get(ids[a%len(ids)]); err == nil && o.Complete() &&
		s.pay(o, int64(b%50_000), false) {
		s.refund(o, int64(b%50_000)/2)
	}
}

func (m *model) check() error {
	u := m.s.Stats()
	if u.Used > u.Budget {
		return fmt.Errorf("over the budget: %+v", u)
	}
	var sum, pinned int64
	var ends bool // one of them, at this very moment
	for id, end := range m.ends {
		o, err := m.s.Get(id)
		over := !end.IsZero() && !time.Now().Before(end)
		ends = ends || end.Equal(time.Now())
		switch {
		case err == nil && over:
			return errors.New("found after its life")
		case err != nil && end.IsZero():
			return errors.New("a growing output is gone")
		case err == nil:
			if o.Size() != m.size[id] {
				return fmt.Errorf("size %d, want %d", o.Size(), m.size[id])
			}
			sum += o.cost
			if end.IsZero() {
				pinned += o.cost
			}
		}
	}
	if ends {
		time.Sleep(2 * time.Microsecond) // ttlcache looks again one after the moment itself
	}
	synctest.Wait() // Run frees what just ended
	if u = m.s.Stats(); u.Used != sum || m.s.fixed != pinned {
		return fmt.Errorf("account %d, %d pinned; outputs cost %d, %d", u.Used, m.s.fixed, sum, pinned)
	}
	return nil
}
