package copilot_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"webchat/internal/agent"
	"webchat/internal/agent/agenttest"
	"webchat/internal/agent/copilot"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/e2e/standin"
	"webchat/internal/event"
	"webchat/internal/proc"
)

var update = flag.Bool("update", false, "write what came as what is wanted")

// scripted returns what a backend on the stand-in needs; dir is where the
// stand-in lives.
func scripted(t testing.TB, script []byte) (c copilot.Config, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "node_modules", "@github", "copilot-"+cli.Platforms()[0])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	me := standin.Program(t)
	binary := filepath.Join(dir, cli.BinaryName())
	if os.Link(me, binary) != nil { // another file system
		copyFile(t, me, binary)
	}
	write(t, filepath.Join(dir, "script"), script)
	write(t, filepath.Join(dir, "package.json"),
		[]byte(`{"name":"@github/copilot-test","version":"1.0.102"}`))
	return copilot.Config{Path: binary, Home: filepath.Join(t.TempDir(), "state"), Env: os.Environ(),
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Count: func(s string) int {
			return len(s)
		},
		Providers: []copilot.Provider{{
			URL:    "http://127.0.0.1:1/v1",
			Key:    "sk",
			Models: []copilot.ProviderModel{{ID: "fake-1"}, {ID: "fake-2"}},
		}}}, dir
}

func write(t testing.TB, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// received returns what the stand-in was asked, in order: each message's method
// and parameters.
func received(t testing.TB, dir, method string) (params []string) {
	t.Helper()
	for _, m := range logged(t, dir) {
		if m.Method == method {
			params = append(params, string(m.Params))
		}
	}
	return params
}

// answers returns what the stand-in's own requests were answered, in order.
func answers(t testing.TB, dir string) (results []string) {
	t.Helper()
	for _, m := range logged(t, dir) {
		if m.Method == "" {
			results = append(results, string(m.Result))
		}
	}
	return results
}

// message is one that came to the stand-in.
type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

func logged(t testing.TB, dir string) (all []message) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var m message
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

var duration = regexp.MustCompile(`,"(durationMs|elapsedMs)":\d+`)

// TestDialogues plays each dialogue of testdata and compares everything the
// session heard of it. A dialogue is the stand-in's script, the prompts, and
// what is wanted: events, calls of the session, and how each prompt ended. A file "confined" has
// the CLI take itself for confined.
func TestDialogues(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal("no dialogues", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			parts := map[string]*txtar.File{}
			for i := range a.Files {
				parts[a.Files[i].Name] = &a.Files[i]
			}
			got := play(t, txtar.Format(a), strings.Fields(string(parts["prompts"].Data)),
				parts["confined"] != nil)
			if *update {
				parts["want"].Data = []byte(got)
				write(t, name, txtar.Format(a))
				return
			}
			if diff := cmp.Diff(string(parts["want"].Data), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// play has one conversation and returns what the session heard of it.
func play(t *testing.T, script []byte, prompts []string, confined bool) string {
	t.Helper()
	c, dir := scripted(t, script)
	if confined {
		c.Confine = func(_ context.Context, _ string, cmd proc.Command) (proc.Command, error) {
			return cmd, nil
		}
	}
	host := agenttest.NewHost(agenttest.DisplayTools())
	b := backend(t, c)
	conn, err := b.Open(t.Context(), agent.Options{
		SessionID: "s1",
		Workspace: t.TempDir(),
		Tools:     agenttest.DisplayTools(),
	}, host)
	if err != nil {
		return "open: " + err.Error() + "\n"
	}
	var out strings.Builder
	for i, p := range prompts {
		host.Begin()
		err := conn.Prompt(t.Context(), agent.Prompt{MessageID: fmt.Sprintf("p%d", i+1), Content: p})
		host.End(err)
		fmt.Fprintf(&out, "prompt %s: %v\n", p, err)
	}
	if err := conn.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	host.Closed()
	for _, d := range host.Events() {
		b, err := event.Marshal(event.New(d, "", time.Now()))
		if err != nil {
			t.Fatal(err)
		}
		var e struct{ Data json.RawMessage }
		if err := json.Unmarshal(b, &e); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s %s\n", event.TypeOf(d), duration.ReplaceAll(e.Data, nil))
	}
	for _, c := range host.Calls() {
		fmt.Fprintf(&out, "call %s %s %s\n", c.ID, c.Name, c.Arguments)
	}
	for _, p := range host.Asked() {
		fmt.Fprintf(&out, "asked %s %s %s: %q %q", p.ToolCallID, p.Kind, p.ToolName, p.Action, p.Resource)
		for _, r := range p.Also {
			fmt.Fprintf(&out, ", %s: %q %q", r.Kind, r.Action, r.Resource)
		}
		for name, value := range map[string]any{"sensitive": p.Sensitive,
			"folder unknown": p.CwdUnknown} {
			if value == true {
				fmt.Fprintf(&out, ", %s", name)
			}
		}
		if s := p.Search; s != nil {
			fmt.Fprintf(&out, ", %q in %q %q, names %v", s.Pattern, s.Path, s.Glob, s.Names)
		}
		if p.Server != "" {
			fmt.Fprintf(&out, ", of %s", p.Server)
		}
		fmt.Fprintln(&out)
	}
	for _, m := range []string{"session.tools.handlePendingToolCall",
		"session.permissions.handlePendingPermissionRequest"} {
		for _, p := range received(t, dir, m) {
			fmt.Fprintf(&out, "answered %s\n", p)
		}
	}
	for _, a := range answers(t, dir) {
		fmt.Fprintf(&out, "hook %s\n", a)
	}
	for _, broken := range host.Broken() {
		t.Errorf("broken rule: %s", broken)
	}
	text := out.String()
	return strings.ReplaceAll(strings.ReplaceAll(text, c.Home, "HOME"), copilot.NativeID("s1"),
		"SESSION")
}
