package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/offline"
	"webchat/internal/document"
	"webchat/internal/eventlog"
	"webchat/internal/outputs"
	"webchat/internal/sessions"
	"webchat/internal/store/storetest"
)

// town is several servers on one log.
type town struct {
	t         testing.TB
	workspace string
	documents sharedDocuments // of all of them
	db        *storetest.Memory

	mu     sync.Mutex // guards what follows
	owner  map[eventlog.ID]int64
	peers  []sessions.Peer
	passed map[string]int // on to others: how often, by destination and status
}

func newTown(t testing.TB) *town {
	return &town{
		t:         t,
		workspace: t.TempDir(),
		documents: sharedDocuments{document.Folder(t.TempDir())},
		db:        storetest.NewMemory(),
		owner:     map[eventlog.ID]int64{},
		passed:    map[string]int{},
	}
}

// sharedDocuments are those of a database: what one server changed the others learn when they ask.
type sharedDocuments struct{ document.Folder }

func (sharedDocuments) Refresh(string) error { return nil }

// house builds the next one, as newHouse does.
func (w *town) house(noAuth bool, change ...any) *house {
	w.t.Helper()
	return w.houseOf(offline.New(offline.Config{Path: os.Getenv("PATH")}), noAuth, change...)
}

// houseOf is house with a backend.
func (w *town) houseOf(backend agent.Backend, noAuth bool, change ...any) *house {
	w.t.Helper()
	w.mu.Lock()
	in := &resident{town: w, number: int64(len(w.peers) + 1), noAuth: noAuth}
	w.peers = append(w.peers, sessions.Peer{Number: in.number})
	w.mu.Unlock()
	return newHouseIn(w.t, w.db, backend, in, change...)
}

// newEdge is a house whose sessions its neighbour has.
func newEdge(t testing.TB, change ...any) *house {
	t.Helper()
	w := newTown(t)
	owner := w.house(false, change...)
	edge := w.house(false, change...)
	edge.owner = owner
	return edge
}

func (w *town) settle(r *resident, url string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.peers[r.number-1].URL = url
}

// version has a replica be of another one.
func (w *town) version(number int64, version string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.peers[number-1].Version = version
}

// join adds a replica that is none of ours.
func (w *town) join(p sessions.Peer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.peers = append(w.peers, p)
}

// bury takes a replica from the living.
func (w *town) bury(number int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.peers[number-1].Number = 0
}

func (w *town) own(session string, number int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.owner[eventlog.ID(session)] = number
}

func (w *town) times(what string) int { w.mu.Lock(); defer w.mu.Unlock(); return w.passed[what] }

// resident is one of a town's houses, as it sees the others.
type resident struct {
	town   *town
	number int64
	noAuth bool
	late   []int64 // who had what it asks for next, and has it no longer
}

func (r *resident) count(to string, code int) {
	r.town.mu.Lock()
	defer r.town.mu.Unlock()
	r.town.passed[fmt.Sprintf("%s %d", to, code)]++
}

func (r *resident) Self() sessions.Peer { return sessions.Peer{Number: r.number} }

func (r *resident) Peers() (all []sessions.Peer) {
	r.town.mu.Lock()
	defer r.town.mu.Unlock()
	for _, p := range r.town.peers {
		if p.Number != 0 && p.Number != r.number {
			all = append(all, p)
		}
	}
	return all
}

// freeAt is when a dead replica's sessions are free.
var freeAt = time.Date(2030, 1, 2, 14, 3, 22, 0, time.UTC)

func (r *resident) Take(ctx context.Context, id eventlog.ID) error {
	if _, err := r.town.db.Summary(ctx, id); err != nil {
		return err
	}
	r.town.mu.Lock()
	defer r.town.mu.Unlock()
	if len(r.late) > 0 {
		n := r.late[0]
		r.late = r.late[1:]
		return &sessions.ElsewhereError{ID: id, Peer: r.town.peers[n-1], Until: freeAt}
	}
	for _, p := range r.town.peers {
		if n := r.town.owner[id]; n != r.number && p.Number == n && n != 0 {
			return &sessions.ElsewhereError{ID: id, Peer: p, Until: freeAt}
		}
	}
	r.town.owner[id] = r.number
	return nil
}

func (r *resident) Alive() error { return nil }

func (*resident) Yield(context.Context) error { return nil }

func (*resident) Release(context.Context, eventlog.ID) error { return nil }

func (*resident) Others() int { return 0 }

func (r *resident) Elsewhere(context.Context) ([]eventlog.Summary, error) { return nil, nil }

// What another replica has is answered through this one as there: status, headers and body, also of
// what is refused, and what is written arrives once.
func TestForward(t *testing.T) {
	edge := newEdge(t)
	owner := edge.owner
	owner.file("go.mod", "module demo\n")
	id, path := owner.session(t)
	edge.say(t, path, "/show go.mod")
	_, body := owner.do("GET", path+"/outputs", "")
	var list struct{ Outputs []struct{ ID outputs.ID } }
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Outputs) != 1 ||
		outputs.Maker(list.Outputs[0].ID) != 1 {
		t.Fatalf("%s: %v", body, err)
	}
	output := "/api/outputs/" + string(list.Outputs[0].ID)
	for _, ask := range []string{"GET " + path, "HEAD " + path, "GET " + path + "/events", "GET " +
		path + "/outputs", "GET " + path + "/export?format=md", "GET /sessions/" + id,
		"GET /api/permissions?session=" + id, "GET " + output, "GET " + output + "?format=json", "GET " +
			path + "/nothing", "DELETE /api/permissions/none?session=" + id,
		"POST " + path + "/rewind", "GET " + path + "?a=1&b=;x", "PATCH " + path} {
		method, at, _ := strings.Cut(ask, " ")
		there, want := owner.do(method, at, "")
		here, got := edge.do(method, at, "")
		for _, h := range []http.Header{there.Header, here.Header} {
			h.Del("Date")
		}
		if here.StatusCode != there.StatusCode || got != want ||
			!reflect.DeepEqual(here.Header, there.Header) {
			t.Errorf("%s: %d %v\n%.300s\nwant %d %v\n%.300s", ask, here.StatusCode, here.Header, got,
				there.StatusCode, there.Header, want)
		}
	}
	if n := edge.sessions.Stats().Loaded; n != 0 {
		t.Errorf("the edge took %d sessions", n)
	}
	if res, _ := edge.do("GET", "/readyz", ""); res.Header.Get("Webchat-Replica") != "2" {
		t.Errorf("%v", res.Header)
	}
	// its pages name scripts that this one does not have
	edge.resident.town.version(1, "v2+0123456789ab")
	if res, _ := edge.do("GET", "/static/0123456789ab/js/theme.js", ""); res.StatusCode != 200 ||
		edge.resident.town.times("static 200") != 1 {
		t.Errorf("scripts of another version: %d %v", res.StatusCode, edge.resident.town.passed)
	}
	edge.say(t, path, "hello")
	log := owner.logOf(t, path)
	follow := edge.open(t, "GET", path+"/events", "", "Last-Event-ID: 2")
	var got []frame
	for len(got) < len(log)-2 {
		f, ok := follow.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		if f.id != "" && !strings.Contains(f.data, `"ephemeral":true`) {
			got = append(got, f)
		}
	}
	checkLogged(t, "through the edge", got, log, 2)
	if owner.hub.Streams() != 1 || edge.hub.Streams() != 0 {
		t.Errorf("%d and %d streams", owner.hub.Streams(), edge.hub.Streams())
	}
	edge.server.CutForwarded() // its reader is to come back
	for ok := true; ok; {
		_, ok = follow.next()
	}
	if res, body := edge.do("GET", path, ""); res.StatusCode != 503 ||
		!strings.Contains(body, `"closing"`) {
		t.Errorf("after the end began: %d %s", res.StatusCode, body)
	}
	if n := edge.resident.town.times("session 200"); n == 0 ||
		edge.resident.town.times("output 200") != 2 {
		t.Errorf("%v", edge.resident.town.passed)
	}
}

// The replica that has a session decides about a request as if it had come there: what another one
// let through is refused all the same.
func TestOwnerDecidesAgain(t *testing.T) {
	w := newTown(t)
	owner := w.house(false)
	edge := w.house(true) // which has no users
	id, _ := owner.session(t)
	refused := 0
	for _, row := range published(t, owner) {
		if !strings.Contains(row.pattern, "/sessions/{id}") {
			continue
		}
		path := strings.NewReplacer("{id}", id).Replace(row.pattern)
		for _, credentials := range []string{"Authorization:", "Authorization: Bearer wrong"} {
			there, want := owner.do(row.method, path, "", credentials)
			here, got := edge.do(row.method, path, "", credentials)
			if refused++; here.StatusCode != there.StatusCode || got != want || here.StatusCode != 401 {
				t.Errorf("%s %s: %d %.200s, want %d %.200s", row.method, path, here.StatusCode, got,
					there.StatusCode, want)
			}
		}
	}
	if refused < 50 {
		t.Errorf("only %d requests", refused)
	}
}

// What was passed on is not passed on again, whatever its headers say; and nothing else follows
// from that.
func TestForgedHop(t *testing.T) {
	edge := newEdge(t)
	_, path := edge.session(t)
	for _, forged := range []string{"1", "", "2, 2"} {
		r := edge.request("GET", path, "")
		r.Header["Webchat-Hop"] = []string{forged, forged}
		res, err := edge.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if want := map[bool]int{true: 503, false: 200}[forged != ""]; res.StatusCode != want {
			t.Errorf("%q: %d, want %d", forged, res.StatusCode, want)
		}
	}
	if n := edge.resident.town.times("session 200"); n != 1 {
		t.Errorf("passed on %d times", n)
	}
	edge.resident.town.bury(1) // now it is free
	if res, body := edge.do("GET", path, "", "Webchat-Hop: 1"); res.StatusCode != 200 {
		t.Errorf("%d %s", res.StatusCode, body)
	}
}

// A session that is handed over while a request about it is passed on is looked for once more.
func TestForwardDuringAHandOver(t *testing.T) {
	w := newTown(t)
	owner, edge, had := w.house(false), w.house(false), w.house(false)
	id, path := owner.session(t)
	prompts := func(from *house, path string) (n int) {
		for _, e := range from.logOf(t, path) {
			if strings.Contains(e.data, `"type":"user.message"`) {
				n++
			}
		}
		return n
	}
	want := func(status int, method, at, body string, late ...int64) {
		t.Helper()
		w.mu.Lock()
		edge.resident.late = late
		w.mu.Unlock()
		if res, text := edge.do(method, at, body); res.StatusCode != status ||
			res.Header.Get("Webchat-Hop") != "" {
			t.Errorf("%s %s after %v: %d %v %.200s, want %d", method, at, late, res.StatusCode, res.Header,
				text, status)
		}
	}
	want(202, "POST", path+"/messages", `{"content":"/show go.mod","messageId":"one"}`, 3)
	want(200, "GET", path, "", 3)
	want(200, "GET", "/sessions/"+id, "", 3)
	want(503, "GET", path, "", 3, 3)
	// it is not kept
	want(503, "POST", path+"/messages", `{"content":"`+strings.Repeat("x", 70_000)+`"}`, 3)
	if n := prompts(owner, path); n != 1 {
		t.Errorf("the prompt is %d times in the log", n)
	}
	owner.stop() // what it had is the edge's
	w.own(id, 2)
	want(202, "POST", path+"/messages", `{"content":"/show go.mod","messageId":"two"}`, 3)
	if n := prompts(edge, path); n != 2 {
		t.Errorf("%d prompts are in the log", n)
	}
	if n := had.sessions.Stats().Loaded; n != 0 {
		t.Errorf("who had it took %d sessions", n)
	}
}

// proves answers as the replica of a number does, when it is asked who it is.
func proves(of *house, w http.ResponseWriter, r *http.Request, number int64) bool {
	asked := r.Header.Get("Webchat-Hop")
	w.Header().Set("Webchat-Proof", of.guard.ReplicaProof(number, asked))
	return asked != "1"
}

// A replica that does not answer, or ends half way, is said to; what may have been done is not sent
// again.
func TestForwardToADeadReplica(t *testing.T) {
	w := newTown(t)
	owner := w.house(false)
	edge := w.house(false)
	id, path := owner.session(t)
	asked := make(chan *http.Request, 10)
	half := make(chan struct{})
	dying := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if proves(edge, rw, r, 3) {
			return
		}
		asked <- r
		switch {
		case r.Method == "POST":
			_, _ = r.Body.Read(make([]byte, 1))
		case strings.HasSuffix(r.URL.Path, "/export"):
			rw.Header().Set("Webchat-Replica", "3")
			rw.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(rw, "half")
			_ = http.NewResponseController(rw).Flush()
		case strings.HasSuffix(r.URL.Path, "/tasks"): // it froze
			close(half)
			<-r.Context().Done()
			return
		}
		panic(http.ErrAbortHandler)
	}))
	defer dying.Close()
	dying.Config.ErrorLog = nil
	w.join(sessions.Peer{Number: 3, URL: dying.URL, Version: "v1+older"})
	w.own(id, 3)
	owner.stop() // else it has the session loaded
	want := func(status int, code string, res *http.Response, body string) {
		t.Helper()
		if res.StatusCode != status || !strings.Contains(body, `"code":"`+code+`"`) ||
			(res.Header.Get("Retry-After") == "2") != (status == 503) {
			t.Errorf("%d %v %s, want %d %s", res.StatusCode, res.Header, body, status, code)
		}
		if res.Header.Get("X-Content-Type-Options") != "nosniff" ||
			len(res.Header.Values("Cache-Control")) != 1 {
			t.Errorf("headers: %v", res.Header)
		}
	}
	res, body := edge.do("POST", path+"/messages", `{"content":"`+strings.Repeat("x", 500_000)+`"}`)
	want(502, "replica_cut", res, body)
	if len(asked) != 1 {
		t.Errorf("a body was sent %d times", len(asked))
	}
	res, body = edge.do("GET", path, "")
	want(503, "replica_away", res, body)
	if !strings.Contains(body, "at 14:03:22 UTC") {
		t.Error(body)
	}
	// else it was cut before its first bytes had left
	if res, err := edge.client.Do(edge.request("GET", path+"/export", "")); err == nil {
		if b, err := io.ReadAll(res.Body); err == nil {
			t.Errorf("half an answer is taken for the whole: %q", b)
		}
		_ = res.Body.Close()
	}
	// Scripts of its version are this one's where it does not answer.
	if res, body := edge.do("GET", "/static/older/js/theme.js", ""); res.StatusCode != 200 ||
		!strings.Contains(body, "import") && !strings.Contains(body, "document") {
		t.Errorf("%d %.100s", res.StatusCode, body)
	}
	if res, _ := edge.do("GET", "/api/outputs/out_AAAAAAAAAAAAAAAAAAAAAAAAAA_3",
		""); res.StatusCode != 404 {
		t.Errorf("an output of a dead maker: %d", res.StatusCode)
	}
	done := make(chan int, 1)
	go func() {
		res, err := edge.client.Do(edge.request("GET", path+"/tasks", ""))
		if err != nil {
			done <- 0
			return
		}
		_ = res.Body.Close()
		done <- res.StatusCode
	}()
	<-half
	w.bury(3)
	if got := <-done; got != 503 {
		t.Errorf("one that is not among the living is waited for: %d", got)
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	w.join(sessions.Peer{Number: 4, URL: "http://" + closed.Addr().String()})
	w.own(id, 4)
	res, body = edge.do("POST", path+"/messages", `{"content":"x"}`)
	want(503, "replica_away", res, body)
	if res, body := edge.do("GET", "/sessions/"+id, ""); res.StatusCode != 503 ||
		res.Header.Get("Refresh") != "2" || !strings.Contains(body, "tries again by itself") ||
		!strings.Contains(body, "at 14:03:22 UTC") {
		t.Errorf("a page: %d %v %s", res.StatusCode, res.Header, body)
	}
	for len(asked) > 0 {
		if r := <-asked; r.Host != strings.TrimPrefix(edge.url, "http://") ||
			r.Header.Get("Webchat-Hop") != "1" {
			t.Errorf("it did not come as it was: %s %v", r.Host, r.Header)
		}
	}
}

// THREATS 102: a dead replica's address may be another program's before others take what the
// replica had. It proves that it is the replica before it is sent anything, whatever it says of
// itself. Nothing that does not name the replica is served, also not what comes before an answer;
// and what is served has our headers, whatever it lacks.
func TestThreat102AnswersNameTheirReplica(t *testing.T) {
	w := newTown(t)
	owner := w.house(false)
	edge := w.house(false)
	id, path := owner.session(t)
	for _, ask := range []string{"GET " + path, "GET /nothing", "GET " + path +
		" Authorization: Bearer wrong", "GET " + path + " Host: evil.example"} {
		method, at, _ := strings.Cut(ask, " ")
		at, more, _ := strings.Cut(at, " ")
		if res, _ := owner.do(method, at, "", "Webchat-Hop: 1",
			more); res.Header.Get("Webchat-Replica") != "1" {
			t.Errorf("%s: %d %v", ask, res.StatusCode, res.Header)
		}
		if res, _ := owner.do(method, at, "", more); res.Header.Get("Webchat-Replica") != "" {
			t.Errorf("%s, which was not passed on: %d %v", ask, res.StatusCode, res.Header)
		}
	}
	if res, _ := owner.do("GET", "/nothing", "", "Authorization:",
		"Webchat-Hop: word"); res.Header.Get("Webchat-Proof") != edge.guard.ReplicaProof(1, "word") {
		t.Errorf("who it is: %v", res.Header)
	}
	var says, proof atomic.Value
	says.Store("")
	proof.Store("") // nothing, another replica's word, or 3's own
	stranger := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked := r.Header.Get("Webchat-Hop")
		if proof.Load() == "2's" {
			rw.Header().Set("Webchat-Proof", edge.guard.ReplicaProof(2, asked))
		}
		if proof.Load() == "3's" && proves(edge, rw, r, 3) {
			return
		}
		if proof.Load() != "3's" && (r.Header.Get("Authorization") != "" ||
			r.Header.Get("Cookie") != "" || r.URL.Path != "/healthz") {
			t.Errorf("who proved nothing was sent %s %v", r.URL, r.Header)
		}
		rw.Header().Set("Link", "</evil.js>; rel=preload; as=script")
		rw.WriteHeader(http.StatusEarlyHints)
		rw.Header().Set("Set-Cookie", "evil=1")
		rw.Header().Set("Content-Type", "text/html")
		if number := says.Load().(string); number != "" {
			rw.Header().Set("Webchat-Replica", number)
		}
		_, _ = io.WriteString(rw, "<script>evil()</script>")
	}))
	defer stranger.Close()
	w.join(sessions.Peer{Number: 3, URL: stranger.URL})
	w.own(id, 3)
	owner.stop() // else it has the session loaded
	ask := func(method, at, body string) (*http.Response, string) {
		t.Helper()
		r := edge.request(method, at, body)
		res, err := edge.client.Do(r.WithContext(httptrace.WithClientTrace(r.Context(),
			&httptrace.ClientTrace{
				Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
					t.Errorf("%s %s: first %d %v", method, at, code, h)
					return nil
				}})))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"Content-Security-Policy", "X-Content-Type-Options",
			"Referrer-Policy", "Cache-Control"} {
			if len(res.Header.Values(name)) != 1 {
				t.Errorf("%s %s: %s is %q", method, at, name, res.Header.Values(name))
			}
		}
		if got := res.Header.Get("Webchat-Replica"); got != "" {
			t.Errorf("%s %s names replica %s", method, at, got)
		}
		return res, string(b)
	}
	for _, is := range []struct{ number, proof, post string }{{"3", "", "away"}, {"3", "2's", "away"},
		{"", "3's", "cut"}, {"2", "3's", "cut"}, {"33", "3's", "cut"}} {
		number := is.number
		says.Store(number)
		proof.Store(is.proof)
		for at, want := range map[string]string{"GET " + path: "replica_away", "GET " + path +
			"/events": "replica_away",
			"GET /sessions/" + id: "Cannot be reached", "POST " + path + "/messages": "replica_" + is.post} {
			method, at, _ := strings.Cut(at, " ")
			res, body := ask(method, at, map[string]string{"POST": `{"content":"x"}`}[method])
			status := map[string]int{"GET": 503, "POST": map[string]int{"away": 503,
				"cut": 502}[is.post]}[method]
			if res.StatusCode != status || !strings.Contains(body, want) || strings.Contains(body, "evil") {
				t.Errorf("%q, %s %s: %d %s, want %d %s", number, method, at, res.StatusCode, body, status, want)
			}
			if res.Header.Get("Set-Cookie") != "" || res.Header.Get("Link") != "" {
				t.Errorf("%q, %s %s: %v", number, method, at, res.Header)
			}
		}
	}
	says.Store("3")
	if res, body := ask("GET", path, ""); res.StatusCode != 200 || !strings.Contains(body, "evil") {
		t.Errorf("the replica's own answer: %d %s", res.StatusCode, body)
	}
}

// The calls with a key for MCP go to one replica, which few of them leave when another one comes.
func TestForwardByKey(t *testing.T) {
	w := newTown(t)
	all := []*house{w.house(false), w.house(false), w.house(false)}
	where := func(key string) (at []string) {
		token, err := all[0].guard.MCPKey(key)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range all {
			before := w.times("mcp 200")
			res, _ := h.do("POST", "/mcp", `{}`, "Authorization: Bearer "+token)
			if res.StatusCode != 200 {
				t.Fatal(res.StatusCode)
			}
			if w.times("mcp 200") == before {
				at = append(at, h.url)
			}
		}
		return at
	}
	used := map[string]bool{}
	for i := range 40 {
		at := where(fmt.Sprint("client", i))
		if len(at) != 1 {
			t.Fatalf("%d replicas answer a key", len(at))
		}
		used[at[0]] = true
	}
	if len(used) != 3 {
		t.Errorf("%d replicas have keys", len(used))
	}
	for _, h := range all { // an agent's key leads to its session
		id, _ := h.session(t)
		if at := where("agent-" + id); len(at) != 1 || at[0] != h.url {
			t.Errorf("the key of an agent of %s leads to %s", h.url, at)
		}
	}
}
