package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A session whose replica is away is followed once that is back; one that is gone is not.
func TestAttachWaitsForAReplica(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("limit") {
			_, _ = fmt.Fprint(w, `{"events":[],"cursor":7}`)
			return
		}
		switch asked++; asked {
		case 1, 2, 3:
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = fmt.Fprint(w, `{"error":"The replica is away."}`)
		case 4:
			if got := r.Header.Get("Last-Event-Id"); got != "7" {
				t.Errorf("asked for what is after %q", got)
			}
			_, _ = fmt.Fprint(w, "id: 8\ndata: {}\n\n")
		default:
			if got := r.Header.Get("Last-Event-Id"); got != "8" {
				t.Errorf("then for what is after %q", got)
			}
			w.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprint(w, `{"error":"There is no session a."}`)
		}
	}))
	defer server.Close()
	var out strings.Builder
	a := attached{base: server.URL, find: func() (string, error) { return server.URL, nil },
		hide: strings.Clone, out: &out, session: "a"}
	err := a.run(t.Context(), strings.NewReader(""), false)
	if err == nil || !strings.Contains(err.Error(), "There is no session a.") || asked != 5 {
		t.Errorf("%v after %d streams", err, asked)
	}
	if got := out.String(); got != "· The replica is away.\n" {
		t.Errorf("%q", got)
	}
}

// A line of any length is an answer, also the last one without a line break.
func TestAttachReadsLongLines(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	lines := linesOf(strings.NewReader(long + "\ny"))
	if first, second := <-lines, <-lines; first != long+"\n" || second != "y" {
		t.Errorf("read %d bytes, and %q", len(first), second)
	}
}
