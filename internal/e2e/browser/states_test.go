//go:build unix

package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each state that a card can end in, reached for real, says what happened and the
// way out.
func TestStatesOfCards(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config.yaml")
	hooks := "hooks:\n  - {event: before_tool, matcher: run_and_display, command: \"echo tests first >&2; exit 2\"}\n"
	if err := os.WriteFile(config, []byte(hooks), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, "--config", config, "--output-ttl", "5s")
	huge := filepath.Join(s.workspace, "huge.png")
	if err := os.WriteFile(huge, []byte("\x89PNG\r\n\x1a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, 31<<20); err != nil {
		t.Fatal(err)
	}
	p := s.open("/")
	p.expect("422", "404") // what is refused, and what has gone
	for i, state := range []struct{ name, say, words string }{
		{"outside", "/show ../../etc/passwd", "That path leaves the workspace."},
		{"missing", "/show go.mdo", "go.mod"},
		{"binary", "/show data.bin", "Not text:"},
		{"no-picture", "/image evil.html", "not a picture"},
		{"too-big", "/image huge.png", "pictures are shown up to"},
		{"veto", "run echo hello", "tests first"},
	} {
		p.say(state.say)
		p.wait(`document.querySelectorAll('#turns .turn').length >= ` + string(rune('1'+i)))
		p.has("#turns .turn:last-child", state.words)
		p.done()
		if again := p.true(`document.querySelector('#turns .turn:last-child .card [data-act=again]')`); again && state.name != "missing" && state.name != "veto" {
			t.Errorf("%s: it can be tried again, which cannot help", state.name)
		}
		p.shots("state-" + state.name)
	}

	// What is gone when it is shown again says so, and what was written stays.
	gone := filepath.Join(s.workspace, "gone.txt")
	if err := os.WriteFile(gone, []byte("here\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.say("/show gone.txt")
	p.has("#turns .turn:last-child", "gone.txt")
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	p.wait(`document.querySelector('#turns .turn:last-child [data-state=expired] [data-act=again]')`)
	p.shots("state-expired")
	p.click("#turns .turn:last-child [data-act=again]")
	p.wait(`document.body.innerText.includes('There is no gone.txt')`)
	if text := eval[string](p, `document.querySelector('#turns').innerText`); !strings.Contains(text, "gone.txt") {
		t.Errorf("the card forgot what it was: %s", text)
	}
	p.shots("state-gone")
}
