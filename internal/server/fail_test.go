package server

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"webchat/internal/eventlog"
	"webchat/internal/guard"
	"webchat/internal/session"
)

// ask runs one handler as a route would.
func ask(t *testing.T, serve handler) (*httptest.ResponseRecorder, string) {
	t.Helper()
	var log bytes.Buffer
	a := &answers{logger: slog.New(slog.NewTextHandler(&log, nil))}
	w := httptest.NewRecorder()
	func() {
		defer func() {
			if p := recover(); p != nil && p != http.ErrAbortHandler {
				t.Errorf("panic %v came through", p)
			}
		}()
		a.observe(a.adapt(route{class: guard.Read, serve: serve})).ServeHTTP(w,
			httptest.NewRequest("GET", "/api/secret-path?q=secret-query", nil))
	}()
	return w, log.String()
}

func TestUnforeseenErrorsTellNothing(t *testing.T) {
	err := fmt.Errorf("open: %w", &fs.PathError{
		Op:   "open",
		Path: "/home/me/private",
		Err:  fs.ErrPermission,
	})
	w, log := ask(t, func(http.ResponseWriter, *http.Request) error { return err })
	if w.Code != 500 || strings.Contains(w.Body.String(), "private") ||
		!strings.Contains(w.Body.String(), `"code":"internal"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	_, id, _ := strings.Cut(w.Body.String(), "under ")
	id, _, _ = strings.Cut(id, ".")
	if len(id) < 8 || !strings.Contains(log, id) || !strings.Contains(log, "/home/me/private") ||
		strings.Count(log, "\n") != 1 {
		t.Errorf("the log of request %q: %s", id, log)
	}
	if strings.Contains(log, "secret") {
		t.Errorf("the path or query is in the log: %s", log)
	}
}

func TestPanicStaysInItsRequest(t *testing.T) {
	w, log := ask(t, func(http.ResponseWriter, *http.Request) error { panic("prompt text") })
	if w.Code != 500 || strings.Contains(w.Body.String(), "prompt") ||
		strings.Contains(log, "prompt text") || !strings.Contains(log, "stack") {
		t.Errorf("%d %s\n%s", w.Code, w.Body, log)
	}
	// After a part was written there is nothing left to say.
	w, _ = ask(t, func(w http.ResponseWriter, _ *http.Request) error {
		fmt.Fprint(w, "part")
		panic("x")
	})
	if w.Body.String() != "part" {
		t.Errorf("%s", w.Body)
	}
	w, _ = ask(t, func(w http.ResponseWriter, _ *http.Request) error {
		fmt.Fprint(w, "part")
		return errors.New("x")
	})
	if w.Body.String() != "part" {
		t.Errorf("%s", w.Body)
	}
}

func TestRefusalsAreSentences(t *testing.T) {
	for text, want := range map[error]string{
		fmt.Errorf("attachment 1: %w: name one of id and path",
			eventlog.ErrInvalid): "Attachment 1: name one of id and path.",
		fmt.Errorf("session s1: %w", eventlog.ErrNotFound): "Session s1: not found.",
		session.ErrEmpty: "The prompt is empty.",
	} {
		w, _ := ask(t, func(http.ResponseWriter, *http.Request) error { return text })
		if !strings.Contains(w.Body.String(), `"error":"`+want+`"`) {
			t.Errorf("%v: %s", text, w.Body)
		}
	}
}

func TestEveryRefusalHasItsStatus(t *testing.T) {
	for _, x := range refusals {
		w, log := ask(t, func(http.ResponseWriter, *http.Request) error {
			return fmt.Errorf("wrapped: %w", x.err)
		})
		if w.Code != x.status || !strings.Contains(w.Body.String(), `"code":"`+x.code+`"`) || log != "" {
			t.Errorf("%v: %d %s %s", x.err, w.Code, w.Body, log)
		}
		if (w.Header().Get("Retry-After") != "") != (x.status == 503 || x.status == 429) {
			t.Errorf("%v: Retry-After %q", x.err, w.Header().Get("Retry-After"))
		}
	}
}

func TestRouteWithoutClassIsNoServer(t *testing.T) {
	s := &Server{}
	if _, err := s.router([]route{{method: get, pattern: "/x", serve: healthz}}); err == nil ||
		!strings.Contains(err.Error(), "/x") {
		t.Errorf("error %v", err)
	}
}
