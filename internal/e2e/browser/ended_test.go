package browser

import (
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
)

// ended waits until all that a session showed stands on the Desk as struck-through tabs, the
// last one in front with the sentence that says why it ended and with the way out.
func (p *page) ended(why string) {
	p.t.Helper()
	p.look(1440, 900, "light")
	p.is(`[...document.querySelectorAll('#tabs .tab')].map((e) => getComputedStyle(e.querySelector('.t')).textDecorationLine).join()`, "line-through,line-through")
	p.front("go.mod")
	p.has(".pane:not([hidden]) .nothing", why)
	p.has(".pane:not([hidden]) .nothing [data-act=again]", "Show again")
	p.has(".pane:not([hidden]) .nothing [data-act=close-tab]", "Close the tab")
	p.is(`await Promise.all([...document.querySelectorAll('#outs [data-output]')].map(async (e) => (await fetch('/api/outputs/' + e.dataset.output)).status)).then((all) => all.join())`, "404,404")
}

// A session whose outputs are over says so, in the browser that showed them and in one that
// never did, after their life and after a restart. By keys alone one is shown again.
func TestDeskOfASessionWhoseOutputsEnded(t *testing.T) {
	s, p := desked(t, "--output-ttl", "3s")
	p.expect(refused...)
	p.told("show me internal/pump/pump.go")
	p.told("show me go.mod")
	address := "/sessions/" + p.session()
	p.wait(`document.querySelectorAll('#outs .gone').length === 2`)
	const life = "Deleted 3 seconds after it was shown Showing it again reads the file as it is now."
	p.ended(life)
	p.do(chromedp.Reload())
	p.live()
	p.ended(life)

	elsewhere := func() {
		t.Helper()
		p.do(chromedp.Navigate(s.url + "/"))
		p.live()
		p.js(`for (const key of Object.keys(localStorage)) if (key.startsWith('webchat.desk.')) localStorage.removeItem(key)`)
		p.do(chromedp.Navigate(s.url + address))
		p.live()
	}
	elsewhere()
	p.ended(life)
	p.shots("desk-ended")
	p.look(1440, 900, "light")

	s.down(syscall.SIGTERM)
	s.again()
	elsewhere()
	p.ended(life)
	p.press("Escape")
	p.wait(`document.activeElement.matches('.pane:not([hidden]) .nothing')`)
	p.shot("desk-ended-keys")
	p.press("Tab")
	p.wait(`document.activeElement.matches('.nothing [data-act=again]')`)
	p.press("Enter")
	p.has(".pane:not([hidden]) .rows", "module example.com/relay")
}

// What a restart took says that, and the sentence offers the same way out.
func TestDeskAfterARestart(t *testing.T) {
	s, p := desked(t)
	p.expect(refused...)
	p.told("show me internal/pump/pump.go")
	p.told("show me go.mod")
	address := "/sessions/" + p.session()
	p.do(chromedp.Navigate(s.url + "/"))
	p.live()
	s.down(syscall.SIGTERM)
	s.again()
	p.js(`for (const key of Object.keys(localStorage)) if (key.startsWith('webchat.desk.')) localStorage.removeItem(key)`)
	p.do(chromedp.Navigate(s.url + address))
	p.live()
	p.ended("Deleted when webchat restarted Outputs are kept in memory only.")
	p.shots("desk-restarted")
}
