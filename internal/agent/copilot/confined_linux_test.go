package copilot_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/agenttest"
	"webchat/internal/agent/copilot"
	"webchat/internal/agent/copilot/copilottest"
	"webchat/internal/cage"
	"webchat/internal/proc"
)

// confined has the CLI of a configuration confined, with its model as all it reaches.
func confined(t testing.TB, c *copilot.Config, model *copilottest.Model) {
	t.Helper()
	if err := proc.Confines(); err != nil {
		t.Skip("nothing can be confined here:", err)
	}
	scratch := t.TempDir()
	home := strings.TrimPrefix(c.Env[1], "HOME=")
	cages := map[string]*cage.Cage{}
	c.Confine = func(ctx context.Context, workspace string, cmd proc.Command) (proc.Command, error) {
		in := cages[workspace]
		if in == nil {
			var err error
			in, err = cage.New(cage.Config{
				Workspace: workspace,
				Home:      home,
				Env:       c.Env,
				Scratch:   scratch,
				Logger:    slog.New(slog.DiscardHandler),
			})
			if err != nil {
				return cmd, err
			}
			cages[workspace] = in
		}
		return in.Confine(ctx, cmd, cage.Needs{
			Programs: cmd.Args[:1],
			Write:    []string{cmd.Dir},
			Own:      []string{cage.HostPort(model.URL())},
		})
	}
}

// The real CLI works confined; its shell finds the workspace and nothing else, and what it kept is
// found again without the sandbox, or forgotten.
func TestRealConfined(t *testing.T) {
	model := copilottest.New(t)
	cfg := real(t, model)
	confined(t, &cfg, model)
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	outside, work := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{outside + "/secret": "secretcanary", work +
		"/.env": "KEY=envcanary", work + "/seen.txt": ""} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	talk := func(b *copilot.Backend, resume bool, prompts ...string) {
		t.Helper()
		host := agenttest.NewHost(agenttest.DisplayTools())
		conn, err := b.Open(t.Context(), agent.Options{
			SessionID: "confined",
			Workspace: work,
			Tools:     agenttest.DisplayTools(),
			Resume:    resume,
		}, host)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range prompts {
			host.Begin()
			err := conn.Prompt(t.Context(), agent.Prompt{MessageID: fmt.Sprint("p", i, resume), Content: p})
			host.End(err)
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		host.Closed()
	}
	b := backend(t, cfg)
	_, port, _ := net.SplitHostPort(other.Addr().String())
	talk(b, false, "hello wordcanary",
		fmt.Sprintf(
			`call bash {"command":"(cat %s/secret .env; echo x >%s/new; (exec 3<>/dev/tcp/127.0.0.1/%s) && echo reached; pwd) >seen.txt 2>&1","description":"look"}`, outside, outside, port),
		`call create {"path":"`+work+`/made.txt","file_text":"made\n"}`)
	seen, err := os.ReadFile(work + "/seen.txt")
	if text := string(seen); err != nil || strings.Contains(text, "canary") ||
		strings.Contains(text, "reached") || !strings.HasSuffix(text, work+"\n") {
		t.Errorf("its shell printed %q, %v", text, err)
	}
	if _, err := os.Stat(work + "/made.txt"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(outside + "/new"); err == nil {
		t.Error("it wrote outside")
	}
	if found := holding(t, cfg.Home, "wordcanary"); len(found) == 0 ||
		!strings.Contains(found[0], "workspaces") {
		t.Fatalf("what it keeps is in %q", found)
	}
	talk(b, true, "hello again")
	plain := cfg
	plain.Confine = nil
	talk(backend(t, plain), true, "hello third")
	if err := b.Forget(t.Context(), "confined"); err != nil {
		t.Fatal(err)
	}
	if found := holding(t, cfg.Home, "wordcanary"); len(found) > 0 {
		t.Errorf("words of a deleted session are in %q", found)
	}
}

// TestSoakRealContractConfined runs the contract of every backend on the real CLI, confined.
func TestSoakRealContractConfined(t *testing.T) {
	if os.Getenv("WEBCHAT_SOAK") == "" {
		t.Skip("a long run: make soak")
	}
	model := copilottest.New(t)
	cfg := real(t, model)
	confined(t, &cfg, model)
	b := &keeper{Backend: backend(t, cfg)}
	agenttest.Run(t, b, contract(b))
}
