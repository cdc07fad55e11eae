package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/agent"
)

// visible returns all text of the page and what screen readers announce of it.
const visible = `[document.title, ...[...document.querySelectorAll('body *')].flatMap((e) => [
	...(e.matches('script, style, template, textarea') ? [] : [...e.childNodes].filter((n) => n.nodeType === Node.TEXT_NODE).map((n) => n.data)),
	e.getAttribute('aria-label') ?? '', e.getAttribute('title') ?? '',
])].join('\n')`

// THREATS 36: what cannot be seen, or turns the text around, is shown by its code in
// the question, in its row and in the list of sessions, before and after the answer.
func TestNothingHidesAroundAQuestion(t *testing.T) {
	h := newHouse(t)
	w := shell("c1", "rm \u202eexe.txt\u202c a\u200bb\u2066c\u00a0d")
	w.Cwd = "/tmp/\u202eelsewhere"
	w.Withheld = []string{"TOKEN\u200b"}
	w.Target = "/tmp/\u2067there"
	h.backend.on("hide", asking(h.site.workspace, w, wish{"c2", "web\u202efetch", `{"url":"https://a.test/\u202e"}`,
		agent.Permission{Kind: agent.KindURL, Action: "fetch\u202e an address", Resource: "https://a.test/\u202egnp.exe"}}))
	p := h.site.open("/sessions/" + h.session(t))
	nothingHidden := func(when string) {
		t.Helper()
		text := eval[string](p, visible)
		for at := 0; ; {
			i := strings.IndexFunc(text[at:], unseen)
			if i < 0 {
				break
			}
			t.Errorf("%s: the page holds invisible characters: %q", when, text[max(0, at+i-30):min(len(text), at+i+30)])
			at += i + 3
		}
	}
	p.say("hide")
	p.wait(`document.querySelector('[data-several]')?.dataset.ready !== undefined && document.querySelectorAll('.several > li').length === 2`)
	p.has(".several code", "rm U+202Eexe.txtU+202C aU+200BbU+2066cU+00A0d")
	p.js(`[...document.querySelectorAll('.several .tick')].find((b) => b.parentElement.textContent.includes('exe.txt')).focus()`)
	p.press("Enter")
	p.wait(`document.activeElement.closest('li').querySelector('.in .facts')`)
	p.has("#sessions", "⟨U+202E⟩")
	p.js(`document.querySelector('.did').open = true`)
	p.has("[data-waits]", "⟨U+202E⟩exe.txt")
	p.shots("hidden-characters")
	nothingHidden("while it waits")
	p.js(`document.querySelector('.several .tick').click()`)
	p.wait(`document.querySelector('[data-act=allow-ticked]').ariaDisabled === 'false' && document.querySelector('[data-several]').dataset.ready !== undefined`)
	p.click("[data-act=allow-ticked]")
	p.wait(`!document.querySelector('[data-ask]')`)
	p.done()
	p.wait(`document.querySelectorAll('[data-answered]').length === 2`)
	p.js(`for (const d of document.querySelectorAll('#turns details')) d.open = true`)
	nothingHidden("after the answer")
}

// THREATS 53: the card shows the bytes that run, whole, in a font of equal widths
// and unfolded, and those are what runs.
func TestWhatIsShownIsWhatRuns(t *testing.T) {
	s := start(t)
	p := s.open("/")
	command := `printf '%s|' "two  spaces" '<b>$HOME</b>' "&amp;" 'é✓' > acted    ; : ` + strings.Repeat(" ", 300) + `; printf hidden >> acted`
	p.say("run " + command)
	p.wait(`document.querySelector('[data-ask]')`)
	p.is(`document.querySelector('.perm-cmd').textContent`, command)
	if !p.true(`(() => { const e = document.querySelector('.perm-cmd'); return e.checkVisibility() && !e.closest('details') && /mono/i.test(getComputedStyle(e).fontFamily) && e.scrollWidth <= e.clientWidth })()`) {
		t.Error("the command is folded, runs out of its card at the side, or is not in a font of equal widths")
	}
	p.wait(`document.querySelector('[data-ask][data-ready][data-read]')`)
	p.answer("[data-act=allow-once]")
	p.wait(card)
	p.done()
	got, err := os.ReadFile(filepath.Join(s.workspace, "acted"))
	if err != nil || string(got) != "two  spaces|<b>$HOME</b>|&amp;|é✓|hidden" {
		t.Errorf("%q was written (%v)", got, err)
	}
}
