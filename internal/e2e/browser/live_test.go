package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What changes on disk is a dot on the tab and a sentence in the foot, and nothing the reader looks at
// moves until it is asked for; then the same tab shows it at the same place, and no model is called.
func TestFilesFollowTheDisk(t *testing.T) {
	s, p := desked(t)
	var lines strings.Builder
	for i := range 1_000_000 {
		fmt.Fprintf(&lines, "line %d of the log\n", i+1)
	}
	s.put("long.log", lines.String())
	p.told("show me go.mod")
	p.told("show me internal/pump/pump.go")
	p.told("show me long.log")
	p.front("long.log")
	p.settled()
	const (
		foot  = ".pane:not([hidden]) .dfoot .on-disk:not([hidden])"
		words = `[...document.querySelectorAll('#tabs .tab.is-news')].map((e) => e.querySelector('[data-part=word]').textContent).join()`
	)
	p.is(words, "")
	press := func() { p.js(`document.querySelector('` + foot + ` [data-act=see-disk]').click()`) }
	open := func(name string) {
		t.Helper()
		p.js(`[...document.querySelectorAll('#tabs .tab')].find((e) => e.innerText.trim().startsWith(` + quote(name) + `)).querySelector('[role=tab]').click()`)
		p.front(name)
	}

	// A million lines, read in the middle of which somebody appends.
	p.js(`document.querySelector('.pane:not([hidden]) .code').focus()`)
	p.press("End")
	p.has(".pane:not([hidden]) .rows", "line 1000000 of the log")
	s.put("long.log", lines.String()+"and one more\n")
	p.has(foot, "Changed on disk See it")
	p.is(words, "changed on disk")
	p.is(`String(document.querySelector('.pane:not([hidden]) .rows').innerText.includes('and one more'))`, "false")
	p.shots("desk-changed-on-disk")
	p.look(1440, 900, "light")
	press()
	p.wait(`!document.querySelector('` + foot + `') && document.querySelector('.pane:not([hidden]) .meta').innerText.includes('1,000,001')`)
	p.has(".pane:not([hidden]) .rows", "line 1000000 of the log") // where the reader was
	p.wait(`document.activeElement.matches('.pane:not([hidden]) .code')`)
	p.is(words, "")

	// Replaced by rename, as editors do, in a tab that is behind.
	s.put("pump.new", strings.Replace(pumpGo, "time.Second", "2 * time.Second", 1))
	if err := os.Rename(filepath.Join(s.workspace, "pump.new"), filepath.Join(s.workspace, "internal/pump/pump.go")); err != nil {
		t.Fatal(err)
	}
	p.wait(words + ` === 'changed on disk'`)
	open("pump.go")
	press()
	p.has(".pane:not([hidden]) .rows", "2 * time.Second")
	p.has(".pane:not([hidden]) .timeline", "disk")
	for i, text := range []string{strings.Repeat("// more\n", 300) + "// the end\n", strings.Repeat("// more\n", 300) + "// the very end\n"} {
		s.put("internal/pump/pump.go", text)
		p.has(foot, "Changed on disk See it")
		press()
		p.wait(onDesk + `.dataset.last === '301' && !document.querySelector('` + foot + `')`)
		if i == 0 {
			p.wait(`!document.querySelector('.toast')`)
		}
	}
	p.has(".toast", "What changed is out of view, from line 301 on")
	p.click(".toast [data-part=do]")
	p.wait(`[...document.querySelectorAll('.pane:not([hidden]) .rows > .line')].some((l) => l.textContent.includes('the very end') && l.getBoundingClientRect().bottom < innerHeight)`)

	// Deleted: the text stays. Back in its place, there is nothing to say.
	name := filepath.Join(s.workspace, "go.mod")
	if err := os.Rename(name, name+".away"); err != nil {
		t.Fatal(err)
	}
	open("go.mod")
	p.has(foot, "No longer on disk. The last text is of")
	p.has(".pane:not([hidden]) .rows", "module example.com/relay")
	if err := os.Rename(name+".away", name); err != nil {
		t.Fatal(err)
	}
	p.wait(`!document.querySelector('` + foot + `')`)
	p.is(words, "")

	if log := s.logged(t, p.session()); strings.Count(log, `"type":"output.reread"`) != 4 || strings.Count(log, `"type":"user.message"`) != 3 {
		t.Errorf("the log does not have two files that were read again after three prompts:\n%s", log)
	}
}
