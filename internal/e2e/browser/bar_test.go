package browser

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// hits are the words of what the bar offers.
const hits = `[...document.querySelectorAll('#open-hits [role=option]')].map((e) => e.querySelector('[data-part=text]').textContent)`

// logged returns the session's events as the API gives them.
func (s *site) logged(t testing.TB, session string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/api/sessions/"+session+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := os.ReadFile(filepath.Join(s.data, "token"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	b, err := io.ReadAll(reply.Body)
	if err != nil || !json.Valid(b) {
		t.Fatalf("the events: %s %v", b, err)
	}
	return string(b)
}

// bar opens the bar and writes into it, until that is what it offers something for.
func (p *page) bar(text string) {
	p.t.Helper()
	p.press("Control+k")
	p.wait(`document.querySelector('#open-bar[open] input') === document.activeElement`)
	if text == "" {
		return
	}
	p.write(text)
	p.has("#open-hits [aria-selected=true]", "")
	if !strings.ContainsAny(text[:1], ":#>!~/") {
		p.wait(hits + `.at(-1) === ` + quote("Ask the agent about “"+text+"”"))
	}
}

// What is under the cursor of the bar stands on the Desk and leaves nothing behind,
// until it is opened.
func TestBarLooksBeforeItOpens(t *testing.T) {
	s, p := desked(t)
	s.put("ring.txt", "a ring\n")
	p.told("show me README.md")
	p.front("README.md")
	before := s.logged(t, p.session())
	p.bar("pump")
	p.wait(hits + `.includes('internal/pump/pump.go')`)
	p.press("ArrowDown", "ArrowUp")
	p.front("pump.go")
	p.wait(onDesk + `.querySelector('.line .cl')?.textContent.includes('Package pump moves frames')`)
	p.has(".tab.is-look.is-front", "pump.go")
	p.has(".pane:not([hidden]) .dfoot", "nothing is kept until you open it")
	p.shot("desk-bar")
	p.accessible("the bar over the conversation")
	p.press("Escape")
	p.front("README.md")
	p.wait(`document.querySelectorAll('.tab').length === 1 && !document.querySelector('[inert], dialog[open]')`)
	p.is(`document.activeElement.id`, "prompt")
	if after := s.logged(t, p.session()); after != before {
		t.Errorf("a look is in the log: %s", strings.TrimPrefix(after, before))
	}

	// Opened, it is a tab like any other, and the conversation says nothing of it.
	p.bar("pump.go:12")
	p.wait(hits + `.includes('internal/pump/pump.go')`)
	p.press("Enter")
	p.front("pump.go")
	p.wait(`document.querySelector('.tab.is-front:not(.is-look)') && ` + onDesk + `.querySelector('.line.on .ln')?.textContent === '12'`)
	p.has(".pane:not([hidden]) .dfoot", "Line 12 selected")
	p.is(`String([...document.querySelectorAll('#turns .turn')].filter((t) => t.checkVisibility()).length)`, "1")
	if p.true(onDesk + `.querySelector('[data-view=diff]')`) {
		t.Error("a file that was shown once is said to have changes")
	}
	p.do(chromedp.Reload())
	p.live()
	p.front("pump.go")
	p.wait(`document.querySelectorAll('.tab').length === 2`)

	// The look that was in front when it is opened is what is kept.
	p.bar("go.mod")
	p.wait(hits + `[0] === 'go.mod'`)
	p.press("ArrowDown", "ArrowUp")
	p.front("go.mod")
	p.press("Enter")
	p.wait(`document.querySelector('.tab.is-front:not(.is-look) [data-part=name]')?.textContent === 'go.mod'`)
	p.has(".pane:not([hidden]) .dfoot", "Opened by you")
	p.wait(`document.querySelectorAll('#outs [data-output]').length === 3`)
	p.wait(`document.querySelectorAll('.tab').length === 3 && !document.querySelector('.tab.is-look')`)

	// Beside nothing is in front, also where the page hears of it before the answer comes.
	p.press("Escape", "x", "x", "x")
	p.wait(`!document.querySelector('.tab')`)
	p.js(holding + `hold(/\/keep$/)`)
	p.bar("ring")
	p.press("ArrowDown", "ArrowUp")
	p.wait(`document.querySelector('.tab.is-look.is-front')`)
	name := eval[string](p, `document.querySelector('.tab.is-look [data-part=name]').textContent`)
	p.press("Control+Enter")
	p.wait(`document.querySelectorAll('#outs [data-output]').length === 4 && held`)
	p.js(`release()`)
	p.front(name)
	p.wait(`!document.querySelector('.tab.is-beside, .app.is-split')`)
	p.is(`document.getElementById('shelf-n').textContent`, "4 outputs")
}

// A file that may hold secrets shows its name only, until it is opened and allowed.
func TestBarKeepsSecretsToTheirNames(t *testing.T) {
	s, p := desked(t)
	if err := os.WriteFile(filepath.Join(s.workspace, ".env"), []byte("TOKEN=do-not-show-this\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.told("show me README.md")
	p.bar(".env")
	p.wait(hits + `[0] === '.env'`)
	p.press("ArrowDown", "ArrowUp")
	p.has(".pane:not([hidden])", "only its name is shown")
	if p.true(`document.body.textContent.includes('do-not-show-this')`) {
		t.Error("the look shows what the file holds")
	}
	p.press("Enter")
	p.has("#dock-asks", ".env")
}

// The bar does things, goes to lines, finds definitions and runs commands.
func TestBarDoes(t *testing.T) {
	_, p := desked(t)
	p.told("show me internal/pump/pump.go")
	p.front("pump.go")
	p.bar(":20")
	p.has("#open-hits [aria-selected=true]", "Line 20")
	p.wait(onDesk + `.querySelector('.line.on .ln')?.textContent === '20'`)
	p.press("Escape")
	p.bar("#publish")
	p.has("#open-hits [aria-selected=true]", "func (p *Pump) publish")
	p.press("Enter")
	p.wait(onDesk + `.querySelector('.line.on .ln')?.textContent === '33'`)
	p.bar(">keys")
	p.is(hits+`.join()`, "All keys")
	p.press("Enter")
	p.wait(`document.querySelector('#keys[open]')`)
	p.press("Escape")
	p.bar("!echo from the bar")
	p.has("#open-hits [aria-selected=true]", "Run echo from the bar")
	p.press("Enter")
	p.front("echo from the bar")
	p.bar("pump.go")
	p.wait(hits + `.includes('internal/pump/pump.go')`)
	p.press("Tab")
	p.is(prompt+`.value`, "@internal/pump/pump.go ")
}

// On the start page a look needs no session that anybody sees, and what is opened has
// one.
func TestBarOnTheStartPage(t *testing.T) {
	_, p := desked(t)
	p.bar("go.mod")
	p.wait(hits + `[0] === 'go.mod'`)
	p.press("ArrowDown", "ArrowUp")
	p.front("go.mod")
	p.press("Escape")
	p.wait(`!document.querySelector('.tab')`)
	p.is(`location.pathname`, "/")
	p.do(chromedp.Reload())
	p.live()
	p.is(`String(document.querySelectorAll('#sessions a').length)`, "0")
	p.bar("go.mod")
	p.wait(hits + `[0] === 'go.mod'`)
	p.press("Enter")
	p.wait(`location.pathname.startsWith('/sessions/')`)
	p.live()
	p.front("go.mod")
}
