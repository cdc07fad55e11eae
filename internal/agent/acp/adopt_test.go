package acp_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/agent/agenttest"
)

// A session goes on with what was said to the agent elsewhere, which stays with the agent
// when the session is deleted.
func TestConversationsBegunElsewhere(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	var env []string
	b := newBackend(t, "polite", func(c *acp.Config) { c.Home, env = home, c.Env })
	open := func(id string, resume bool) (*table, error) {
		h := &table{Host: agenttest.NewHost(agenttest.DisplayTools()), t: t}
		conn, err := b.Open(t.Context(), agent.Options{SessionID: id, Workspace: dir, Tools: agenttest.DisplayTools(), Resume: resume}, h)
		if err == nil {
			h.conn = conn
			t.Cleanup(func() { _ = conn.Close() }) // it says how its process ended
		}
		return h, err
	}
	if _, err := open("own", false); err != nil { // whose conversation is not elsewhere
		t.Fatal(err)
	}
	all, err := b.Conversations(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, c := range all {
		told = append(told, c.ID+" "+c.Title)
	}
	if want := []string{"elsewhere-1 Mend the <b>pump</b>", "gone Without a title"}; !slices.Equal(told, want) {
		t.Errorf("it lists %q, want %q", told, want)
	}
	if _, err := b.Adopt(t.Context(), "s2", dir, "other"); !errors.Is(err, agent.ErrUnsupported) {
		t.Errorf("a conversation of another folder: %v", err)
	}
	for _, id := range []string{"elsewhere-1", "gone"} {
		if _, err := b.Adopt(t.Context(), "with "+id, dir, id); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := open("with gone", true); err == nil || errors.Is(err, agent.ErrUnsupported) || !strings.Contains(err.Error(), "did not take up the conversation") {
		t.Errorf("one that it does not have any more: %v", err)
	}
	for range 2 {
		h, err := open("with elsewhere-1", true)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.prompt(t.Context(), "whoami"); err != nil || !slices.Equal(h.Said(), []string{"elsewhere-1"}) {
			t.Errorf("it goes on with %q, %v", h.Said(), err)
		}
		if err := h.conn.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := b.Forget(t.Context(), "with elsewhere-1"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(offered(env) + ".deleted"); err == nil {
		t.Error("the agent deleted a conversation that was begun elsewhere")
	}
}
