package outputs

import (
	"runtime"
	"testing"
)

// allocated returns how many bytes f allocates in all, freed ones included.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// TestFloodTakesBoundedMemory: a command that never stops printing takes its head and its tail and
// nothing more.
func TestFloodTakesBoundedMemory(t *testing.T) {
	total := int64(1 << 30)
	if raceEnabled {
		total = 64 << 20
	}
	s := newStore(t, 256<<20)
	w := create(t, s, Meta{Type: Terminal}, Limits{})
	p := make([]byte, 32<<10)
	pattern(p, 0)
	got := allocated(func() {
		for w.Bytes() < total {
			w.Write(p)
		}
	})
	if most := int64(2*commandCap + 2<<20); got > most {
		t.Errorf("allocated %d MiB, at most %d MiB expected", got>>20, most>>20)
	}
	if u := s.Stats(); u.Used > 2*commandCap+reserve+2*overhead {
		t.Errorf("%+v", u)
	}
	w.Complete(nil)
	if m := w.Output().Meta(); w.Bytes() != total || m.Gap == nil || m.Gap.Bytes < total-2*commandCap {
		t.Errorf("%d bytes, gap %+v", w.Bytes(), m.Gap)
	}
}
