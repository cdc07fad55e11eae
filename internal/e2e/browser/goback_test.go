package browser

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/files"
	"webchat/internal/server"
	"webchat/internal/sessions"
)

// Going back lists what it does, does it with one key, and is taken back with one, by the row that
// says it happened, or not at all.
func TestGoBackToAPrompt(t *testing.T) {
	snapshots := files.NewSnapshots(files.SnapshotsConfig{Dir: t.TempDir(), Env: os.Environ()})
	h := newHouse(t, func(c *sessions.Config, s *server.Config) {
		c.Snapshots, s.Snapshots, c.SnapshotWait = snapshots, snapshots, limit
	})
	holds := func(name, want string) {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(h.site.workspace, name))
		if err != nil && want != "" || string(b) != want {
			t.Errorf("%s holds %q, want %q (%v)", name, b, want, err)
		}
	}
	edits := func(prompt string, all ...[2]string) func(context.Context, agent.Host) error {
		edit := h.edits(all...)
		return func(ctx context.Context, host agent.Host) error {
			return errors.Join(host.Report(ctx, event.AssistantTurnStart{TurnID: prompt, PromptID: prompt}), edit(ctx, host))
		}
	}
	h.site.put("a.txt", "0\n")
	h.site.put("docs.txt", "0\n")
	h.backend.on("One", edits("p1", [2]string{"a.txt", "1\n"}, [2]string{"docs.txt", "1\n"}))
	h.backend.on("Two", edits("p2", [2]string{"a.txt", "2\n"}, [2]string{"made.txt", "made\n"}))
	p := h.site.open("/sessions/" + h.session(t))
	p.look(1440, 900, "light")
	p.say("One")
	p.settled()
	h.site.put("docs.txt", "mine\n")
	p.say("Two")
	p.settled()

	const second = `#turns .turn[data-rewinds]:nth-child(2 of [data-rewinds])`
	p.wait(`document.querySelectorAll('#turns .turn[data-rewinds]').length === 2`)
	p.js(`document.querySelector('` + second + ` .prompt-acts [data-act=back]').click()`)
	p.has(".back-card", "Put aside 1 prompt, 1 answer Written back 1 file")
	p.has(".back-card", "Deleted 1 file made since: made.txt")
	p.accessible("going back")
	p.press("ArrowUp")
	p.has(".back-card", "Put aside 2 prompts, 2 answers")
	p.has(".back-card", "Stays docs.txt, changed since by somebody else Write it back too")
	p.fits("going back")
	p.click(".back-card [data-part=see]")
	p.has(".review .rfiles", "2 files")
	p.has(".review", "What going back writes")
	p.js(`[...document.querySelectorAll('.back-card button.link')].find((b) => b.innerText === 'Write it back too').click()`)
	p.has(".review .rfiles", "docs.txt")
	p.shots("35-look")
	p.look(1440, 900, "light")
	p.js(`document.querySelector('.back-card').focus()`)
	p.accessible("what going back writes")
	p.press("ArrowDown")
	p.has(".back-card", "Put aside 1 prompt, 1 answer Written back")
	p.wait(`!document.querySelector('.review .rfiles').innerText.includes('docs.txt')`)
	p.has(".review .rfiles", "made.txt +0 −1 made since")
	holds("a.txt", "2\n")
	p.look(390, 844, "light")
	p.shot("42e-390")
	p.accessible("going back on a phone")
	p.look(1440, 900, "light")
	p.press("Enter")
	p.has("#turns [data-went-back]", "1 prompt and 2 files are put aside Bring them back")
	p.wait(`!document.querySelector('.back-card') && !document.querySelector('.pane.review:not([hidden])') && document.activeElement.id === 'prompt'`)
	p.wait(`'left' in document.querySelector('` + second + `').dataset`)
	holds("a.txt", "1\n")
	holds("made.txt", "")
	holds("docs.txt", "mine\n")
	p.press("Control+z")
	p.has("#turns [data-went-back]", "Brought back what came after")
	p.wait(`!('left' in document.querySelector('` + second + `').dataset)`)
	holds("a.txt", "2\n")
	holds("made.txt", "made\n")
}
