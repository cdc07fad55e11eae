package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	chosen   = `[...document.querySelectorAll('.pane:not([hidden]) .line.on .ln')].map((e) => e.textContent).join()`
	menuItem = `[...document.querySelectorAll('[role=menu] [role=menuitem]')]`
)

// late has the page ask for rows only when two outputs are gone.
func (p *page) late() {
	p.t.Helper()
	p.expect("404")
	p.js(`const asked = window.fetch
		window.fetch = async (...a) => {
			if (String(a[0].url ?? a[0]).includes('rows=')) {
				while (document.querySelectorAll('#outs .gone').length < 2) await new Promise((next) => setTimeout(next, 20))
			}
			return asked(...a)
		}`)
}

// menu takes an entry of the menu of what is in front.
func (p *page) menu(entry string) {
	p.t.Helper()
	p.js(onDesk + `.querySelector('[data-act=pane-more]').click()`)
	p.wait(menuItem + `.length > 0`)
	p.js(menuItem + `.find((e) => e.innerText.trim() === ` + quote(entry) + `).click()`)
}

// The lines that were chosen stay so when what they stand in is shown again, closed and
// brought back, or left for another tab.
func TestDeskKeepsWhatIsChosen(t *testing.T) {
	s, p := desked(t)
	s.put("notes.txt", numbered(60))
	p.say("/show go.mod")
	p.front("go.mod")
	p.say("/show notes.txt")
	p.front("notes.txt")
	p.press("Escape", "g")
	p.wait(`document.querySelector('.pane .find input') === document.activeElement`)
	p.write("3-5")
	p.press("Enter")
	stay := func(after string) {
		t.Helper()
		p.wait(chosen + ` === '3,4,5' && location.hash.endsWith(':3-5') && ` + onDesk + `.querySelector('.dfoot').innerText.includes('Lines 3–5 selected')`)
	}
	stay("they were chosen")
	before := eval[string](p, onDesk+`.dataset.output`)
	s.put("notes.txt", "first\n"+numbered(60))
	p.press("r")
	p.wait(onDesk + `.dataset.output !== ` + quote(before))
	stay("it was shown again")
	p.press("End")
	p.has(".pane:not([hidden]) .dfoot", "of 61") // where the reader is, not what was left above
	p.press("Home")
	stay("they were on the screen again")
	p.press("h")
	p.front("go.mod")
	p.press("l")
	stay("another tab was in front")
	p.press("x")
	p.front("go.mod")
	p.press("X")
	stay("the tab was closed")
}

// The names in a folder are gone through and opened by keys.
func TestDeskFoldersByKeys(t *testing.T) {
	s, p := desked(t)
	p.say("/show .")
	p.wait(`document.querySelector('.tab.is-front use')?.getAttribute('href') === '#i-folder' && ` + onDesk + `?.querySelectorAll('.entry').length > 5`)
	p.has(".pane:not([hidden]) .dhead .meta", "Folder · ")
	p.shot("desk-folder")
	p.accessible("a folder on the Desk")
	p.press("Escape", "ArrowDown")
	const at = `document.activeElement.closest('.entry')?.querySelector('.cl').textContent`
	p.is(at, "internal/")
	p.press("Enter")
	p.wait(`document.querySelector('.tab.is-front [data-part=name]').textContent === 'internal/' && ` + onDesk + `.dataset.name === 'internal'`)
	p.has(".pane:not([hidden]) .entry", "pump/")
	p.press("ArrowDown")
	p.is(at, "../")
	p.shot("desk-folder-up")
	p.js(`[...document.querySelectorAll('[data-pane]')].map((el) => { el.old = true })`)
	p.press("Enter") // back to what holds it; above the workspace there is nothing
	p.wait(onDesk + `.dataset.name === '.' && ` + onDesk + `.querySelector('.entry') && !` + onDesk + `.old && !` + onDesk + `.querySelector('.up')`)
	p.wait(`document.activeElement.matches('.pane:not([hidden]) .other')`)
	p.press("Home", "End")
	p.is(at, "README.md")
	p.press("Enter")
	p.front("README.md")
	s.put("docs.md", "# Docs\n\nThe [pumps](/internal) and [a site](https://a.invalid/).\n")
	p.say("/show docs.md")
	p.front("docs.md")
	p.wait(onDesk + `.querySelector('a[data-to]')`)
	p.press("Escape", "Tab", "Enter")
	p.wait(onDesk + `.dataset.name === 'internal'`)
	if p.true(`document.querySelector('.toast')`) {
		t.Error("a folder on the Desk leads to a message")
	}
}

// What is on the Desk can be deleted before its life is over: the page, another one and
// the log say who did it, and the bytes are gone.
func TestDeskDeletesNow(t *testing.T) {
	s, p := desked(t)
	p.told("show me internal/pump/pump.go")
	p.front("pump.go")
	out := eval[string](p, onDesk+`.dataset.output`)
	p.menu("Delete now")
	p.has(".pane:not([hidden]) .nothing", "Deleted by you Showing it again reads the file as it is now.")
	p.wait(`document.querySelector('#turns .slip.is-off') && document.querySelector('.tab.is-off') && document.querySelector('#outs .gone')`)
	p.expect("404")
	if status := eval[int](p, `fetch('/api/outputs/`+out+`').then((r) => r.status)`); status != 404 {
		t.Errorf("what was deleted is answered with %d", status)
	}
	if log := s.logged(t, p.session()); !strings.Contains(log, `"output.deleted"`) {
		t.Error("the log does not say that it was deleted")
	}
	p.shot("state-of-desk-deleted")
	other := s.open("/sessions/" + p.session())
	other.look(1440, 900, "light")
	other.wait(`document.querySelector('#turns .slip.is-off') && document.querySelector('#outs .gone')`)

	// What the other page asks of the next output comes when that is deleted.
	other.late()

	// What a command printed is not to be had again: that is asked first.
	p.say("!echo once")
	p.front("echo once")
	p.wait(onDesk + `.dataset.state === 'done'`)
	p.menu("Delete now")
	p.has("#confirm[open]", "Delete this output now?")
	p.js(`document.querySelector('#confirm [value=yes]').click()`)
	for _, page := range []*page{p, other} {
		page.wait(`document.querySelectorAll('#turns .slip.is-off').length === 2`)
		page.has(".pane:not([hidden]) .nothing", "Deleted by you")
	}
}

// A command that ends while its pane is under way is not shown as running for ever.
func TestDeskSeesAnEndWhileItDraws(t *testing.T) {
	s, p := desked(t)
	p.told("show me internal/pump/pump.go")
	p.front("pump.go")
	p.js(`const asked = window.fetch
		window.fetch = async (...a) => {
			const reply = await asked(...a)
			if (String(a[0].url ?? a[0]).includes('/desk/') && !window.held) {
				window.held = true
				const html = await reply.clone().text()
				window.ran = html.includes('data-state="running"')
				while (document.querySelectorAll('#outs [data-output][data-state=done]').length < 2) await new Promise((next) => setTimeout(next, 20))
			}
			return reply
		}`)
	const command = "echo first; until test -e over; do sleep 0.1; done"
	p.say("!" + command)
	p.wait(`window.ran`)
	p.click(`.tab [role=tab]`)
	s.put("over", "")
	p.wait(`document.querySelectorAll('#panes > .pane').length === 2`)
	p.is(`[...document.querySelectorAll('#panes > .pane')].filter((e) => !e.hidden).map((e) => e.dataset.base).join()`, "pump.go") // it came while another was in front
	p.click(`.tab:not(.is-front) [role=tab]`)
	p.front(command)
	p.wait(onDesk + `.dataset.state === 'done'`)
}

// What had to go to make room says so, and can be shown again so that it stays.
func TestDeskSaysWhatWasEvicted(t *testing.T) {
	s, p := desked(t, "--output-budget", "1MiB")
	p.expect("/api/outputs/") // what is asked of an output just when it has to go
	for i, lines := range []int{14_000, 6000, 4000} {
		s.put(fmt.Sprintf("big-%d.txt", i), strings.Repeat("a line of a log that is long enough\n", lines))
	}
	for _, names := range []string{"big-2.txt", "big-1.txt big-0.txt", "big-2.txt big-0.txt", "big-0.txt big-1.txt", "big-0.txt big-2.txt", "big-0.txt big-0.txt"} {
		p.say("!cat " + names)
		p.front("cat " + names)
		p.wait(onDesk + `.dataset.state === 'done'`)
	}
	p.wait(`document.querySelectorAll('#outs .gone').length > 0`) // the first one, which fits into what may be pinned
	p.js(`document.querySelector('.tab.is-off [role=tab]').click()`)
	p.has(".pane:not([hidden]) .nothing", "Deleted early, to make room All outputs together may take 1 MiB.")
	p.wait(`/^Deleted \d\d:\d\d$/.test(` + onDesk + `.querySelector('.dfoot').innerText.trim())`)
	p.shot("state-of-desk-evicted")
	p.accessible("an evicted output")
	p.click(".pane:not([hidden]) [data-act=again-pin]")
	p.click("#confirm [value=yes]")
	p.has(".pane:not([hidden]) .dfoot", "Pinned")
}

// The keys that act on what is read: copying, hits, and stopping a command.
func TestKeysOfWhatIsRead(t *testing.T) {
	_, p := desked(t)
	p.told("show me internal/pump/pump.go")
	p.front("pump.go")
	p.wait(onDesk + `.querySelector('.rows .cl')?.textContent`)
	p.js(`navigator.clipboard.write = async ([item]) => { window.copied = await (await item.getType('text/plain')).text() }`)
	p.press("Escape", "c")
	p.wait(`window.copied?.startsWith('// Package pump') && copied.split('\n').length === 41`)

	// Hits: also after the field is closed.
	p.press("f")
	p.wait(`document.querySelector('.pane .find input') === document.activeElement`)
	p.write("sink")
	p.has(".pane .find", "1 of 6")
	p.press("Escape")
	p.wait(`!document.querySelector('.pane .find') && document.activeElement.matches('.code')`)
	p.press("j")
	p.has(".pane .find", "of 6")
	p.wait(`document.activeElement.matches('.code')`)
	p.press("j", "k")
	p.has(".pane .find", "of 6")
	p.press("Escape")
	p.wait(`!document.querySelector('.pane .find') && document.activeElement.matches('.code')`)
	p.press("f")
	p.is(`document.querySelector('.pane .find input').value`, "sink")
	p.press("Escape")

	p.press("Control+Shift+F")
	p.wait(`document.activeElement.matches('.grep [data-part=q]')`)
	p.press("Escape", "Escape")
	p.front("pump.go")

	p.say("!sleep 600")
	p.front("sleep 600")
	p.wait(onDesk + `.dataset.state === 'running'`)
	p.js(onDesk + `.querySelector('[data-act=pane-more]').click()`)
	p.is(menuItem+`.map((e) => e.innerText.trim()).join()`, "Copy the link,Fill the window,Close the tab")
	p.press("Escape")
	p.wait(`!document.querySelector('[role=menu]')`)
	p.js(prompt + `.focus()`)
	p.press("Escape", "s")
	p.wait(onDesk + `.dataset.state !== 'running'`)
	p.done()
	p.press("i", "ArrowUp")
	p.is(prompt+`.value`, "!sleep 600")
}

// A folder's names have their marks, sizes and times, and are sorted by each: folders stay first.
func TestFolderOnTheDeskIsSorted(t *testing.T) {
	s, p := desked(t)
	if err := os.MkdirAll(filepath.Join(s.workspace, "sub", "zoo"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int{"b.csv": 2500, "a.json": 12, "c.txt": 70} {
		s.put("sub/"+name, strings.Repeat("x", size))
	}
	for name, year := range map[string]int{"b.csv": 2021, "a.json": 2023, "c.txt": 2022} {
		when := time.Date(year, 3, 2, 12, 0, 0, 0, time.Local)
		if err := os.Chtimes(filepath.Join(s.workspace, "sub", name), when, when); err != nil {
			t.Fatal(err)
		}
	}
	p.say("/show sub")
	const names = `[...document.querySelectorAll('.pane:not([hidden]) .entry:not(.up) .cl')].map((e) => e.textContent).join(' ')`
	p.is(names, "zoo/ a.json b.csv c.txt")
	p.is(`[...document.querySelectorAll('.pane:not([hidden]) .entry:not(.up)')].map((e) => e.querySelector('use').getAttribute('href') + e.querySelector('.size').textContent).join(' ')`, "#i-folder #i-tree12 bytes #i-table2.5 kB #i-file70 bytes")
	p.has(".pane:not([hidden]) .entry:last-child .when", "2 Mar 2022")
	for _, by := range []struct{ column, want, says string }{
		{"2", "zoo/ a.json c.txt b.csv", "By size, smallest first"},
		{"2", "zoo/ b.csv c.txt a.json", "By size, largest first"},
		{"2", "zoo/ a.json b.csv c.txt", ""},
		{"3", "zoo/ b.csv c.txt a.json", "By time, oldest first"},
		{"1", "zoo/ a.json b.csv c.txt", "By name, A to Z"},
		{"1", "zoo/ c.txt b.csv a.json", "By name, Z to A"},
	} {
		p.click(`.pane:not([hidden]) [data-sort="` + by.column + `"]`)
		p.is(names, by.want)
		p.is(onDesk+`.querySelector('.dfoot [data-at]').textContent`, by.says)
	}
	p.shots("folder-sorted")
	p.look(1440, 900, "light")
	p.click(".pane:not([hidden]) .entry:not(.up):nth-child(2)")
	p.front("c.txt")
}
