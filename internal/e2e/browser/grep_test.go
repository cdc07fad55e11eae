package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// The text of the folder is searched on the Desk while one types, by keys alone. The model hears of what
// is made a chip and of nothing else.
func TestSearchOfTheFolder(t *testing.T) {
	h := newHouse(t)
	for name, text := range map[string]string{
		"pump.go":         "package pump\n\n// one\n// two\n// Patience ends it\n// three\n// four\n// five\n// six\n\n\nvar patience = 3\n" + strings.Repeat("\n", 40) + "func last() {}\n",
		"internal/sub.go": "// Patience\tis <b>long</b>\u202e\n" + strings.Repeat("x", 3000) + " Patience " + strings.Repeat("y", 3000) + "\n",
		"vendor/v.go":     "Patience\n",
		".env":            "PATIENCE=secret\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(h.site.workspace, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(h.site.workspace, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h.backend.texts["why"] = "So it is."
	p := h.site.open("/sessions/" + h.session(t))
	p.look(1440, 900, "light")
	p.say("why")
	p.has("#turns", "So it is.")
	p.done()
	before := len(h.events(t, p.session()))

	p.press("Control+Shift+f")
	const field = `document.activeElement.matches('.grep [data-part=q]')`
	p.wait(field)
	p.write("Patience")
	p.has(".grep .query", "5 hits in 3 files")
	p.has(".grep .scope", "1 file by name only: may hold secrets")
	p.front("Patience")
	p.is(`[...document.querySelectorAll('.ghead .mono')].map((e) => e.textContent).join()`, "pump.go,internal/sub.go,vendor/v.go")
	p.is(`[...document.querySelectorAll('.gfile:first-child .line')].map((e) => e.querySelector('.ln').textContent + (e.matches('.found') ? '!' : '') + (e.matches('.apart') ? '/' : '')).join()`, "2,3,4,5!,6,7,8,9,10,11,12!,13,14,15")
	p.is(`document.querySelectorAll('.gfile:nth-child(2) .cl')[0].textContent`, "// Patience\tis <b>long</b>⟨U+202E⟩")
	p.wait(`document.querySelectorAll('.gfile:nth-child(2) .cl')[1].textContent.length < 320`)
	p.has(".grep .dfoot", "Hit 1 of 5")
	p.wait(`document.querySelector('.gfile:first-child .c1 + mark.now + .c1')?.textContent === ' ends it'`) // coloured, but for matches
	p.is(`document.querySelectorAll('.gfile:nth-child(2) .cl')[0].textContent`, "// Patience\tis <b>long</b>⟨U+202E⟩")
	p.shots("grep")
	p.strained("the search of the folder")
	p.press("Control+Shift+f")
	p.wait(field)

	// Case, word and expression; a bad one leaves what was found.
	p.press("Alt+c")
	p.has(".grep .query", "4 hits in 3 files")
	p.press("Alt+r")
	p.expect("status of 400")
	p.write("Patience(")
	p.has(".grep .is-bad", "missing closing )")
	p.wait(`document.querySelectorAll('.gfile').length === 3 && document.querySelector('.grep.is-old')`)
	p.press("Backspace", "Alt+r", "Alt+w")
	p.has(".grep .query", "4 hits in 3 files")
	p.js(`document.querySelector('.grep [data-part=q]').select()`)
	p.write("PATIENCE")
	p.has(".grep .query", "Case is on: 5 hits without it")
	p.click(".grep [data-part=count] button")
	p.has(".grep .query", "5 hits in 3 files")

	// Globs.
	p.click(".grep [data-part=add]")
	p.write("*.go, not vendor/")
	p.press("Enter")
	p.has(".grep .query", "4 hits in 2 files")
	p.has(".grep .scope", "not vendor/")

	// From hit to hit, and to the file at the line.
	p.press("ArrowDown", "n")
	p.has(".grep .dfoot", "Hit 2 of 4")
	p.press("p", "p")
	p.has(".grep .dfoot", "Hit 4 of 4")
	p.press("n", "n")
	p.has(".grep .dfoot", "Hit 2 of 4")
	if after := len(h.events(t, p.session())); after != before {
		t.Errorf("searching logged %d events: %v", after-before, h.events(t, p.session())[before:])
	}
	p.press("Enter")
	p.front("pump.go")
	p.wait(onDesk + `.querySelector('.line.on .ln')?.textContent === '12'`)
	p.press("Control+Shift+f")
	p.wait(field)
	p.press("Escape")
	p.has(".grep .dfoot", "Hit 2 of 4")
	p.wait(`document.activeElement.matches('.grep .code')`)

	// Hits that are asked about go with the next prompt, as lines.
	p.press("Space", "n", "Space")
	p.has(".grep .dfoot", "Ask about these 2 hits +")
	p.has(".gfile .on", "1 selected")
	p.click(".gfile:first-child .tick")
	p.wait(`document.querySelectorAll('.gfile:first-child .line.on').length === 2`)
	p.has(".grep .dfoot", "Ask about these 3 hits +")
	p.click(".grep [data-part=ask]")
	p.has("#chips .chip", "3 hits of PATIENCE")
	p.has("#chips .chip", "tokens")
	p.has(".grep .dfoot", "3 hits go with your next prompt")
	p.shot("grep-asked")
	p.say("why")
	p.done()
	p.has("#turns .ask-row .chip", "3 hits of PATIENCE")
	p.wait(`!document.querySelector('#chips .chip')`)
	if _, log := h.request(t, "GET", "/api/sessions/"+p.session()+"/events", nil); !strings.Contains(string(log), `"name":"3 hits of PATIENCE"`) {
		t.Errorf("the log is %s", log)
	}

	// What was shown is searched, too; Esc closes.
	p.click(".grep [data-in=desk]")
	p.click(".grep [data-in=desk]")
	p.has(".grep .query", "2 hits in 1 file")
	p.focus(`document.querySelector('.grep .code')`)
	p.press("Escape")
	p.front("pump.go")
	p.wait(`!document.querySelector('.grep')`)

	// From another session the bar finds what this one shows, and leads to its line.
	p.do(chromedp.Navigate(h.site.url + "/sessions/" + h.session(t)))
	p.live()
	p.bar("Patience ends")
	const held = `[...document.querySelectorAll('#open-hits [aria-label="Shown in sessions"] [role=option]')]`
	p.wait(held + `.length === 1`)
	p.is(held+`[0].querySelector('[data-part=at]').textContent`, "5: // Patience ends it")
	p.shot("bar-outputs")
	p.js(held + `[0].click()`)
	p.front("pump.go")
	p.wait(onDesk + `.querySelector('.line.on .ln')?.textContent === '5'`)
}

// On a phone the search fills the sheet.
func TestSearchOfTheFolderOnAPhone(t *testing.T) {
	_, p := desked(t)
	p.look(390, 844, "light")
	p.press("Control+Shift+f")
	p.wait(`document.activeElement.matches('.grep [data-part=q]')`)
	p.write("func")
	p.has(".grep .query", "hits in")
	p.fits("the search on a phone")
	p.shot("grep-phone")
}

// On the start page there is no session yet: the first file that is opened makes one.
func TestSearchFromTheStartPage(t *testing.T) {
	_, p := desked(t)
	p.say("/find full for longer")
	p.wait(`document.activeElement.matches('.grep [data-part=q]') && document.getElementById('prompt').value === ''`)
	p.has(".grep .query", "1 hit in 1 file")
	p.click(".grep [data-in=session]")
	p.has(".grep .query", "Nothing was shown yet")
	p.click(".grep [data-in=workspace]")
	p.has(".grep .query", "1 hit in 1 file")
	p.is(`document.body.dataset.session ?? ''`, "")
	p.focus(`document.querySelector('.grep [data-part=q]')`)
	p.press("Enter", "Enter")
	p.wait(`location.pathname.startsWith('/sessions/')`)
	p.live()
	p.front("pump.go")
	p.press("Control+Shift+f")
	p.wait(`document.activeElement.matches('.grep [data-part=q]')`)
	p.has(".grep .code", "full for longer")
	p.press("Escape", "Escape")
	p.front("pump.go")
	p.wait(`document.activeElement.closest('.pane')?.dataset.base === 'pump.go'`)
}

// More hits than anybody reads are counted, and drawn as far as they are looked at.
func TestSearchWithVeryManyHits(t *testing.T) {
	s, p := desked(t)
	for i := range 300 {
		s.put("f"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+string(rune('a'+i/26))+".txt", strings.Repeat("a needle here\n", 50))
	}
	p.press("Control+Shift+f")
	p.wait(`document.activeElement.matches('.grep [data-part=q]')`)
	p.write("needle")
	p.has(".grep .query", "10,000 hits or more")
	p.wait(`document.querySelectorAll('.grep .line').length < 1000`)
	p.press("ArrowDown", "p", "n", "n")
	p.has(".grep .dfoot", "Hit 3 of 10,000")
	p.press("G")
	p.wait(`document.querySelector('.grep .code').scrollTop > 1000`)
	p.press("Control+Shift+f")
	p.wait(`document.activeElement.matches('.grep [data-part=q]')`)
	for _, letter := range []string{"n", "o", "s", "u", "c", "h"} {
		p.write(letter)
	}
	p.has(".grep .query", "No hits in 3")
	p.press("Enter") // there is nothing to go to, so one types on
	p.write("x")
	p.is(`document.activeElement.value`, "nosuchx")
}
