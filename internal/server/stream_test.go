package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"webchat/internal/guard"
	"webchat/internal/store/storetest"
)

// frame is what a client reads of a stream.
// reader is one open stream.
// next returns the next frame with data; false when the stream has ended.
// until reads frames up to one of a kind, which is the last of the result.
// logOf returns the log, as the frames a stream has of it.
// logged leaves out what is ephemeral, and compares what is left to the log.
// Whenever a reader comes, it gets the log from its place on and then what
// happens: each event once, in order, with its number.
func TestStreamIsTheLogThenLive(t *testing.T) {
	h := newHouse(t)
	h.file("go.mod", "module demo\n")
	_, path := h.session(t)
	h.say(t, path, "show me go.mod")
	first := len(h.logOf(t, path))

	whole := h.open(t, "GET", path+"/events", "")
	if got := whole.res.Header.Get("Content-Type"); got != "text/event-stream; charset=utf-8" {
		t.Errorf("Content-Type %s", got)
	}
	resumed := h.open(t, "GET", path+"/events", "", "Last-Event-ID: 3")
	asked := h.open(t, "GET", path+"/events?after="+strconv.Itoa(first), "")
	var past []frame
	for range first {
		f, _ := whole.next()
		past = append(past, f)
	}
	h.say(t, path, "stream 300 words")
	log := h.logOf(t, path)
	checkLogged(t, "from the start", append(past, whole.until("turn.end")...), log, 0)
	live := asked.until("turn.end")
	checkLogged(t, "?after", live, log, first)
	rest := resumed.until("turn.end")
	checkLogged(t, "Last-Event-ID", append(rest, resumed.until("turn.end")...), log, 3)

	// Deltas add up to the message, and carry the id of the last logged event.
	text, last := "", ""
	for _, f := range live {
		var e struct {
			Type string
			Data struct {
				Offset                int
				DeltaContent, Content string
			}
		}
		if err := json.Unmarshal([]byte(f.data), &e); err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case "assistant.message_delta":
			text = text[:e.Data.Offset] + e.Data.DeltaContent
			if f.id != last {
				t.Errorf("a delta has the id %q after %q", f.id, last)
			}
		case "assistant.message":
			if text != e.Data.Content || len(text) < 500 {
				t.Errorf("deltas make %q, the message is %q", text, e.Data.Content)
			}
		}
		last = f.id
	}
}

func TestBadPlacesGetResyncAndTheLog(t *testing.T) {
	h := newHouse(t)
	_, path := h.session(t)
	h.say(t, path, "hello")
	log := h.logOf(t, path)
	for _, id := range []string{"-1", "9e99", "99999", strings.Repeat("9", 30), "x", "%00", "1 ",
		"0x1", strings.Repeat("1", 20_000)} {
		r := h.open(t, "GET", path+"/events", "", "Last-Event-ID: "+id)
		if r.res.StatusCode != 200 {
			t.Errorf("%.40s: %d", id, r.res.StatusCode)
			continue
		}
		got := r.until("turn.end")
		if got[0].kind == "stream.resync" != (id != "1 ") { // net/http trims header values
			t.Errorf("%.40s: begins with %v", id, got[0])
		}
		if id != "1 " {
			if got[0].id != "" {
				t.Errorf("%.40s: the resync has an id", id)
			}
			checkLogged(t, id, got[1:], log, 0)
		}
		r.close()
	}
}

// Accept: text/event-stream on a message gives that turn's events, and ends.
func TestTurnAsAStream(t *testing.T) {
	h := newHouse(t)
	h.file("go.mod", "module demo\n")
	_, path := h.session(t)
	r := h.open(t, "POST", path+"/messages", `{"content":"show me go.mod"}`)
	got := r.until("turn.end")
	if f, ok := r.next(); ok {
		t.Errorf("after the turn comes %v", f)
	}
	list := fmt.Sprint(kinds(got))
	for _, kind := range []string{"user.message", "turn.start", "tool.execution_start",
		"tool.execution_complete", "assistant.message", "turn.end"} {
		if !strings.Contains(list, kind) {
			t.Errorf("no %s in %s", kind, list)
		}
	}
	if strings.Contains(list, "session.start") {
		t.Errorf("the past is in %s", list)
	}
	res, body := h.do("POST", path+"/messages", `{"content":""}`, "Accept: text/event-stream")
	if res.StatusCode != 400 || !strings.Contains(body, "empty_prompt") {
		t.Errorf("an empty prompt: %d %s", res.StatusCode, body)
	}
}

// Two turns are streamed at once: each stream has its own only.
func TestTurnsAsStreamsDoNotMix(t *testing.T) {
	h := newHouse(t)
	_, path := h.session(t)
	first := h.open(t, "POST", path+"/messages", `{"content":"stream 15 words slowly"}`)
	first.until("assistant.message_delta")
	second := h.open(t, "POST", path+"/messages", `{"content":"hello"}`)
	for _, f := range first.until("turn.end") {
		if strings.Contains(f.data, `"hello"`) {
			t.Errorf("the first turn's stream has %s", f.data)
		}
	}
	starts := 0
	for _, f := range second.until("turn.end") {
		if f.kind == "turn.start" {
			starts++
		}
		if strings.Contains(f.data, "stream 15") {
			t.Errorf("the second turn's stream has %s", f.data)
		}
	}
	if starts != 1 {
		t.Errorf("%d turns began on the second stream", starts)
	}
}

func TestPermissionOverHTTP(t *testing.T) {
	h := newHouse(t)
	_, path := h.session(t)
	r := h.open(t, "GET", path+"/events", "")
	ask := func() string {
		if res, body := h.do("POST", path+"/messages",
			`{"content":"run echo acted > mark"}`); res.StatusCode != 202 {
			t.Fatalf("%d %s", res.StatusCode, body)
		}
		all := r.until("permission.requested")
		var e struct {
			Data struct{ RequestID, Resource string }
		}
		if err := json.Unmarshal([]byte(all[len(all)-1].data), &e); err != nil ||
			e.Data.Resource != "echo acted > mark" {
			t.Fatalf("%s: %v", all[len(all)-1].data, err)
		}
		return path + "/permissions/" + e.Data.RequestID
	}
	one := ask()
	if _, body := h.do("GET", path, ""); !strings.Contains(body, `"status":"waiting"`) {
		t.Errorf("while it asks: %s", body)
	}
	if res, body := h.do("POST", one,
		`{"decision":"deny","reason":"not today"}`); res.StatusCode != 200 {
		t.Errorf("deny: %d %s", res.StatusCode, body)
	}
	if res, body := h.do("POST", one, `{"decision":"allow"}`); res.StatusCode != 409 ||
		!strings.Contains(body, "already_answered") {
		t.Errorf("a second answer: %d %s", res.StatusCode, body)
	}
	r.until("turn.end")
	two := ask()
	if res, _ := h.do("POST", path+"/abort", ""); res.StatusCode != 202 {
		t.Errorf("abort: %d", res.StatusCode)
	}
	r.until("turn.end")
	if res, body := h.do("POST", two, `{"decision":"allow"}`); res.StatusCode != 410 {
		t.Errorf("an answer after the abort: %d %s", res.StatusCode, body)
	}
	three := ask()
	if res, body := h.do("POST", three, `{"decision":"allow","scope":"once"}`); res.StatusCode != 200 {
		t.Errorf("allow: %d %s", res.StatusCode, body)
	}
	got := r.until("turn.end")
	if !strings.Contains(fmt.Sprint(got), "Command completed (exit 0") {
		t.Errorf("the command was allowed and did not run: %v", got)
	}
}

func TestChangesOfAllSessions(t *testing.T) {
	h := newHouse(t)
	r := h.open(t, "GET", "/api/stream", "")
	id, path := h.session(t)
	h.say(t, path, "hello")
	for {
		f, ok := r.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		if f.id != "" || f.kind != "session.changed" {
			t.Errorf("frame %v", f)
		}
		if strings.Contains(f.data, id) && strings.Contains(f.data, `"title":"hello"`) &&
			strings.Contains(f.data, `"status":"idle"`) {
			return
		}
	}
}

func TestTooManyStreams(t *testing.T) {
	h := newHouse(t, func(c *guard.Config) { c.MaxStreams = 4 })
	_, path := h.session(t)
	h.open(t, "GET", path+"/events", "").until("session.start")
	h.open(t, "GET", "/api/stream", "")
	res, body := h.do("GET", path+"/events", "", "Accept: text/event-stream")
	if res.StatusCode != 503 || res.Header.Get("Retry-After") == "" ||
		!strings.Contains(body, "too_many_streams") {
		t.Errorf("%d %v %s", res.StatusCode, res.Header, body)
	}
}

func TestStopEndsStreamsWithAWord(t *testing.T) {
	h := newHouse(t)
	_, path := h.session(t)
	readers := []*reader{h.open(t, "GET", path+"/events", ""), h.open(t, "GET", "/api/stream", ""),
		h.open(t, "GET", "/sessions/"+path[len("/api/sessions/"):]+"/stream", "")}
	readers[0].until("session.start")
	go h.stop()
	for i, r := range readers {
		last := frame{}
		for f, ok := r.next(); ok; f, ok = r.next() {
			last = f
		}
		if last.kind != "stream.closing" || !strings.Contains(last.data, `"retryMs":`) {
			t.Errorf("stream %d ends with %v", i, last)
		}
	}
	h.stop()
}

// The page's stream brings a page to now, then forward.
func TestPageStream(t *testing.T) {
	h := newHouse(t)
	h.file("go.mod", "module demo\n")
	id, path := h.session(t)
	r := h.open(t, "GET", "/sessions/"+id+"/stream?after=0", "")
	f, _ := r.next()
	if !strings.Contains(f.data, `"join":true`) {
		t.Errorf("the first frame is %s", f.data)
	}
	h.say(t, path, "show me go.mod")
	for !strings.Contains(f.data, "go.mod") || !strings.Contains(f.data, "Displayed") {
		ok := false
		if f, ok = r.next(); !ok {
			t.Fatal("the stream ended")
		}
	}
	if _, body := h.do("GET", "/sessions/"+id, ""); !strings.Contains(body, "Displayed go.mod") {
		t.Errorf("the page lacks what the stream had")
	}
}

// THREATS 114: what waits for something to happen counts among streams and takes no request's
// place.
func TestThreat114WaitingCountsAmongStreams(t *testing.T) {
	b := newRecalling()
	h := newHouseOn(t, storetest.NewMemory(), b, func(c *guard.Config) {
		c.MaxRequests, c.MaxStreams = 2, 4
	})
	id, path := h.session(t)
	waits := func(text string) *http.Request {
		return h.request("POST", path+"/messages?wait=true", `{"content":"`+text+`"}`)
	}
	answered := make(chan int)
	go func(r *http.Request) {
		res, err := h.client.Do(r)
		if err != nil {
			t.Error(err)
			close(answered)
			return
		}
		_ = res.Body.Close()
		answered <- res.StatusCode
	}(waits("prompt-1x"))
	<-b.line(id).sent
	h.open(t, "GET", path+"/events", "").until("session.start")
	for what, r := range map[string]*http.Request{
		"a prompt": waits("prompt-2x"), "a prompt's stream": h.request("POST", path+"/messages",
			`{"content":"prompt-2x"}`, "Accept: text/event-stream"),
		"a key": h.request("GET", "/mcp", ""),
	} {
		res, err := h.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != 503 || !strings.Contains(string(text), "too_many_streams") {
			t.Errorf("%s beside two that wait, of two: %d %s", what, res.StatusCode, text)
		}
	}
	if res, log := h.do("GET", path+"/events", ""); res.StatusCode != 200 ||
		strings.Contains(log, "prompt-2x") {
		t.Errorf("a request beside what waits: %d %s", res.StatusCode, log)
	}
	b.line(id).done <- struct{}{}
	if got := <-answered; got != 200 {
		t.Errorf("what waited is answered %d", got)
	}
}
