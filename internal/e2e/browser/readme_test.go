package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestReadmePicture makes the picture the README opens with: a card with its
// receipt. It stays as it is unless the run is asked for a new one, by
// WEBCHAT_SCREENSHOT=1.
func TestReadmePicture(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.look(1440, 900, "light")
	var relay strings.Builder
	relay.WriteString(strings.TrimSuffix(pumpGo, "\n"))
	for _, name := range []string{"Close", "Drain", "Len", "Reset", "Snapshot", "Wait"} {
		fmt.Fprintf(&relay, "\n\n// %s is safe to call more than once, from any goroutine.\nfunc (p *Pump) %s(ctx context.Context) error {\n\tp.mu.Lock()\n\tdefer p.mu.Unlock()\n\tfor i, sink := range p.sinks {\n\t\tif err := sink.%s(ctx); err != nil {\n\t\t\treturn fmt.Errorf(\"sink %%d: %%w\", i, err)\n\t\t}\n\t}\n\treturn nil\n}", name, name, strings.ToLower(name))
	}
	if err := os.WriteFile(filepath.Join(s.workspace, "internal", "pump", "pump.go"), []byte(relay.String()+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, title := range []string{"Release checklist", "Which sinks are slow"} {
		p.say("/show README.md")
		p.done()
		p.say("/title " + title)
		p.done()
		p.do(chromedp.Navigate(s.url + "/"))
		p.live()
	}
	p.compose("show me internal/pump/pump.go")
	p.press("Alt+Enter") // the agent shows it
	p.wait(card)
	p.done()
	p.say("/title Why the pump drops frames")
	p.done()
	p.has("#title", "Why the pump drops frames")
	p.js(`document.activeElement.blur()
		document.getElementById('where').textContent = '~/code/relay' // not where this run keeps it
		for (const toast of document.querySelectorAll('.toast')) toast.remove()
		document.getElementById('scroll').scrollTop = 0`)
	p.has("#turns .slip", " of ")
	p.accessible("the README's picture")
	if os.Getenv("WEBCHAT_SCREENSHOT") == "" {
		return
	}
	b, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join("..", "..", "..", "docs")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "screenshot.png"), b, 0o644); err != nil {
		t.Fatal(err)
	}
}
