package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"webchat/internal/agent/acp"
)

// What real agents hand to their models, as their adapters of scripts/agents.sh do: a
// letter for each part, in the order of the table. What webchat relies on is the second
// and the fifteenth.
func TestCanaryOfRealAgents(t *testing.T) {
	bin, err := filepath.Abs(filepath.Join("..", "..", ".cache", "agents", "node_modules", ".bin"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"claude": "ynnnLnyyyyyyyyn" + "ynyn", "codex": "ynnnLLyyyyyyyyn" + "ynyn"} {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(bin, acp.Presets()[name].Command[0])); err != nil {
				if os.Getenv("CI") != "" {
					t.Fatal("it is not installed: run scripts/agents.sh, which needs npm")
				}
				t.Skip("it is not installed, so it is not tried: run scripts/agents.sh")
			}
			canaries(t, want, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "--backend", name)
		})
	}
}

// The Autohand CLI that WEBCHAT_TEST_AUTOHAND names hands its model each result whole.
func TestCanaryOfAutohand(t *testing.T) {
	path := os.Getenv("WEBCHAT_TEST_AUTOHAND")
	if path == "" {
		t.Skip("WEBCHAT_TEST_AUTOHAND names no Autohand CLI, so the real one is not tried")
	}
	canaries(t, "yynyynyyyyyyyy"+"nynnn", "PATH="+os.Getenv("PATH"), "--backend", "autohand", "--autohand-path", path)
}

// canaries has an agent proven to be honest, and compares its table: a letter for each
// part.
func canaries(t *testing.T, want, path string, flags ...string) {
	t.Helper()
	o, err := parseOptions(append(flags, "--data-dir", filepath.Join(t.TempDir(), "data"), "--workspace", t.TempDir()), []string{path, "HOME=" + t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := verify(t.Context(), o, &out, nil); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	var got strings.Builder
	for line := range strings.Lines(out.String()) {
		switch _, found, part := strings.Cut(line, "part "); {
		case !part:
		case strings.Contains(found, "REACHES"):
			got.WriteString("L")
		case strings.Contains(found, "reaches"):
			got.WriteString("y")
		case strings.Contains(found, "is kept from the model\n"), strings.Contains(found, "webchat relies"):
			got.WriteString("n")
		default:
			got.WriteString("?")
		}
	}
	if got.String() != want || !strings.Contains(out.String(), "nothing of it reached the model") {
		t.Errorf("the table is %s, want %s\n%s", &got, want, &out)
	}
}
