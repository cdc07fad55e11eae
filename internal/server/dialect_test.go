package server_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// autohandList is the log in the words of the dialect.
func (h *house) autohandList(t *testing.T, path, query string) (types []string, cursor int64) {
	t.Helper()
	res, body := h.do("GET", path+"/events?dialect=autohand"+query, "")
	var list struct {
		Events []struct {
			ID, Timestamp, Type string
			Data                map[string]any
		}
		Cursor int64
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%d %v: %s", res.StatusCode, err, body)
	}
	for _, e := range list.Events {
		if e.ID == "" || e.Timestamp == "" || e.Data == nil {
			t.Errorf("half an event: %+v", e)
		}
		types = append(types, e.Type)
	}
	return types, list.Cursor
}

func TestDialectOfAnyBackend(t *testing.T) {
	h := newHouse(t)
	h.file("go.mod", "module x\n")
	_, path := h.session(t)
	live := h.open(t, "GET", path+"/events?dialect=autohand", "")
	h.say(t, path, "show go.mod")
	var streamed []string
	for seen := ""; seen != "tool_end"; {
		f, ok := live.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		seen = f.kind
		streamed = append(streamed, seen)
	}
	live.close()
	listed, cursor := h.autohandList(t, path, "")
	all := strings.Join(listed, " ")
	if !strings.HasPrefix(all, "session_start turn_start tool_start tool_end") {
		t.Errorf("listed: %s", all)
	}
	if got := strings.Join(streamed, " "); !strings.HasPrefix(all, got) {
		t.Errorf("streamed: %s; listed: %s", got, all)
	}

	// By pages of one event, and resumed in the middle: the same.
	var paged []string
	for at, next := int64(0), int64(0); ; at = next {
		var types []string
		types, next = h.autohandList(t, path, "&limit=1&after="+strconv.FormatInt(at, 10))
		paged = append(paged, types...)
		if next == at {
			break
		}
	}
	if got := strings.Join(paged, " "); got != all {
		t.Errorf("page by page: %s; at once: %s", got, all)
	}
	again := h.open(t, "GET", path+"/events?dialect=autohand", "", "Last-Event-ID: "+
		strconv.FormatInt(cursor, 10))
	h.say(t, path, "hello")
	if f, ok := again.next(); !ok || f.kind != "turn_start" ||
		!strings.Contains(f.data, `"turn":2,"iteration":1`) {
		t.Errorf("resumed with %+v", f)
	}
	again.close()
}

func TestUnknownDialect(t *testing.T) {
	h := newHouse(t)
	_, path := h.session(t)
	for _, accept := range []string{"application/json", "text/event-stream"} {
		res, body := h.do("GET", path+"/events?dialect=klingon", "", "Accept: "+accept)
		if res.StatusCode != http.StatusBadRequest || !strings.Contains(body, `"unknown_dialect"`) ||
			!strings.Contains(body, "autohand") {
			t.Errorf("%s: %d %s", accept, res.StatusCode, body)
		}
	}
}
