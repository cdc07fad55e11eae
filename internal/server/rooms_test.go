package server_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"webchat/internal/agent"
	"webchat/internal/agent/offline"
	"webchat/internal/consent"
	"webchat/internal/displaytools"
	"webchat/internal/document"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/guard"
	"webchat/internal/outputs"
	"webchat/internal/page"
	"webchat/internal/policy"
	"webchat/internal/proc"
	"webchat/internal/server"
	"webchat/internal/sessions"
	"webchat/internal/sse"
	"webchat/internal/store/storetest"
)

func TestMain(m *testing.M) {
	proc.Main()
	// The clock of the regular expressions that highlight; it ends by itself.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"))
}

// house is a whole server on loopback, with real rooms around it.
type house struct {
	t         testing.TB
	url       string // http://localhost:port
	workspace string
	guard     *guard.Guard
	sessions  *sessions.Manager
	outputs   *outputs.Store
	server    *server.Server
	config    server.Config
	hub       *sse.Hub
	client    *http.Client
	log       *safeBuffer
	stop      func()
	resident  *resident // nil: it is alone
	owner     *house    // which has the sessions that this one is asked to begin; nil: itself
}

// agentOf is whose agent has a key, which then is called after the session.
func agentOf(key string) eventlog.ID {
	id, agents := strings.CutPrefix(key, "key agent-")
	if !agents {
		return ""
	}
	return eventlog.ID(id)
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}
func (s *safeBuffer) String() string { s.mu.Lock(); defer s.mu.Unlock(); return s.b.String() }

// newHouse makes one; of what may be given, a func(*sse.Config) changes the streams, a
// func(*guard.Config) who is let in, and guard.Users are who says who people are.
func newHouse(t testing.TB, change ...any) *house {
	t.Helper()
	return newHouseOn(t, storetest.NewMemory(), offline.New(offline.Config{Path: os.Getenv("PATH")}),
		change...)
}

// newHouseOn is newHouse with another store and agent.
func newHouseOn(t testing.TB, db interface {
	sessions.Log
	sessions.Catalog
	eventlog.Drafts
}, backend agent.Backend, change ...any) *house {
	t.Helper()
	return newHouseIn(t, db, backend, nil, change...)
}

// newHouseIn is newHouseOn of a house that may have neighbours.
func newHouseIn(t testing.TB, db interface {
	sessions.Log
	sessions.Catalog
	eventlog.Drafts
}, backend agent.Backend, in *resident, change ...any) *house {
	t.Helper()
	h := &house{t: t, workspace: t.TempDir(), log: &safeBuffer{}, resident: in}
	log := slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	made, admits := outputs.Config{TTL: 30 * time.Minute, Budget: 64 << 20},
		guard.Config{Dir: t.TempDir()}
	var owners sessions.Owners
	var peers server.Peers
	if in != nil {
		owners, peers, h.workspace = in, in, in.town.workspace
		made.Maker = func() int64 { return in.number }
		admits = guard.Config{
			Dir:       string(in.town.documents.Folder),
			Documents: in.town.documents,
			Start:     "of all",
			NoAuth:    in.noAuth,
		}
	}
	h.outputs, err = outputs.New(made)
	must(err)
	config := sse.Config{Closing: server.Closing}
	var users guard.Users
	var snapshots *files.Snapshots
	var cage consent.Cage
	var reaches reach
	var refused func(string, int, string) []event.SandboxRefused
	for _, c := range change {
		switch c := c.(type) {
		case func(*sse.Config):
			c(&config)
		case func(*guard.Config):
			c(&admits)
		case guard.Users:
			users = c
		case *files.Snapshots:
			snapshots = c
		case consent.Cage:
			cage = c
		case http.RoundTripper:
			h.config.Public = c
		case server.Consent:
			h.config.Consent = c
		case reach:
			reaches = c
		case func(string, int, string) []event.SandboxRefused:
			refused = c
		}
	}
	pages, err := server.NewPages(
		server.PagesConfig{
			Config:  page.Config{NoModel: []string{offline.Name}, Shared: users != nil},
			Outputs: h.outputs,
		})
	must(err)
	if in != nil && users != nil { // sign-ins are of all
		admits.PublicURL = "http://localhost"
	}
	admits.Refuse, admits.Users, admits.Logger = pages.Refuse, users, log
	h.guard, err = guard.New(admits)
	must(err)
	var grants document.Store = document.Folder(t.TempDir())
	if in != nil {
		grants = in.town.documents
	}
	kept := policy.OpenKept(grants, nil)
	folders, err := files.WorkspaceIn(h.workspace)
	must(err)
	var keeps sessions.Snapshots
	if snapshots != nil {
		keeps = snapshots
	}
	h.sessions, err = sessions.New(sessions.Config{
		Snapshots: keeps,
		// a busy machine looks at a folder for longer than a prompt waits
		SnapshotWait: time.Minute,
		Log:          db,
		Catalog:      db,
		Drafts:       db,
		Owners:       owners,
		Backends:     []agent.Backend{backend},
		Workspaces:   folders,
		Attachments:  outputs.NewUploads(1 << 20),
		Logger:       log,
		Room: func(workspace string) (sessions.Room, error) {
			names, err := files.New(files.Config{Root: workspace, Env: os.Environ()})
			return sessions.Room{
				Files:   names,
				Cage:    cage,
				Refused: refused,
				Policy:  policy.New(policy.Config{Workspace: workspace}),
				Kept:    func(user string) consent.Kept { return kept.Workspace(workspace, user) },
				Tools: func(id eventlog.ID) (agent.Toolset, error) {
					return displaytools.New(displaytools.Config{
						SessionID: string(id),
						Workspace: workspace,
						Outputs:   h.outputs,
						Env:       os.Environ(),
						Before:    h.before(id),
					})
				},
			}, err
		},
	})
	must(err)
	h.hub, err = sse.New(config)
	must(err)
	h.config = server.Config{
		Sessions:   h.sessions,
		Outputs:    h.outputs,
		Hub:        h.hub,
		Guard:      h.guard,
		Consent:    h.config.Consent,
		Public:     h.config.Public,
		Pages:      pages,
		Version:    "test",
		Grants:     kept,
		Logger:     log,
		Peers:      peers,
		Snapshots:  snapshots,
		MCPSession: agentOf,
		Sandboxes: server.Sandboxes{Reach: reaches, Of: func(backend, workspace string) server.Sandbox {
			if reaches != nil {
				return server.Sandbox{Confined: true, Lacks: "a command can end other processes of yours"}
			}
			return server.Sandbox{Why: "by " + backend + " in " + workspace}
		}},
		Forwarded: func(to string, code int) { h.resident.count(to, code) },
		MCP: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "for "+r.PathValue("workspaceId"))
		}),
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "up 1\n")
		}),
	}
	h.server, err = server.New(h.config)
	must(err)
	web := httptest.NewUnstartedServer(h.server.Handler())
	web.Config.DisableGeneralOptionsHandler = true
	web.Start()
	h.url = strings.Replace(web.URL, "127.0.0.1", "localhost", 1)
	if in != nil {
		in.town.settle(in, h.url)
	}
	h.client = web.Client()
	h.client.CheckRedirect = func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- h.sessions.Run(ctx) }()
	go func() { done <- h.outputs.Run(ctx) }()
	h.stop = sync.OnceFunc(func() {
		limit, stop := context.WithTimeout(context.Background(), 10*time.Second)
		defer stop()
		if err := h.hub.Close(limit); err != nil {
			t.Error(err)
		}
		cancel()
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		web.Close()
		h.server.Close()
	})
	t.Cleanup(h.stop)
	return h
}

// before says what files were when a session began.
func (h *house) before(id eventlog.ID) displaytools.Before {
	return func(ctx context.Context, path string) (displaytools.Earlier, error) {
		sess, err := h.sessions.Get(ctx, id)
		if err != nil {
			return displaytools.Earlier{}, err
		}
		source, err := h.server.ChangesOf(sess)
		if err != nil {
			return displaytools.Earlier{}, err
		}
		was, err := source.Was(ctx, path)
		return displaytools.Earlier(was), err
	}
}

func (h *house) file(name, content string) {
	h.t.Helper()
	path := filepath.Join(h.workspace, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

// request is made with the API token unless header says otherwise.
func (h *house) request(method, path, body string, header ...string) *http.Request {
	h.t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(h.t.Context(), method, h.url+path, r)
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+h.guard.Token())
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ":")
		req.Header.Del(name)
		if value = strings.TrimSpace(value); value != "" {
			req.Header.Set(name, value)
		}
		if name == "Host" {
			req.Host = value
		}
	}
	return req
}

func (h *house) do(method, path, body string, header ...string) (*http.Response, string) {
	h.t.Helper()
	res, err := h.client.Do(h.request(method, path, body, header...))
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return res, string(b)
}
