package browser

import (
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
	p.done()
}

// front waits until the tab in front is of this name and its rows are there.
func (p *page) front(name string) {
	p.t.Helper()
	p.wait(`document.querySelector('.tab.is-front [data-part=name]')?.textContent === ` + quote(name) + ` && ` + onDesk + `?.dataset.base === ` + quote(name))
}

// What the agent shows stands on the Desk; the conversation says what it was told.
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
	p.front("README.md") // nobody had begun to read the other one
	p.click(".tab:not(.is-front) [role=tab]")
	p.front("pump.go")
	p.told("show me go.mod")
	p.wait(`document.querySelector('.tab.is-news [data-part=name]')?.textContent === 'go.mod'`)
	p.front("pump.go")
	p.shot("desk-tabs")

	p.do(chromedp.Reload())
	p.live()
	p.front("pump.go")
	p.wait(`document.querySelectorAll('.tab').length === 3`)
}

// A look of the user's own makes no turn and is nothing that a model was told.
func TestDeskLooksStayOutOfTheConversation(t *testing.T) {
	_, p := desked(t)
	p.told("show me README.md")
	p.say("/show internal/pump/pump.go")
	p.front("pump.go")
	p.has(".pane:not([hidden]) .dfoot", "Opened by you. The model was not told")
	if turns := eval[int](p, `[...document.querySelectorAll('#turns .turn')].filter((t) => t.checkVisibility()).length`); turns != 1 {
		t.Errorf("%d turns can be seen, want the agent's", turns)
	}
}
