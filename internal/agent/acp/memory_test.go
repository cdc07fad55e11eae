package acp_test

import (
	"slices"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
)

// The result of verify describes one version of an agent, with the command line it was started
// with; a process that was running before reads it, too. Every other version is described by its
// preset.
func TestAskingIsKeptWithTheVersion(t *testing.T) {
	const preset = "runs read commands without asking"
	home := t.TempDir()
	with := func(c *acp.Config) { c.Home, c.Consent = home, preset }
	h := sit(t, "polite", with, nil) // of version 1.2.3
	if err := h.prompt(t.Context(), "hello"); err != nil {
		t.Fatal(err)
	}
	const yes, no = agent.AskedYes, agent.AskedNo
	for _, c := range []struct {
		version string
		found   agent.Asking
		want    string // empty: nothing of the kind
	}{
		{"1.2.3", agent.Asking{Writes: yes, Runs: yes, Reads: yes}, ""},
		{"1.2.3", agent.Asking{Writes: yes, Runs: yes, Reads: no},
			"reads files such as .env without asking; webchat does not stop it"},
		{"1.2.3", agent.Asking{Runs: no, Reads: no},
			"runs commands and reads files such as .env without asking; webchat does not stop it"},
		{"1.2.3", agent.Asking{Writes: yes, Runs: yes}, preset},
		{"1.2.4", agent.Asking{Writes: yes, Runs: yes, Reads: yes}, preset},
		{"", agent.Asking{Writes: yes, Runs: yes, Reads: yes}, preset},
	} {
		running := newBackend(t, "polite", with)
		if err := newBackend(t, "polite", with).KeepAsking(c.version, c.found); err != nil {
			t.Fatal(err)
		}
		want := []string{"may run a tool of an MCP server without asking if the tool says that it only " +
			"reads; webchat does not stop it", "cannot be steered while it works"}
		if c.want != "" {
			want = slices.Insert(want, 0, c.want)
		}
		if got := running.Info(t.Context()).Lacks; !slices.Equal(got, want) {
			t.Errorf("%+v of %q: it lacks %q, want %q", c.found, c.version, got, want)
		}
	}
	all := agent.Asking{Writes: yes, Runs: yes, Reads: yes}
	if err := newBackend(t, "polite", with).KeepAsking("1.2.3", all); err != nil {
		t.Fatal(err)
	}
	other := newBackend(t, "polite", func(c *acp.Config) {
		with(c)
		c.Preset.Env = []string{"ASK=never"}
	})
	if got := other.Info(t.Context()).Lacks; got[0] != preset {
		t.Errorf("started in another way it lacks %q, want first %q", got, preset)
	}
}

// An agent that no conversation was had with is of the version that was tried.
func TestAskingBeforeTheFirstConversation(t *testing.T) {
	b := newBackend(t, "polite", func(c *acp.Config) { c.Consent = "reads" })
	if err := b.KeepAsking("7", agent.Asking{
		Writes: agent.AskedYes,
		Runs:   agent.AskedYes,
		Reads:  agent.AskedYes,
	}); err != nil {
		t.Fatal(err)
	}
	if i := b.Info(t.Context()); i.Version != "7" || slices.Contains(i.Lacks, "reads") {
		t.Errorf("version %q, lacks %q", i.Version, i.Lacks)
	}
}
