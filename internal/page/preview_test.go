package page_test

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"webchat/internal/event"
	"webchat/internal/page"
	"webchat/internal/render"
	"webchat/internal/render/code"
	"webchat/web"
)

// policy is the Content-Security-Policy that every page is served with.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types webchat"

// TestPreview serves the pages for looking at, at the address in WEBCHAT_PREVIEW,
// until /quit is asked for.
func TestPreview(t *testing.T) {
	addr := os.Getenv("WEBCHAT_PREVIEW")
	if addr == "" {
		t.Skip("for looking at: WEBCHAT_PREVIEW=127.0.0.1:8099 go test -run Preview ./internal/page")
	}
	srv := &http.Server{Addr: addr, ReadHeaderTimeout: time.Second}
	mux := http.NewServeMux()
	mux.Handle("/static/", web.Handler())
	mux.HandleFunc("/quit", func(http.ResponseWriter, *http.Request) { go srv.Close() })
	mux.HandleFunc("/api/outputs/out_I", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/svg+xml")
		fmt.Fprint(w, `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="320" viewBox="0 0 240 120"><g fill="none" stroke="#0a6a5b" stroke-width="9" stroke-linecap="round"><path d="M30 60c20-34 60-34 80 0s60 34 80 0"/><path d="M30 60c20 34 60 34 80 0s60-34 80 0" stroke="#e0952b"/></g><circle cx="110" cy="60" r="13" fill="#191a18"/></svg>`)
	})
	for name, s := range scenes() {
		mux.HandleFunc("/"+name, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Security-Policy", policy)
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			var b strings.Builder
			if err := s(t, &b); err != nil {
				t.Error(err)
			}
			src := b.String()
			if theme := r.URL.Query().Get("theme"); theme != "" {
				src = strings.Replace(src, `<html lang="en">`, `<html lang="en" data-theme="`+theme+`">`, 1)
			}
			fmt.Fprint(w, src)
		})
	}
	srv.Handler = mux
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		t.Fatal(err)
	}
}

// everything is each kind of block an answer may have.
const everything = "# Heading\n\n## Smaller\n\nProse with **bold**, *italic*, ~~struck~~, `code`, [a link](https://go.dev/doc), https://go.dev/ref and ![a picture](https://sink.test/a.png). <b>Raw</b>.\n\n3. three\n4. four\n   ```sh\n   make test\n   ```\n5. five\n\n- [x] done\n- [ ] open\n- plain\n  - nested\n\n> said\n> > before\n\n| row | what | reach |\n|---|:-:|--:|\n| 1 | fan-out | 4x |\n| 10 | deltas | 12x |\n\n```go\nfunc main() { // hi\n\tfmt.Println(\"hi\", 1)\n}\n```\n\n---\n\n    indented\n\nThe end."

const goMod = "module example.com/relay\n\ngo 1.26\n\nrequire (\n\tgithub.com/go-chi/chi/v5 v5.2.3\n\tgithub.com/jellydator/ttlcache/v3 v3.4.1\n\tgithub.com/r3labs/sse/v2 v2.10.0\n\tgolang.org/x/sync v0.18.0\n)\n"

func highlighted(name, src string, first, last int) content {
	return content{last: last, rows: func(from, to int) (template.HTML, error) {
		c := code.New(code.Language(name, []byte(src)), code.Text([]byte(src)), render.RowOptions{First: first})
		r, err := c.Rows(context.Background(), from-first+1, to-first+1)
		return r.HTML, err
	}}
}

func scenes() map[string]func(testing.TB, *strings.Builder) error {
	goModFile := file("go.mod", 10)
	goModFile.Language, goModFile.Bytes, goModFile.Content = "Go module", 224, highlighted("go.mod", goMod, 1, 10)
	test := written("go test ./internal/...", 2140, 1)
	test.Content = highlighted("x.txt", strings.Repeat("=== RUN   TestPublishSkipsSlowSink\n    pump_test.go:88: sink 2 still attached after 1.02s, want cut at 1.00s\n", 9), 2123, 2140)
	pump, _ := os.ReadFile("fold.go")
	wide := file("internal/pump/pump.go", 1204)
	wide.Content = highlighted("pump.go", "// "+strings.Repeat("wide ", 22)+"\n"+string(pump), 1, 1204)
	out := shelf{"out_A": goModFile, "out_B": test, "out_I": stored["out_I"], "out_X": stored["out_X"], "out_L": wide}
	p, err := page.New(page.Config{Outputs: out, Home: "/home/me", NoModel: []string{"offline"}, Location: time.UTC, Now: func() time.Time { return start.Add(28 * time.Second) },
		Price: price})
	if err != nil {
		panic(err)
	}
	now := start
	list := func(current string) []page.Session {
		return []page.Session{
			{ID: "s9", Title: "Release checklist for 1.8", Status: event.Waiting, Asks: "git push --tags", Pending: 1, UpdatedAt: now},
			{ID: "s1", Title: "Flaky pump test on darwin", Status: event.Running, Since: now.Add(14 * time.Second), UpdatedAt: now},
			{ID: "s2", Title: "Port the config loader", Status: event.Running, Since: now.Add(-6 * time.Minute), UpdatedAt: now},
			{ID: "s3", Title: "Why is startup 400 ms slower?", Status: event.Idle, UpdatedAt: now},
			{ID: "s4", Title: "Read the SSE replay code", Status: event.Idle, UpdatedAt: now.Add(-52 * time.Minute)},
			{ID: "s5", Title: "Compare ttlcache with otter", Status: event.Idle, Failed: true, UpdatedAt: now.Add(-3 * time.Hour)},
			{ID: "s6", Title: "Bench row 7, long lines", Status: event.Idle, UpdatedAt: now.Add(-20 * time.Hour)},
			{ID: "s7", Title: "Chroma windows with state", Status: event.Idle, UpdatedAt: now.Add(-21 * time.Hour)},
			{ID: "s8", Title: "Last month's work", Status: event.Idle, UpdatedAt: now.AddDate(0, -1, 0)},
		}
	}
	backends := []page.Backend{{Name: "offline", Available: true, InUse: true}, {Name: "copilot", Reason: "not found on this machine · npm i -g @github/copilot"}, {Name: "autohand", Available: true, Version: "0.7.2"}}
	session := func(id string, data ...event.Data) func(testing.TB, *strings.Builder) error {
		return func(_ testing.TB, b *strings.Builder) error {
			pr := p.Projector(id)
			pr.Feed(newLog().add(data...).entries...)
			return p.Session(b, page.View{Workspace: "/home/me/code/relay", Side: page.Side{Active: list(id)[:3], Folders: []page.Folder{{ID: "w1", Path: "/home/me/code/relay", Name: "relay", Open: true, Count: 9, Part: page.Part{Sessions: list(id)[3:]}}, {ID: "w2", Path: "/home/me/code/pump", Name: "pump", Count: 12}}}, Backends: backends}, pr)
		}
	}
	st := stories()
	m := func(id, text string) []event.Data {
		return []event.Data{event.UserMessage{MessageID: id, Content: text}, event.TurnStart{TurnID: id, MessageID: id}}
	}
	end := func(id string) event.Data {
		return event.TurnEnd{TurnID: id, MessageID: id, Outcome: event.Completed}
	}
	cmd := event.ToolExecutionStart{ToolCallID: "c2", ToolName: "run_and_display", Arguments: raw(`{"command":"go test ./internal/..."}`), By: event.ByAgent}
	all := []any{opening()[0]}
	for _, name := range []string{"notes", "questions", "helpers", "queue", "cards", "steps"} {
		all = append(all, st[name][1:])
	}
	return map[string]func(testing.TB, *strings.Builder) error{
		"chat": session("s1", join(opening()[0], event.SessionTitleChanged{Title: "Flaky pump test on darwin"}, m("m1", "show me go.mod"),
			show("c1", "render_file_contents", `{"path":"go.mod"}`, "out_A", `{"outputType":"file","bytes":224,"lines":10,"tokensShown":112,"tokensSent":9}`), end("m1"),
			m("m2", "Run the tests, then tell me why the pump one fails"), event.SessionUsageInfo{TokenLimit: 128000, CurrentTokens: 14210}, cmd,
			event.ToolExecutionComplete{ToolCallID: "c2", Success: true, Result: &event.ToolResult{Content: "Command completed (exit 1, 2,140 lines)"}, ToolTelemetry: raw(`{"outputType":"terminal","lines":2140,"tokensShown":31412,"tokensSent":11}`), OutputID: "out_B", DurationMs: 4100},
			step("x1", "view", `{"path":"internal/pump/pump.go","view_range":[49,74]}`), step("x2", "grep", `{"pattern":"Patience","glob":"internal/**/*.go"}`), step("x3", "edit", `{"path":"internal/pump/pump.go"}`),
			event.AssistantMessage{MessageID: "a9", Content: "The test is right and the code is late by one frame. `Publish` only looks at a full buffer when the *next* frame arrives, so a sink is cut at the first publish *after* `Patience`, not at it.\n\nI changed `>` to `>=` on line 67. On darwin the clock is coarse enough to land exactly on the limit, which is why only that machine saw it."}, end("m2"))...),
		"running": session("s9", join(opening()[0], event.SessionTitleChanged{Title: "Release checklist for 1.8"}, m("m1", "Cut the 1.8.0 release candidate: build every target, tag it, push the tag"), event.SessionUsageInfo{TokenLimit: 128000, CurrentTokens: 24310},
			step("x1", "view", `{"path":"Makefile"}`), step("x2", "view", `{"path":"CHANGELOG.md","view_range":[1,40]}`), allow("p2", "", "git commit --amend"), event.PermissionCompleted{RequestID: "p2", Decision: event.Deny, By: event.DecidedByRule, Reason: "config.yaml line 14"},
			event.HookStart{HookID: "h", Event: "before_tool", Command: "check.sh"}, event.HookEnd{HookID: "h", Event: "before_tool", Command: "check.sh", Allow: true, DurationMs: 38},
			event.ToolExecutionStart{ToolCallID: "c2", ToolName: "run_and_display", Arguments: raw(`{"command":"make release VERSION=1.8.0-rc.2"}`), By: event.ByAgent},
			event.ToolExecutionProgress{ToolCallID: "c2", OutputID: "out_R", Lines: 188, Bytes: 29400, ElapsedMs: 14000},
			event.AssistantMessageDelta{MessageID: "a1", DeltaContent: "Five of six targets are built. The tag comes next, so I am asking before anything leaves this machine"},
			allow("p1", "", "git tag -a v1.8.0-rc.2 -m \"relay 1.8.0-rc.2\" &&\ngit push origin v1.8.0-rc.2 --follow-tags \u202e# nur-yrd"))...),
		"markdown": session("s1", join(m("m1", "Show me all of Markdown"), event.AssistantMessage{MessageID: "a", Content: everything}, end("m1"))...),
		"states":   session("s4", st["cards"]...),
		"ask":      session("s4", append(st["refused"][:len(st["refused"])-3], event.UserInputRequested{RequestID: "q1", Question: "Which colour?", Choices: []string{"red", "blue"}, AllowFreeform: true})...),
		"all":      session("s4", join(all...)...),
		"wide":     session("s1", join(m("m1", "show me internal/pump/pump.go"), show("c1", "render_file_contents", `{"path":"internal/pump/pump.go"}`, "out_L", `{"tokensShown":11862,"tokensSent":9}`), event.AssistantMessage{MessageID: "a", Content: "Select lines.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```go\nfunc main() {}\n```\n\n- one\n- two\n"}, end("m1"))...),
		"empty": func(_ testing.TB, b *strings.Builder) error {
			return p.Home(b, page.View{Backends: backends, Backend: "offline"})
		},
		"auth": func(_ testing.TB, b *strings.Builder) error { return p.Auth(b, true) },
		"error": func(_ testing.TB, b *strings.Builder) error {
			return p.Error(b, page.Problem{Status: 404, Heading: "No such session", Text: "It was deleted, or its link was cut.", Request: "r-1"})
		},
	}
}
