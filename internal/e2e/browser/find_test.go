package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// What was said in another session is found by Ctrl K, with the match marked, and
// opens at the event.
func TestSearchOpensAtWhatWasSaid(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.say("stream 40 words about a lighthouse")
	p.done()
	first := p.session()
	p.do(chromedp.Navigate(s.url + "/"))
	p.live()
	p.js(`dispatchEvent(new KeyboardEvent('keydown')); document.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }))`)
	p.wait(`document.getElementById('open-bar').open`)
	p.js(`{ const i = document.querySelector('#open-bar input'); i.value = 'lightho'; i.dispatchEvent(new Event('input', { bubbles: true })) }`)
	p.wait(`document.querySelector('#open-hits .at mark')`)
	p.is(`document.querySelector('#open-hits .at mark').textContent`, "lighthouse")
	p.shot("bar-texts")
	p.js(`document.querySelector('#open-hits .at mark').closest('.hit').click()`)
	p.wait(`location.pathname === '/sessions/` + first + `' && location.hash.startsWith('#t-')`)
	p.live()
	p.wait(`document.querySelector(location.hash).textContent.includes('lighthouse')`)
}

// An expired output is shown again without a model, and the card says what changed.
func TestShownAgainMarksChanges(t *testing.T) {
	s := start(t)
	list := filepath.Join(s.workspace, "list.txt")
	if err := os.WriteFile(list, []byte("one\ntwo\nthree\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := s.open("/")
	p.see("show me list.txt")
	p.wait(card)
	p.done()
	if err := os.WriteFile(list, []byte("one\n2\nthree\nfour\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.js(`document.getElementById('prompt').focus()`)
	p.say("/show list.txt")
	p.wait(`document.querySelector('#turns [data-card][data-changed="2 4"]')`)
	p.wait(`document.querySelectorAll('#turns .line.is-changed').length === 2`)
	if got := eval[string](p, `document.querySelector('[data-changed] .say').innerText`); !strings.Contains(got, "2 lines new or different, 1 line gone.") {
		t.Errorf("the card says %q", got)
	}
	p.shot("changed")
}

// The button of an expired card that says so compares, too, though nothing of the first output is left.
func TestShowAgainAndCompare(t *testing.T) {
	s := start(t, "--output-ttl", "2s")
	list := filepath.Join(s.workspace, "list.txt")
	if err := os.WriteFile(list, []byte("one\ntwo\nthree\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := s.open("/")
	p.say("/show list.txt")
	p.wait(`document.querySelector('[data-card][data-state=expired]')`)
	if err := os.WriteFile(list, []byte("one\n2\nthree\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.click("[data-act=compare]")
	p.wait(`document.querySelector('#turns [data-card][data-changed="2"] .line.is-changed')`)
}

// A session saved as a page shows the transcript from a file, without the server.
func TestSavedPageStandsAlone(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.told("show me the readme")
	p.wait(card)
	p.done()
	dir := s.downloads(p)
	p.js(`{ const a = document.createElement('a'); a.href = '/api/sessions/` + p.session() + `/export?format=html'; a.download = ''; a.click() }`)
	saved := ""
	for end := time.Now().Add(20 * time.Second); saved == ""; {
		if all, _ := filepath.Glob(filepath.Join(dir, "*")); len(all) == 1 && !strings.HasSuffix(all[0], ".crdownload") {
			saved = all[0]
		}
		if time.Now().After(end) {
			t.Fatal("nothing was saved")
		}
		p.true(`true`) // a moment passes
	}
	b, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "saved.html")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.Navigate("file://" + filepath.ToSlash(file)))
	p.wait(`document.querySelector('#turns .line')`)
	if got := eval[string](p, `document.getElementById('turns').innerText`); !strings.Contains(got, "Carries frames from here to there.") || !strings.Contains(got, "show me the readme") {
		t.Errorf("the page holds %.200q", got)
	}
	if p.true(`document.documentElement.scrollHeight < 200 || [...document.querySelectorAll('button')].some((b) => b.offsetWidth && !b.closest('.filmed'))`) {
		t.Error("the page is empty, or has buttons that do nothing")
	}
	p.shot("saved")
}
