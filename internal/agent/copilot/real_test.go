package copilot_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/agenttest"
	"webchat/internal/agent/copilot"
	"webchat/internal/agent/copilot/copilottest"
)

// real returns what the real CLI needs, installed by scripts/copilot.sh, with a
// model of ours. Its shim is named, so that the binary beside it is found.
func real(t testing.TB, model *copilottest.Model) copilot.Config {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(root, ".cache", "copilot")
	shim := filepath.Join(cache, "node_modules", ".bin", "copilot")
	if _, err := os.Stat(shim); err != nil {
		if _, npm := exec.LookPath("npm"); npm == nil || os.Getenv("CI") != "" {
			t.Fatal("the real CLI is not installed: run scripts/copilot.sh, which needs npm")
		}
		t.Skip("npm is not installed, so the real CLI is not tried")
	}
	home := filepath.Join(cache, "home") // the CLI unpacks itself there, once
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	return copilot.Config{
		Path: shim, Home: filepath.Join(t.TempDir(), "state"),
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "COPILOT_ALLOW_ALL=true",
			"SECRET_KEY=not for it"},
		Providers: []copilot.Provider{{
			URL:    model.URL(),
			Key:    "sk-test",
			Models: []copilot.ProviderModel{{ID: "fake-1"}, {ID: "fake-2"}},
		}},
	}
}

func backend(t testing.TB, c copilot.Config) *copilot.Backend {
	t.Helper()
	b, err := copilot.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRealContract runs the contract of every backend on the real CLI.
func TestRealContract(t *testing.T) {
	model := copilottest.New(t)
	b := &keeper{Backend: backend(t, real(t, model))}
	defer open(t, b.Backend, "first", false).close() // all others share its process
	agenttest.Run(t, b, contract(b))
	for _, r := range model.Requests() {
		if slices.Contains(r.Offered(), "view") {
			t.Fatalf("a request offers view: %q", r.Offered())
		}
	}
}

// keeper keeps the last conversation, to tell what it was offered.
type keeper struct {
	*copilot.Backend
	last agent.Conn
}

func (k *keeper) Open(ctx context.Context, o agent.Options, h agent.Host) (agent.Conn, error) {
	c, err := k.Backend.Open(ctx, o, h)
	k.last = c
	return c, err
}

// contract is how the scripted model is made to do things.
func contract(k *keeper) agenttest.Options {
	return agenttest.Options{
		Show:   func(path string) string { return "show " + path },
		Run:    func(command string) string { return "run " + command },
		Answer: "hello there, agent",
		Talk:   "talk",
		Ask:    "ask which colour",
		Write: func(path string) string {
			args, err := json.Marshal(map[string]string{"path": path, "file_text": "written\n"})
			if err != nil {
				return ""
			}
			return "call create " + string(args)
		},
		Search: func(text, folder string) string {
			args, err := json.Marshal(map[string]string{"pattern": text, "path": folder,
				"output_mode": "content"})
			if err != nil {
				return ""
			}
			return "call grep " + string(args)
		},
		Cannot: map[string]string{"WriteTwo": "the CLI offers this model no tool that writes two files",
			"Forge": "the CLI names tools by their registration, and the session's are called by another " +
				"request"},
		Background: func(command string) string { return bash(command, "") },
		Offered:    func(testing.TB) []string { return copilot.Offered(k.last) },
		Patience:   2 * time.Minute, // the scripted model talks for one
	}
}
