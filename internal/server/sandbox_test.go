package server_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"webchat/internal/agent/offline"
	"webchat/internal/page"
	"webchat/internal/store/storetest"
)

// reach confines what agents run, to what it says.
type reach func(ctx context.Context, backend, workspace string) (page.StaysFacts, error)

// The sheet says what a tree has: paths of the workspace from there, what all users of the system
// are kept from not at all, long lists in part; and what no command starts for.
func TestSandboxSheet(t *testing.T) {
	var facts page.StaysFacts
	var fails error
	h := newHouseOn(t, storetest.NewMemory(), offline.New(offline.Config{}),
		reach(func(context.Context, string, string) (page.StaysFacts, error) { return facts, fails }))
	sheet := func(want ...string) string {
		t.Helper()
		res, text := h.do("GET", "/sandbox?workspace="+url.QueryEscape(h.workspace), "")
		for _, w := range want {
			if res.StatusCode != 200 || !strings.Contains(text, w) {
				t.Errorf("%d, without %q: %s", res.StatusCode, w, text)
			}
		}
		return text
	}
	facts = page.StaysFacts{
		Workspace:  h.workspace,
		Hidden:     []string{"/etc/shadow", h.workspace + "/.env"},
		Saved:      []string{h.workspace + "/key"},
		Configured: []string{"a.example"},
		Hosts:      []string{"a.example"},
	}
	for range 10 {
		facts.Fixed = append(facts.Fixed, h.workspace+"/.vscode")
	}
	text := sheet("<code>.env</code>", "when its agent starts", "and 2 more",
		"<code>key</code>: saved again outside", "a command can end other processes",
		"<code>a.example</code>", "config.yaml")
	if strings.Contains(text, "shadow") || strings.Contains(text, "no host") {
		t.Error(text)
	}
	facts = page.StaysFacts{Workspace: h.workspace, Running: true}
	sheet("no host")
	fails = errors.New("confine: .envrc is a link out of the workspace")
	sheet("No command can be run", ".envrc is a link out of the workspace.")
}
