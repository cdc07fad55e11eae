package sse

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// A part's frames carry its name and all places, whatever pieces they come in; what a part says of
// the connection is left out but for the part without a name.
func TestMergedFrames(t *testing.T) {
	w := httptest.NewRecorder()
	m := Merge(w, httptest.NewRequest("GET", "/", nil),
		ParsePlaces("a:12,b,a:3,c:x,d\nid: 4:1,:7,é:1"))
	a, b, all := m.Part("a"), m.Part("b"), m.Part("")
	for _, text := range []string{"retry: 1000\n\nid: 1", "3\nda",
		"ta: one\ndata: two\n\n: ping\n\nid: 13\ndata: again\n", "\n"} {
		if _, err := a.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	b.WriteHeader(404)
	_, _ = b.Write([]byte("not found\n\n"))
	_, _ = all.Write([]byte(": ping\n\ndata: list\n\n"))
	if err := b.Send(Frame{Data: []byte("end")}); err != nil {
		t.Fatal(err)
	}
	const want = "data: one\ndata: two\nevent: a\nid: a:13,b,c:-\n\ndata: again\nevent: a\n\n: " +
		"ping\n\ndata: list\n\ndata: end\nevent: b\n\n"
	if got := w.Body.String(); got != want || b.Status() != 404 || a.Status() != 200 {
		t.Errorf("%q, want %q", got, want)
	}
	if got := w.Header().Get("Content-Type"); !strings.HasPrefix(got, "text/event-stream") {
		t.Errorf("Content-Type %q", got)
	}
	if list := ParsePlaces(""); !slices.Equal(list, nil) {
		t.Errorf("nothing is %v", list)
	}
}
