package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// onDesk is the pane in front.
const onDesk = `document.querySelector('.pane:not([hidden])')`

// desked opens a site in a window that is wide enough for the Desk.
func desked(t *testing.T, flags ...string) (*site, *page) {
	t.Helper()
	s := start(t, flags...)
	p := s.open("/")
	p.look(1440, 900, "light")
	return s, p
}

// told has the agent do something, which costs what the model reads of it.
func (p *page) told(text string) {
	p.t.Helper()
	p.compose(text)
	p.press("Alt+Enter")
	p.settled()
}

// settled waits until what was said is over, for the server, too, and the page has all of it.
func (p *page) settled() {
	p.t.Helper()
	p.done()
	p.wait(`(async () => {
		const at = '/api/sessions/' + document.body.dataset.session
		const { status } = await (await fetch(at)).json()
		const { events } = await (await fetch(at + '/events?limit=5000')).json()
		return status === 'idle' && events.length <= Number(document.getElementById('turns').dataset.seq)
	})()`)
	p.done()
}

// front waits until the tab in front is of this name and its rows are there.
func (p *page) front(name string) {
	p.t.Helper()
	p.wait(`document.querySelector('.tab.is-front [data-part=name]')?.textContent === ` + quote(name) + ` && ` + onDesk + `?.dataset.base === ` + quote(name))
}

// What the agent shows stands on the Desk; the conversation has the line the model read.
func TestDeskShowsWhatTheAgentShows(t *testing.T) {
	_, p := desked(t)
	p.told("show me internal/pump/pump.go")
	p.front("pump.go")
	p.wait(onDesk + `.querySelector('.line .cl').textContent.includes('Package pump moves frames')`)
	p.has("#turns .slip.is-front", "Displayed pump.go to user (40 lines)")
	p.has("#turns .slip.is-front .sum", "of")
	if p.true(`document.querySelector('#turns .code').checkVisibility()`) {
		t.Error("the file stands in the conversation, too")
	}
	p.shots("desk-file")
	p.look(1440, 900, "light")

	p.told("show me README.md")
	p.front("README.md") // the other one was not being read
	p.click(".tab:not(.is-front) [role=tab]")
	p.front("pump.go")
	p.told("show me go.mod")
	p.front("go.mod") // it was asked for after the other was chosen
	p.click(".tab:not(.is-front) [role=tab]")
	p.front("pump.go")
	p.shot("desk-tabs")

	p.do(chromedp.Reload())
	p.live()
	p.front("pump.go")
	p.wait(`document.querySelectorAll('.tab').length === 3`)
}

// A look of the user's own makes no turn and is not sent to a model.
func TestDeskLooksStayOutOfTheConversation(t *testing.T) {
	_, p := desked(t)
	p.told("show me README.md")
	p.say("/show internal/pump/pump.go")
	p.front("pump.go")
	p.has(".pane:not([hidden]) .dfoot", "Opened by you")
	if turns := eval[int](p, `[...document.querySelectorAll('#turns .turn')].filter((t) => t.checkVisibility()).length`); turns != 1 {
		t.Errorf("%d turns can be seen, want the agent's", turns)
	}
}

// What something holds decides in which views it stands.
func TestDeskViews(t *testing.T) {
	s, p := desked(t)
	for name, text := range map[string]string{
		"sinks.csv":   "id,state,queue\n1,open,3\n2,,70\n",
		"config.json": `{"pump":{"patience":"1s","sinks":[1,2,3]},"name":"relay"}`,
		"fail.sh":     "echo building\necho '--- FAIL: TestPump (0.01s)'\necho '    internal/pump/pump.go:12: sink 2 still attached'\nexit 1\n",
	} {
		if err := os.WriteFile(filepath.Join(s.workspace, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p.say("/show sinks.csv")
	p.front("sinks.csv")
	p.is(`[...`+onDesk+`.querySelectorAll('.records th')].map((e) => e.textContent).join()`, "line,id,state,queue")
	p.has(".pane:not([hidden]) .records", "empty")
	p.shot("desk-table")
	p.click(".pane:not([hidden]) [data-view=source]")
	p.wait(onDesk + `.querySelector('.rows .cl')?.textContent.trim() === 'id,state,queue'`)

	p.say("/show config.json")
	p.front("config.json")
	p.has(".pane:not([hidden]) .other li li li", "patience") // what fits stands open
	p.shot("desk-tree")
	p.accessible("a tree on the Desk")

	p.say("/show README.md")
	p.front("README.md")
	p.wait(onDesk + `.querySelector('.other[data-shows=preview]')?.innerText.includes('Carries frames')`)
	p.shot("desk-preview")

	p.say("!sh fail.sh")
	p.has(".pane:not([hidden]) .failure", "sink 2 still attached")
	p.shot("desk-failure")
	p.accessible("a failed command on the Desk")
	p.click(".pane:not([hidden]) .failure a.at-src")
	p.front("pump.go")
	p.wait(onDesk + `.querySelector('.line.on .ln')?.textContent === '12'`)
}

// A selection says what it costs before it goes with the next prompt.
func TestDeskHandsOverWhatIsSelected(t *testing.T) {
	_, p := desked(t)
	p.told("show me internal/pump/pump.go")
	p.front("pump.go")
	p.done()
	p.click(`.pane:not([hidden]) .ln[href="#L10"]`)
	p.wait(`location.hash.endsWith(':10')`)
	p.js(`document.querySelector('.pane:not([hidden]) .ln[href="#L12"]').dispatchEvent(new PointerEvent('pointerdown', { bubbles: true, cancelable: true, shiftKey: true, button: 0 })); document.querySelector('.pane:not([hidden]) .ln[href="#L12"]').dispatchEvent(new PointerEvent('pointerup', { bubbles: true }))`)
	p.has(".bubble", "Ask about 3 lines +")
	p.wait(`location.hash.endsWith(':10-12')`)
	p.shot("desk-selection")
	p.accessible("a selection on the Desk")
	p.dark("desk-selection")
	p.press("s", "o") // typing reaches the composer
	p.is(prompt+`.value`, "so")
	p.click(".bubble [data-act=ask]")
	p.has("#chips .chip", "pump.go:10–12")
	p.has(".pane:not([hidden]) .dfoot", "Lines 10–12 go with your next prompt")
	p.shot("desk-handed")
	p.press("Enter")
	p.done()
	p.has("#turns .slip.is-cost", "which you let it read")
	p.press("Escape") // to the Desk: letters are keys there
	p.press("w")
	p.wait(onDesk + `.querySelector('.code.wrap')`)
	p.is(prompt+`.value`, "")
}

// A session whose only look failed says so, also where it was begun on the start page, and when it is
// opened again: it is never blank.
func TestAFailedLookStaysInSight(t *testing.T) {
	h := newHouse(t)
	p := h.site.open("/")
	p.expect("422")
	p.look(1440, 900, "light")
	p.say("/show nope.txt")
	p.has("#desk", "There is no nope.txt")
	p.js(`location.reload()`)
	p.live()
	p.has("#desk", "There is no nope.txt")
	p.is(`document.activeElement.id`, "prompt")
	p.look(360, 740, "light")
	p.has("#turns", "There is no nope.txt")
}

// The first lines of a large file stand still while the rest is read. The scrollbar reaches the last of
// many lines, and no row is without its number.
func TestDeskScrollsAMillionLines(t *testing.T) {
	s, p := desked(t)
	f, err := os.Create(filepath.Join(s.workspace, "million.log"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(strings.Repeat("a line like all the others\n", 600_000) + strings.Repeat("WARN: slow\nERROR: cut\n", 1000) + strings.Repeat("a line like all the others\n", 398_000))
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	p.say("/show go.mod")
	p.front("go.mod")
	p.js(`window.moves = []
		let stood = null
		const look = () => {
			const line = ` + onDesk + `?.dataset.base === 'million.log' && ` + onDesk + `.querySelector('.rows > .line .cl')
			if (line || stood) {
				const box = line && line.getBoundingClientRect()
				const now = line ? [line.textContent, box.left, box.top].join() : 'nothing'
				if (stood && now !== stood) moves.push(now)
				if (line?.textContent) stood ??= now
			}
			if (!window.enough) requestAnimationFrame(look)
		}
		look()`)
	p.say("/show million.log")
	p.front("million.log")
	p.has(".pane:not([hidden]) .dfoot", "of 1,000,000")
	p.wait(onDesk + `.querySelector('.rows .cl')?.textContent`)
	p.js(`const asked = window.fetch
		window.fetch = async (...a) => { // rows come late when the pane is drawn again
			if (String(a[0]).includes('rows=500')) for (let i = 0; i < 5; i++) await new Promise(requestAnimationFrame)
			return asked(...a)
		}
		const was = ` + onDesk + `
		was.dispatchEvent(new CustomEvent('webchat:stale', { bubbles: true }))
		while (` + onDesk + ` === was) await new Promise(requestAnimationFrame)
		for (let i = 0; i < 5; i++) await new Promise(requestAnimationFrame)`)
	if n := eval[int](p, `(window.enough = true, moves.length)`); n > 0 {
		t.Errorf("the first line moved %d times, from its place to %s", n, eval[string](p, `moves.join(' then ')`))
	}
	p.js(onDesk + `.querySelector('.code').focus(); for (let i = 0; i < 120; i++) {
		` + onDesk + `.querySelector('.code').scrollTop += 60000
		await new Promise(requestAnimationFrame)
		if ([...` + onDesk + `.querySelectorAll('.rows > .line > .ln')].some((e) => !e.textContent)) throw new Error('a row has no number')
	}`)
	if n := eval[int](p, `document.querySelectorAll('.rows > *').length`); n > 2500 {
		t.Errorf("%d rows in the page", n)
	}
	p.wait(onDesk + `.querySelector('.map .er') && ` + onDesk + `.querySelector('.map .wa')`)
	p.press("End")
	p.wait(`[...` + onDesk + `.querySelectorAll('.rows .ln')].some((e) => e.getAttribute('href') === '#L1000000' && e.getBoundingClientRect().bottom < innerHeight)`)
	p.shot("desk-million")
}

// Find counts all of an output, and goes round from the first to the last.
func TestDeskFindsAll(t *testing.T) {
	_, p := desked(t)
	p.say("/show big.log")
	p.front("big.log")
	p.press("Escape", "f")
	p.wait(`document.querySelector('.pane .find input') === document.activeElement`)
	p.write("queue=0 ")
	p.has(".pane .find", "1 of 7,692")
	p.press("Shift+Enter")
	p.has(".pane .find", "7,692 of 7,692")
	p.wait(`document.querySelector('.rows .ln[href="#L99996"]')`)
	p.press("Enter")
	p.has(".pane .find", "1 of 7,692")
	p.shot("desk-find")
	p.accessible("find on the Desk")
}
