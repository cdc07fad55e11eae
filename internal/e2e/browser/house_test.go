package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/displaytools"
	"webchat/internal/e2e/hostile"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/guard"
	"webchat/internal/outputs"
	"webchat/internal/policy"
	"webchat/internal/server"
	"webchat/internal/sessions"
	"webchat/internal/sse"
	"webchat/internal/store/storetest"
)

// house is a server in this process, whose agent says what the test sets.
type house struct {
	held    displaytools.Held // what is held, if a test says so
	t       testing.TB
	site    *site
	guard   *guard.Guard
	backend *liar
	disk    *fillable

	mu    sync.Mutex // guards what follows
	conns map[net.Conn]http.ConnState
}

func (h *house) note(c net.Conn, state http.ConnState) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.conns == nil {
		h.conns = map[net.Conn]http.ConnState{}
	}
	h.conns[c] = state
}

// atWork is how many connections have a request that is not answered to its end.
func (h *house) atWork() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, state := range h.conns {
		if state == http.StateActive {
			n++
		}
	}
	return n
}

// newHouse makes one. change changes what sessions and server work with.
func newHouse(t testing.TB, change ...func(*sessions.Config, *server.Config)) *house {
	t.Helper()
	if noBrow != "" {
		t.Skip(noBrow)
	}
	if t, ok := t.(*testing.T); ok {
		t.Parallel()
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	h := &house{
		t:       t,
		site:    &site{t: t, workspace: t.TempDir(), log: &lockedBuffer{}},
		backend: &liar{texts: map[string]string{}},
	}
	log := slog.New(slog.NewTextHandler(h.site.log, nil))
	out, err := outputs.New(outputs.Config{TTL: time.Hour, Budget: 64 << 20})
	must(err)
	pages, err := server.NewPages(server.PagesConfig{Outputs: out})
	must(err)
	h.guard, err = guard.New(guard.Config{Dir: t.TempDir(), Refuse: pages.Refuse})
	must(err)
	hub, err := sse.New(sse.Config{Closing: server.Closing})
	must(err)
	db := &fillable{Memory: storetest.NewMemory()}
	h.disk = db
	folders, err := files.WorkspaceIn(h.site.workspace)
	must(err)
	var manager *sessions.Manager
	kept, shows := sessions.Config{
		Log:         db,
		Catalog:     db,
		Backends:    []agent.Backend{h.backend},
		Workspaces:  folders,
		Logger:      log,
		Attachments: outputs.NewUploads(1 << 20),
		Room: func(workspace string) (sessions.Room, error) {
			names, err := files.New(files.Config{Root: workspace, Env: os.Environ()})
			rules := policy.Config{
				Workspace: workspace,
				Reading:   true,
				Rules:     []policy.Rule{{Tool: "bash", Command: "make", Decision: event.Allow}},
			}
			return sessions.Room{
				Files:  names,
				Policy: policy.New(rules),
				Tools: func(id eventlog.ID) (agent.Toolset, error) {
					return displaytools.New(displaytools.Config{
						SessionID: string(id),
						Workspace: workspace,
						Outputs:   out,
						Env:       os.Environ(),
						Held:      h.held,
						Results: func(ctx context.Context, call string, from int64) (displaytools.Returned, error) {
							sess, err := manager.Get(ctx, id)
							if err != nil {
								return displaytools.Returned{}, err
							}
							r, err := sess.Result(ctx, call, from)
							return displaytools.Returned(r), err
						},
					})
				},
			}, err
		},
	}, server.Config{
		Outputs: out,
		Hub:     hub,
		Guard:   h.guard,
		Pages:   pages,
		Version: "test",
		Logger:  log,
	}
	for _, c := range change {
		c(&kept, &shows)
	}
	manager, err = sessions.New(kept)
	must(err)
	shows.Sessions = manager
	srv, err := server.New(shows)
	must(err)
	web := httptest.NewUnstartedServer(srv.Handler())
	web.Config.ConnState = h.note
	web.Start()
	h.site.url = strings.Replace(web.URL, "127.0.0.1", "localhost", 1)
	h.site.link = h.guard.Link(h.site.url)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- manager.Run(ctx) }()
	go func() { done <- out.Run(ctx) }()
	t.Cleanup(func() {
		limit, stop := context.WithTimeout(context.Background(), 10*time.Second)
		defer stop()
		if err := hub.Close(limit); err != nil {
			t.Error(err)
		}
		cancel()
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		web.CloseClientConnections()
		web.Close()
		srv.Close()
		if t.Failed() {
			t.Logf("server log:\n%s", h.site.log.String())
		}
	})
	return h
}

func (h *house) request(t testing.TB, method, path string, body []byte) (int, []byte) {
	t.Helper()
	r, err := http.NewRequest(method, h.site.url+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+h.guard.Token())
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return res.StatusCode, b
}

func (h *house) status(t testing.TB, method, path string, body []byte) int {
	t.Helper()
	status, _ := h.request(t, method, path, body)
	return status
}

// api makes a request that must succeed, and reads its JSON into v unless that is nil.
func (h *house) api(t testing.TB, method, path string, body []byte, v any) []byte {
	t.Helper()
	status, b := h.request(t, method, path, body)
	if status/100 != 2 {
		t.Errorf("%s %s: %d %s", method, path, status, b)
	}
	if v != nil {
		if err := json.Unmarshal(b, v); err != nil {
			t.Errorf("%s: %v", b, err)
		}
	}
	return b
}

func (h *house) session(t testing.TB) string {
	t.Helper()
	var one struct{ ID string }
	h.api(t, "POST", "/api/sessions", nil, &one)
	return one.ID
}

// say prompts the agent and waits for the end of its turn.
func (h *house) say(t testing.TB, id, content string) {
	t.Helper()
	b, err := json.Marshal(map[string]string{"content": content})
	if err != nil {
		t.Error(err)
	}
	h.api(t, "POST", "/api/sessions/"+id+"/messages?wait=true", b, nil)
}

// events are the types of what a session logged.
func (h *house) events(t testing.TB, id string) (types []string) {
	t.Helper()
	var list struct{ Events []struct{ Type string } }
	h.api(t, "GET", "/api/sessions/"+id+"/events?limit=5000", nil, &list)
	for _, e := range list.Events {
		types = append(types, e.Type)
	}
	return types
}

// decide denies what a session asks last.
func (h *house) decide(t testing.TB, id string) {
	t.Helper()
	var list struct {
		Events []struct {
			Type string
			Data struct{ RequestID string }
		}
	}
	h.api(t, "GET", "/api/sessions/"+id+"/events?limit=5000", nil, &list)
	last := list.Events[len(list.Events)-1]
	if last.Type != "permission.requested" {
		t.Fatalf("nothing is asked: %s", last.Type)
	}
	h.api(t, "POST", "/api/sessions/"+id+"/permissions/"+last.Data.RequestID,
		[]byte(`{"decision":"deny"}`), nil)
}

// liar is an agent under somebody else's influence. It answers "answer/NAME" with
// the text learnt under that name, and "name/NAME" by using it for every name it
// may choose.
type liar struct {
	mu      sync.Mutex
	texts   map[string]string
	plots   map[string]plot
	loads   []string       // instructions
	prompts []agent.Prompt // all it was sent
}

func (l *liar) learn(cases []hostile.Case) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range cases {
		l.texts[string(c.Kind)+"/"+c.Name] = strings.ToValidUTF8(string(c.Body), "\uFFFD")
	}
}

// sent returns all prompts so far.
func (l *liar) sent() []agent.Prompt {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.prompts)
}

func (l *liar) Name() string                 { return "liar" }
func (l *liar) Instructions(string) []string { return l.loads }
func (l *liar) Info(context.Context) agent.Info {
	return agent.Info{Available: true, Intercept: agent.InterceptAll, CanResume: true}
}
func (l *liar) Models(context.Context) ([]agent.Model, error) { return nil, nil }
func (l *liar) Open(_ context.Context, _ agent.Options, host agent.Host) (agent.Conn, error) {
	return &lies{liar: l, host: host}, nil
}

type lies struct {
	*liar
	host agent.Host
}

func (c *lies) Prompt(ctx context.Context, p agent.Prompt) error {
	c.mu.Lock()
	text, act := c.texts[p.Content], c.plots[p.Content]
	c.prompts = append(c.prompts, p)
	c.mu.Unlock()
	if act != nil {
		return act(ctx, c.host)
	}
	kind, _, _ := strings.Cut(p.Content, "/")
	if kind == string(hostile.Name) {
		return c.names(ctx, p.MessageID, text)
	}
	return c.answer(ctx, p.MessageID, text)
}

// answer says the text in pieces that cut it anywhere.
func (c *lies) answer(ctx context.Context, id, text string) error {
	report := func(data event.Data) error { return c.host.Report(ctx, data) }
	id = "a-" + id
	for at := 0; at < len(text); {
		end := min(at+11, len(text))
		for end < len(text) && text[end]&0xc0 == 0x80 {
			end++
		}
		if err := report(event.AssistantMessageDelta{
			MessageID:    id,
			Offset:       int64(at),
			DeltaContent: text[at:end],
		}); err != nil {
			return err
		}
		at = end
	}
	if err := report(event.AssistantReasoning{ReasoningID: "r-" + id, Content: text}); err != nil {
		return err
	}
	return report(event.AssistantMessage{MessageID: id, Content: text})
}

// names uses the text wherever a name, a command or a reason goes.
func (c *lies) names(ctx context.Context, id, text string) error {
	object, err := json.Marshal(map[string]string{"command": text, text: text})
	if err != nil {
		return err
	}
	for _, data := range []event.Data{
		event.SessionTitleChanged{Title: text},
		event.ToolExecutionStart{
			ToolCallID: "t-" + id,
			ToolName:   text,
			Arguments:  object,
			By:         event.ByAgent,
		},
		event.ToolExecutionComplete{
			ToolCallID: "t-" + id,
			Success:    false,
			Error:      &event.ToolError{Message: text, Code: text},
		},
		event.SessionError{Message: text, ErrorType: text},
		event.SessionModelChange{NewModel: text},
	} {
		if err := c.host.Report(ctx, data); err != nil {
			return err
		}
	}
	ask := agent.Permission{
		ToolName: text,
		Kind:     agent.KindShell,
		Action:   text,
		Resource: text,
		Cwd:      text,
		Digest:   strings.Repeat("0", 64),
	}
	if _, err := c.host.AskPermission(ctx, ask); err != nil {
		return err
	}
	ask.Kind, ask.Diff = agent.KindWrite, "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+"+text+"\n"
	_, err = c.host.AskPermission(ctx, ask)
	return err
}

func (c *lies) Steer(context.Context, agent.Prompt) error { return agent.ErrUnsupported }
func (c *lies) SetModel(context.Context, string) error    { return nil }
func (c *lies) SetTitle(context.Context, string) error    { return nil }
func (c *lies) Close() error                              { return nil }
