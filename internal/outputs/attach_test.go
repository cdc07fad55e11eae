package outputs

import (
	"testing"
	"time"
)

// Only the outputs used last keep what is attached to them, and an output that has ended is not
// kept for it.
func TestAttachedIsBounded(t *testing.T) {
	s, err := New(Config{TTL: time.Minute, Budget: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	var all []*Output
	made := 0
	attach := func(o *Output) {
		o.Attach(func(before any) any {
			if before == nil {
				made++
				return o.id
			}
			return before
		})
	}
	for range maxAttached + 2 {
		id, err := s.Put(Meta{Type: File}, []byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		o, err := s.Get(id)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
		attach(o)
		attach(all[0]) // which is used again and again
	}
	attach(all[len(all)-1])
	if made != maxAttached+2 {
		t.Errorf("%d were made for %d outputs: one in use was made again", made, len(all))
	}
	attach(all[1])
	if made != maxAttached+3 {
		t.Error("the output used longest ago keeps what is attached to it")
	}
	s.Drop(all[0].id)
	attach(all[0])
	if s.attached.Has(all[0]) {
		t.Error("an output that has ended is kept")
	}
}
