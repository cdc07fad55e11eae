package browser

import (
	"context"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"webchat/internal/server"
	"webchat/internal/sessions"
)

// A Markdown file on the Desk has what people write such files with: places in it and files beside
// it are links, details fold, and pictures of the workspace are shown, but for those that may hold
// secrets or lie elsewhere, of which nothing is read. An address that is no text keeps no other from being shown.
func TestMarkdownExtras(t *testing.T) {
	s, p := desked(t)
	svg := `<svg xmlns="http://www.w3.org/2000/svg" width="120" height="60"><script>window.bad = 1</script><rect width="120" height="60" fill="#1258bd"/></svg>`
	if err := os.MkdirAll(filepath.Join(s.workspace, "docs", "img"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(s.workspace), "outside.svg"), []byte(svg), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(filepath.Dir(s.workspace), "outside.svg"), filepath.Join(s.workspace, "docs", "img", "link.svg")); err != nil {
		t.Fatal(err)
	}
	s.put("docs/img/blue.svg", svg)
	s.put("docs/img/id_rsa", svg)
	s.put("docs/other.md", "# Other\n\n"+strings.Repeat("Words.\n\n", 8000)+"## There it is\n\n"+strings.Repeat("More.\n\n", 40))
	s.put("docs/guide.md", "# Guide\n\nGo to [the end](#the-end), to [there](other.md#there-it-is) or [line 3](../go.mod#L3). See[^why].\n\n"+
		"![No text](img/%ff.png) ![A blue box](img/blue.svg) ![Key](img/id_rsa) ![Out](../../outside.svg) ![Link](img/link.svg) ![Far](https://a.invalid/x.png)\n\n"+
		"> [!WARNING]\n> Not on *Mondays*.\n\n<details>\n<summary>How it works</summary>\n\n- [x] done\n- [ ] open\n\n### Within\n\n</details>\n\n"+
		strings.Repeat("Words.\n\n", 40)+"## The end\n\n[Within](#within) and [out](../../../etc/passwd).\n\n[^why]: Because it is **so**.\n")
	p.expect("422") // a picture that is refused
	p.see("docs/guide.md")
	p.front("guide.md")
	p.wait(onDesk + `.querySelector('.said img')?.naturalWidth === 120`)
	p.is(onDesk+`.querySelector('.said img').alt`, "A blue box")
	p.wait(onDesk + `.querySelectorAll('.pic-ref[data-to] + .href').length === 4`)
	p.is(`[...`+onDesk+`.querySelectorAll('.pic-ref[data-to] + .href')].map((e) => /secrets|workspace|%ff/.test(e.textContent)).join()`, "true,true,true,true")
	p.is(onDesk+`.querySelectorAll('.said img').length + ' ' + performance.getEntriesByType('resource').filter((r) => new URL(r.name).origin !== location.origin).length + ' ' + window.bad`, "1 0 undefined")
	p.has(".pane:not([hidden]) .pics", "1 picture of other sites")
	p.has(".pane:not([hidden]) .pic-ref:not([data-to])", "Far")
	p.js(onDesk + `.querySelector("a[data-to='other.md#there-it-is']").focus()`)
	p.has(".pane:not([hidden]) .dfoot .goes", "other.md#there-it-is")
	p.js(`document.getElementById('prompt').focus()`)
	p.wait(`!document.querySelector('.goes')`)
	p.has(".pane:not([hidden]) .alert.warning", "Warning")
	p.has(".pane:not([hidden]) .notes", "Because it is so.")
	p.shot("desk-markdown")
	p.look(1440, 900, "dark")
	p.shot("desk-markdown-dark")
	p.look(1440, 900, "light")
	p.accessible("a Markdown file with all it may have")

	p.click(".pane:not([hidden]) a[href='#the-end']")
	p.wait(`document.activeElement.id === 'user-content-the-end'`)
	p.click(".pane:not([hidden]) a[href='#within']")
	p.wait(`document.activeElement.id === 'user-content-within' && document.activeElement.closest('details').open`)
	p.click(".pane:not([hidden]) a[data-to*=passwd]")
	p.has(".toast", "leads out of the workspace")
	p.js(onDesk + `.querySelector('.other').scrollTo(0, 0)`)
	p.click(".pane:not([hidden]) a[data-to='other.md#there-it-is']")
	p.front("other.md")
	p.wait(`document.activeElement.id === 'user-content-there-it-is'`)
	p.say("/show docs/guide.md")
	p.front("guide.md")
	p.wait(onDesk + `.querySelector("a[data-to$='#L3']")`)
	p.click(".pane:not([hidden]) a[data-to$='#L3']")
	p.front("go.mod")
	p.wait(onDesk + `.querySelector('.line.on .ln')?.textContent === '3'`)
}

// Mathematics in a Markdown file is drawn by the browser: fractions are high, and nothing is wider
// than the pane.
func TestMarkdownMath(t *testing.T) {
	s, p := desked(t)
	s.put("math.md", "# Ten formulas\n\nThe roots are $x = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}$, it costs $5 or $6, and $\\foo$ is none.\n\n"+
		"$$\n\\sum_{i=1}^{n} i^2 = \\frac{n(n+1)(2n+1)}{6} \\qquad \\lim_{x \\to 0} \\frac{\\sin x}{x} = 1\n$$\n\n"+
		"```math\nA = \\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix} \\quad f(x) = \\begin{cases} 1 & \\text{if } x > 0 \\\\ 0 & \\text{otherwise} \\end{cases}\n```\n\n"+
		"$$\n\\begin{aligned}\n(a + b)^2 &= (a + b)(a + b) \\\\\n&= a^2 + 2ab + b^2\n\\end{aligned}\n$$\n\n"+
		"$$\\int_{-\\infty}^{\\infty} e^{-x^2}\\,dx = \\sqrt{\\pi} \\qquad \\sqrt[3]{x + \\sqrt{y}} \\qquad \\alpha\\beta\\gamma\\Gamma\\Omega\\nabla\\partial$$\n\n"+
		"$$\\hat{x} + \\vec{v} + \\overline{AB} + \\underbrace{a + b}_{n} + \\cancel{y} \\in \\mathbb{R} \\cup \\mathcal{L} \\qquad \\boxed{42} \\qquad \\begin{array}{c|c} a & b \\\\ \\hline c & d \\end{array}$$\n\n"+
		"$$\n\\def\\a{\\a}\\a\n$$\n")
	p.see("math.md")
	p.front("math.md")
	p.wait(onDesk + `.querySelectorAll('math').length === 6`)
	p.is(`[...`+onDesk+`.querySelectorAll('mfrac, mtable')].every((e) => e.getBoundingClientRect().height > 24) + ' ' + `+onDesk+`.querySelectorAll('.unread').length`, "true 2")
	p.is(`[...`+onDesk+`.querySelectorAll('math')].every((e) => e.getBoundingClientRect().right <= `+onDesk+`.getBoundingClientRect().right) + ''`, "true")
	p.shot("desk-math")
	p.look(1440, 900, "dark")
	p.shot("desk-math-dark")
	p.look(1440, 900, "light")
	p.accessible("a Markdown file with mathematics")
}

// outside is a server that nothing may connect to; it counts who does.
func outside(t *testing.T) (address string, came *atomic.Int64) {
	came = &atomic.Int64{}
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			came.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL, came
}

// A notebook is cells with what they wrote; what is HTML in it comes by a button, in a frame that
// runs nothing. A damaged one is lines, with a sentence.
func TestNotebook(t *testing.T) {
	s, p := desked(t)
	away, came := outside(t)
	plot := image.NewRGBA(image.Rect(0, 0, 240, 120))
	for x := range 240 {
		plot.Set(x, 119-x/2, color.RGBA{18, 88, 189, 255})
	}
	var picture strings.Builder
	if err := png.Encode(&picture, plot); err != nil {
		t.Fatal(err)
	}
	s.put("plot.ipynb", `{"nbformat":4,"nbformat_minor":5,"metadata":{"language_info":{"name":"python"}},"cells":[
		{"cell_type":"markdown","source":["# Growth\n","\n","What *grows*."]},
		{"cell_type":"code","execution_count":1,"source":"import pandas as pd\nframe = pd.read_csv('a.csv')\nframe.head()","outputs":[
			{"output_type":"stream","name":"stdout","text":["read 2 rows\n"]},
			{"output_type":"execute_result","data":{"text/html":"<script>top.bad=1;fetch('`+away+`')</script><img src='`+away+`/x'><table border=1><tr><th>year</th><td>2026</td></tr></table>","text/plain":"year 2026"}}]},
		{"cell_type":"code","execution_count":2,"source":"frame.plot()","outputs":[{"output_type":"display_data","data":{"image/png":"`+base64.StdEncoding.EncodeToString([]byte(picture.String()))+`","text/plain":"<Figure>"}}]},
		{"cell_type":"code","execution_count":3,"source":"1/0","outputs":[{"output_type":"error","ename":"ZeroDivisionError","evalue":"division by zero","traceback":["\u001b[0;31mZeroDivisionError\u001b[0m: division by zero"]}]}]}`)
	s.put("broken.ipynb", `{"nbformat":4,"cells":[{"cell_type"`)
	p.see("plot.ipynb")
	p.front("plot.ipynb")
	p.wait(onDesk + `.querySelectorAll('.cell').length === 4 && ` + onDesk + `.querySelector('.cell-out img')?.naturalWidth === 240`)
	p.has(".pane:not([hidden]) .cell-out", "read 2 rows")
	p.wait(onDesk + `.innerText.includes('ZeroDivisionError: division by zero')`)
	p.shot("desk-notebook")
	p.look(1440, 900, "dark")
	p.shot("desk-notebook-dark")
	p.look(1440, 900, "light")
	p.accessible("a notebook")
	p.dark("notebook")
	p.strained("a notebook")
	p.expect("Content Security Policy", "sandbox")
	p.click(".pane:not([hidden]) [data-html]")
	p.wait(onDesk + `.querySelector('iframe[sandbox=""]')`)
	p.wait(`performance.getEntriesByType('resource').some((r) => r.initiatorType === 'iframe' && r.responseEnd)`)
	p.shot("desk-notebook-page")
	p.is(`window.bad + ' ' + frames.length`, "undefined 1")
	if n := came.Load(); n > 0 {
		t.Errorf("%d connections left", n)
	}
	p.see("broken.ipynb")
	p.front("broken.ipynb")
	p.has(".pane:not([hidden]) .vbar", "This notebook is damaged, so it is shown as lines.")
}

// An HTML file is its source, and by a button a page in a frame of an opaque origin: no script runs,
// and nothing is asked of any server, not even by a click on what stands in it.
func TestHTMLPreview(t *testing.T) {
	s, p := desked(t)
	away, came := outside(t)
	s.put("page.html", `<!doctype html><html><head><meta http-equiv="refresh" content="0;url=`+away+`/refresh"><link rel="preconnect" href="`+away+`"><link rel="stylesheet" href="`+away+`/a.css">
		<style>@import "`+away+`/b.css"; h1 { color: rgb(1, 2, 3); background: url(`+away+`/c.png) } @font-face { font-family: f; src: url(`+away+`/f) } p { font-family: f }</style>
		<script>top.bad = 1; document.title = 'ran'; new Image().src = '`+away+`/script'</script></head>
		<body onload="top.bad = 2"><h1>A page</h1><p>Words</p><img src="`+away+`/i" onerror="top.bad = 3"><video src="`+away+`/v" poster="`+away+`/w" autoplay></video><iframe src="`+away+`/frame"></iframe>
		<form action="`+away+`/form"><button style="position:absolute;top:200px;left:0;width:200px;height:60px">Send</button></form>
		<a href="`+away+`/link" ping="`+away+`/ping" style="position:absolute;top:300px;left:0;width:200px;height:60px;background:#eee">Away</a>
		<a href="javascript:top.bad=4" style="position:absolute;top:400px;left:0;width:200px;height:60px;background:#eee">Script</a>
		<a target="_top" href="`+away+`/top" style="position:absolute;top:500px;left:0;width:200px;height:60px;background:#eee">Top</a></body></html>`)
	p.expect("Content Security Policy", "sandbox", "Blocked", "Refused", "ERR_BLOCKED")
	p.see("page.html")
	p.front("page.html")
	p.is(onDesk+`.querySelectorAll('iframe').length + ''`, "0")
	p.click(".pane:not([hidden]) [data-view=page]")
	p.has(".pane:not([hidden]) .frame-said", "Without scripts and network")
	p.wait(`performance.getEntriesByType('resource').some((r) => r.initiatorType === 'iframe' && r.responseEnd)`)
	p.shot("desk-html")
	for _, y := range []string{"530", "430", "330", "230"} { // Top, Script, Away, Send
		at := eval[[]float64](p, `(() => { const r = `+onDesk+`.querySelector('iframe').getBoundingClientRect(); return [r.left + 100, r.top + `+y+`] })()`)
		p.do(chromedp.MouseClickXY(at[0], at[1]))
	}
	p.shot("desk-html-clicked")
	if got := eval[string](p, `fetch('/healthz').then(() => [window.bad, location.pathname.startsWith('/sessions/'), document.title === 'ran'].join())`); got != ",true,false" {
		t.Errorf("what the frame did is %s", got)
	}
	if n := came.Load(); n > 0 {
		t.Errorf("%d connections left", n)
	}
	if _, err := http.Get(away); err != nil || came.Load() != 1 {
		t.Errorf("what would have come is not counted: %d, %v", came.Load(), err)
	}
	if got := eval[string](p, `fetch('/api/outputs/' + `+onDesk+`.dataset.output + '/page').then((r) => [r.headers.get('Content-Security-Policy').includes('; sandbox'), r.headers.get('X-Content-Type-Options')].join())`); got != "true,nosniff" {
		t.Errorf("its headers are %s", got)
	}
}

// Pictures of other sites are asked for by the server once Load was pressed, and by the page never:
// what fails stays a badge, says why and can be tried again.
func TestPicturesOfOtherSitesLoad(t *testing.T) {
	var asked, away atomic.Int64
	away.Store(1)
	far := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path == "/late.svg" && away.Load() == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte(`<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><script>window.bad = 1</script></svg>`))
	}))
	defer far.Close()
	h := newHouse(t, func(_ *sessions.Config, c *server.Config) {
		public := far.Client().Transport.(*http.Transport).Clone()
		public.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, far.Listener.Addr().String())
		}
		c.Public = public
	})
	h.site.put("README.md", "# ![Logo](https://far.example.com/logo.svg)\n\n![Late](https://far.example.com/late.svg) ![](https://other.example.com/x.svg)\n")
	p := h.site.open("/sessions/" + h.session(t))
	p.look(1440, 900, "light")
	p.say("/show README.md")
	p.front("README.md")
	p.has(".pane:not([hidden]) .pics", "3 pictures of other sites")
	p.has(".pane:not([hidden]) .pics .from", "far.example.com, other.example.com")
	p.is(`[...`+onDesk+`.querySelectorAll('.pic-ref')].map((e) => e.textContent).join()`, "Logo,Late,picture")
	if n := asked.Load(); n > 0 {
		t.Errorf("before Load was pressed the sites were asked %d times", n)
	}
	p.shot("desk-markdown-pictures")
	p.expect("400")
	p.look(390, 844, "light")                             // the head of a phone has them in its menu
	p.js(`document.querySelector('.sheet-back').click()`) // the Desk as a sheet
	p.click(".pane:not([hidden]) [data-act=pane-more]")
	p.has("[role=menu]", "Load 3 pictures of other sites far.example.com, other.example.com")
	p.press("Escape")
	p.look(1440, 900, "light")
	p.click(".pane:not([hidden]) .pics .link")
	p.wait(onDesk + `.querySelectorAll('.said img').length === 2 && ` + onDesk + `.querySelector('h4 img, h5 img, h1 img, .said img').naturalWidth === 40`)
	p.wait(onDesk + `.querySelector('.pic-ref')?.title === 'Not loaded from far.example.com: it answers 503 Service Unavailable.'`)
	p.accessible("a picture that could not be loaded")
	away.Store(0)
	p.click(".pane:not([hidden]) .pic-ref")
	p.wait(onDesk + `.querySelectorAll('.said img').length === 3 && !document.querySelector('.pane:not([hidden]) .pics')`)
	p.is(`performance.getEntriesByType('resource').filter((r) => !['localhost', ''].includes(new URL(r.name).hostname)).length + ' ' + window.bad`, "0 undefined")
}
