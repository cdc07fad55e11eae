package browser

import (
	"testing"

	"github.com/chromedp/chromedp"

	"webchat/internal/agent"
)

// A link to what was shown in a turn that is not in the page any more loads the turns
// up to there; so does the address of the page, with the lines it names.
func TestLinksLoadTheTurnsTheyLeadTo(t *testing.T) {
	h := newHouse(t)
	h.write("first.txt", []byte("one\ntwo\nthree\n"))
	id := h.session(t)
	if !h.display(id, "render_file_contents", "path", "first.txt") {
		t.Fatal("the file could not be shown")
	}
	for range 90 {
		h.say(t, id, "and then?")
	}
	p := h.site.open("/sessions/" + id)
	p.wait(`!document.getElementById('earlier').hidden && !document.querySelector('#turns [data-card]')`)
	out := eval[string](p, `fetch('/api/sessions/`+id+`/outputs').then((r) => r.json()).then((r) => r.outputs[0].id)`)
	p.js(`location.hash = '#out/` + out + `'`)
	p.is(`document.querySelector('.tab.is-front [data-part=name]')?.textContent`, "first.txt")
	p.wait(`document.querySelector('.pane .line .cl')?.textContent.trim() === 'one'`)
	at := "c-" + eval[string](p, `document.querySelector('.pane').dataset.call`)
	p.press("Escape")
	p.wait(`!document.querySelector('.app.sheet') && history.state?.under`)
	p.js(`location.hash = '#` + at + `'`)
	p.wait(card + `?.checkVisibility()`)
	inSight := `(() => { const r = document.querySelector('#turns [data-card]').getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight })()`
	p.wait(inSight)
	p.do(chromedp.Navigate("about:blank"))
	p.do(chromedp.Navigate(h.site.url + "/sessions/" + id + "#L2@" + at))
	p.live()
	p.wait(inSight)
	p.is(`[...document.querySelectorAll('.line.on .cl')].map((e) => e.textContent.trim()).join()`, "two")
	p.do(chromedp.Navigate(h.site.url + "/sessions/" + id + "#c-never"))
	p.has(".toast", "That part of the session is no longer there.")
}

// What a rule allows is not a card: the row of its call says which one it was. The row
// of a search, and the card of one that is asked about, show its pattern.
func TestWhatARuleAllowsIsInItsRow(t *testing.T) {
	h := newHouse(t)
	h.write("notes.txt", []byte("a needle\n"))
	h.write("prod.env", []byte("KEY=needle\n"))
	read := func(call, arguments, path string) wish {
		return wish{call, "grep", arguments, agent.Permission{Kind: agent.KindRead, Action: "search files", Resource: path}}
	}
	h.backend.on("search", asking(h.site.workspace, read("c1", `{"pattern":"needle","path":"notes.txt"}`, "notes.txt"), shell("c2", "make"),
		read("c3", `{"pattern":"KEY","path":"prod.env"}`, "prod.env")))
	id := h.session(t)
	p := h.site.open("/sessions/" + id)
	p.say("search")
	p.wait(`document.querySelectorAll('[data-ask]').length === 1 && document.querySelector('[data-ask][data-ready][data-read]')`)
	p.has("[data-ask] .facts", "Pattern KEY in prod.env")
	p.js(`document.querySelector('.did').open = true`)
	p.has("#turns .tool", "Searched needle in notes.txt")
	p.shots("search-asked")
	p.answer("[data-act=deny]")
	p.done()
	if n := eval[int](p, `document.querySelectorAll('[data-answered], [data-waits]').length`); n != 1 {
		t.Errorf("%d questions have a row of their own; one was asked", n)
	}
	p.js(`for (const d of document.querySelectorAll('#turns details')) d.open = true`)
	p.has("#turns .call", "Allowed by the built-in rule: reading inside the workspace")
	p.has("#turns .call", "Allowed by rule 1 of your configuration")
	p.shots("allowed-by-rule")
	asked := 0
	for _, e := range h.events(t, id) {
		if e == "permission.requested" {
			asked++
		}
	}
	if asked != 3 {
		t.Errorf("the log holds %d questions, want all 3", asked)
	}
}
