package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/canary"
	"webchat/internal/eventlog"
	"webchat/internal/outputs"
	"webchat/internal/proc"
)

// What real agents hand to their models, as their adapters of scripts/agents.sh do: a
// letter for each part, in the order of the table. What webchat relies on is the second
// and the fifteenth.
func TestCanaryOfRealAgents(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"claude": "ynnnLnyyyyyyyyn" + "ynyn",
		"codex": "ynnnLLyyyyyyyyn" + "ynyn"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin := installed(t, filepath.Join("..", "..", ".cache", "agents", "node_modules", ".bin"), name)
			o, out := canaries(t, want, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"),
				"--backend", name)
			asks(t, o, name, out)
		})
	}
}

// The Autohand CLI that WEBCHAT_TEST_AUTOHAND names hands its model each result whole.
func TestCanaryOfAutohand(t *testing.T) {
	path := os.Getenv("WEBCHAT_TEST_AUTOHAND")
	if path == "" {
		t.Skip("WEBCHAT_TEST_AUTOHAND names no Autohand CLI, so the real one is not tried")
	}
	canaries(t, "yynyynyyyyyyyy"+"nynnn", "PATH="+os.Getenv("PATH"), "--backend", "autohand",
		"--autohand-path", path)
}

// allKept is the line about MCP servers when nothing that is for the user reached the model.
const allKept = "servers    in 22 parts of what an MCP server has, all that is for you is kept from the model\n"

// The model of the real Copilot CLI gets nothing of the results of MCP servers that is for the user.
func TestServersOfRealCopilot(t *testing.T) {
	t.Parallel()
	path := filepath.Join(installed(t, filepath.Join("..", "..", ".cache", "copilot", "node_modules", ".bin"), "copilot-acp"), "copilot")
	o, err := parseOptions([]string{"--backend", "copilot", "--copilot-path", path, "--data-dir", filepath.Join(t.TempDir(), "data")}, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	c, err := o.loadConfig()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	trial, err := canary.New(canary.Config{
		Tools: func(workspace string, out *outputs.Store) func(eventlog.ID) (agent.Toolset, error) {
			return o.with(c).tools(workspace, nil, out, usersOwn{}, nil)
		},
		Say: func(name, format string, args ...any) {
			fmt.Fprintf(&out, "%-10s %s\n", name, fmt.Sprintf(format, args...))
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := verifyServers(t.Context(), trial, o.roster(c).copilotAt); err != nil || out.String() != allKept {
		t.Errorf("%v, %s", err, &out)
	}
	if err := trial.Close(); err != nil {
		t.Error(err)
	}
}

// canaries has an agent proven to be honest, and compares its table: a letter for each
// part.
func canaries(t *testing.T, want, path string, flags ...string) (o *options, said string) {
	t.Helper()
	o, err := parseOptions(append(flags, "--data-dir", filepath.Join(t.TempDir(), "data"),
		"--workspace", t.TempDir()), []string{path, "HOME=" + t.TempDir()})
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
		case strings.Contains(found, "is kept from the model\n"),
			strings.Contains(found, "webchat relies"):
			got.WriteString("n")
		default:
			got.WriteString("?")
		}
	}
	if got.String() != want || !strings.Contains(out.String(), "nothing of it reached the model") || !strings.Contains(out.String(), allKept) {
		t.Errorf("the table is %s, want %s\n%s", &got, want, &out)
	}
	return o, out.String()
}

// asks compares what verify printed about an agent's questions with what is expected, and checks
// the sentence beside the agent's name in the picker from then on.
func asks(t *testing.T, o *options, name, said string) {
	t.Helper()
	want, lacks := []string{"writes: yes", "runs a command: yes", "reads .env: yes"}, ""
	if name == "codex" { // it writes nothing in its sandbox, and asks nothing before what is left
		const neither = "not known; it neither asked nor did it"
		want, lacks = []string{"writes: " + neither, "runs a command: no", "reads .env: no"},
			"runs commands and reads files such as .env without asking; webchat does not stop it"
		if proc.Namespaces() != nil { // then the sandbox does not start, and no command either
			want, lacks = []string{"writes: " + neither, "runs a command: " + neither, "reads .env: " +
				neither},
				"runs read commands without asking; webchat does not stop it; cannot start its own sandbox "+
					"here, so each of its commands fails: make namespaces: "
		}
	}
	var got []string
	for line := range strings.Lines(said) {
		if _, found, ok := strings.Cut(strings.TrimSpace(line), "asks before it "); ok {
			got = append(got, found)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("it asks: %q, want %q", got, want)
	}
	c, err := o.loadConfig()
	if err != nil {
		t.Fatal(err)
	}
	b, err := o.roster(c).speaker(o.roster(c).preset(name), name, nil, o.dataPath(),
		func(string, []agent.ToolSpec,
			func(context.Context, agent.ToolCall) (agent.Result, error)) (agent.Lent, func(), error) {
			panic("nothing is lent")
		}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var doctor strings.Builder
	k := checkup{backends: []agent.Backend{b}, say: func(_, format string, args ...any) {
		fmt.Fprintf(&doctor, format+"\n", args...)
	}}
	if err := k.agents(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if line := doctor.String(); strings.Contains(line, "webchat does not stop it") != (lacks != "") ||
		!strings.Contains(line, lacks) || strings.Contains(line,
		"read commands") != strings.Contains(lacks, "read commands") {
		t.Errorf("doctor says %q, want %q in it", line, lacks)
	}
}
