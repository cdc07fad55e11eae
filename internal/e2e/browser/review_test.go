package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/files"
	"webchat/internal/patch"
	"webchat/internal/server"
	"webchat/internal/sessions"
)

// edits has the agent write files, one call each, and report what changed as agents do.
func (h *house) edits(files ...[2]string) plot {
	return func(ctx context.Context, host agent.Host) error {
		for i, f := range files {
			name := filepath.Join(h.site.workspace, filepath.FromSlash(f[0]))
			was, _ := os.ReadFile(name)
			diff := "--- a/" + f[0] + "\n+++ b/" + f[0] + "\n" + patch.Unified(was, []byte(f[1]))
			if was == nil {
				diff = strings.Replace(diff, "--- a/"+f[0], "--- /dev/null", 1)
			}
			id := fmt.Sprintf("e%d-%d", len(h.backend.prompts), i)
			if err := host.Report(ctx, event.ToolExecutionStart{
				ToolCallID: id,
				ToolName:   "edit",
				Arguments:  []byte(`{"path":` + quote(f[0]) + `}`),
				By:         event.ByAgent,
			}); err != nil {
				return err
			}
			if err := os.WriteFile(name, []byte(f[1]), 0o600); err != nil {
				return err
			}
			if err := host.Report(ctx, event.ToolExecutionComplete{
				ToolCallID:   id,
				Success:      true,
				ResultTokens: 141,
				Result:       &event.ToolResult{Content: "edited", DetailedContent: diff},
				DurationMs:   3,
			}); err != nil {
				return err
			}
		}
		return host.Report(ctx, event.AssistantMessage{MessageID: fmt.Sprintf("m%d",
			len(h.backend.prompts)), Content: "A sink is now cut at the limit, and the comment says so."})
	}
}

const pumpWas = `package pump

// Publish hands f to every sink. It never blocks on a reader: a sink without
// room is forgiven for Patience and then cut, and its reader sees ErrSlow.
func (p *Pump) Publish(ctx context.Context, f Frame) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for id, s := range p.sinks {
		switch now := p.cfg.Now(); {
		case s.full.IsZero():
			s.full = now
		case now.Sub(s.full) > p.cfg.Patience:
			close(s.done)
			delete(p.sinks, id)
		}
	}
	return nil
}
`

// What the agent changed in a turn is reviewed on the Desk by the keyboard: kept, undone, brought
// back, commented on; chips with their price go with the next prompt as lines. The whole turn is
// undone but for a file that somebody changed meanwhile, with what a command did. The folder is in
// no repository.
func TestReviewOfATurn(t *testing.T) {
	snapshots := files.NewSnapshots(files.SnapshotsConfig{Dir: t.TempDir(), Env: os.Environ()})
	h := newHouse(t, func(c *sessions.Config, s *server.Config) {
		c.Snapshots, s.Snapshots = snapshots, snapshots
	})
	pump := strings.NewReplacer("cut, and its reader sees ErrSlow.",
		"cut: at the limit, not after it.\n// Its reader sees ErrSlow.", ") > p",
		") >= p").Replace(pumpWas)
	const docsWas, docs = "# Pump\n\nA full sink is kept.\nIts reader may attach again.\n",
		"# Pump\n\nA full sink is kept.\nIt is cut at that limit.\nIts reader may attach again.\n"
	const fresh = "package pump\n\nfunc TestPublish(t *testing.T) {}\n"
	if err := os.Mkdir(filepath.Join(h.site.workspace, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"pump.go": pumpWas, "docs/pump.md": docsWas} {
		h.site.put(name, text)
	}
	holds := func(name, want string) {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(h.site.workspace, name))
		if want == "" && os.IsNotExist(err) {
			return
		}
		if err != nil || string(b) != want {
			t.Errorf("%s holds %q, want %q (%v)", name, b, want, err)
		}
	}
	// two edits of one place
	h.backend.on("Fix it", h.edits([2]string{"pump.go",
		strings.Replace(pumpWas, ") > p", ") == p", 1)}, [2]string{"pump.go", pump},
		[2]string{"docs/pump.md", docs}, [2]string{"pump_test.go", fresh}))
	h.backend.on("Go on", func(context.Context, agent.Host) error { return nil })
	p := h.site.open("/sessions/" + h.session(t))
	p.look(1440, 900, "light")
	p.say("Fix it")
	p.done()
	p.has("#turns .signed", "3 files")
	p.click("#turns [data-act=review]")
	p.has(".review .dhead", "3 files · 4 changes")
	p.has(".review .hunk:focus", "pump.md line 4")
	p.has(".review .hunk:focus", "Keep y Undo z Comment m")
	if p.true(`document.querySelector('.review').innerText.includes('Since the commit')`) {
		t.Error("there is no commit to compare with")
	}
	p.accessible("a review")
	for _, label := range []string{"Fill the window", "Beside the conversation"} {
		p.click(".review .dhead [data-act=pane-more]")
		if label == "Fill the window" {
			p.is(`[...document.querySelectorAll('[role=menuitem]')].map((e) => e.innerText.trim()).join()`,
				"Fill the window,Close the tab")
		}
		p.choose(label)
	}
	p.press("j", "k")
	p.has(".review .hunk:focus", "pump.md line 4")

	p.press("y")
	p.has(".review .hunk:focus", "Kept")
	p.has(".review .rfiles button:first-of-type", "1 kept")
	p.press("j", "j")
	p.has(".review .hunk:focus", "pump.go line 14 in Publish")
	p.press("m")
	p.wait(`document.activeElement.matches('.remark-edit')`)
	p.write("Say in one line why a coarse clock lands exactly on the limit.")
	p.press("Enter")
	p.has(".review .hunk:focus .remark", "Say in one line why")
	p.wait(`/1 comment on pump.go:14 \d+ tokens/.test(document.querySelector('#chips').innerText.replace(/\s+/g, ' '))`)
	// The map beside the changes has each, and the comment.
	p.wait(`['er', 'fr', 'giv'].every((name) => document.querySelector('.review .map .' + name))`)
	p.press("j", "z")
	p.has(".review .hunk:focus.is-undone", "Undone. The file is gone, as it was before the turn")
	holds("pump_test.go", "")
	p.press("k", "k", "z")
	p.has(".review .hunk:focus.is-undone", "Undone. The 2 lines are as they were at")
	holds("pump.go", strings.Replace(pumpWas, ") > p", ") >= p", 1))
	p.wait(`/2 of 4 changes undone \d+ tokens/.test(document.querySelector('#chips').innerText.replace(/\s+/g, ' '))`)
	p.has(".review .dfoot", "2 undone and 1 comment go with your next prompt")
	p.press("z")
	p.has(".review .hunk:focus", "Keep y Undo z")
	holds("pump.go", pump)
	p.wait(`/1 of 4 changes undone/.test(document.querySelector('#chips').innerText)`)
	p.press("z")
	p.has(".review .hunk:focus.is-undone", "Bring it back z")
	p.shots("review")
	p.look(1440, 420, "light")
	p.wait(`document.querySelector('.review .map .thumb')`)
	at := eval[[]float64](p,
		`((box) => [box.left + 5, box.bottom - 3])(document.querySelector('.review .map').getBoundingClientRect())`)
	p.do(chromedp.MouseClickXY(at[0], at[1]))
	p.wait(`((box) => box.scrollTop > 0 && box.scrollTop >= box.scrollHeight - box.clientHeight - 1)(document.querySelector('.review .changes'))`)
	p.look(1440, 900, "light")
	p.strained("a review with marks")
	p.touch(390, 844)
	p.tap("#turns [data-act=review]")
	p.wait(`document.querySelector('.review .is-undone')?.checkVisibility()`)
	p.settled()
	p.fits("a review on a phone")
	p.dark("review-390")
	p.look(1440, 900, "light")

	// What waits outlives the page, with its price, and goes once; the review knows it again.
	p.js(`window.old = true; location.reload()`)
	p.wait(`!window.old`)
	p.live()
	p.wait(`/2 of 4 changes undone \d+ tokens.*1 comment on pump.go:14 \d+ tokens|1 comment.*tokens.*2 of 4 changes undone \d+ tokens/.test(document.querySelector('#chips').innerText.replace(/\s+/g, ' '))`)
	p.click("#turns [data-act=review]")
	p.has(".review .remark", "Say in one line why")
	p.has(".review .is-kept", "pump.md line 4")
	p.has(".review .rfiles button:first-of-type", "1 kept")
	p.has(".review .dfoot", "2 undone and 1 comment go with your next prompt")

	before := len(h.backend.sent())
	p.say("Go on")
	poll(t, func() bool { return len(h.backend.sent()) > before })
	p.done()
	sent := ""
	for _, a := range h.backend.sent()[before].Attachments {
		sent += string(a.Data) + "\n"
	}
	for _, part := range []string{"pump.go:4-5", "pump_test.go:1-3", "Comment on pump.go:14",
		"coarse clock"} {
		if !strings.Contains(sent, part) {
			t.Errorf("the prompt has no %q: %s", part, sent)
		}
	}
	p.wait(`!document.querySelector('#chips .chip')`)
	p.has(".review .rfiles", "1 undone")

	h.site.put("docs/pump.md", "somebody else's\n")
	p.js(`document.querySelector('.review .hunk').focus()`)
	p.expect("409", "Failed to load resource")
	p.press("Z")
	p.has(".review .rfile", "The file is no longer what the agent left. See it")
	holds("docs/pump.md", "somebody else's\n")
	holds("pump.go", pumpWas)
	holds("pump_test.go", "")
	p.has(".review .dhead", "Bring the turn back")
	p.wait(`document.querySelector('#chips').innerText.includes('1 of 4 changes undone')`)
	p.js(`document.querySelector('.review [data-path="docs/pump.md"] .hunk').focus()`)
	p.press("z")
	p.js(`document.querySelector('.review .rfile').dataset.old = ''; dispatchEvent(new Event('focus'))`)
	p.wait(`!document.querySelector('.review .rfile[data-old]')`) // it was drawn again
	p.has(".review .hunk:focus .failed", "The file is no longer what the agent left.")
	p.shots("review-changed")

	// What is pressed before the page's scripts are there waits for them.
	p.look(1440, 900, "light")
	p.before(`window.PerformanceObserver = class { observe() {} }
		const later = window.setTimeout
		window.setTimeout = (f, ms, ...rest) => ms === 1500 ? (window.scripts = f, 0) : later(f, ms, ...rest)`)
	p.js(`window.old = true; location.reload()`)
	p.wait(`!window.old && window.scripts && document.querySelector('#turns [data-act=review]')`)
	p.click("#turns [data-act=review]")
	if p.true(`'joined' in document.body.dataset`) {
		t.Error("the scripts came before the click")
	}
	p.js(`scripts()`)
	p.has(".review .dhead", "3 files · 4 changes")
	p.wait(`document.activeElement.matches('.review .hunk')`)
}

// The review is opened by its name and follows the agent while it works: what it changes appears in
// its place, and the change one is at keeps the focus. With a repository it also compares with the
// commit.
func TestReviewIsLive(t *testing.T) {
	h := newHouse(t)
	h.site.put("b.txt", "one\n")
	h.site.git("init", "-q", "-b", "main")
	h.site.git("add", "-A")
	h.site.git("commit", "-qm", "x")
	more := make(chan bool)
	first, second := h.edits([2]string{"b.txt", "two\n"}),
		h.edits([2]string{"a.txt", "new\n"}, [2]string{"b.txt", "two\nthree\n"})
	h.backend.on("Work", func(ctx context.Context, host agent.Host) error {
		if err := first(ctx, host); err != nil {
			return err
		}
		<-more
		h.backend.mu.Lock()
		h.backend.prompts = append(h.backend.prompts, agent.Prompt{}) // so that calls have other ids
		h.backend.mu.Unlock()
		return second(ctx, host)
	})
	p := h.site.open("/sessions/" + h.session(t))
	p.look(1440, 900, "light")
	p.say("Work")
	p.has("#turns", "the comment says so")
	p.bar("> review")
	p.press("Enter")
	p.has(".review .hunk:focus", "b.txt line 1")
	p.has(".review .dhead", "1 file · 1 change")
	p.press("y")
	p.has(".review .hunk:focus", "Kept")
	more <- true
	p.has(".review .dhead", "2 files · 2 changes")
	p.has(".review .hunk:focus", "b.txt lines 1–2")
	p.done()
	p.click(".review [data-of=commit]")
	p.has(".review [data-of=commit][aria-checked=true]", "Since the commit")
	p.has(".review .dhead", "2 files · 2 changes")
	p.has(".review [data-act=undo-all]", "Undo all")
	p.wait(`document.activeElement.matches('.review [data-of=commit]')`)
	p.js(`document.querySelector('.review [data-of=prompt]').click()`)
	p.has(".review select", "Work")
	p.shot("review-prompt")
}
