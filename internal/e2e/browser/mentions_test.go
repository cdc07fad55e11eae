package browser

import (
	"strings"
	"testing"
)

// What a prompt names with @ stands above it with its price, and is sent as the chip
// says: its content, only its name, or not at all.
func TestNamedFilesAreChipsWithPrices(t *testing.T) {
	s, p := desked(t)
	const chip = `[...document.querySelectorAll('#chips .chip')].map((e) => e.innerText.replaceAll('\n', ' ').trim()).join(' | ')`
	p.compose("explain @README.md, @go.mod:1-3 and @internal/pump/ or @nobody of a@b.c ")
	p.is(chip, "README.md 17 tokens Just its name | go.mod:1–3 12 tokens Just its name | internal/pump/ 3 tokens Just its name")
	p.shot("mentions")
	p.accessible("files named in a prompt")

	p.js(`[...document.querySelectorAll('#chips .way')][1].click()`)
	p.is(chip, "README.md 17 tokens Just its name | go.mod:1–3 Content +12 | internal/pump/ 3 tokens Just its name")
	p.is(`document.activeElement.id`, "prompt")
	p.js(`[...document.querySelectorAll('#chips [data-act=unchip]')][2].click()`) // it stays as a word
	p.write("and @.env ")
	p.is(chip, "README.md 17 tokens Just its name | go.mod:1–3 Content +12 | .env may hold secrets: name only Send it +4")
	p.press("Alt+Enter")
	p.done()
	p.is(chip, "")
	log := s.logged(t, p.session())
	for _, want := range []string{`"attachments":[{"path":"README.md"},{"path":"go.mod","lines":"1-3","mention":true},{"path":".env","mention":true}]`, `@internal/pump/ or @nobody`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not hold %s:\n%s", want, log)
		}
	}

	s.put("notes.txt", "password: hunter2hunter2\n")
	const notes = " | notes.txt holds what looks like a key or password: name only Send it +7"
	p.compose("and now @.env @notes.txt ")
	p.is(chip, ".env may hold secrets: name only Send it +4"+notes)
	p.js(`document.querySelector('#chips .way').click()`)
	p.is(chip, ".env 4 tokens Just its name"+notes)
	p.press("Alt+Enter")
	p.done()
	if log := s.logged(t, p.session()); !strings.Contains(log, `"attachments":[{"path":".env","sensitive":true},{"path":"notes.txt","mention":true}]`) {
		t.Errorf("the log does not say that it was to go:\n%s", log)
	}

	p.expect("the server responded with a status of 400")
	p.compose("@go.mod:7-99 ") // lines that are not there
	p.is(chip, "go.mod:7–99 no such lines")
	p.press("Alt+Enter")
	p.has(".toast", "go.mod has no lines 7-99; its last line is 8")
	p.is(prompt+`.value`, "@go.mod:7-99 ")
}

// A file from elsewhere that may hold secrets by its name goes with a prompt after the user
// said so on its chip.
func TestUploadsThatMayHoldSecretsAreAskedAbout(t *testing.T) {
	s, p := desked(t)
	p.upload("#attach", s.workspace+"/.env")
	p.has("#chips .chip", ".env")
	p.compose("look at it")
	p.press("Alt+Enter")
	p.has(".toast", ".env may hold secrets")
	p.is(prompt+`.value`, "look at it")
	p.has("#chips .chip", "may hold secrets")
	p.click("#chips .way")
	p.press("Alt+Enter")
	p.done()
	if log := s.logged(t, p.session()); strings.Count(log, `"name":".env"`) != 1 || !strings.Contains(log, `"sensitive":true,"name":".env"`) && !strings.Contains(log, `"name":".env","sensitive":true`) {
		t.Errorf("the log does not say that it was to go:\n%s", log)
	}
}
