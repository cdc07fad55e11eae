package serve

import (
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"

	"webchat/internal/outputs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newHandler is a Handler on s that logs nothing.
func newHandler(s *outputs.Store, v Views) *Handler {
	return New(s, v, slog.New(slog.DiscardHandler))
}

func newStore(t testing.TB, budget int64) *outputs.Store {
	t.Helper()
	s, err := outputs.New(outputs.Config{TTL: 30 * time.Minute, Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t testing.TB, s *outputs.Store, m outputs.Meta, data string) *outputs.Output {
	t.Helper()
	id, err := s.Put(m, []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return get(t, s, id)
}

func get(t testing.TB, s *outputs.Store, id outputs.ID) *outputs.Output {
	t.Helper()
	o, err := s.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func create(t testing.TB, s *outputs.Store, m outputs.Meta, l outputs.Limits) *outputs.Writer {
	t.Helper()
	w, err := s.Create(m, l)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// pattern fills p with the bytes of an endless text from offset off: lines of 61 bytes, whose
// characters depend on where they are.
func pattern(p []byte, off int64) {
	for i := range p {
		if at := off + int64(i); at%61 == 60 {
			p[i] = '\n'
		} else {
			p[i] = 'a' + byte((at/61+at)%26)
		}
	}
}

// samePattern reports the first offset where p is not the pattern at off, or -1.
func samePattern(p []byte, off int64) int {
	want := make([]byte, len(p))
	pattern(want, off)
	for i := range p {
		if p[i] != want[i] {
			return i
		}
	}
	return -1
}
