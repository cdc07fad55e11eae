package guard_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"webchat/internal/guard"
)

// connection records the read deadlines a handler sets.
type connection struct {
	*httptest.ResponseRecorder
	deadlines []time.Time
}

func (c *connection) SetReadDeadline(t time.Time) error {
	c.deadlines = append(c.deadlines, t)
	return nil
}

// A deadline that outlived the body would end a long answer.
func TestBodyHasADeadlineThatEndsWithIt(t *testing.T) {
	g := newGuard(t, guard.Config{})
	h := routes(g)
	send := func(body string) []time.Time {
		r := httptest.NewRequest("POST", "/write", strings.NewReader(body))
		r.Host = host
		r.Header.Set("Authorization", "Bearer "+g.Token())
		r.Header.Set("Content-Type", "application/json")
		c := &connection{ResponseRecorder: httptest.NewRecorder()}
		h.ServeHTTP(c, r)
		if c.Code != 200 {
			t.Errorf("%d %s", c.Code, c.Body)
		}
		return c.deadlines
	}
	got := send("{}")
	if len(got) != 3 || got[1].Before(time.Now()) || got[1].After(time.Now().Add(time.Minute)) ||
		!got[2].IsZero() {
		t.Errorf("deadlines %v", got)
	}
	if got := send(""); len(got) != 0 {
		t.Errorf("deadlines without a body: %v", got)
	}
}
