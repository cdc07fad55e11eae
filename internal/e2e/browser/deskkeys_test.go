package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every key of the Desk does what the list of keys says, and all of it is reached
// without a pointer.
func TestKeysOfTheDesk(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("editor: \"edit-it://open{path}:{line}\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, p := desked(t, "--config", config)
	s.put("notes #1.txt", numbered(300))
	p.told("show me internal/pump/pump.go")
	p.front("pump.go")
	p.told("show me README.md")
	p.front("README.md")
	p.say("/show notes #1.txt")
	p.front("notes #1.txt")
	p.wait(onDesk + `.querySelector('.rows .cl')?.textContent`)

	// Lines are chosen by keys, and handed over by one.
	p.press("Escape", "Shift+ArrowDown", "Shift+ArrowDown", "Shift+ArrowDown")
	const on = `[...document.querySelectorAll('.pane:not([hidden]) .line.on .ln')].map((e) => e.textContent).join()`
	p.is(on, "1,2,3")
	p.press("Shift+ArrowUp")
	p.is(on, "1,2")
	p.press("g")
	p.wait(`document.querySelector('.pane .find input') === document.activeElement`)
	p.write("200-203")
	p.press("Enter")
	p.is(on, "200,201,202,203")
	p.wait(`document.activeElement.matches('.pane .code')`)
	p.js(`window.went = []; document.addEventListener('click', (e) => { const a = e.target.closest('a[href^="edit-it:"]'); if (a) { e.preventDefault(); went.push(a.href) } }, true)`)
	p.press("e")
	p.is(`went.join()`, "edit-it://open"+strings.ReplaceAll(s.workspace, " ", "%20")+"/notes%20%231.txt:200")
	p.click(".pane:not([hidden]) .dhead [data-act=editor]")
	p.wait(`went.length === 2 && went[0] === went[1]`)
	p.press("Escape", "a")
	p.has("#chips .chip", "notes #1.txt:200–203")
	p.press("Escape", "f")
	p.wait(`document.querySelector('.pane .find input') === document.activeElement`)
	p.write("line 25")
	p.has(".pane .find", "of 11")
	p.press("Escape", "Escape")

	// The Desk alone, and the way back.
	p.press("o")
	p.wait(`!document.querySelector('.main').checkVisibility() && !document.getElementById('bar').checkVisibility() && document.getElementById('desk').offsetWidth === innerWidth`)
	p.shot("desk-alone")
	p.accessible("the Desk alone")
	p.press("o")
	p.wait(`document.querySelector('.main').checkVisibility() && !document.querySelector('[inert]')`)
	p.press("o", "i")
	p.wait(`document.querySelector('.main').checkVisibility() && document.activeElement.id === 'prompt'`)
	p.press("Escape", "w")
	p.wait(onDesk + `.querySelector('.code.wrap')`)

	// From tab to tab, away and back.
	p.press("h")
	p.front("README.md")
	p.press("v")
	p.wait(onDesk + `.querySelector('.rows .cl')?.textContent`)
	p.press("v")
	p.wait(onDesk + `.querySelector('.other')`)
	p.press("f") // lines are found, and gone to, where there are lines
	p.wait(`document.querySelector('.pane .find input') === document.activeElement`)
	p.write("frames")
	p.wait(onDesk + `.querySelector('.code').checkVisibility()`)
	p.press("Escape", "v")
	p.wait(onDesk + `.querySelector('.other')`)
	p.press("g")
	p.wait(`document.querySelector('.pane .find input') === document.activeElement`)
	p.write("2")
	p.press("Enter")
	p.is(on, "2")
	p.wait(onDesk + `.querySelector('.code').checkVisibility()`)
	p.press("1")
	p.front("pump.go")
	p.press("l")
	p.front("README.md")
	p.press("x")
	p.wait(`document.querySelectorAll('.tab').length === 2`)
	p.press("X")
	p.front("README.md")
	p.press("p")
	p.has(".tab.is-pinned", "README.md")
	p.press("p")
	p.wait(`!document.querySelector('.tab.is-pinned')`)
	p.press("Alt+ArrowUp")
	p.front("pump.go")
	p.press("Alt+ArrowDown")
	p.front("README.md")
	p.press("t")
	p.wait(`document.querySelector('#shelf:popover-open input') === document.activeElement`)
	p.js(`window.old = document.querySelector('.pane:not([hidden])'); old.dispatchEvent(new Event('webchat:stale', { bubbles: true }))`)
	p.wait(`!old.isConnected`) // what had the focus is not there any more
	p.write("pump")
	p.press("Enter")
	p.front("pump.go")
	p.wait(`document.activeElement.matches('.pane .code')`)
	p.press("Escape", "\\")
	p.wait(`document.querySelectorAll('.pane:not([hidden])').length === 2`)
	const second = ".pane.is-second:not([hidden])"
	p.press("F6") // of two panes keys act on the one with the ring
	p.wait(`document.activeElement.matches('` + second + ` .code, ` + second + ` .other')`)
	p.press("f")
	p.wait(`document.activeElement.matches('` + second + ` .find input')`)
	p.press("Escape", "F6")
	p.wait(`document.activeElement.id === 'prompt'`)
	p.press("Escape")
	p.wait(`document.activeElement.closest('` + second + `')`)
	p.press("Shift+F6")
	p.wait(`document.activeElement.closest('.pane:not(.is-second)')`)
	p.press("\\")
	p.wait(`document.querySelectorAll('.pane:not([hidden])').length === 1`)
	p.press("]")
	p.wait(`!document.getElementById('desk').checkVisibility()`)
	p.press("]")
	p.wait(`document.getElementById('desk').checkVisibility()`)
	p.press("[")
	p.wait(`document.getElementById('side').checkVisibility()`)
	p.press("[")
	p.wait(`!document.getElementById('side').checkVisibility()`)

	// What the head offers by its menu.
	p.js(onDesk + `.querySelector('[data-act=pane-more]').focus()`)
	p.press("Enter")
	p.wait(`document.activeElement.matches('[role=menu] [role=menuitem]')`)
	p.shot("desk-menu")
	p.accessible("the menu of a pane")
	p.press("End")
	p.wait(`document.activeElement === document.querySelector('[role=menu]').lastElementChild`)
	p.press("Home")
	p.wait(`document.activeElement === document.querySelector('[role=menu]').firstElementChild`)
	p.press("d")
	p.is(`document.activeElement.innerText.trim()[0]`, "D")
	p.press("Escape")
	p.wait(`!document.querySelector('[role=menu]') && document.activeElement.matches('[data-act=pane-more]')`)
	p.press("r")
	p.wait(`document.querySelectorAll('#outs [data-output]').length === 4`)
	p.press("Control+k")
	p.wait(`document.querySelector('#open-bar[open] input') === document.activeElement`)
	p.press("Escape")
	p.wait(`!document.querySelector('dialog[open]')`)
	p.js(prompt + `.focus()`)
	p.press("F6")
	p.wait(`document.activeElement.closest('#desk')`)
	p.press("Shift+F6")
	p.wait(`document.activeElement.id === 'prompt'`)
	p.press("F6")
	p.press("?")
	p.wait(`document.querySelector('#keys[open]')`)
	p.press("Escape", "n")
	p.wait(`location.pathname === '/'`)
}

// Tab goes through all of the Desk in few steps: rows are no stops, and each stop has a
// name and shows the focus.
func TestDeskByTabKey(t *testing.T) {
	_, p := desked(t)
	p.told("show me internal/pump/pump.go")
	p.front("pump.go")
	p.wait(onDesk + `.querySelector('.rows .cl')?.textContent`)
	p.focus(`document.querySelector('#tabs [role=tab]')`)
	seen := map[string]bool{}
	for range 16 {
		at := eval[string](p, `(() => { const el = document.activeElement; const s = getComputedStyle(el); const name = el.ariaLabel || el.innerText?.trim(); const ring = s.outlineStyle !== 'none' || getComputedStyle(el.parentElement, '::after').outlineStyle !== 'none'; return !el.closest('#desk') ? '' : !name || !ring ? 'bad ' + el.outerHTML.slice(0, 120) : el.dataset.act ?? el.classList[0] })()`)
		if strings.HasPrefix(at, "bad ") {
			t.Errorf("a stop without a name or a ring: %s", at)
		}
		seen[at] = true
		p.press("Tab")
	}
	for _, want := range []string{"tab", "shelf", "split", "find", "wrap", "copy", "pane-more", "code", "read"} {
		if !seen[want] {
			t.Errorf("the Tab key does not reach %q in 16 steps, but %v", want, seen)
		}
	}
}

// What is written while the agent works and sent by Ctrl Enter does not wait.
func TestControlEnterSteers(t *testing.T) {
	p := start(t).open("/")
	p.say("stream 2000 words slowly")
	p.wait(`document.querySelector('#turns .said')?.innerText.length > 20`)
	p.js(`const f = window.fetch; window.sent = []; window.fetch = (...a) => { if (String(a[0]).endsWith('/messages')) sent.push(JSON.parse(a[1].body).mode); return f(...a) }`)
	p.compose("turn left")
	p.press("Control+Enter")
	p.wait(`sent.join() === 'steer'`)
	p.press("Control+.")
	p.done()
}
