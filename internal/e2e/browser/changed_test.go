package browser

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// The list of what a session changed opens by its key, in the menu and in the bar; a
// file of it opens on the Desk, as its changes.
func TestSessionChangesOnTheDesk(t *testing.T) {
	s := start(t)
	s.git("init", "-q", "-b", "main")
	s.git("add", "-A")
	s.git("commit", "-qm", "x")
	p := s.open("/")
	p.look(1440, 900, "light")
	p.say("/show go.mod")
	p.done()
	p.front("go.mod")
	s.put("README.md", "# Relay\n\nAnother line.\n\n- fast\n- quiet\n")
	s.put("new.txt", "one\ntwo\n")
	if err := os.Remove(filepath.Join(s.workspace, "go.mod")); err != nil {
		t.Fatal(err)
	}

	p.press("Escape", "D")
	p.has("#changed h3", "3 files changed +3 −9")
	p.has("#changed", "README.md +1 −1")
	p.has("#changed", "new.txt +2 new")
	p.has("#changed", "Includes uncommitted changes from before the session.")
	p.accessible("the list of changes")
	p.shot("changed")
	p.press("Enter") // the first of them
	p.front("README.md")
	p.wait(`document.querySelector('.pane:not([hidden]) .other.diff .line.add')?.innerText.includes('Another line.')`)
	p.has(".pane:not([hidden]) .vbar", "What changed since the session began")
	p.has(".pane:not([hidden]) .vbar .num", "+1 −1")
	p.has(".pane:not([hidden]) .dfoot", "The model was not told")
	p.shot("changed-file")
	if p.true(`document.querySelector('#turns').innerText.includes('Another line')`) {
		t.Error("what changed is in the conversation")
	}

	p.click("[data-act=title-menu]")
	p.choose("What it changed")
	p.has("#changed", "go.mod −8 deleted")
	p.js(`[...document.querySelectorAll('#changed button')].find((b) => b.innerText.includes('go.mod')).click()`)
	p.front("go.mod")
	p.wait(`document.querySelectorAll('.pane:not([hidden]) .other.diff .line.del').length === 8`)

	p.do(chromedp.Reload())
	p.live()
	p.front("go.mod")
	p.wait(`document.querySelectorAll('.pane:not([hidden]) .other.diff .line.del').length === 8`)
	p.bar("> changed")
	p.press("Enter")
	p.has("#changed h3", "3 files changed")
}
