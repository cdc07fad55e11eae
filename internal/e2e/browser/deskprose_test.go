package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What an answer names leads to the Desk at no cost: files that are there, at their
// lines, and lines of what was shown last. Names of nothing, and what stands in code
// blocks and links, stay text.
func TestAnswersLeadToTheDesk(t *testing.T) {
	h := newHouse(t)
	for name, text := range map[string]string{"pump.go": "package pump\n\n// two\n// three\n// four\n", "docs/notes.md": "# Notes\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(h.site.workspace, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(h.site.workspace, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h.backend.texts["explain"] = "See `pump.go:3` and docs/notes.md, not none.go:9 or https://a.test/pump.go:1.\n\nIt is in lines 4-5.\n\n```\npump.go:1\n```\n"
	p := h.site.open("/sessions/" + h.session(t))
	p.look(1440, 900, "light")
	p.say("/show pump.go")
	p.front("pump.go")
	p.say("explain")
	p.done()
	p.wait(`document.querySelectorAll('#turns .said:not(.tool-open) :is(.at-src, .ref)').length === 3`)
	p.is(`[...document.querySelectorAll('#turns .said:not(.tool-open) :is(.at-src, .ref)')].map((e) => e.textContent).join()`, "pump.go:3,docs/notes.md,lines 4-5")
	before := len(h.events(t, p.session()))
	p.click("#turns .said:not(.tool-open) a.at-src")
	p.wait(onDesk + `.querySelector('.line.on .ln')?.textContent === '3'`)
	p.click("#turns .said:not(.tool-open) a.ref")
	p.wait(`[...document.querySelectorAll('.line.on .ln')].map((e) => e.textContent).join() === '4,5'`)
	p.is(`document.querySelectorAll('.tab').length + ''`, "1")
	if after := h.events(t, p.session()); len(after) > before+1 {
		t.Errorf("following a reference logged %v", after[before:])
	}
	p.shot("desk-references")
	p.accessible("references in an answer")

	// Thousands of names are marked little by little: what else the page has to do goes between.
	h.backend.texts["often"] = strings.Repeat("pump.go:3 ", 4000)
	p.js(`window.between = new Set()
		const all = document.getElementsByClassName('at-src')
		setInterval(() => between.add(all.length), 1)`)
	p.say("often")
	p.wait(`document.querySelectorAll('#turns .turn:last-child .said:not(.tool-open) .at-src').length === 4000`)
	if n := eval[int](p, `between.size`); n < 5 {
		t.Errorf("between the first and the last of 4,000 names the page did something else %d times", n)
	}
}

// What is looked at can be named in a prompt: its name and its lines go with it, and
// nothing of its content.
func TestPointingWithoutHandingOver(t *testing.T) {
	_, p := desked(t)
	p.say("/show big.log")
	p.front("big.log")
	p.wait(`document.getElementById('ghost').hidden`) // without a model nothing is sent that could name it
	p.js(`document.getElementById('composer').dataset.noModel = ''; document.querySelector('.pane:not([hidden])').dispatchEvent(new CustomEvent('webchat:pane', { bubbles: true }))`)
	p.has("#ghost", "looking at big.log:1–")
	p.js(`document.getElementById('prompt').focus()`)
	p.write("why is this slow?")
	p.press("Control+.")
	p.has("#chips .chip", "looking at big.log:1–")
	p.wait(`document.getElementById('ghost').hidden && document.activeElement.id === 'prompt'`)
	p.shot("desk-ghost")
	p.press("Enter")
	p.done()
	p.has("#turns .turn .with", "big.log")
	log := eval[string](p, `(async () => JSON.stringify((await (await fetch('/api/sessions/' + document.body.dataset.session + '/events')).json()).events.filter((e) => e.type === 'user.message')))()`)
	if !strings.Contains(log, `"mention":true`) || strings.Contains(log, "pump frame=") {
		t.Errorf("the log says %s", log)
	}
	if p.true(`document.querySelector('#turns .slip.is-cost')`) {
		t.Error("the slip says that the agent read something")
	}
}

// The last prompt and its answer can be copied, sent again as they are, and edited first.
func TestPromptsAndAnswersCanBeUsedAgain(t *testing.T) {
	s, p := desked(t)
	s.grant(p, "clipboard-write")
	p.told("what can you do?")
	p.js(`navigator.clipboard.writeText = async (text) => { window.copied = text.split(' Without')[0] }`)
	p.click("#turns .turn [data-act=copy-said]")
	p.is(`window.copied`, "No model is connected, so I cannot answer questions.")
	p.js(`document.querySelector('#turns .prompt-acts [data-act=edit]').click()`)
	p.is(prompt+`.value`, "what can you do?")
	p.js(`document.getElementById('prompt').value = ''`)
	p.click("#turns .turn [data-act=retry]")
	p.wait(`document.querySelectorAll('#turns .turn[data-message]').length === 2 && document.querySelector('#turns .turn[data-left]')`)
	p.done()
	p.wait(`(([a, b]) => a.getBoundingClientRect().left < b.getBoundingClientRect().left)(document.querySelectorAll('[data-went-back] :is(time, [data-act=back-again])'))`) // in one line
	p.wait(`document.querySelector('#turns .turn:last-child div.turn-acts [data-act=branch]') && document.querySelector('#turns .turn:last-child .prompt-acts [data-act=copy-prompt]')`)
	p.accessible("actions of a turn")
}
