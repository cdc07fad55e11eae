package outputs

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newHandler is a Handler on s that logs nothing.
func newHandler(s *Store, v Views) *Handler {
	if v == nil {
		v = testViews{}
	}
	return NewHandler(s, v, func(*http.Request) error { return nil }, slog.New(slog.DiscardHandler))
}

var forms = Forms()

// ServeHTTP stands for the router.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/api/outputs")[1:], "/")
	if view, ok := strings.CutPrefix(name, "views/"); ok {
		r.SetPathValue("view", view)
		name = "views/{view}"
	}
	for i := 0; name != "" && i < len(forms); i++ {
		if forms[i].Name == name {
			_ = h.ServeForm(w, r, ID(id), forms[i])
			return
		}
	}
	_ = h.ServeOutput(w, r, ID(id))
}

func newStore(t testing.TB, budget int64) *Store {
	t.Helper()
	s, err := New(Config{TTL: 30 * time.Minute, Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t testing.TB, s *Store, m Meta, data string) *Output {
	t.Helper()
	id, err := s.Put(m, []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return get(t, s, id)
}

func get(t testing.TB, s *Store, id ID) *Output {
	t.Helper()
	o, err := s.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func create(t testing.TB, s *Store, m Meta, l Limits) *Writer {
	t.Helper()
	w, err := s.Create(m, l)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// pattern fills p with the bytes of an endless text from offset off: lines of 61 bytes, whose
// characters depend on where they are.
//
//go:norace
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
//
//go:norace
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
