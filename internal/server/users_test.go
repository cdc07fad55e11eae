package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"webchat/internal/guard"
)

// sharedHouse is a house in which people sign in as themselves.
type sharedHouse struct {
	*house
	key string
}

func newSharedHouse(t *testing.T) *sharedHouse { return sharedBy(t, newHouse) }

// sharedBy is a house that is built so, in which people sign in as themselves.
func sharedBy(t *testing.T, build func(testing.TB, ...any) *house) *sharedHouse {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	users, err := guard.NewHeader("X-Forwarded-Email", file, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return &sharedHouse{build(t, users), strings.TrimSpace(string(key))}
}

// signIn signs a person in, as a proxy that knows who it is and a browser do, and returns the
// headers of that browser's requests.
func (h *sharedHouse) signIn(name string) []string {
	h.t.Helper()
	res, body := h.do("GET", "/auth/user", "", "Authorization:", "Webchat-Identity-Key: "+h.key,
		"X-Forwarded-Email: "+name)
	link := res.Cookies()
	_, token, ok := strings.Cut(res.Header.Get("Location"), "/auth#t=")
	if !ok || res.StatusCode != http.StatusSeeOther || len(link) != 1 {
		h.t.Fatalf("%d %s", res.StatusCode, body)
	}
	res, body = h.do("POST", "/api/sign-in", `{"token":"`+token+`"}`, "Authorization:", "Cookie: "+
		link[0].Name+"="+link[0].Value)
	var in struct{ Secret string }
	if err := json.Unmarshal([]byte(body), &in); err != nil || res.StatusCode != 200 ||
		len(res.Cookies()) != 1 {
		h.t.Fatalf("%d %s", res.StatusCode, body)
	}
	c := res.Cookies()[0]
	return []string{"Authorization: Bearer " + in.Secret, "Cookie: " + c.Name + "=" + c.Value}
}

// stranger is who is not signed in.
var stranger = []string{"Authorization:"}

// theirs is what the sessions of one person hold that a route can name.
type theirs struct{ session, output, call, request, grant, waiting, message string }

// nothing has ids of the same form that do not exist.
var nothing = theirs{"01900000-0000-7000-8000-000000000000", "out_AAAAAAAAAAAAAAAAAAAAAAAAAA",
	"call-none", "request-none", "gnone", "waiting-none", "message-none"}

// live makes a session in which there is something of everything; what it says holds a word.
func (h *sharedHouse) live(t *testing.T, who []string, word string) theirs {
	t.Helper()
	if h.owner != nil {
		// a sign-in is for one name and port
		as := append(slices.Clone(who), "Host: "+strings.TrimPrefix(h.url, "http://"))
		return (&sharedHouse{h.owner, h.key}).live(t, as, word)
	}
	var mine theirs
	into := func(v any, method, path, body string) {
		t.Helper()
		if res, said := h.do(method, path, body, who...); res.StatusCode >= 300 ||
			json.Unmarshal([]byte(said), v) != nil {
			t.Fatalf("%s %s: %d %s", method, path, res.StatusCode, said)
		}
	}
	var made struct{ ID string }
	into(&made, "POST", "/api/sessions", `{"title":"Title `+word+`"}`)
	mine.session = made.ID
	if h.resident != nil {
		h.resident.town.own(made.ID, h.resident.number)
	}
	path := "/api/sessions/" + made.ID
	var shown struct {
		Output     struct{ ID string }
		ToolCallID string
	}
	into(&shown, "POST", path+"/display", `{"tool":"run_and_display","arguments":{"command":"echo `+
		word+`"}}`)
	mine.output, mine.call = shown.Output.ID, shown.ToolCallID
	r := h.open(t, "GET", path+"/events", "", who...)
	ask := func(command string) (request, grant string) {
		t.Helper()
		into(&struct{ MessageID string }{}, "POST", path+"/messages", `{"content":"run `+command+`"}`)
		asked := r.until("permission.requested")
		var e struct {
			Data struct {
				RequestID string
				Grants    []struct{ ID string }
			}
		}
		if err := json.Unmarshal([]byte(asked[len(asked)-1].data), &e); err != nil ||
			len(e.Data.Grants) == 0 {
			t.Fatalf("%v %+v", err, e)
		}
		return e.Data.RequestID, e.Data.Grants[0].ID
	}
	mine.request, mine.grant = ask("touch " + word)
	into(&struct{}{}, "POST", path+"/permissions/"+mine.request,
		`{"decision":"allow","scope":"workspace","grant":"`+mine.grant+`"}`)
	r.until("turn.end")
	mine.request, _ = ask("mkdir " + word) // this question stays open, and what follows waits
	var waits struct{ MessageID string }
	into(&waits, "POST", path+"/messages", `{"content":"waiting `+word+`"}`)
	mine.waiting, mine.message = waits.MessageID, waits.MessageID
	return mine
}

// named are the routes that name a session, an output, a grant, a task, a call or a request, with a
// body that each would take.
var named = map[string]string{
	"GET /sessions/{id}": "", "GET /sessions/{id}/replay": "", "GET /sessions/{id}/stream": "",
	"GET /sessions/{id}/desk/{output}": "", "GET /sessions/{id}/review": "",
	"GET /api/sessions/{id}/tools/{toolCallId}": "",
	"GET /consent?session=":                     "", "GET /api/permissions?session=": "",
	"GET /api/search?session=":      "",
	"GET /api/mcp/prompts?session=": "", "POST /api/mcp/{server}/prompt?session=": `{"name":"x"}`,
	"GET /api/mcp/resources?session=": "", "POST /api/mcp/{server}/resource?session=": `{"uri":"x"}`,
	"POST /api/mcp/{server}/complete?session=": `{"uri":"x","argument":"x","value":""}`,
	"GET /api/mcp?session=":                    "", "POST /api/mcp/{server}/switch?session=": `{"off":true}`,
	"DELETE /api/permissions/{grantId}": "", "DELETE /api/permissions/{grantId}?session=": "",
	"GET /api/sessions/{id}": "", "PATCH /api/sessions/{id}": `{"title":"x"}`,
	"DELETE /api/sessions/{id}": "", "POST /api/sessions/{id}/restore": "",
	"GET /api/sessions/{id}/choices": "", "POST /api/sessions/{id}/messages": `{"content":"hello"}`,
	"PATCH /api/sessions/{id}/messages/{messageId}":  `{"content":"x"}`,
	"DELETE /api/sessions/{id}/messages/{messageId}": "",
	"POST /api/sessions/{id}/rewind":                 `{"messageId":"MESSAGE"}`,
	"POST /api/sessions/{id}/rewind/undo":            "{}",
	"GET /api/sessions/{id}/worktree":                "",
	"POST /api/sessions/{id}/worktree/bring":         `{"as":"changes"}`,
	"POST /api/sessions/{id}/worktree/undo":          "{}",
	"DELETE /api/sessions/{id}/worktree":             "",
	"POST /api/sessions/{id}/worktree/restore":       "{}",
	"POST /api/sessions/{id}/branch":                 `{"messageId":"MESSAGE"}`,
	"POST /api/sessions/{id}/compact":                "{}", "POST /api/sessions/{id}/clear": "",
	"POST /api/sessions/{id}/inside":                       "",
	"POST /api/sessions/{id}/display":                      `{"tool":"run_and_display","arguments":{"command":"echo x"}}`,
	"POST /api/sessions/{id}/outputs/{outputId}/keep":      "",
	"POST /api/sessions/{id}/turns/{turnId}/undo":          "{}",
	"POST /api/sessions/{id}/turns/{turnId}/redo":          "{}",
	"POST /api/sessions/{id}/outputs/{outputId}/reread":    "",
	"POST /api/sessions/{id}/outputs/{outputId}/undo":      `{"with":"OUTPUT","undone":[]}`,
	"POST /api/sessions/{id}/outputs/{outputId}/open":      "",
	"POST /api/sessions/{id}/outputs/{outputId}/pin":       `{"pinned":true}`,
	"POST /api/sessions/{id}/outputs/{outputId}/app/hosts": "",
	"POST /api/sessions/{id}/outputs/{outputId}/app/call":  `{"tool":"x","arguments":{}}`,
	"DELETE /api/sessions/{id}/outputs/{outputId}":         "", "POST /api/sessions/{id}/abort": "{}",
	"GET /api/sessions/{id}/tasks": "", "POST /api/sessions/{id}/tasks/{taskId}/abort": "",
	"POST /api/sessions/{id}/tools/{toolCallId}/abort": "",
	"GET /api/sessions/{id}/events":                    "",
	"POST /api/sessions/{id}/permissions/{requestId}":  `{"decision":"allow"}`,
	"POST /api/sessions/{id}/answers/{requestId}":      `{"answer":"x"}`,
	"POST /api/sessions/{id}/opened":                   `{"kind":"host","what":"x.example","scope":"once"}`, "DELETE /api/sessions/{id}/opened/{openedId}": "",
	"POST /api/sessions/{id}/permissions/{requestId}/again": "{}",
	"POST /api/sessions/{id}/refused/{toolCallId}/outside":  "{}", "GET /sessions/{id}/sandbox": "",
	"POST /api/sessions/{id}/attachments": "TEXT", "GET /api/sessions/{id}/export": "",
	"GET /api/sessions/{id}/places": "", "GET /api/sessions/{id}/changes": "",
	"GET /api/sessions/{id}/outputs": "",
	"GET /api/outputs/{id}":          "", "GET /api/outputs/{id}/page": "",
	"GET /api/outputs/{id}/media": "", "GET /api/outputs/{id}/follow": "",
	"GET /api/outputs/{id}/json": "", "GET /api/outputs/{id}/lines": "",
	"GET /api/outputs/{id}/html": "", "GET /api/outputs/{id}/views/{view}": "",
	"GET /api/outputs/{id}/grep": "", "GET /api/outputs/{id}/matches": "",
	"GET /api/outputs/{id}/count": "", "GET /api/outputs/{id}/density": "",
	"GET /api/outputs/{id}/price": "", "GET /api/outputs/{id}/app": "",
	"GET /api/outputs/{id}/app/data": "", "GET /api/outputs/{id}/pictures/{picture}": "",
}

// unnamed are parts of paths and queries that name nothing of one person's: folders and servers are
// everybody's, and a list marks a row only if the list has it.
// TestAPartEndsAlone
var unnamed = []string{"GET /sessions?current=", "GET /api/search?output=",
	"GET /api/outputs/{id}/page?output=", "GET /api/stream?sessions=",
	"POST /api/mcp/{server}/allow", "POST /api/mcp/{server}/switch", "POST /api/mcp/{server}/prompt",
	"POST /api/mcp/{server}/resource", "POST /api/mcp/{server}/complete", "DELETE /api/workspaces/{id}", "POST /mcp/w/{workspaceId}",
	"GET /mcp/w/{workspaceId}", "DELETE /mcp/w/{workspaceId}"}

// To everybody else a person's session, and all that is in it, is as if it never was: by every
// route that names such a thing, in status, body and headers, and nothing of it changes.
func TestForeignIsAsUnknown(t *testing.T) {
	t.Run("alone", func(t *testing.T) { testForeign(t, newSharedHouse(t)) })
	t.Run("through another replica", func(t *testing.T) { testForeign(t, sharedBy(t, newEdge)) })
}

func testForeign(t *testing.T, h *sharedHouse) {
	ann, bob := h.signIn("ann@example.com"), h.signIn("bob@example.com")
	mine := h.live(t, ann, "canary")
	h.live(t, bob, "other")

	// Each route that can name something has its row here.
	for _, row := range h.addresses(t) {
		_, ok := named[row]
		if !ok && !slices.Contains(unnamed, row) {
			t.Errorf("%s names something: add it to the table of this test", row)
		}
	}
	operator := []string{"Authorization: Bearer " + h.guard.Token()}
	state := func() string {
		var all strings.Builder
		for _, path := range []string{"", "/events?limit=5000", "/outputs", "/tasks"} {
			_, body := h.do("GET", "/api/sessions/"+mine.session+path, "", operator...)
			all.WriteString(body)
		}
		_, grants := h.do("GET", "/api/permissions", "", operator...)
		return all.String() + grants
	}
	before := state()
	rows := make([]string, 0, len(named))
	for row := range named {
		rows = append(rows, row)
	}
	slices.Sort(rows)
	unknown := map[string]string{}
	for _, row := range rows {
		unknown[row] = h.answer(t, row, nothing, bob)
		if foreign := h.answer(t, row, mine, bob); foreign != unknown[row] {
			t.Errorf("%s tells a foreign one from an unknown one:\n%s\n%s", row, foreign, unknown[row])
		}
		if !strings.HasPrefix(unknown[row], "404 ") {
			t.Errorf("%s: an unknown one is answered %.200s", row, unknown[row])
		}
		out := h.answer(t, row, mine, stranger)
		if none := h.answer(t, row, nothing, stranger); out != none || !strings.HasPrefix(out, "401 ") &&
			!strings.Contains(row, "/api/outputs/") {
			t.Errorf("%s, signed out:\n%.300s\n%.300s", row, out, none)
		}
	}
	if after := state(); after != before {
		t.Errorf("what others tried changed\n%s\nto\n%s", before, after)
	}
	last := func(row string) int { // what ends something comes last
		switch {
		case row == "POST /api/sessions/{id}/restore":
			return 3
		case row == "DELETE /api/sessions/{id}":
			return 2
		case strings.HasPrefix(row, "DELETE") || strings.HasPrefix(row, "POST"):
			return 1
		}
		return 0
	}
	slices.SortStableFunc(rows, func(a, b string) int { return last(a) - last(b) })
	for _, row := range rows {
		if row == "DELETE /api/permissions/{grantId}?session=" {
			continue // the row before has taken it back
		}
		if strings.HasPrefix(row, "GET /api/outputs/{id}/app") ||
			strings.HasPrefix(row, "GET /api/outputs/{id}/pictures") {
			continue // the output is not the page of a server: see TestThreat124PageOfAServer, and names no picture
		}
		if own := h.answer(t, row, mine, ann); own == unknown[row] || strings.HasPrefix(own, "401 ") ||
			strings.HasPrefix(own, "403 ") {
			t.Errorf("%s: to its user it is %.300s", row, own)
		}
	}
}

// addresses are the published routes with a part that names something, and their queries that do.
func (h *sharedHouse) addresses(t *testing.T) (all []string) {
	t.Helper()
	_, body := h.do("GET", "/api/openapi.json", "")
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, In string }
		}
	}
	if err := json.Unmarshal([]byte(body), &doc); err != nil {
		t.Fatal(err)
	}
	for pattern, methods := range doc.Paths {
		for method, op := range methods {
			row := strings.ToUpper(method) + " " + pattern
			if strings.Contains(pattern, "{") {
				all = append(all, row)
			}
			for _, p := range op.Parameters {
				if p.In == "query" && slices.Contains([]string{"session", "sessions", "output", "current",
					"task", "call", "request", "grant", "message"}, p.Name) {
					all = append(all, row+"?"+p.Name+"=")
				}
			}
		}
	}
	if len(all) < 40 {
		t.Fatalf("only %d", len(all))
	}
	return all
}

var requestID = regexp.MustCompile(`under [A-Z0-9]{12}`)

// answer is what a route says to somebody about something, without its names and the time.
func (h *sharedHouse) answer(t *testing.T, row string, of theirs, who []string) string {
	t.Helper()
	method, pattern, _ := strings.Cut(row, " ")
	id := of.session
	if strings.HasPrefix(pattern, "/api/outputs/") {
		id = of.output
	}
	names := strings.NewReplacer("{id}", id, "{output}", of.output, "{outputId}", of.output,
		"{toolCallId}", of.call, "{requestId}", of.request, "{grantId}", of.grant,
		"{taskId}", "task", "{messageId}", of.waiting, "MESSAGE", of.message, "OUTPUT", of.output)
	path, body := names.Replace(pattern), names.Replace(named[row])
	if strings.HasSuffix(path, "session=") {
		path += of.session
	}
	if strings.HasPrefix(path, "/api/search") {
		path += "&q=canary"
	}
	header := who
	if body == "TEXT" {
		body, header = "some text", append(slices.Clone(who), "Content-Type: text/plain")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	res, err := h.client.Do(h.request(method, path, body, header...).WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text := []byte("a stream")
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		if text, err = io.ReadAll(res.Body); err != nil {
			t.Fatal(err)
		}
	}
	res.Header.Del("Date")
	said := fmt.Sprintf("%d %v %s", res.StatusCode, res.Header, text)
	for _, name := range []string{of.session, of.output, of.call, of.request, of.grant, of.waiting,
		url.QueryEscape(of.session)} {
		said = strings.ReplaceAll(said, name, "…")
	}
	if res.StatusCode >= 400 { // the name of an unknown one may be shorter
		said = strings.ReplaceAll(said, "Content-Length:["+res.Header.Get("Content-Length")+"]", "")
	}
	return requestID.ReplaceAllString(said, "")
}

// No list, search, count, stream, page or export of one person holds a word of another's.
func TestNoForeignWord(t *testing.T) {
	h := newSharedHouse(t)
	ann, bob := h.signIn("ann@example.com"), h.signIn("bob@example.com")
	hers, mine := h.live(t, ann, "canary"), h.live(t, bob, "pigeon")
	hidden := []string{"canary", hers.session, hers.output, "ann@example.com"}
	workspace := url.QueryEscape(h.workspace)
	for _, path := range []string{"/", "/sessions?current=" + hers.session, "/sessions?q=canary",
		"/sessions?q=can", "/sessions?state=waiting", "/sessions?rows=pinned:200", "/sessions/" +
			mine.session,
		"/sessions/" + mine.session + "/replay", "/api/sessions", "/api/sessions?q=canary",
		"/api/sessions?q=Title", "/api/sessions?state=active", "/api/sessions?workspace=" + workspace,
		"/api/start?workspace=" + workspace, "/api/permissions", "/api/permissions?session=" +
			mine.session, "/consent", "/consent?session=" + mine.session, "/metrics", "/api/workspaces",
		"/api/folders?q=/", "/api/mcp", "/api/hooks", "/api/openapi.json", "/api/search?session=" +
			mine.session + "&q=a", "/api/sessions/" + mine.session + "/export?format=md",
		"/api/sessions/" + mine.session + "/export?format=jsonl", "/api/sessions/" + mine.session +
			"/export?format=html", "/api/sessions/" + mine.session + "/outputs"} {
		res, body := h.do("GET", path, "", bob...)
		if res.StatusCode != 200 || body == "" {
			t.Errorf("%s: %d %.200s", path, res.StatusCode, body)
		}
		for _, word := range hidden {
			if path == "/sessions?current="+hers.session && word == hers.session ||
				strings.Contains(path, "q="+word) && !strings.Contains(body, "data-id") &&
					!strings.Contains(body, `"id"`) {
				continue // it is what was asked for
			}
			if i := strings.Index(body, word); i >= 0 {
				t.Errorf("%s holds %q: %s", path, word, body[max(0, i-100):min(len(body), i+60)])
			}
		}
	}
	if _, body := h.do("GET", "/api/sessions?q=canary", "", ann...); !strings.Contains(body,
		hers.session) {
		t.Errorf("to its user it is not there: nothing was tried: %s", body)
	}
	for _, one := range []struct {
		who, session string
		credentials  []string
	}{{"ann", hers.session, ann}, {"bob", mine.session, bob}} {
		for _, path := range []string{"/", "/sessions/" + one.session} {
			if _, page := h.do("GET", path, "", one.credentials...); !strings.Contains(page,
				`Signed in as <b dir="auto">`+one.who+`@example.com</b>`) || !strings.Contains(page,
				"All agents here run as one user") {
				t.Errorf("%s does not say who is signed in and what is shared", path)
			}
		}
	}
	if _, page := newHouse(t).do("GET", "/", ""); strings.Contains(page, "run as one user") {
		t.Error("a page of a single user says what is shared")
	}
	if _, page := h.do("GET", "/", ""); !strings.Contains(page, "You see everybody’s sessions.") ||
		!strings.Contains(page, "canary") {
		t.Error("who runs the server does not see everybody's sessions")
	}

	// A token of a user's is that user, and no longer than until it is revoked.
	token, err := h.guard.NewToken("bob@example.com")
	if err != nil {
		t.Fatal(err)
	}
	program := "Authorization: Bearer " + token
	if _, body := h.do("GET", "/api/sessions", "", program); !strings.Contains(body, mine.session) ||
		strings.Contains(body, hers.session) {
		t.Errorf("a token lists %s", body)
	}
	if res, _ := h.do("PATCH", "/api/sessions/"+mine.session, `{"pinned":true}`,
		program); res.StatusCode != 200 {
		t.Errorf("a token does not act: %d", res.StatusCode)
	}
	for path, want := range map[string]int{"/api/sessions/" + hers.session: 404, "/api/outputs/" +
		hers.output: 404, "/api/outputs/" + mine.output: 200, "/mcp": 401} {
		if res, _ := h.do("GET", path, "", program); res.StatusCode != want {
			t.Errorf("a token, %s: %d, not %d", path, res.StatusCode, want)
		}
	}

	stream := h.open(t, "GET", "/api/stream", "", bob...)
	for _, one := range []struct {
		of   theirs
		who  []string
		name string
	}{{hers, ann, "canary again"}, {mine, bob, "pigeon again"}} {
		if res, body := h.do("PATCH", "/api/sessions/"+one.of.session, `{"title":"`+one.name+`"}`,
			one.who...); res.StatusCode != 200 {
			t.Fatalf("%d %s", res.StatusCode, body)
		}
	}
	for _, f := range stream.until("session.changed") {
		if strings.Contains(f.data, "canary") || !strings.Contains(f.data, "pigeon again") {
			t.Errorf("the stream of changes: %s", f.data)
		}
	}
	if _, err := h.guard.Revoke("bob@example.com"); err != nil {
		t.Error(err)
	}
	for _, who := range [][]string{{program}, bob} {
		if res, _ := h.do("GET", "/api/sessions", "", who...); res.StatusCode != 401 {
			t.Errorf("after the end of a user's sign-ins: %d", res.StatusCode)
		}
	}
	if res, _ := h.do("GET", "/api/sessions", "", ann...); res.StatusCode != 200 {
		t.Errorf("another's sign-in ended, too: %d", res.StatusCode)
	}
	// A grant holds in the sessions of who gave it: the same act of another is asked about.
	if _, body := h.do("GET", "/api/permissions", "", ann...); !strings.Contains(body, hers.grant) {
		t.Errorf("who gave a grant does not see it: %s", body)
	}
}
