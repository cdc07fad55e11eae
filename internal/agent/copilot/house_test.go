package copilot_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/agenttest"
	"webchat/internal/agent/copilot"
	"webchat/internal/agent/copilot/copilottest"
	"webchat/internal/consent"
	"webchat/internal/displaytools"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/mcp"
	"webchat/internal/outputs"
	"webchat/internal/policy"
	"webchat/internal/released"
	"webchat/internal/session"
	"webchat/internal/sessions"
	"webchat/internal/store/storetest"
	"webchat/internal/tokens"
)

// house is sessions on the real CLI, with the real display tools.
type house struct {
	t       *testing.T
	model   *copilottest.Model
	backend *copilot.Backend
	manager *sessions.Manager
	outputs *outputs.Store
	dir     string // the workspace
	rules   []policy.Rule
	servers map[string]agent.MCPServer // of the user's; set before start
	user    *mcp.UserServers           // of them

	start, stop func()
}

// alone is for houses that end their CLI, or look at what it keeps.
func alone(c *copilot.Config) { c.Home = filepath.Join(c.Home, "alone") }

// everyones is the backend whose CLI works for all houses that nothing sets apart, while a
// conversation with it is open.
var everyones struct {
	*copilot.Backend
	conn agent.Conn
	home string
}

// common returns that backend. A CLI that a test has ended is started again.
func common(t *testing.T) *copilot.Backend {
	t.Helper()
	if everyones.Backend == nil {
		home, err := os.MkdirTemp("", "copilot")
		if err != nil {
			t.Fatal(err)
		}
		cfg := real(t, copilottest.New(t)) // its address is not asked: each conversation brings its own
		cfg.Home = home
		everyones.Backend, everyones.home = backend(t, cfg), home
	}
	if everyones.conn != nil && copilot.PID(everyones.Backend) != 0 {
		return everyones.Backend
	}
	if everyones.conn != nil {
		_ = everyones.conn.Close()
	}
	o := agent.Options{
		SessionID: fresh("everyone's"),
		Workspace: everyones.home,
		Tools:     agenttest.DisplayTools(),
	}
	conn, err := everyones.Open(context.WithoutCancel(t.Context()), o, agenttest.NewHost(nil))
	if err != nil {
		t.Fatal(err)
	}
	everyones.conn = conn
	return everyones.Backend
}

// endCommon ends it behind all tests.
func endCommon() {
	if everyones.conn != nil {
		_ = everyones.conn.Close()
	}
	if everyones.home != "" {
		_ = os.RemoveAll(everyones.home)
	}
}

// sharing returns a backend on everyone's CLI.
func sharing(t *testing.T, c copilot.Config) *copilot.Backend {
	t.Helper()
	b := backend(t, c)
	copilot.Share(b, common(t))
	return b
}

// fresh is the id of a session on everyone's CLI, also where a test runs again.
func fresh(name string) string { return name + "-" + rand.Text() }

// newHouse returns sessions on a CLI: everyone's, unless with changes more than what is said for
// each conversation.
func newHouse(t *testing.T, with func(*copilot.Config)) *house {
	t.Helper()
	return newHouseIn(t, t.TempDir(), consent.ModeAllow, with)
}

func newHouseIn(t *testing.T, dir string, mode consent.Mode, with func(*copilot.Config)) *house {
	t.Helper()
	return newHouseResting(t, dir, mode, with, 0)
}

func newHouseResting(t *testing.T, dir string, mode consent.Mode, with func(*copilot.Config),
	idle time.Duration) *house {
	t.Helper()
	h := &house{t: t, model: copilottest.New(t), dir: dir}
	cfg := real(t, h.model)
	cfg.Count = func(s string) int { n, _ := tokens.Count(s); return n }
	cfg.SearchHits, cfg.Large = searchHits, 4000
	home, env := cfg.Home, len(cfg.Env)
	if with != nil {
		with(&cfg)
	}
	share := cfg.Home == home && len(cfg.Env) == env && cfg.Watch == nil && cfg.Confine == nil &&
		cfg.Logger == nil && !cfg.Login
	db := storetest.NewMemory()
	h.start = func() { h.run(cfg, db, mode, idle, share) }
	h.start()
	t.Cleanup(func() { h.stop() })
	return h
}

// desk keeps what servers return, as cmd/webchat does.
type desk struct{ *released.Releases }

func (d desk) Give(call agent.CallInfo, name string, data []byte, sent string,
	app *displaytools.App) (*agent.Telemetry, string, error) {
	return displaytools.Give(d.Store, call, name, data, sent, app)
}

// run starts sessions on what is in db, as the server does.
func (h *house) run(cfg copilot.Config, db *storetest.Memory, mode consent.Mode, idle time.Duration,
	share bool) {
	h.t.Helper()
	if h.backend = backend(h.t, cfg); share {
		h.backend = sharing(h.t, cfg)
	}
	var err error
	if h.outputs, err = outputs.New(outputs.Config{TTL: time.Minute, Budget: 1 << 20}); err != nil {
		h.t.Fatal(err)
	}
	var rules session.Policy
	if mode == consent.ModeAsk {
		rules = policy.New(policy.Config{Workspace: h.dir, Reading: true, Rules: h.rules})
	}
	shown := &released.Releases{Outputs: released.Outputs{Store: h.outputs}, Large: 4000}
	folders, err := files.WorkspaceIn(h.dir)
	if err != nil {
		h.t.Fatal(err)
	}
	h.user = mcp.NewUserServers(mcp.UserServersConfig{Servers: h.servers, Env: func(string) []string {
		return os.Environ()
	}})
	h.manager, err = sessions.New(sessions.Config{
		Notice:      h.user.Report,
		Log:         db,
		Catalog:     db,
		Backends:    []agent.Backend{h.backend},
		Workspaces:  folders,
		Permissions: mode,
		AgentIdle:   idle,
		Outputs:     shown,
		Room: func(workspace string) (sessions.Room, error) {
			return sessions.Room{Policy: rules, Tools: h.user.Lend(workspace, desk{shown},
				shown.Reading(func(id eventlog.ID) (agent.Toolset, error) {
					return displaytools.New(displaytools.Config{
						SessionID: string(id),
						Workspace: workspace,
						Outputs:   h.outputs,
						Shell:     "sh",
						Env:       []string{"PATH=" + os.Getenv("PATH")},
					})
				}))}, nil
		},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var ended [2]chan error
	for i, run := range []func(context.Context) error{h.manager.Run, h.outputs.Run} {
		ended[i] = make(chan error, 1)
		go func() { ended[i] <- run(ctx) }()
	}
	h.stop = func() {
		h.stop = func() {}
		cancel()
		for _, e := range ended {
			if err := <-e; err != nil {
				h.t.Error(err)
			}
		}
	}
}

// restart stops the sessions and their CLI, starts others on the same log, and returns one of them
// as it is then.
func (h *house) restart(s *session.Session) *session.Session {
	h.t.Helper()
	h.stop()
	h.start()
	again, err := h.manager.Get(h.t.Context(), s.ID())
	if err != nil {
		h.t.Fatal(err)
	}
	return again
}

// ask sends a prompt and returns what came of it.
func (h *house) ask(s *session.Session, prompt string) eventlog.TurnResult {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	id, err := s.Send(ctx, session.Message{Content: prompt})
	if err != nil {
		h.t.Fatal(err)
	}
	r, err := s.WaitTurn(ctx, id)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func (h *house) session() *session.Session {
	h.t.Helper()
	s, err := h.manager.Create(h.t.Context(), sessions.Options{})
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

func fields(s string, into ...*int) bool {
	var n []json.Number
	for f := range strings.FieldsSeq(s) {
		n = append(n, json.Number(f))
	}
	if len(n) != len(into) {
		return false
	}
	for i := range n {
		v, err := n[i].Int64()
		if err != nil {
			return false
		}
		*into[i] = int(v)
	}
	return true
}

func kill(t *testing.T, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// dot is the smallest picture.
func dot(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
