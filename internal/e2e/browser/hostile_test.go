package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"webchat/internal/e2e/hostile"
)

// sink counts who calls home.
type sink struct {
	*httptest.Server
	mu   sync.Mutex
	hits []string
}

func newSink(t *testing.T) *sink {
	s := &sink{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.hits = append(s.hits, r.URL.String())
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *sink) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.hits...)
}

// asked notes every address a tab asks for, those included that the browser then
// refuses: also an attempt is a way out that only one wall still bars.
func (p *page) asked() func() []string {
	p.t.Helper()
	var mu sync.Mutex
	var all []string
	if err := chromedp.Listen(p.ctx, func(ev any) {
		if e, ok := ev.(*network.EventRequestWillBeSent); ok {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, e.Request.URL)
		}
	}); err != nil {
		p.t.Fatal(err)
	}
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
		return err
	}))
	return func() []string { mu.Lock(); defer mu.Unlock(); return append([]string(nil), all...) }
}

// harmless fails the test when a page runs, asks for or holds what it must not.
func (p *page) harmless(what string, s *site, asked func() []string) {
	p.t.Helper()
	if got := eval[string](p, `String(window.`+hostile.Mark+`) + String(document.contentType === 'text/html' && location.protocol === 'http:' && window.origin !== 'null' ? localStorage.`+hostile.Mark+` : undefined)`); got != "undefinedundefined" {
		p.t.Errorf("%s: a script of theirs ran: %s", what, got)
	}
	for _, address := range asked() {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "blob" && u.Scheme != "about" && u.Scheme != "file" && !strings.HasPrefix(address, "data:image/") && !strings.HasPrefix(address, s.url+"/") {
			p.t.Errorf("%s: the page asked for %.200s", what, address)
		}
	}
	for _, offence := range eval[[]string](p, audit) {
		p.t.Errorf("%s: %.300s", what, offence)
	}
}

// audit lists what no text of others may become.
const audit = `(() => {
	const bad = []
	const never = new Set('script style link meta base iframe frame frameset object embed applet portal video audio source track picture math foreignobject animate set image feimage handler noscript xmp plaintext template marquee slot isindex dialog'.split(' '))
	const said = new Set('p ul ol li blockquote pre code em strong b i del s a h1 h2 h3 h4 h5 h6 table thead tbody tr th td hr br span div input sup sub section bdi details summary kbd'.split(' '))
	const ours = /^[mr]-[\w-]+\.\d+(\.c(\.\d+)?)?$/ // the parts of a block that streams
	const say = (e, why) => bad.push(why + ': ' + e.outerHTML.slice(0, 160))
	for (const e of document.querySelectorAll('#turns *, #dock-asks *, #side *, #rail *, #title *, .lines *, main.export *')) {
		const name = e.localName.toLowerCase()
		const inSaid = e.parentElement.closest('.said') && !e.closest('.copy-code')
		if (never.has(name) || name.includes('-')) say(e, 'element')
		if (inSaid && !said.has(name) && !e.closest('svg.i')) say(e, 'element in an answer')
		for (const a of e.attributes) {
			if (/^on|^(style|srcset|formaction|background|ping|autofocus|srcdoc|poster|action)$/.test(a.name)) say(e, 'attribute ' + a.name)
			if (inSaid && /^(id|name|role|is|for|form)$|^data-(act|ask|card|output|session|request|part)/.test(a.name) && !e.matches('.said > .run, .run > .b') && !(a.name === 'id' && ours.test(a.value))) say(e, 'attribute of ours in an answer: ' + a.name)
		}
		if (name === 'input' && inSaid && (e.type !== 'checkbox' || !e.disabled)) say(e, 'input in an answer')
		if (name === 'a' && e.hasAttribute('href') && !e.closest('svg')) {
			const u = new URL(e.href, location.href)
			if (!['http:', 'https:', 'mailto:', 'file:', 'about:'].includes(u.protocol)) say(e, 'link')
			if (u.origin !== location.origin && /^http/.test(u.protocol) && !(e.relList.contains('noopener') && e.relList.contains('noreferrer'))) say(e, 'link without rel')
		}
		if (name === 'img' && new URL(e.currentSrc || e.src, location.href).origin !== location.origin && !/^(blob|data):/.test(e.src)) say(e, 'picture')
		if (name === 'use' && !e.getAttribute('href')?.startsWith('#')) say(e, 'use')
	}
	for (const id of ['turns', 'composer', 'prompt', 'status']) if (document.querySelectorAll('#' + id).length > 1 || document.getElementById(id) === null && document.body?.dataset.session) bad.push('our #' + id + ' is not alone')
	return bad
})()`

// The corpus shown through everything that shows: no script runs, nothing is
// asked for, and no wall behind ours (CSP, Trusted Types) has to hold, because
// every complaint of the console fails the test too.
func TestHostileContent(t *testing.T) {
	h := newHouse(t)
	home := newSink(t)
	first := h.site.open("/") // signs in
	first.harmless("home", h.site, func() []string { return nil })
	for _, c := range []struct {
		kind hostile.Kind
		show func(session string, c hostile.Case) bool
	}{
		{hostile.File, h.showFile}, {hostile.Picture, h.showPicture}, {hostile.Terminal, h.showTerminal},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			id := h.session(t)
			p := h.site.open("/sessions/" + id)
			asked := p.asked()
			shown := 0
			for _, one := range hostile.Of(c.kind, home.URL) {
				if c.show(id, one) {
					shown++
				}
			}
			all := fmt.Sprintf(`document.querySelectorAll('#turns [data-card][data-state=done]').length === %d && [...document.images].every((i) => i.complete)`, shown)
			if shown < 10 {
				t.Fatalf("only %d cases could be shown", shown)
			}
			p.wait(all)
			p.harmless("as it came", h.site, asked)
			p.do(chromedp.Reload())
			p.live()
			p.wait(all)
			p.harmless("read again", h.site, asked)
			h.openAlone(t, id, p, asked)
			h.saved(t, id)
		})
	}
	if hits := home.seen(); len(hits) > 0 {
		t.Errorf("somebody called home: %q", hits)
	}
}

// Everything a model may say, streamed in pieces and read again from the log.
func TestHostileAnswers(t *testing.T) {
	h := newHouse(t)
	home := newSink(t)
	h.backend.learn(hostile.Of(hostile.Answer, home.URL))
	h.backend.learn(hostile.Of(hostile.Name, home.URL))
	cases := hostile.Of(hostile.Answer, home.URL)
	for len(cases) > 0 {
		some := cases[:min(20, len(cases))]
		cases = cases[len(some):]
		id := h.session(t)
		p := h.site.open("/sessions/" + id)
		asked := p.asked()
		for _, c := range some {
			h.say(t, id, "answer/"+c.Name)
		}
		all := fmt.Sprintf(`document.querySelectorAll('#turns .said').length >= %d && !document.querySelector('#turns [aria-busy=true]')`, len(some))
		p.wait(all)
		p.harmless("as it came", h.site, asked)
		// The answer stands below what the turn did, which is folded; what is folded can do no more open.
		if strings.TrimSpace(eval[string](p, `document.querySelector('#turns .turn-b > .row .said').innerText`)) == "" {
			t.Error("the first answer shows nothing")
		}
		p.js(`document.querySelectorAll('#turns .turn-b details').forEach((d) => { d.open = true })`)
		p.harmless("unfolded", h.site, asked)
		p.do(chromedp.Reload())
		p.live()
		p.wait(all)
		p.harmless("read again", h.site, asked)
		h.saved(t, id)
	}
	if hits := home.seen(); len(hits) > 0 {
		t.Errorf("somebody called home: %q", hits)
	}
}

// Names, commands, reasons and titles of others, in the places of ours, questions
// included: what would be allowed is shown whole and with what cannot be seen.
func TestHostileNames(t *testing.T) {
	h := newHouse(t)
	home := newSink(t)
	h.backend.learn(hostile.Of(hostile.Name, home.URL))
	for _, c := range hostile.Of(hostile.Name, home.URL) {
		id := h.session(t)
		p := h.site.open("/sessions/" + id)
		asked := p.asked()
		done := make(chan struct{})
		go func() { defer close(done); h.say(t, id, "name/"+c.Name) }()
		for _, part := range []string{".perm-cmd", ".diff"} { // a command, then a change of a file
			at := `document.querySelector('#asks [data-ask=permission] ` + part + `')`
			p.wait(at)
			p.harmless(c.Name+", asked", h.site, asked)
			p.do(chromedp.Reload())
			p.live()
			p.wait(at)
			p.harmless(c.Name+", asked again", h.site, asked)
			// What stands isolated in a box of its own, with its code point, can be seen.
			whole := eval[string](p, `(() => { const q = document.querySelector('#asks [data-ask=permission]').cloneNode(true); q.querySelectorAll('bdi.err[title]').forEach((e) => e.remove()); return q.textContent })()`)
			if i := strings.IndexFunc(whole, unseen); i >= 0 {
				t.Errorf("%s: the question holds invisible characters: %q", c.Name, whole[max(0, i-20):min(len(whole), i+20)])
			}
			h.decide(t, id)
		}
		<-done
		p.wait(`document.getElementById('composer').dataset.status === 'idle'`)
		p.harmless(c.Name+", answered", h.site, asked)
		h.saved(t, id)
	}
	if hits := home.seen(); len(hits) > 0 {
		t.Errorf("somebody called home: %q", hits)
	}
}

// unseen characters change what a person believes to allow.
func unseen(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || 0x7f <= r && r < 0xa0 || 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069 || r == 0x200b || r == 0xfeff
}

// A corpus that could not bite would show nothing: without our walls it does.
func TestHostileCorpusBites(t *testing.T) {
	h := newHouse(t)
	home := newSink(t)
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, c := range hostile.Corpus(home.URL) {
			if r.URL.Path == "/"+c.Name {
				w.Header().Set("Content-Type", "text/html")
				if strings.HasSuffix(c.Name, ".svg") {
					w.Header().Set("Content-Type", "image/svg+xml")
				}
				_, _ = w.Write(c.Body)
			}
		}
	}))
	defer bare.Close()
	p := h.site.tab()
	p.expect("") // whatever it complains about
	for _, name := range []string{"page.html", "html-image", "script.svg"} {
		p.do(chromedp.Navigate(bare.URL + "/" + name))
		p.wait(`window.` + hostile.Mark)
	}
	for _, name := range []string{"embed.html", "css-url", "link-tag", "image.svg"} {
		p.do(chromedp.Navigate(bare.URL + "/" + name))
		poll(t, func() bool { return strings.Contains(strings.Join(home.seen(), " "), "/"+name) })
	}
	if p.true(audit + `.length === 0 && document.querySelectorAll('#turns').length`) {
		t.Error("the audit has nothing to say")
	}
}

// openAlone opens each output of a session in every form, as a link would.
func (h *house) openAlone(t *testing.T, id string, p *page, asked func() []string) {
	t.Helper()
	forms := []string{"", "?format=html", "?format=json", "?lines=1-50", "?grep=."}
	all := len(forms)
	var list struct{ Outputs []struct{ ID string } }
	h.api(t, "GET", "/api/sessions/"+id+"/outputs", nil, &list)
	for i, o := range list.Outputs {
		if forms = forms[:2]; i%7 == 0 { // what is neither a page nor bytes is the same for all
			forms = forms[:all]
		}
		for _, form := range forms {
			at := h.site.url + "/api/outputs/" + o.ID + form
			ctx, stop := context.WithTimeout(p.ctx, limit)
			err := chromedp.Do(ctx, chromedp.Navigate(at))
			stop()
			if err != nil && !strings.Contains(err.Error(), "ERR_ABORTED") { // a download
				t.Errorf("open %s: %v", at, err)
			}
			if form == "" && err == nil {
				t.Errorf("%s was opened in place", at)
			}
			p.harmless("alone "+form, h.site, asked)
		}
	}
}

// saved opens what the session is saved as, from the disk, where no header helps.
func (h *house) saved(t *testing.T, id string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "saved.html")
	if err := os.WriteFile(name, h.api(t, "GET", "/api/sessions/"+id+"/export?format=html", nil, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	p := h.site.tab()
	asked := p.asked()
	p.do(chromedp.Navigate("file://" + name))
	p.harmless("saved", h.site, asked)
}

// showFile, showPicture and showTerminal report whether the tool took the case.
func (h *house) showFile(id string, c hostile.Case) bool {
	h.write(c.Name, c.Body)
	return h.display(id, "render_file_contents", "path", c.Name)
}

func (h *house) showPicture(id string, c hostile.Case) bool {
	h.write(c.Name, c.Body)
	return h.display(id, "display_image", "path", c.Name)
}

func (h *house) showTerminal(id string, c hostile.Case) bool {
	h.write(c.Name, c.Body)
	return h.display(id, "run_and_display", "command", "cat "+c.Name)
}

func (h *house) write(name string, b []byte) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.site.workspace, name), b, 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) display(id, tool, key, value string) bool {
	h.t.Helper()
	body, err := json.Marshal(map[string]any{"tool": tool, "arguments": map[string]string{key: value}})
	if err != nil {
		h.t.Fatal(err)
	}
	status := h.status(h.t, "POST", "/api/sessions/"+id+"/display", body)
	if status != 200 && status != 422 {
		h.t.Errorf("%s %q: %d", tool, value, status)
	}
	return status == 200
}
