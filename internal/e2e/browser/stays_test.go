package browser

import (
	"context"
	"sync/atomic"
	"testing"

	pages "webchat/internal/page"
	"webchat/internal/server"
	"webchat/internal/sessions"
)

// The foot of the composer says whether commands are confined. Its sheet lists what they may touch,
// or why they are not and what helps; Esc closes it, and the composer stays usable.
func TestStays(t *testing.T) {
	var off atomic.Bool
	h := newHouse(t, func(_ *sessions.Config, c *server.Config) {
		c.SandboxOf = func(string, string) server.Sandbox {
			if off.Load() {
				return server.Sandbox{Why: "AppArmor does not let webchat make user namespaces", Command: "sudo apparmor_parser -r /etc/apparmor.d/webchat"}
			}
			return server.Sandbox{Confined: true}
		}
		c.Reach = func(_ context.Context, _, workspace string) (pages.StaysFacts, error) {
			return pages.StaysFacts{Workspace: workspace, Running: true, Programs: []string{"/etc", "/usr"}, Reads: []string{"/home/me/.gitconfig"}, Caches: []string{"/home/me/.npm"},
				Hidden: []string{workspace + "/.env", workspace + "/deploy.key"}, Fixed: []string{workspace + "/.git/config", workspace + "/.git/hooks", workspace + "/.vscode"},
				Hosts: []string{"api.githubcopilot.com", "proxy.acme.example"}, Configured: []string{"proxy.acme.example"}}, nil
		}
	})
	p := h.site.open("/sessions/" + h.session(t))
	const sheet, shut = "#stays-pop:not([hidden])", `document.getElementById('stays-pop').hidden`
	p.has("#stays", "Stays in ")
	p.click("#stays")
	for _, words := range []string{"Commands stay in", "Hidden .env deploy.key", "Fixed .git/config .git/hooks .vscode", "What you run: !, /run, hooks", "proxy.acme.example config.yaml"} {
		p.has(sheet, words)
	}
	p.shots("stays")
	p.press("Escape")
	p.rests("Esc in the sheet", shut, "")
	p.press("Escape")
	p.bar("> what commands may do")
	p.press("Enter")
	p.has(sheet, "api.githubcopilot.com")
	p.click("#meter")
	p.wait(shut)
	p.done()

	off.Store(true)
	p = h.site.open("/sessions/" + h.session(t))
	p.has("#stays", "Asks first")
	p.click("#stays")
	p.has(sheet, "Nothing is confined here")
	p.has(sheet, "Run it in a terminal, then start webchat again.")
	p.shots("asks-first")
	p.click(sheet + " [data-act=stays]")
	p.rests("the cross", shut, "#stays")
	p.done()
}
