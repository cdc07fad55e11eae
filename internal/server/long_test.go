package server_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"webchat/internal/agent/offline"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/outputs"
	"webchat/internal/store/storetest"
	"webchat/internal/wording"
)

// counted is a store that knows how many entries were read.
type counted struct {
	*storetest.Memory
	read atomic.Int64
}

func (c *counted) After(ctx context.Context, id eventlog.ID, seq int64,
	limit int) ([]event.Entry, error) {
	entries, err := c.Memory.After(ctx, id, seq, limit)
	c.read.Add(int64(len(entries)))
	return entries, err
}

// What is read of a log to open a session, to see its earlier turns, and to close what a
// killed process left open, follows from what is shown, not from how long the log is.
func TestOpeningReadsTheEndOfALog(t *testing.T) {
	short, long := &counted{Memory: storetest.NewMemory()}, &counted{Memory: storetest.NewMemory()}
	open := func(mem *counted, id eventlog.ID, query string) (read int64, page string) {
		h := newHouseOn(t, mem, offline.New(offline.Config{}))
		defer h.stop()
		mem.read.Store(0)
		res, page := h.do("GET", "/sessions/"+string(id)+query, "")
		if res.StatusCode != 200 || !strings.Contains(page, "data-turn ") {
			t.Fatalf("%d %s", res.StatusCode, page)
		}
		return mem.read.Load(), page
	}
	ids := []eventlog.ID{writeLong(t, short, 300), writeLong(t, long, 3000)}
	sum, err := long.Summary(t.Context(), ids[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"", fmt.Sprintf("?before=%d", 400)} {
		a, _ := open(short, ids[0], query)
		b, _ := open(long, ids[1], query)
		if b > a+a/10 || b > sum.LastSeq/4 {
			t.Errorf("%q: %d of %d entries were read, of a short log %d", query, b, sum.LastSeq, a)
		}
	}

	// A process was killed in the midst of a turn.
	for _, d := range []event.Data{event.UserMessage{MessageID: "last", Content: "and now?"},
		event.TurnStart{TurnID: "tlast", MessageID: "last"},
		event.ToolExecutionStart{
			ToolCallID: "clast",
			ToolName:   "view",
			Arguments:  []byte(`{}`),
			By:         event.ByAgent,
		}} {
		e := event.Entry{Seq: sum.LastSeq + 1, Event: event.New(d, sum.Open.LastID, sum.UpdatedAt)}
		if e.JSON, err = event.Marshal(e.Event); err != nil {
			t.Fatal(err)
		}
		sum = eventlog.Summarize(sum, e)
		if err := long.Append(t.Context(), ids[1], []event.Entry{e}, sum); err != nil {
			t.Fatal(err)
		}
	}
	long.read.Store(0)
	h := newHouseOn(t, long, offline.New(offline.Config{}))
	_, page := h.do("GET", "/sessions/"+string(ids[1]), "")
	if !strings.Contains(page, "Interrupted: webchat ended before the turn did") {
		t.Error("the page does not say that the turn was interrupted")
	}
	if n := long.read.Load(); n > sum.LastSeq/4 {
		t.Errorf("%d of %d entries were read to recover", n, sum.LastSeq)
	}
}

// Once a log was read to be asked about its calls, none of these questions reads it again, whatever
// happens in the session.
func TestOneCallIsFoundWithoutReadingTheLog(t *testing.T) {
	mem := &counted{Memory: storetest.NewMemory()}
	id := writeLong(t, mem, 2000)
	h := newHouseOn(t, mem, offline.New(offline.Config{}))
	path := "/api/sessions/" + string(id)
	h.file("a.txt", "a line\n")
	h.do("GET", path+"/outputs", "")
	output := ""
	for _, c := range []struct {
		method, path, body, has string
		then                    func(body string)
	}{
		{"POST", "/display", `{"tool":"render_file_contents","arguments":{"path":"a.txt"}}`, `"id":"out_`,
			func(body string) {
				output = regexp.MustCompile(`out_\w+`).FindString(body)
			}},
		{"GET", "/outputs", "", "a.txt", func(string) { h.outputs.Drop(outputs.ID(output)) }},
		{"GET", "/outputs", "", "expired", nil},
		{"POST", "/outputs/OUTPUT/open", "", "", nil},
		{"POST", "/outputs/OUTPUT/reread", "", `"id":"out_`, nil},
		{"GET", "/tools/m3-c0?from=8", "", "7 hits", nil},
		{"GET", "/review?since=turn", "", "Review", nil},
		{"GET", "/review?since=turn&from=8", "", "Review", nil},
		{"POST", "/permissions/none", `{"decision":"deny"}`, "not_found", nil},
		{"POST", "/tools/m3-c0/abort", "", "no longer open", nil},
		{"POST", "/messages", `{"messageId":"m3","content":"once more"}`, `"m3"`, nil},
	} {
		was := mem.read.Load()
		at := path
		if strings.HasPrefix(c.path, "/review") {
			at = "/sessions/" + string(id)
		}
		res, body := h.do(c.method, at+strings.ReplaceAll(c.path, "OUTPUT", output), c.body)
		most := int64(50)
		if strings.HasPrefix(c.path, "/tools/") {
			most = 1500 // what a page shows: no page is open
		}
		if n := mem.read.Load() - was; res.StatusCode >= 500 || !strings.Contains(body, c.has) ||
			n > most {
			t.Errorf("%s %s: %d, %d events were read: %.300s", c.method, c.path, res.StatusCode, n, body)
		}
		if c.then != nil {
			c.then(body)
		}
	}
}

// A replay of a long log is answered at once: it says how many events are read, from the end alone;
// the film comes when they are, and moments behind it. Once it is there the page has it.
func TestReplayOfALongLogSaysThatItReads(t *testing.T) {
	mem := &counted{Memory: storetest.NewMemory()}
	id := writeLong(t, mem, 500)
	sum, err := mem.Summary(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	h := newHouseOn(t, mem, offline.New(offline.Config{}))
	path, mid := "/sessions/"+string(id)+"/replay", fmt.Sprint(sum.LastSeq/2)
	for _, c := range []struct{ query, has, hasNot string }{
		{"?at=" + mid, "Reading " + wording.Count(sum.LastSeq) + " events", `id="moment"`},
		{"?part=film&at=" + mid, `value="` + mid + `"`, "What the model held"},
		{"?part=moment&at=" + mid, "What the model held", `id="moment"`},
		{"?at=" + mid, `value="` + mid + `"`, "Reading"},
	} {
		read := mem.read.Load()
		res, body := h.do("GET", path+c.query, "")
		if res.StatusCode != 200 || !strings.Contains(body, c.has) || strings.Contains(body, c.hasNot) {
			t.Errorf("%s: %d, no %q, or %q in %.1500s", c.query, res.StatusCode, c.has, c.hasNot, body)
		}
		if n := mem.read.Load() - read; strings.Contains(c.has, "Reading") && n > 100 {
			t.Errorf("%d events were read before it said so", n)
		}
	}
	for _, taken := range []string{path + "?part=moment&at=" + mid, "/api/sessions/" + string(id) +
		"/export?format=html"} {
		slow := &slowly{ResponseRecorder: httptest.NewRecorder(), meanwhile: func() {
			if res, _ := h.do("GET", path+"?part=moment&at="+mid, ""); res.StatusCode != 200 {
				t.Errorf("beside one that takes its time: %d", res.StatusCode)
			}
		}}
		if h.server.Handler().ServeHTTP(slow, h.request("GET", taken, "")); slow.Code != 200 ||
			slow.meanwhile != nil {
			t.Errorf("who takes their time over %s is answered %d", taken, slow.Code)
		}
	}
}

// slowly takes an answer when something else has been done.
type slowly struct {
	*httptest.ResponseRecorder
	meanwhile func()
}

func (s *slowly) Write(b []byte) (int, error) {
	if f := s.meanwhile; f != nil {
		s.meanwhile = nil
		f()
	}
	return s.ResponseRecorder.Write(b)
}
