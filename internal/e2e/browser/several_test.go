package browser

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"webchat/internal/agent"
)

// Several questions are one card: those with a tick are allowed, the others denied, and the button
// says so. What is wrong, and what comes later, has no tick; what was seen on the Desk was read.
func TestSeveralQuestionsAreOneCard(t *testing.T) {
	h := newHouse(t)
	write := wish{"c3", "edit", `{"path":"notes.txt"}`, agent.Permission{
		Kind:     agent.KindWrite,
		Action:   "change a file",
		Resource: "notes.txt",
		Diff:     "--- a/notes.txt\n+++ b/notes.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n",
	}}
	more := make(chan bool)
	h.backend.on("several", func(ctx context.Context, host agent.Host) error {
		var wg sync.WaitGroup
		defer wg.Wait()
		wg.Go(func() {
			_ = asking(h.site.workspace, shell("c1", "go test ./internal/a"),
				shell("c2", "go vet ./internal/b"), shell("c4", "go build ./c\u200bmd"))(ctx, host)
		})
		<-more
		return asking(h.site.workspace, write)(ctx, host)
	})
	id := h.session(t)
	p := h.site.open("/sessions/" + id)
	p.say("several")
	const group = `document.querySelector('[data-several]')`
	rows := func(want string) {
		t.Helper()
		p.is(`[...document.querySelectorAll('.several > li')].map((li) => li.querySelector('code').textContent + ' ' + li.querySelector('.tick').ariaChecked).sort().join('; ')`, want)
	}
	p.wait(`document.querySelectorAll('[data-ask]').length === 3 && ` + group + `?.dataset.ready !== undefined`)
	p.has("[data-several] h3", "liar asks to run 3 commands")
	// On a slow machine they come one by one, and what comes later has no tick.
	giveTicks := `document.querySelectorAll('.several > li:not([data-wrong]) .tick[aria-checked=false]').forEach((b) => b.click())`
	p.js(giveTicks)
	p.has("[data-act=allow-ticked]", "Allow 2, deny 1")
	p.has(".several", "hides a character")
	p.wait(`![...document.querySelectorAll('#asks [data-ask]')].some((e) => e.checkVisibility())`)
	p.wait(`document.title.startsWith('(3) ')`)
	rows("go build ./cU+200Bmd false; go test ./internal/a true; go vet ./internal/b true")
	p.shots("41-several")
	p.has(".did .wait", "Waits for you")
	more <- true
	p.wait(`document.querySelectorAll('.several > li').length === 4 && ` + group + `.dataset.ready !== undefined`)
	rows("go build ./cU+200Bmd false; go test ./internal/a true; go vet ./internal/b true; notes.txt false")
	p.has("[data-several] h3", "liar asks to run 3 commands and change 1 file")
	p.has(".several", "notes.txt +1 −1")
	p.has("[data-act=allow-ticked]", "Allow 2, deny 2")

	// By keys: A leads to the change that was not seen; Enter opens a row in place.
	p.look(1440, 900, "light")
	awake := group + `.dataset.keys !== undefined && ` + group + `.dataset.ready !== undefined`
	p.focus(group)
	p.press("ArrowUp", "Space")
	p.has("[data-act=allow-ticked]", "Allow 3, deny 1")
	p.wait(awake)
	p.press("a")
	p.wait(`document.activeElement.matches('.several .in [data-whole]')`)
	p.has(".several .in", "Why ask")
	p.wait(group + `.querySelector('[data-act=allow-ticked]').ariaDisabled === 'false'`)
	if p.true(`document.querySelector('[data-answered]')`) {
		t.Fatal("what was not seen was allowed")
	}
	p.shots("41-several-open")
	p.look(1440, 900, "light")
	p.js(`[...document.querySelectorAll('.several .tick')].find((b) => b.parentElement.textContent.includes('go vet')).focus()`)
	p.press("Space")
	p.has("[data-act=allow-ticked]", "Allow 2, deny 2")
	p.press("Enter")
	p.wait(`document.activeElement.closest('li').querySelector('.in .facts')`)
	p.press("Enter")
	p.wait(`document.activeElement.closest('li').querySelector('.in').hidden`)
	p.wait(awake)
	p.press("a")
	p.wait(`document.querySelectorAll('[data-answered]').length >= 2 && !document.querySelector('[data-ask]')`)
	p.wait(`document.activeElement.id === 'prompt'`)
	p.done()
	got := h.decisions(t, id)
	slices.Sort(got)
	if strings.Join(got, "; ") != "user allow; user allow; user deny; user deny" {
		t.Errorf("the log has %q", got)
	}
	// What was done is a stop of Alt and arrows.
	const did = `document.activeElement.matches('.did > summary') && document.activeElement.parentElement`
	p.press("Alt+ArrowUp")
	p.wait(did + `.open`)
	p.press("Enter")
	p.wait(did + `.open === false`)
	p.press("Shift+Enter")
	p.wait(did + `.open && [...document.activeElement.parentElement.querySelectorAll('details')].every((d) => d.open)`)
}

// decisions are those of the log of a session, in their order.
func (h *house) decisions(t *testing.T, id string) (all []string) {
	t.Helper()
	var list struct {
		Events []struct {
			Type string
			Data struct{ By, Decision string }
		}
	}
	h.api(t, "GET", "/api/sessions/"+id+"/events?limit=5000", nil, &list)
	for _, e := range list.Events {
		if e.Type == "permission.completed" {
			all = append(all, e.Data.By+" "+e.Data.Decision)
		}
	}
	return all
}

// What covers all that have a tick may be allowed for longer; what has none is denied first, so that
// it is not covered. On a phone, and what the Desk showed counts as read.
func TestSeveralAreAllowedForLonger(t *testing.T) {
	h := newHouse(t)
	h.backend.on("more", asking(h.site.workspace, shell("d1", "go test ./internal/a"),
		shell("d2", "go vet ./internal/b"), shell("d4", "go test ./internal/c")))
	h.backend.on("again", asking(h.site.workspace, shell("e1", "go build ./internal/d")))
	write := func(call, name string) wish {
		return wish{call, "edit", `{"path":"` + name + `"}`, agent.Permission{Kind: agent.KindWrite, Action: "change a file", Resource: name, Diff: "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"}}
	}
	h.backend.on("edits", asking(h.site.workspace, write("f1", "a.txt"), write("f2", "b.txt")))
	id := h.session(t)
	p := h.site.open("/sessions/" + id)
	const group = `document.querySelector('[data-several]')`
	ready := group + `?.dataset.ready !== undefined && ` + group + `.querySelector('[data-act=allow-ticked]').ariaDisabled === 'false'`
	p.say("more")
	p.wait(`document.querySelectorAll('[data-ask]').length === 3 && ` + ready)
	p.js(`document.querySelectorAll('.several .tick').forEach((b) => (b.ariaChecked === 'true') === b.parentElement.textContent.includes('/c') && b.click())`)
	p.focus(group)
	p.wait(group + `.dataset.keys !== undefined && ` + ready)
	p.press("s")
	p.is(`[...document.querySelectorAll('.grants-of [data-grant] .what')].map((e) => e.textContent).join('; ')`,
		"each of these, exactly; commands that begin with go and build, check, test or query, with harmless options, inside this workspace; every command in this folder, this session")
	p.has("[data-act=grant]", "Do not ask again about 2, deny 1")
	p.shots("41-several-more")
	p.look(1440, 900, "light")
	p.press("ArrowDown")
	p.wait(group + `.dataset.keys !== undefined && ` + ready)
	p.press("s")
	p.wait(`!document.querySelector('[data-ask]')`)
	p.done()
	if got := strings.Join(h.decisions(t, id), "; "); got != "user deny; user allow; grant allow" {
		t.Errorf("the log has %s", got)
	}
	p.say("again")
	p.done()
	if got := h.decisions(t, id); got[len(got)-1] != "grant allow" {
		t.Errorf("the log ends with %q", got[len(got)-1])
	}

	p.look(390, 844, "light")
	p.say("edits")
	p.wait(group + `?.dataset.ready !== undefined`)
	p.has("[data-several] h3", "liar asks to change 2 files")
	p.wait(`!document.querySelector('#composer').checkVisibility()`) // the question takes its place
	p.shot("41-edits-390")
	p.look(1440, 900, "light")
	for i := range 2 {
		row := fmt.Sprintf(".several > li:nth-child(%d) ", i+1)
		p.click(row + ".what")
		p.wait(`document.querySelector(` + quote(row+"[data-act=open-change]") + `)`)
		p.js(`document.querySelector(` + quote(row+"[data-act=open-change]") + `).click()
			document.querySelector(` + quote(row+".what") + `).click()`)
		p.wait(fmt.Sprintf(`document.querySelectorAll('[data-ask][data-read]').length > %d`, i))
	}
	p.js(`document.querySelectorAll('.several .tick[aria-checked=false]').forEach((b) => b.click())`)
	p.wait(ready)
	p.click("[data-act=allow-ticked]")
	p.done()
}

// THREATS 53: several long commands are allowed only after the end of each was on the screen.
func TestSeveralQuestionsAreReadToTheirEnds(t *testing.T) {
	h := newHouse(t)
	h.backend.on("long", asking(h.site.workspace,
		shell("c1", "go test "+strings.Repeat("./internal/a ", 200)+"./x"),
		shell("c2", "go vet "+strings.Repeat("./internal/b ", 200)+"./y")))
	p := h.site.open("/sessions/" + h.session(t))
	p.look(360, 740, "light")
	p.say("long")
	const group = `document.querySelector('[data-several]')`
	p.wait(group + `?.dataset.ready !== undefined`)
	p.js(`document.querySelectorAll('.several .tick[aria-checked=false]').forEach((b) => b.click())`)
	if p.true(`document.querySelector('[data-answered]') || ` + group +
		`.querySelector('[data-act=allow-ticked]').ariaDisabled === 'false'`) {
		t.Error("what was not seen may be allowed")
	}
	p.shot("41-long-360")
	p.click("[data-act=allow-ticked]") // leads to the end of the first, then of the second
	p.wait(`document.querySelectorAll('[data-ask][data-read]').length === 1`)
	p.click("[data-act=allow-ticked]")
	p.wait(group + `.querySelector('[data-act=allow-ticked]').ariaDisabled === 'false'`)
	p.click("[data-act=allow-ticked]")
	p.wait(`document.querySelectorAll('[data-answered]').length === 2`)
	p.done()
}
