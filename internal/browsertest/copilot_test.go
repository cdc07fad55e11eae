package browsertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"webchat/internal/agent/copilot/copilottest"
)

// TestRealCopilot drives the GitHub Copilot CLI from the page, on a model of
// ours: words stream in, a file opens whole, a reload shows the same, and no
// request to the model holds what was shown.
func TestRealCopilot(t *testing.T) {
	cache, err := filepath.Abs(filepath.Join("..", "..", ".cache", "copilot"))
	if err != nil {
		t.Fatal(err)
	}
	shim := filepath.Join(cache, "node_modules", ".bin", "copilot")
	if _, err := os.Stat(shim); err != nil {
		if _, npm := exec.LookPath("npm"); npm == nil || os.Getenv("CI") != "" {
			t.Fatal("the real CLI is not installed: run scripts/copilot.sh, which needs npm")
		}
		t.Skip("npm is not installed, so the real CLI is not tried")
	}
	model := copilottest.New(t)
	s := start(t, "--backend", "copilot", "--copilot-path", shim, "--provider-url", model.URL(), "--model", "fake-1")
	p := s.open("/")
	p.has("#pick-backend", "copilot")

	p.say("hello from the page")
	p.done()
	p.has("#turns .said", "You said: hello from the page")

	p.say("show internal/pump/pump.go")
	p.wait(card)
	p.done()
	p.has("#turns .receipt", "Displayed pump.go to user")
	p.has("#turns [data-card] .code", "Package pump moves frames")
	p.has("#ledger", "Describing the tools")
	p.shots("copilot")

	const turns = `document.querySelector('#turns').innerText.replace(/\s+/g, ' ').replace(/\d+ min/g, '')`
	before := eval[string](p, turns)
	p.do(chromedp.Reload())
	p.wait(card)
	p.wait(`document.querySelector('#turns [data-card] .line')`)
	p.is(turns, before)

	for _, r := range model.Requests() {
		if strings.Contains(string(r.Body), "Patience is how long a sink") || strings.Contains(string(r.Body), "out_") {
			t.Errorf("a request to the model holds what was shown, or its id: %.2000s", r.Body)
		}
	}
}
