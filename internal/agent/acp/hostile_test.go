package acp_test

import (
	"errors"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/agent/agenttest"
	"webchat/internal/event"
)

// What an agent sends in other types than it should hides nothing of what it does.
func TestMisfits(t *testing.T) {
	h := sit(t, "polite", nil, nil)
	if err := h.prompt(t.Context(), "misfits"); err != nil {
		t.Fatal(err)
	}
	if asked := h.Asked(); len(asked) != 1 || asked[0].Resource != "rm -r x" ||
		asked[0].Kind != agent.KindShell {
		t.Errorf("it asks %+v", asked)
	}
	ends := all[event.ToolExecutionComplete](h)
	if len(ends) != 1 || !ends[0].Success || !strings.Contains(ends[0].Result.Content, "done") {
		t.Errorf("its call ends as %+v", ends)
	}
	if said := h.Said(); len(said) != 1 || said[0] != "Odd." {
		t.Errorf("it says %q", said)
	}
}

// Very much output is kept in its begin and its end.
func TestVeryMuch(t *testing.T) {
	h := sit(t, "polite", nil, nil)
	if err := h.prompt(t.Context(), "much"); err != nil {
		t.Fatal(err)
	}
	end := all[event.ToolExecutionComplete](h)[0]
	if got := end.Result.Content; len(got) > 5<<20 || !strings.HasPrefix(got, "yyy") ||
		!strings.HasSuffix(got, "y\n") || strings.Count(got, " left out …") != 1 {
		t.Errorf("%d bytes are kept", len(got))
	}
}

// What agents do not report is reported: that the session's tools are out of reach, once,
// and that what the user allowed once could be allowed for good only.
func TestWhatAgentsDoNotSay(t *testing.T) {
	h := sit(t, "apart", nil, nil)
	for _, prompt := range []string{"hello", "hello", "forever"} {
		if err := h.prompt(t.Context(), prompt); err != nil {
			t.Fatal(err)
		}
	}
	told := all[event.SessionError](h)
	if len(told) != 2 || !strings.Contains(told[0].Message, "did not reach webchat's tools") ||
		!strings.Contains(told[1].Message, "only offers to be allowed this permanently") {
		t.Errorf("the user is told %+v", told)
	}
	if said := h.Said(); !strings.Contains(said[2], "cancelled") {
		t.Errorf("it is answered %q", said)
	}
}

// A proxy that is set for everything does not stand between an agent and the session's tools.
func TestToolsAreReachedAroundAProxy(t *testing.T) {
	for given, want := range map[string]string{"": "localhost,127.0.0.1,::1",
		"example.com": "example.com,localhost,127.0.0.1,::1"} {
		h := sit(t, "polite", func(c *acp.Config) {
			c.Env = append(c.Env, "https_proxy=http://127.0.0.1:9", "no_proxy="+given)
		}, nil)
		for _, name := range []string{"NO_PROXY", "no_proxy"} {
			if err := h.prompt(t.Context(), "env "+name); err != nil {
				t.Fatal(err)
			}
		}
		if said := h.Said(); len(said) != 2 || said[0] != want || said[1] != want {
			t.Errorf("with %q the agent has %q, want %s", given, said, want)
		}
	}
	h := sit(t, "polite", nil, nil)
	if err := h.prompt(t.Context(), "env NO_PROXY"); err != nil || len(h.Said()) > 0 {
		t.Errorf("without a proxy it has %q, %v", h.Said(), err)
	}
}

// An agent that wants to be signed in is, by the user's key where there is one.
func TestSignInByAKey(t *testing.T) {
	h := sit(t, "locked", func(c *acp.Config) { c.Login = "the-key" }, nil)
	if err := h.prompt(t.Context(), "hello"); err != nil {
		t.Error(err)
	}
	for _, login := range []string{"", "another"} {
		b := newBackend(t, "locked", func(c *acp.Config) { c.Login, c.SignIn = login, "locked login" })
		_, err := b.Open(t.Context(), agent.Options{SessionID: "s1", Workspace: t.TempDir()},
			agenttest.NewHost(nil))
		if !errors.Is(err, agent.ErrUnavailable) || !strings.Contains(err.Error(),
			`sign in by "locked login" in a terminal`) {
			t.Errorf("by %q: %v", login, err)
		}
	}
}

// An agent that speaks another version, or gives its conversation no id, is not used.
func TestAgentsThatCannotBeUsed(t *testing.T) {
	for manner, want := range map[string]string{"newer": "speaks version 2 of the Agent Client " +
		"Protocol", "nameless": "gave no id to the conversation"} {
		_, err := newBackend(t, manner, nil).Open(t.Context(),
			agent.Options{SessionID: "s1", Workspace: t.TempDir()}, agenttest.NewHost(nil))
		if !errors.Is(err, agent.ErrUnavailable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", manner, err)
		}
	}
}
