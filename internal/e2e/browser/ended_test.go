package browser

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
)

// A file never ends on the Desk: after its life, a restart and a kill it is read again when it comes
// to the front, as another output, without a model, and says what changed. What a command printed
// ends with the sentence that says why, and with the way out.
func TestFilesAreReadAgain(t *testing.T) {
	s, p := desked(t)
	p.expect(append(refused, "422")...)
	p.told("show me internal/pump/pump.go")
	p.told("show me go.mod")
	p.told("show me README.md")
	p.say("/image logo.png")
	p.front("logo.png")
	p.say("!echo once")
	p.front("echo once")
	p.settled()
	address := "/sessions/" + p.session()
	const outs = `[...document.querySelectorAll('#outs [data-output]')].map((e) => e.dataset.output).join()`
	was := strings.Split(eval[string](p, outs), ",")
	s.put("internal/pump/pump.go", strings.Replace(pumpGo, "time.Second", "2 * time.Second", 1))
	s.down(syscall.SIGKILL)
	if err := os.Remove(filepath.Join(s.workspace, "README.md")); err != nil {
		t.Fatal(err)
	}
	s.again()
	p.js(`for (const key of Object.keys(localStorage)) if (key.startsWith('webchat.desk.')) localStorage.removeItem(key)`)
	p.do(chromedp.Navigate(s.url + address))
	p.live()
	p.is(`[...document.querySelectorAll('#tabs .tab')].map((e) => getComputedStyle(e.querySelector('.t')).textDecorationLine).join()`, "none,none,none,none,line-through")

	open := func(name string) {
		t.Helper()
		p.js(`[...document.querySelectorAll('#tabs .tab')].find((e) => e.innerText.trim().startsWith(` + quote(name) + `)).querySelector('[role=tab]').click()`)
		p.front(name)
	}
	open("go.mod")
	p.wait(`!document.querySelector('.knows').checkVisibility()`) // something was said
	p.has(".pane:not([hidden]) .rows", "module example.com/relay")
	p.has(".pane:not([hidden]) .pane-note", "Unchanged since it was shown at")
	p.is(`!document.querySelector('.pane:not([hidden]) .dfoot .life')`+` && 'no clock'`, "no clock")
	p.shots("desk-read-again")
	p.look(1440, 900, "light")
	open("pump.go")
	p.has(".pane:not([hidden]) .rows", "2 * time.Second")
	p.has(".pane:not([hidden]) .pane-note", "Changed since it was shown at")
	open("logo.png")
	p.wait(onDesk + `.querySelector('.pic img')?.naturalWidth === 320`)
	open("README.md")
	p.has(".pane:not([hidden]) .nothing", "README.md")
	p.has(".pane:not([hidden]) .nothing [data-act=again]", "Show again")
	open("echo once")
	p.has(".pane:not([hidden]) .nothing", "Deleted when webchat restarted")
	p.has(".pane:not([hidden]) .nothing [data-act=again]", "Run again")

	now := strings.Split(eval[string](p, outs), ",")
	for i, id := range was {
		if again := i == 0 || i == 1 || i == 3; len(now) != len(was) || (now[i] != id) != again {
			t.Errorf("the outputs were %v and are %v", was, now)
		}
		if status := eval[int](p, `fetch('/api/outputs/`+id+`').then((r) => r.status)`); status != 404 {
			t.Errorf("the old output %s is answered by %d", id, status)
		}
	}
	// A reload, and another page, show the same outputs and read nothing again.
	p.do(chromedp.Reload())
	p.live()
	open("go.mod")
	p.has(".pane:not([hidden]) .rows", "module example.com/relay")
	p.is(outs, strings.Join(now, ","))
	if n := strings.Count(s.logged(t, p.session()), `"type":"output.reread"`); n != 3 {
		t.Errorf("%d files were read again, want 3", n)
	}

	// So does a page that stays over a restart: no pane of it shows what cannot be read on.
	open("pump.go")
	p.js(`document.querySelector('.pane:not([hidden])').old = true`)
	open("go.mod")
	s.down(syscall.SIGTERM)
	p.wait(`document.getElementById('status').dataset.state === 'off'`)
	s.again()
	p.wait(`![...document.querySelectorAll('[data-pane]')].some((el) => el.old) && document.getElementById('status').dataset.state !== 'off'`)
	open("pump.go")
	p.has(".pane:not([hidden]) .rows", "2 * time.Second")
	p.wait(`fetch('/api/outputs/' + document.querySelector('.pane:not([hidden])').dataset.output).then((r) => r.ok)`)
}

// By keys alone what ended is run again.
func TestCommandWhoseOutputEnded(t *testing.T) {
	s, p := desked(t, "--output-ttl", "3s")
	p.expect(refused...)
	p.say("!echo once")
	p.front("echo once")
	p.wait(`document.querySelectorAll('#outs .gone').length === 1`)
	const life = "Deleted 3 seconds after it was shown What a command printed is kept in memory only. The command is not run again by itself. Running it again shows what it prints now."
	p.has(".pane:not([hidden]) .nothing", life)
	p.has(".pane:not([hidden]) .nothing .facts", "1 line ·")
	p.has(".pane:not([hidden]) .nothing .facts", "by you, in ")
	p.shots("desk-ended")
	p.look(1440, 900, "light")
	s.down(syscall.SIGTERM)
	s.again()
	p.do(chromedp.Reload())
	p.live()
	p.has(".pane:not([hidden]) .nothing", life)
	p.press("Escape")
	p.wait(`document.activeElement.matches('.pane:not([hidden]) .nothing')`)
	p.press("Tab")
	p.wait(`document.activeElement.matches('.nothing [data-act=again]')`)
	p.press("Enter")
	p.wait(`document.getElementById('confirm').open`)
	p.js(`window.ended = ` + onDesk + `.dataset.target`)
	p.press("Tab", "Enter")
	p.wait(onDesk + `?.dataset.target !== window.ended`) // which may have ended by now, too
	poll(t, func() bool { return strings.Count(s.logged(t, p.session()), `"type":"tool.execution_complete"`) == 2 })
}
