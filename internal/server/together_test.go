package server_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"webchat/internal/guard"
)

// partsOf sorts the frames of a stream of several sessions: the events of each session's log, in
// the form of a stream of its own.
func partsOf(t *testing.T, all []frame, before map[string]int) map[string][]frame {
	t.Helper()
	places, parts := map[string]int{}, map[string][]frame{}
	for id, n := range before {
		places[id] = n
	}
	for _, f := range all {
		if f.of == "" || f.id == "" {
			continue
		}
		now := map[string]int{}
		for one := range strings.SplitSeq(f.id, ",") {
			id, place, _ := strings.Cut(one, ":")
			now[id], _ = strconv.Atoi(place)
		}
		for id, n := range now {
			if n < places[id] || id != f.of && n != places[id] {
				t.Errorf("the frame of %s moves %s from %d to %d", f.of, id, places[id], n)
			}
		}
		if now[f.of] > places[f.of] {
			parts[f.of] = append(parts[f.of], frame{id: strconv.Itoa(now[f.of]), data: f.data, kind: f.kind})
		}
		places = now
	}
	return parts
}

// ended reads up to the end of a turn of each session.
func (r *reader) ended(ids ...string) (all []frame) {
	r.t.Helper()
	for left := len(ids); left > 0; left-- {
		all = append(all, r.until("turn.end")...)
	}
	return all
}

// One connection has the list and several sessions: of each, whatever is cut, every event once and
// in order, from the place of its own that a reader names.
func TestOneStreamHasSeveralSessions(t *testing.T) {
	h := newHouse(t)
	a, pathA := h.session(t)
	b, pathB := h.session(t)
	h.say(t, pathA, "hello")
	first := len(h.logOf(t, pathA))
	r := h.open(t, "GET", "/api/stream?sessions="+a+","+b+":1", "")
	all := r.until("turn.end")
	h.say(t, pathB, "stream 300 words")
	h.say(t, pathA, "hello again")
	all = append(all, r.ended(a, b)...)
	last := ""
	list := false
	for _, f := range all {
		if f.id != "" {
			last = f.id
		}
		list = list || f.kind == "session.changed" && f.of == ""
	}
	if !list {
		t.Errorf("what changes in the list is not among %v", kinds(all))
	}
	r.close()
	h.say(t, pathA, "while nobody reads")
	h.say(t, pathB, "while nobody reads")
	again := h.open(t, "GET", "/api/stream?sessions="+a+","+b, "", "Last-Event-ID: "+last)
	rest := again.ended(a, b)

	whole := h.open(t, "GET", "/api/stream?sessions="+a+":"+strconv.Itoa(first)+","+b, "")
	for id, path := range map[string]string{a: pathA, b: pathB} {
		log := h.logOf(t, path)
		from := map[string]int{a: 0, b: 1}
		checkLogged(t, id, partsOf(t, append(all, rest...), from)[id], log, from[id])
	}
	for id, list := range partsOf(t, whole.ended(a, a, b, b), map[string]int{a: first}) {
		checkLogged(t, "from its own place", list, h.logOf(t, "/api/sessions/"+id),
			map[string]int{a: first}[id])
	}
}

// A session that is deleted, unknown or somebody else's ends its own part, in the same words; what
// cannot be a place is resynchronised.
func TestAPartEndsAlone(t *testing.T) {
	h := newSharedHouse(t)
	ann, bob := h.signIn("ann@example.com"), h.signIn("bob@example.com")
	hers := h.live(t, ann, "canary").session
	his := h.live(t, bob, "other").session
	r := h.open(t, "GET", "/api/stream?sessions="+hers+","+nothing.session+","+his+":x", "", bob...)
	ends := map[string]string{}
	resync := false
	for len(ends) < 2 || !resync {
		f, ok := r.next()
		if !ok {
			t.Fatalf("the stream ended after %v", ends)
		}
		if f.kind == "stream.closing" {
			_, ends[f.of], _ = strings.Cut(f.data, `"data"`)
		}
		if f.kind == "stream.resync" && f.of == his {
			resync = true
		}
		if strings.Contains(f.data, "canary") {
			t.Errorf("another's session: %s", f.data)
		}
	}
	if ends[hers] != ends[nothing.session] || !strings.Contains(ends[hers], `"retryMs":0`) {
		t.Errorf("another's session and an unknown one end differently: %v", ends)
	}
	if res, body := h.do("DELETE", "/api/sessions/"+his, "", bob...); res.StatusCode != 204 {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	r = h.open(t, "GET", "/api/stream?sessions="+his, "", bob...)
	if f := r.until("stream.closing"); !strings.Contains(f[len(f)-1].data, ends[hers]) ||
		f[len(f)-1].of != his {
		t.Errorf("a deleted session ends with %v", f)
	}
	h.live(t, bob, "more") // the list goes on
	for f, ok := r.next(); f.kind != "session.changed" || f.of != ""; f, ok = r.next() {
		if !ok {
			t.Fatal("the list ended with a session")
		}
	}
}

// What pages show of several sessions comes on one stream, and each session counts among streams.
func TestOneStreamServesPages(t *testing.T) {
	h := newHouse(t, func(c *guard.Config) { c.MaxStreams = 8 })
	a, pathA := h.session(t)
	b, _ := h.session(t)
	r := h.open(t, "GET", fmt.Sprintf("/api/stream?view=page&sessions=%s:1,%s", a, b), "")
	joined := map[string]bool{}
	for len(joined) < 2 {
		if f, ok := r.next(); !ok {
			t.Fatal("the stream ended")
		} else if strings.Contains(f.data, `"join":true`) {
			joined[f.of] = true
		}
	}
	h.say(t, pathA, "hello")
	for f, ok := r.next(); !strings.Contains(f.data, "turn-b"); f, ok = r.next() {
		if !ok || f.of == b {
			t.Fatalf("%v of %s", ok, f.of)
		}
	}
	for path, want := range map[string]int{"/api/stream?sessions=" + a: 503,
		"/api/stream?view=x&sessions=" + a: 400, "/api/stream?sessions=" +
			strings.Repeat("a,", 10): 503} {
		if res, body := h.do("GET", path, ""); res.StatusCode != want {
			t.Errorf("%s: %d %s", path, res.StatusCode, body)
		}
	}
	var many strings.Builder
	for i := range 101 {
		fmt.Fprintf(&many, "s%d,", i)
	}
	if res, body := h.do("GET", "/api/stream?sessions="+many.String(), ""); res.StatusCode != 400 {
		t.Errorf("101 sessions: %d %s", res.StatusCode, body)
	}
}
