package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/agent/copilot/copilottest"
)

// A result of the agent's own tool that is too large for its model is a slip in the
// conversation, and opens whole on the Desk.
func TestRealLargeResultOpensWhole(t *testing.T) {
	shim := realCopilot(t)
	model := copilottest.New(t)
	s := start(t, "--backend", "copilot", "--copilot-path", shim, "--provider-url", model.URL(), "--model", "fake-1", "--permissions", "allow")
	p := s.open("/")
	p.say(`call bash {"command":"seq 1 20000","description":"count"}`)
	p.settled()
	p.has("#turns .slip", "of 20,000. The user sees all")
	p.has("#turns .slip .num", " of ") // both prices
	p.shots("large-result")
	p.js(`document.querySelector('#turns [data-slip]').click()`)
	p.wait(`document.querySelector('#desk')?.innerText.includes('20000')`)
	p.has("#desk .dfoot .give", "Let the agent read the rest")
	p.click("#desk .dfoot .give")
	p.wait(`/:\s*the rest/.test(document.getElementById('composer').textContent)`)

	// A search is read from the top.
	if err := os.WriteFile(filepath.Join(s.workspace, "many.txt"), []byte(strings.Repeat("needle in a haystack of forty-four characters\n", 3000)), 0o600); err != nil {
		t.Fatal(err)
	}
	p.look(1440, 900, "light")
	p.say(`call grep {"pattern":"needle","output_mode":"content"}`)
	p.settled()
	p.js(`[...document.querySelectorAll('#turns [data-slip]')].at(-1).click()`)
	p.has("#desk .pane:not([hidden])[data-name=needle] .dfoot [data-at]", "Lines 1–")
}
