package browser

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/server"
	"webchat/internal/sessions"
	"webchat/internal/worktree"
)

// A session is begun in a worktree by the switch on the start page. Where none can be made the
// prompt stays, with the reason below it. What was done there is brought back from the review, or
// thrown away, and both are undone. Deleting the session offers to throw it away with it.
func TestSessionInAWorktree(t *testing.T) {
	trees := worktree.New(worktree.Config{Dir: t.TempDir(), Env: os.Environ()})
	h := newHouse(t, func(c *sessions.Config, s *server.Config) {
		c.Worktrees, s.Worktrees = trees, trees
		s.Sandboxes.Any = server.Sandbox{Confined: true}
	})
	h.site.put("pump.md", "a\nb\nc\nd\ne\nf\n")
	h.site.put("docs.md", "docs\n")
	h.site.git("init", "-q", "-b", "main")
	h.site.git("add", "-A")
	h.site.git("commit", "-qm", "x")
	h.site.put("docs.md", "docs\nmine\n")
	edit := func(ctx context.Context, host agent.Host) error {
		for name, text := range map[string]string{"pump.md": "A\nb\nc\nd\ne\nf\n", "new.md": "new\n"} {
			if err := os.WriteFile(filepath.Join(trees.All()[0].Workspace, name), []byte(text), 0o600); err != nil {
				return err
			}
		}
		return host.Report(ctx, event.AssistantMessage{MessageID: "m", Content: "Mended."})
	}
	h.backend.on("Mend the pump", edit)
	checkout := filepath.Base(h.site.workspace)

	p := h.site.open("/")
	p.look(1440, 900, "light")
	p.has("#start-head", checkout+" main 1 file changed")
	p.has("#start-head [role=switch][aria-checked=false]", "In its own worktree")
	p.press("Alt+w")
	p.has("#start-head [role=switch][aria-checked=true]", "In its own worktree")
	p.has("#start-head", "new branch from main without your 1 changed file Take them along")
	p.has("[data-list=changed] h2", "Changed, not taken along")
	p.click("#start-head [data-act=take-along]")
	p.has("#start-head", "with your 1 changed file Leave them")
	p.click("#start-head [data-act=take-along]")
	p.accessible("the switch on the start page")
	p.shot("36")
	p.dark("36")
	p.look(390, 844, "light")
	p.fits("the switch on a phone")
	p.shot("36-390")
	p.look(1440, 900, "light")
	h.site.git("config", "core.sparseCheckout", "true")
	p.expect("409", "Failed to load resource")
	p.say("Mend the pump")
	p.has("#unfit", "is a sparse checkout, of which no worktree is made")
	p.accessible("no worktree was made")
	p.shot("36-unfit")
	p.is(prompt+`.value`, "Mend the pump")
	h.site.git("config", "--unset", "core.sparseCheckout")
	p.press("Enter")
	p.session()
	p.live()
	p.settled()
	p.has("#copy", checkout+"/mend-the-pump")
	if text, err := os.ReadFile(filepath.Join(h.site.workspace, "docs.md")); err != nil || string(text) != "docs\nmine\n" {
		t.Errorf("the checkout has %q (%v)", text, err)
	}

	inToast := func(label string) {
		t.Helper()
		p.js(`[...document.querySelectorAll('#toasts button')].findLast((b) => b.textContent === ` + quote(label) + `).click()`)
	}
	// What was done is brought back as changes, but for what does not fit, and taken back.
	reads := func(name, want string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(h.site.workspace, name))
		if string(text) != want || err != nil && want != "" {
			t.Errorf("%s of the checkout is %q, want %q (%v)", name, text, want, err)
		}
	}
	h.site.put("pump.md", "X\nb\nc\nd\ne\nf\n")
	p.say("/review")
	p.click(".review [data-of=commit]")
	p.has(".review [data-of=commit][aria-checked=true]", "Since main")
	p.has(".review .rfiles [data-unfit]", "does not fit")
	p.has(".review .is-unfit", "pump.md does not fit: "+checkout+" changed it at the same place. Bringing back leaves it out. Open it")
	p.click(".review [data-act=tree-back]")
	p.has("[role=menu]", "As changes in "+checkout+" Not committed. pump.md does not fit, and is left out As one commit on main Not while pump.md does not fit")
	p.accessible("ways to bring back")
	p.shot("36b-unfit")
	p.look(1440, 900, "dark")
	p.shot("36b-unfit-dark")
	p.accessible("ways to bring back, dark")
	p.look(1440, 900, "light")
	p.press("Enter")
	p.has("#turns", "Brought back 1 file to "+checkout+". pump.md does not fit Undo")
	reads("new.md", "new\n")
	reads("pump.md", "X\nb\nc\nd\ne\nf\n")
	p.shot("36b-brought")
	p.has("#toasts", "Brought back 1 file to "+checkout+" Undo")
	inToast("Undo")
	p.has("#turns", "Took back what was brought to "+checkout)
	reads("new.md", "")

	// Or as one commit; or all is thrown away, and restored.
	h.site.put("pump.md", "a\nb\nc\nd\ne\nF\n")
	h.site.git("commit", "-qm", "other", "pump.md")
	p.js(`dispatchEvent(new Event('focus'))`)
	p.has(".review .rfiles", "also in "+checkout)
	p.look(390, 844, "light")
	p.js(`document.querySelector('.sheet-back').click()`) // the Desk as a sheet
	p.click(".review [data-act=tree-back]")               // a message has come, and does not lie over it
	p.has("[role=menu]", "pump.md changed there too; both fit")
	p.wait(`document.querySelector('.review .map').viewBox.baseVal.height > 100`) // as high as it is
	p.shot("36b-390")
	p.fits("the review of a worktree on a phone")
	p.press("Escape")
	p.look(1440, 900, "light")
	p.click(".review [data-act=tree-back]")
	p.has("[role=menu]", "pump.md changed there too; both fit")
	p.shot("36b")
	p.press("ArrowDown", "Enter")
	p.has("#turns", "Brought back 2 files to "+checkout+" as one commit on main Undo")
	reads("pump.md", "A\nb\nc\nd\ne\nF\n")
	reads("docs.md", "docs\nmine\n")
	p.wait(`!document.querySelector('.pane.review:not([hidden])')`)
	p.say("/review")
	p.click(".review [data-of=commit]")
	p.wait(`document.querySelector('.review [data-of=commit][aria-checked=true]') && !document.querySelector('.review .rfiles a')`)
	p.shot("36b-all-brought")
	p.click(".review [data-act=tree-throw]")
	p.has("#turns", "Thrown away Bring it back")
	p.wait(`!document.querySelector('.pane.review:not([hidden])')`)
	inToast("Bring it back")
	p.has("#turns", "The worktree is back")

	// Deleting the session throws it away, if that is chosen, and its undoing restores it.
	thrown := func() bool { return !trees.All()[0].Thrown.IsZero() }
	p.click("[data-act=title-menu]")
	p.has("[role=menu]", "Delete Its worktree stays Delete with its worktree With all that was not brought back")
	p.shot("36-delete")
	p.js(`[...document.querySelectorAll('[role=menuitem]')].at(-1).click()`)
	p.has("#toasts", "Deleted. It can be restored for 30 seconds")
	poll(t, thrown)
	inToast("Undo")
	poll(t, func() bool { return !thrown() })
}
