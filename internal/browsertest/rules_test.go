package browsertest

import (
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// What a rule allows is no card: the row of its call says which one it was. The row
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
	p.has("#turns .tool", "Searched needle in notes.txt")
	p.shots("search-asked")
	p.click("[data-act=deny]")
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
		if e == string(event.TypePermissionRequested) {
			asked++
		}
	}
	if asked != 3 {
		t.Errorf("the log holds %d questions, want all 3", asked)
	}
}
