package browsertest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestReadmePicture makes the picture the README opens with: a card with its
// receipt. It stays as it is unless the run is asked for a new one, by
// WEBCHAT_SCREENSHOT=1.
func TestReadmePicture(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.look(1440, 860, "light")
	p.say("show me internal/pump/pump.go")
	p.wait(card)
	p.done()
	p.say("/title Why does the pump drop frames?")
	p.done()
	p.say("run go vet ./... ; go test ./internal/pump")
	p.wait(`document.querySelector('[data-ask][data-ready]')`)
	p.js(`document.activeElement.blur()`)
	p.js(`document.getElementById('where').textContent = '~/code/relay'; for (const dd of document.querySelectorAll('[data-ask] .facts dd.mono')) dd.textContent = '~/code/relay'`)
	p.js(`document.getElementById('scroll').scrollTop = 0`)
	p.has("#turns .receipt", "tokens instead of")
	p.accessible("the README's picture")
	if os.Getenv("WEBCHAT_SCREENSHOT") == "" {
		return
	}
	b, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join("..", "..", "docs")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "screenshot.png"), b, 0o644); err != nil {
		t.Fatal(err)
	}
}
