package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/agent/copilot/copilottest"
)

// The same conversation gives the same cards, whichever agent answers: the embedded one,
// the real GitHub Copilot CLI, and one that speaks the Agent Client Protocol. From one of
// them another continues in a branch, which is said before it is done.
func TestEveryAgentShowsTheSameCards(t *testing.T) {
	shim := realCopilot(t)
	model := copilottest.New(t)
	s := start(t, "--config", withAgent(t), "--copilot-path", shim, "--provider-url", model.URL(), "--model", "fake-1")
	var first string
	var last *page
	for _, backend := range []string{"copilot", "mine", "offline"} {
		cards, p := s.cards(backend)
		if first == "" {
			first = cards
		}
		if cards != first || !strings.Contains(cards, "example.com/relay") || !strings.Contains(cards, "rm") {
			t.Errorf("with %s the cards are\n%s\nnot\n%s", backend, cards, first)
		}
		last = p
	}
	continueElsewhere(last)
}

// withAgent is a configuration with an agent, mine, that speaks the Agent Client Protocol.
func withAgent(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf("agents:\n  mine: {command: %q, env: {ACP_STANDIN: polite, GORACE: atexit_sleep_ms=0}}\n", self)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config
}

// cards begins a session with an agent, talks with it, and returns what its cards show.
func (s *site) cards(backend string) (string, *page) {
	s.t.Helper()
	var made struct{ ID string }
	if err := json.Unmarshal([]byte(s.api("POST", "/api/sessions", map[string]string{"backend": backend})), &made); err != nil {
		s.t.Fatal(err)
	}
	p := s.open("/sessions/" + made.ID)
	for i, step := range []struct{ prompt, decision string }{{"show go.mod", ""}, {"run seq 3", "allow-once"}, {"run exit 3", "allow-once"}, {"run rm README.md", "deny"}} {
		s.api("POST", "/api/sessions/"+made.ID+"/messages", map[string]string{"content": step.prompt})
		if step.decision != "" {
			p.wait(`document.querySelector('[data-ask][data-ready]')`) // it is inert at first
			p.click("[data-act=" + step.decision + "]")
		}
		p.wait(fmt.Sprintf("document.querySelectorAll('#turns .turn').length === %d && document.querySelectorAll('#turns .turn[data-state=running]').length === 0", i+1))
		p.done()
	}
	return eval[string](p, `[...document.querySelectorAll('#turns [data-card], #turns [data-answered]')].map((c) =>
		[c.dataset.kind, c.dataset.state, c.innerText.replace(/\s+/g, ' ').replace(/[\d.]+ (ms|s|min)\b|\b\d\d:\d\d\b/g, '')].join(' | ')).join('\n')`), p
}

// continueElsewhere has another agent go on with the session of a page.
func continueElsewhere(p *page) {
	p.t.Helper()
	before := p.session()
	p.click("[data-act=pick]")
	p.has("#menu", "cannot be steered while it works")
	p.js(`[...document.querySelectorAll('#menu [role=option]')].find((e) => e.innerText.includes('mine')).dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }))`)
	p.has("#menu", "Begin a branch with mine")
	p.has("#menu", "the text of this one goes with your first prompt")
	p.press("ArrowDown", "Enter")
	p.wait(`document.body.dataset.session && document.body.dataset.session !== ` + quote(before))
	p.has("#title", "(with mine)")
	p.has("#composer", "the conversation so far")
	p.say("hello")
	p.done()
	p.has("#turns", "the conversation so far")
}
