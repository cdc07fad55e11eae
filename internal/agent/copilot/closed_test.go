package copilot_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/agenttest"
	"webchat/internal/agent/copilot/copilottest"
	"webchat/internal/consent"
	"webchat/internal/event"
)

// trapped returns a workspace full of traps, or one below a repository that is.
func trapped(t *testing.T, above bool) (ws, marks string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	planted, ws, marks := filepath.Join(dir, "top"), filepath.Join(dir, "top", "ws"),
		filepath.Join(dir, "marks")
	for _, d := range []string{ws, marks} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if !above {
		planted = ws
	}
	if err := copilottest.PlantTraps(planted, marks); err != nil {
		t.Fatal(err)
	}
	return ws, marks
}

func ran(t *testing.T, marks string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(marks)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// springs has the model try the tools that a trap may change: a command, in the
// helper agent too, and a program for code.
func springs(model *copilottest.Model) {
	model.Answer(func(r copilottest.Request) *copilottest.Reply {
		bash := copilottest.Call{
			Tool:      "bash",
			Arguments: `{"command":"echo hello","description":"say hello"}`,
		}
		lsp := copilottest.Call{
			Tool:      "lsp",
			Arguments: `{"operation":"documentSymbol","file":"package.json"}`,
		}
		switch last := r.Messages[len(r.Messages)-1]; {
		case last.Role != "user":
			return nil
		case strings.Contains(last.Content, "help me"):
			return &copilottest.Reply{Calls: []copilottest.Call{bash, lsp}}
		}
		task := copilottest.Call{
			Tool:      "task",
			Arguments: `{"description":"say hello","prompt":"help me","agent_type":"general-purpose","name":"helper"}`,
		}
		return &copilottest.Reply{Calls: []copilottest.Call{bash, lsp, task}}
	})
}

// THREATS 74, 75: nothing of a workspace, or of a repository it is in, runs a
// command, decides, changes arguments or brings a tool: neither in a new session
// nor in one that is resumed by another process. What is not asked about is not
// there: helper agents are offered no more than the main one.
func TestRealThreat74And75NothingOfAWorkspaceRuns(t *testing.T) {
	model := copilottest.New(t)
	springs(model)
	b := backend(t, real(t, model))
	at, marks := map[bool]string{}, map[bool]string{}
	for _, above := range []bool{false, true} {
		at[above], marks[above] = trapped(t, above)
	}
	for _, resume := range []bool{false, true} {
		var both []*talker
		for above, ws := range at {
			host := agenttest.NewHost(agenttest.DisplayTools())
			conn, err := b.Open(t.Context(), agent.Options{
				SessionID: fmt.Sprintf("trapped %v", above),
				Workspace: ws,
				Tools:     agenttest.DisplayTools(),
				Resume:    resume,
			}, host)
			if err != nil {
				t.Fatal(err)
			}
			k := &talker{t: t, host: host, conn: conn}
			both = append(both, k)
			if err := k.say("hello"); err != nil {
				t.Error(err)
			}
			var asked []string
			for _, p := range host.Asked() {
				asked = append(asked, p.ToolName+" "+p.Resource)
			}
			if !slices.Equal(asked, []string{"bash echo hello", "bash echo hello"}) {
				t.Errorf("above %v, resumed %v: asked %q", above, resume, asked)
			}
		}
		for _, k := range both {
			k.close() // the process ends with its last conversation
		}
		for above, dir := range marks {
			if names := ran(t, dir); len(names) > 0 {
				t.Errorf("above %v, resumed %v: these ran: %q", above, resume, names)
			}
		}
	}
	for _, r := range model.Requests() {
		for _, name := range r.Offered() {
			ours := slices.ContainsFunc(agenttest.DisplayTools(), func(s agent.ToolSpec) bool {
				return s.Name == name
			})
			if !ours && !slices.Contains(b.ToolNames(), name) {
				t.Errorf("the tool %s is offered", name)
			}
		}
	}
}

// The same under a mode in which the user is not asked.
func TestRealThreat74UnderDeny(t *testing.T) {
	ws, marks := trapped(t, false)
	h := newHouseIn(t, ws, consent.ModeDeny, nil)
	springs(h.model)
	s := h.session()
	h.ask(s, "hello")
	entries, err := s.Events(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	denied := 0
	for _, e := range entries {
		if d, ok := e.Event.Data.(event.PermissionCompleted); ok && d.Decision == event.Deny &&
			d.By == event.DecidedByMode {
			denied++
		}
	}
	if denied != 2 {
		t.Errorf("%d commands were denied by the mode, want 2", denied)
	}
	if names := ran(t, marks); len(names) > 0 {
		t.Errorf("these ran: %q", names)
	}
}

// THREATS 77: each built-in tool asks under the name it is called by, so that a
// rule by that name holds. The path a search really takes is reported, too.
func TestRealThreat77Names(t *testing.T) {
	model := copilottest.New(t)
	b := sharing(t, real(t, model))
	ws := plant(t, "ws/a.txt", "ws/sub/b.txt", "out/in/x", "out/secret.txt", "ws/link -> ../out/in")
	out, ws := filepath.Join(ws, "out"), filepath.Join(ws, "ws")
	host := agenttest.NewHost(agenttest.DisplayTools())
	conn, err := b.Open(t.Context(), agent.Options{
		SessionID: fresh("names"),
		Workspace: ws,
		Tools:     agenttest.DisplayTools(),
	}, host)
	if err != nil {
		t.Fatal(err)
	}
	k := &talker{t: t, host: host, conn: conn}
	arguments := func(fields ...string) string {
		m := map[string]string{}
		for i := 0; i < len(fields); i += 2 {
			m[fields[i]] = fields[i+1]
		}
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, prompt := range []string{
		`call bash ` + arguments("command", "cd sub && pwd", "description", "x"),
		`call bash ` + arguments("command", "pwd", "description", "x"),
		`call create ` + arguments("path", filepath.Join(ws, "new.txt"), "file_text", "x"),
		`call create ` + arguments("path", ws+"/link/../made.txt", "file_text", "x"),
		`call edit ` + arguments("path", filepath.Join(ws, "a.txt"), "old_str", "MARK[ws/a.txt]",
			"new_str", "changed\n"),
		`call grep ` + arguments("pattern", "MARK", "paths", "sub", "glob", "*.txt"),
		`call grep ` + arguments("pattern", "MARK", "paths", "link/.."),
		`call glob ` + arguments("pattern", "**/*.txt"),
	} {
		if err := k.say(prompt); err != nil {
			t.Errorf("%s: %v", prompt, err)
		}
	}
	k.close()
	want := []agent.Permission{
		{ToolName: "bash", Resource: "cd sub && pwd", Cwd: ws},
		{ToolName: "bash", Resource: "pwd", Cwd: ws},
		{ToolName: "create", Resource: filepath.Join(ws, "new.txt")},
		{ToolName: "create", Resource: ws + "/link/../made.txt", Target: filepath.Join(out, "made.txt")},
		{ToolName: "edit", Resource: filepath.Join(ws, "a.txt")},
		{
			ToolName: "grep",
			Resource: filepath.Join(ws, "sub"),
			Search:   &agent.Search{Pattern: "MARK", Path: "sub", Glob: "*.txt"},
		},
		{
			ToolName: "grep",
			Resource: ws,
			Target:   out,
			Search:   &agent.Search{Pattern: "MARK", Path: "link/.."},
		},
		{ToolName: "glob", Resource: ws, Search: &agent.Search{
			Pattern: "**/*.txt",
			Path:    "",
			Names:   true,
		}},
	}
	got := host.Asked()
	if len(got) != len(want) {
		t.Fatalf("asked %d times, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		g := got[i]
		search := w.Search == g.Search || w.Search != nil && g.Search != nil && *w.Search == *g.Search
		if g.ToolName != w.ToolName || g.Resource != w.Resource || g.Target != w.Target || !search ||
			g.Sensitive || g.CwdUnknown || w.Cwd != "" && g.Cwd != w.Cwd {
			t.Errorf("asked %+v\nwant  %+v", g, w)
		}
		if !slices.Contains(b.ToolNames(), g.ToolName) {
			t.Errorf("%s is not among the names the backend says it knows", g.ToolName)
		}
	}
	// A command begins in the workspace, wherever the one before went.
	if said := strings.Join(host.Said(), "\n"); !strings.Contains(said, filepath.Join(ws, "sub")+
		"\n") || strings.Count(said, "Done: "+ws+"\n") != 1 {
		t.Errorf("the commands did not run where they were said to: %q", said)
	}
}

// Neither what the user's login shell exports is for the commands of an agent, nor what the CLI
// itself needs and looks like a credential.
func TestRealThreat84Environment(t *testing.T) {
	home := t.TempDir()
	model := copilottest.New(t)
	cfg := real(t, model)
	for i, kv := range cfg.Env {
		if cache, ok := strings.CutPrefix(kv, "HOME="); ok {
			if err := os.Symlink(filepath.Join(cache, ".cache"), filepath.Join(home, ".cache")); err != nil {
				t.Skipf("no symbolic links here: %v", err)
			}
			cfg.Env[i] = "HOME=" + home
		}
	}
	for _, name := range []string{".bash_profile", ".profile", ".bashrc", ".zshrc"} {
		write(t, filepath.Join(home, name), []byte("export LOGIN_MARK=exported\n"))
	}
	cfg.Env = append(cfg.Env, "HTTPS_PROXY=http://me:"+"hunter2@127.0.0.1:9",
		"NO_PROXY=localhost,127.0.0.1")
	k := open(t, backend(t, cfg), "environment", false)
	if err := k.say(
		`call bash {"command":"echo mark=$LOGIN_MARK, proxy=${#HTTPS_PROXY}, none=${#NO_PROXY}.","description":"look"}`); err != nil {
		t.Error(err)
	}
	if said := strings.Join(k.host.Said(), "\n"); !strings.Contains(said, "mark=, proxy=0, none=19.") {
		t.Errorf("said %q", said)
	}
}
