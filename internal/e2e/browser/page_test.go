package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	cdpdom "github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// page is one tab.
type page struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	problems []string
	expected []string // parts of problems that the test brings about on purpose
}

// open opens a tab, signs in and goes to a path of the site.
func (s *site) open(path string) *page {
	s.t.Helper()
	p := s.tab()
	at := s.url + path
	if s.link != "" { // the link works once; its cookie serves all tabs
		at, s.link = s.link+"&to="+url.QueryEscape(path), ""
	}
	p.do(chromedp.Navigate(at))
	p.live()
	s.seat.stay(s)
	return p
}

// tab opens an empty tab.
func (s *site) tab() *page {
	s.t.Helper()
	s.sit()
	ctx, end := chromedp.NewContext(chrome, chromedp.WithExistingBrowserContext(s.seat.profile),
		chromedp.WithNewWindow(true))
	p := &page{t: s.t, ctx: ctx}
	// The first call makes the tab, whose life is that of the call's context.
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1080, 1000),
		chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			// With an event for each element and request the tests cost half as much again.
			for _, domain := range []cdp.Command[cdp.Empty, cdp.Empty]{log.Enable, css.Disable,
				cdpdom.Disable, network.Disable} {
				if _, err := chromedp.Call(ctx, domain, cdp.Empty{}); err != nil {
					return err
				}
			}
			return nil
		})); err != nil {
		s.t.Fatalf("open a tab: %v", err)
	}
	p.focused(true)
	if err := chromedp.Listen(ctx, p.hear); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		p.mu.Lock()
		for _, problem := range p.problems {
			if !p.wanted(problem) {
				s.t.Errorf("the page complained: %s", problem)
			}
		}
		p.mu.Unlock()
		end()
	})
	return p
}

// focused lets the tab believe that somebody looks at it, whatever tabs there are.
func (p *page) focused(yes bool) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled,
			emulation.SetFocusEmulationEnabledParams{Enabled: yes})
		return err
	}))
}

// hear notes whatever a console would show in red.
func (p *page) hear(ev any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		words := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			words += " " + e.ExceptionDetails.Exception.Description
		}
		p.problems = append(p.problems, words)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" || e.Type == "assert" {
			p.problems = append(p.problems, fmt.Sprint("console: ", e.Args[0].Description,
				string(e.Args[0].Value)))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			p.problems = append(p.problems, e.Entry.Text+" "+e.Entry.URL)
		}
	}
}

func (p *page) wanted(problem string) bool {
	for _, part := range p.expected {
		if strings.Contains(problem, part) {
			return true
		}
	}
	return false
}

// expect names problems that belong to what the test does, such as a refused
// connection while the server is down.
func (p *page) expect(parts ...string) { p.expected = append(p.expected, parts...) }

func (p *page) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.ctx, limit)
	defer stop()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatalf("browser: %v", err)
	}
}

// eval returns the value of a JavaScript expression; a promise is awaited.
func eval[T any](p *page, js string) T {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.ctx, limit)
	defer stop()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", js, err)
	}
	return v
}

// wait returns when a JavaScript expression is true.
func (p *page) wait(js string) {
	p.t.Helper()
	deadline := time.Now().Add(limit)
	for {
		// A navigation in between ends the promise with an error; then it asks again.
		ctx, stop := context.WithDeadline(p.ctx, deadline)
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`new Promise((done) => {
			const end = performance.now() + 2000
			let pause = 10
			const look = async () => { let ok = false; try { ok = Boolean(await (`+js+`)) } catch {} ; ok || performance.now() > end ? done(ok) : setTimeout(look, pause = Math.min(1.3 * pause, 80)) }
			look()
		})`, chromedp.EvalAwaitPromise))
		stop()
		if err == nil && ok {
			return
		}
		if time.Now().After(deadline) {
			p.t.Errorf("never became true: %s (%v)", js, err)
			p.shot("failed-" + strings.ReplaceAll(p.t.Name(), "/", "-"))
			p.t.FailNow()
		}
	}
}

// live waits until the page gets what happens as it happens.
func (p *page) live() {
	p.t.Helper()
	p.wait(`'joined' in document.body.dataset`)
}

// sources has the tab run the modules as they are written, so that the test can import the page's
// own.
func (p *page) sources() {
	p.t.Helper()
	p.js(`localStorage.setItem('webchat.sources', '1')`)
	p.do(chromedp.Reload())
	p.live()
}

// true says whether an expression holds now.
func (p *page) true(js string) bool {
	p.t.Helper()
	return eval[bool](p, `Boolean(`+js+`)`)
}

// js runs statements or an expression whose value does not matter.
func (p *page) js(code string) {
	p.t.Helper()
	eval[bool](p, `(async () => { `+code+` ; return true })()`)
}

// is waits until an expression has a value.
func (p *page) is(js, want string) {
	p.t.Helper()
	p.wait(`(` + js + `) === ` + quote(want))
}

// has waits until the text of what a selector names holds words.
func (p *page) has(selector, words string) {
	p.t.Helper()
	// innerText lays out the page, so it is read of what may have the words.
	p.wait(`((words, bare) => [...document.querySelectorAll(` + quote(selector) +
		`)].some((e) => bare(e.textContent).includes(bare(words)) && e.innerText.replace(/\s+/g, ' ').includes(words)))(` +
		quote(words) + `, (text) => text.replace(/\s+/g, '').toLowerCase())`)
}

// upload gives a file to a field.
func (p *page) upload(field, file string) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		found, err := chromedp.Call(ctx, runtime.Evaluate,
			runtime.EvaluateParams{Expression: `document.querySelector('` + field + `')`})
		if err != nil {
			return err
		}
		_, err = chromedp.Call(ctx, cdpdom.SetFileInputFiles,
			cdpdom.SetFileInputFilesParams{Files: []string{file}, ObjectID: found.Result.ObjectID})
		return err
	}))
}

// click presses the middle of the first element of a selector, once it stands still and can be
// seen.
func (p *page) click(selector string) {
	p.t.Helper()
	p.do(chromedp.MouseClickXY(p.middle(selector)))
}

// answer presses a button of the first question that has it until the question takes the answer: it
// ignores clicks while it has moved, or the window or the connection has just come back.
func (p *page) answer(button string) {
	p.t.Helper()
	p.wait(`document.querySelector(` + quote(button) + `)?.closest('[data-request]')`)
	id := eval[string](p, `document.querySelector(`+quote(button)+
		`).closest('[data-request]').dataset.request`)
	asked := `#asks [data-request="` + id + `"]`
	taken := `((q) => !q || q.ariaBusy === 'true')(document.querySelector(` + quote(asked) + `))`
	for !p.true(taken) {
		p.wait(taken + ` || document.querySelector(` + quote(asked+"[data-ready] "+lastOf(button)) +
			`)?.ariaDisabled === 'false'`)
		if !p.true(taken) {
			p.click(asked + " " + lastOf(button))
		}
	}
}

// lastOf returns a selector of descendants without its ancestors.
func lastOf(selector string) string { return selector[strings.LastIndex(selector, " ")+1:] }

// middle returns where the first element of a selector stands.
func (p *page) middle(selector string) (x, y float64) {
	p.t.Helper()
	p.wait(`document.querySelector(` + quote(selector) + `)?.getClientRects().length`)
	at := eval[[]float64](p, `new Promise((done) => {
		const inSight = (el) => {
			const r = el.getBoundingClientRect()
			return el.contains(document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2))
		}
		let was = ''
		const look = () => { // what is drawn anew meanwhile is another one
			const el = document.querySelector(`+quote(selector)+`)
			if (!el) return setTimeout(look, 20)
			if (was === '' && (!el.checkVisibility({ contentVisibilityAuto: true }) || !inSight(el))) el.scrollIntoView({ block: 'center' })
			const r = el.getBoundingClientRect()
			const now = [r.left + r.width / 2, r.top + r.height / 2]
			if (String(now) === was) return done(now)
			was = String(now)
			setTimeout(look, 20)
		}
		look()
	})`)
	return at[0], at[1]
}

// session returns the id of the page's session.
func (p *page) session() string {
	p.t.Helper()
	p.wait(`document.body.dataset.session && location.pathname.startsWith('/sessions/')`)
	return eval[string](p, `document.body.dataset.session`)
}

// look sets the size of the window and the colours.
func (p *page) look(width, height int64, scheme string) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, height),
		chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			return err
		}))
}

// shot keeps a picture of the page for looking at, with WEBCHAT_SCREENS=1 or once a test has
// failed.
func (p *page) shot(name string) {
	p.t.Helper()
	if os.Getenv("WEBCHAT_SCREENS") == "" && !p.t.Failed() {
		return
	}
	b, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Logf("screenshot %s: %v", name, err)
		return
	}
	dir := filepath.Join("..", "..", "..", ".cache", "screens")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), b, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// dark keeps a picture of the page in the dark, which axe-core checks as well.
func (p *page) dark(name string) {
	p.t.Helper()
	p.look(1440, 900, "dark")
	p.shot(name + "-dark")
	p.accessible(name + ", dark")
	p.look(1440, 900, "light")
}

// strained has axe-core check a page that follows all rules in colours that the system forces, and
// at 200 %.
func (p *page) strained(state string) {
	p.t.Helper()
	p.media("forced-colors", "active")
	p.follows(inScheme, state+", forced colours")
	p.media()
	p.do(chromedp.EmulateViewport(720, 450, chromedp.EmulateScale(2)))
	p.follows(inWidth, state+" at 200 %")
	p.look(1440, 900, "light")
}

// shots keeps pictures at the three widths of the design, and of the widest in the dark. axe-core
// checks the widest and narrowest, between which nothing appears, and the dark.
func (p *page) shots(name string) {
	p.t.Helper()
	for _, as := range []struct {
		width, height int64
		scheme, rules string
	}{{1440, 1000, "light", allRules}, {840, 1000, "light", ""}, {360, 740, "light", inWidth},
		{1440, 1000, "dark", inScheme}} {
		if as.rules == "" && os.Getenv("WEBCHAT_SCREENS") == "" {
			continue
		}
		p.look(as.width, as.height, as.scheme)
		p.shot(fmt.Sprintf("%s-%d-%s", name, as.width, as.scheme))
		if as.rules != "" {
			p.follows(as.rules, fmt.Sprintf("%s at %d, %s", name, as.width, as.scheme))
		}
	}
	p.look(1080, 1000, "light")
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func quoteInt(n int) string { return strconv.Itoa(n) }

// poll waits for something outside of the page.
func poll(t testing.TB, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never came")
		}
	}
}

// grant allows what a browser asks its user for.
func (s *site) grant(p *page, names ...string) {
	s.t.Helper()
	for _, name := range names {
		p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			_, err := chromedp.CallBrowser(ctx, browser.SetPermission, browser.SetPermissionParams{
				Permission:       &browser.PermissionDescriptor{Name: name},
				Setting:          "granted",
				BrowserContextID: s.seat.profile,
			})
			return err
		}))
	}
}

// downloads returns the folder where the site's downloads go.
func (s *site) downloads(p *page) string {
	s.t.Helper()
	dir := s.t.TempDir()
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.CallBrowser(ctx, browser.SetDownloadBehavior,
			browser.SetDownloadBehaviorParams{
				Behavior:         "allow",
				DownloadPath:     dir,
				BrowserContextID: s.seat.profile,
			})
		return err
	}))
	return dir
}

// before has a script run in each document before its own.
func (p *page) before(script string) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, cdppage.AddScriptToEvaluateOnNewDocument,
			cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	}))
}

// pick opens the menu of a button and takes an entry of it.
func (p *page) pick(button, entry string) {
	p.t.Helper()
	p.click(button)
	p.wait(`document.querySelector('[role=menu]')`)
	p.js(`[...document.querySelectorAll('[role=menu] [role=menuitem]')].find((e) => e.innerText.includes(` + quote(entry) + `)).click()`)
}
