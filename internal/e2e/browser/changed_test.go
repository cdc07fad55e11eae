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
	p.wait(`document.querySelector('.pane:not([hidden]) .map:not([hidden]) .fr')`) // its map has the change
	p.has(".pane:not([hidden]) .vbar", "What changed since the session began")
	p.has(".pane:not([hidden]) .vbar .num", "+1 −1")
	p.has(".pane:not([hidden]) .dfoot", "Opened by you")
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

// One change of several is taken back on disk by its key, goes with the next prompt as a chip, and is
// brought back; a comment begins a prompt about its lines. A file that changed meanwhile is left alone.
func TestUndoAChangeOnTheDesk(t *testing.T) {
	s := start(t)
	s.put("list.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n")
	s.git("init", "-q", "-b", "main")
	s.git("add", "-A")
	s.git("commit", "-qm", "x")
	const after = "one\n2\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\n"
	holds := func(want string) {
		t.Helper()
		if b, err := os.ReadFile(filepath.Join(s.workspace, "list.txt")); err != nil || string(b) != want {
			t.Errorf("the file holds %q, want %q (%v)", b, want, err)
		}
	}
	p := s.open("/")
	p.look(1440, 900, "light")
	p.say("/show go.mod")
	p.done()
	p.front("go.mod")
	s.put("list.txt", after)
	p.press("Escape", "D")
	p.has("#changed", "list.txt +2 −1")
	p.press("Enter")
	p.front("list.txt")
	p.wait(`document.querySelectorAll('.pane:not([hidden]) .other.diff [data-change]').length === 2`)
	p.press("j")
	p.has(".pane:not([hidden]) .is-now .change-acts", "Undo z Comment m")
	p.accessible("a change that can be undone")
	p.shot("change-acts")
	p.press("z")
	p.wait(`document.querySelectorAll('.pane:not([hidden]) .other.diff [data-change]').length === 1`)
	holds("one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\n")
	p.wait(`/Undone in list.txt:2 \d\d tokens/.test(document.querySelector('#chips').innerText.replace(/\s+/g, ' '))`)
	p.shot("change-undone")
	p.click(".pane:not([hidden]) [data-act=bring-back]")
	p.wait(`document.querySelectorAll('.pane:not([hidden]) .other.diff [data-change]').length === 2 && !document.querySelector('#chips .chip')`)
	holds(after)

	p.wait(`document.activeElement.matches('.pane:not([hidden]) .other.diff')`)
	p.press("Escape", "k", "m")
	p.wait(`document.activeElement.id === 'prompt' && document.activeElement.value === '@list.txt:11 '`)
	p.has("#chips", "list.txt:11")

	s.put("list.txt", "somebody else's\n")
	p.js(`document.querySelector('.pane:not([hidden]) .other.diff').focus()`)
	p.press("j")
	p.expect("409", "Failed to load resource")
	p.press("z")
	p.has(".toast[data-how=fail]", "The file is no longer what is shown here; nothing was written.")
	holds("somebody else's\n")
}
