package browser

import (
	"context"
	"sync/atomic"
	"testing"

	"webchat/internal/consent"
	pages "webchat/internal/page"
	"webchat/internal/server"
	"webchat/internal/sessions"
)

// gate is a [consent.Cage] that opens hosts, and does nothing.
type gate struct{ consent.Cage }

func (gate) HostOf(named string) (string, error) { return named, nil }

func (gate) OpenHost(string) (func() error, error) { return func() error { return nil }, nil }

func (gate) Sync() {}

// The foot of the composer says whether commands are confined. Its sheet lists what they may touch,
// what was opened and can be closed, or why they are not and what helps; Esc closes it, and the composer stays usable.
func TestStays(t *testing.T) {
	var off atomic.Bool
	h := newHouse(t, func(s *sessions.Config, c *server.Config) {
		room := s.Room
		s.Room = func(workspace string) (sessions.Room, error) {
			r, err := room(workspace)
			r.Cage = gate{}
			return r, err
		}
		c.Sandboxes.Of = func(string, string) server.Sandbox {
			if off.Load() {
				return server.Sandbox{Why: "AppArmor does not let webchat make user namespaces", Command: "sudo apparmor_parser -r /etc/apparmor.d/webchat"}
			}
			return server.Sandbox{Confined: true}
		}
		c.Sandboxes.Reach = func(_ context.Context, _, workspace string) (pages.StaysFacts, error) {
			return pages.StaysFacts{Workspace: workspace, Running: true, Programs: []string{"/etc", "/usr"}, Reads: []string{"/home/me/.gitconfig"}, Caches: []string{"/home/me/.npm"},
				Hidden: []string{workspace + "/.env", workspace + "/deploy.key"}, Fixed: []string{workspace + "/.git/config", workspace + "/.git/hooks", workspace + "/.vscode"},
				Hosts: []string{"api.githubcopilot.com", "proxy.acme.example"}, Configured: []string{"proxy.acme.example"}}, nil
		}
	})
	id := h.session(t)
	p := h.site.open("/sessions/" + id)
	const sheet, shut = "#stays-pop:not([hidden])", `document.getElementById('stays-pop').hidden`
	p.has("#stays", "Stays in ")
	p.click("#stays")
	for _, words := range []string{"Commands stay in", "Hidden .env deploy.key", "Fixed .git/config .git/hooks .vscode", "What you run: !, /run, hooks", "proxy.acme.example config.yaml"} {
		p.has(sheet, words)
	}
	h.api(t, "POST", "/api/sessions/"+id+"/opened", []byte(`{"kind":"host","what":"registry.example","scope":"session"}`), nil)
	h.api(t, "POST", "/api/sessions/"+id+"/opened", []byte(`{"kind":"host","what":"other.example","scope":"session"}`), nil)
	p.has("#stays", "2 opened")
	p.has(sheet, "this session Close")
	p.shots("stays")
	p.look(390, 844, "light")
	p.shot("stays-390")
	p.look(1440, 1000, "light")
	p.click("#stays-pop [data-close]")
	p.has("#stays", "1 opened")
	p.wait(`!document.querySelector('#stays-pop').innerText.includes('registry.example') && document.activeElement !== document.body`)
	p.click("#stays-pop [data-close-all]")
	p.wait(`document.getElementById('stays-opened').textContent === '' && !document.querySelector('#stays-pop [data-close]')`)
	p.press("Escape")
	p.rests("Esc in the sheet", shut, "")
	p.press("Escape")
	p.bar("> what commands may do")
	p.press("Enter")
	p.has(sheet, "api.githubcopilot.com")
	p.press("Escape")
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
