package browser

import (
	"os"
	"path/filepath"
	"testing"

	"webchat/internal/proc"
)

// What the sandbox refused a command stands below its slip; keys on it open that, and run the command
// outside once the question about it was answered.
func TestRefusedStandsBelowTheCommand(t *testing.T) {
	if err := proc.Confines(); err != nil {
		t.Skip("nothing can be confined here:", err)
	}
	s := start(t, "--sandbox", "require", "--permissions", "allow")
	other := t.TempDir()
	for _, name := range []string{"notes.txt", "log/last.json"} {
		p := filepath.Join(other, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("kept\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := s.open("/")
	p.say("run cat " + other + "/notes.txt; sh -c 'echo x >" + other + "/log/last.json'")
	p.done()
	p.wait(`document.querySelectorAll('#turns [data-refusal]').length === 2`)
	p.has("#turns [data-refusal]", "The sandbox refused reading")
	p.has("#turns .slip", "The sandbox refused")
	p.js(`document.querySelector('#turns [data-refusal]').focus()`)
	p.accessible("what was refused")
	p.shots("32-refused")
	p.press("a")
	p.has("#turns .refusals", "notes.txt until this session ends")
	p.has("#chips [data-chip]", "notes.txt is open")
	p.js(`document.querySelector('#turns [data-refusal]').focus()`)
	p.press("r")
	p.has("#asks", "outside the sandbox")
	p.shots("32-outside")
	p.answer("[data-act=allow-once]")
	p.wait(`document.querySelector('#chips [data-chip]')?.parentElement.textContent.includes('what it printed outside')`)
	if b, err := os.ReadFile(filepath.Join(other, "log/last.json")); err != nil || string(b) != "x\n" {
		t.Errorf("it did not run outside: %q %v", b, err)
	}
}
