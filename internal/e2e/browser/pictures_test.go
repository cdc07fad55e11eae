package browser

import (
	"context"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// media has the page believe what its reader prefers.
func (p *page) media(features ...string) {
	p.t.Helper()
	var list []*emulation.MediaFeature
	for i := 0; i < len(features); i += 2 {
		list = append(list, &emulation.MediaFeature{Name: features[i], Value: features[i+1]})
	}
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: list})
		return err
	}))
}

const relayMd = "# relay\n\nFans frames out to many readers. One slow reader never holds up the others: it is forgiven for a while, then cut, and told why.\n\n## Start\n\n```\ngo run ./cmd/relay -listen 127.0.0.1:8080\ncurl -N localhost:8080/frames\n```\n\nEvery reader has a buffer of `64` frames; see [internal/pump/pump.go](internal/pump/pump.go).\n\n## Limits\n\n| What | Default | Flag |\n| --- | ---: | --- |\n| Frames a reader may lag | 64 | `-buffer` |\n| Longest frame | 1 MiB | `-frame` |\n\n- [x] Cut a sink at its limit\n- [ ] Windows: the clock test\n\n![Build status](https://status.example/badge.svg)\n"

const testSh = `echo '=== RUN   TestPublish'
echo '--- PASS: TestPublish (0.00s)'
echo '=== RUN   TestSlowSink'
echo '    internal/pump/pump.go:12: sink 2 still attached after 1s, want cut at 1s'
echo '--- FAIL: TestSlowSink (1.04s)'
echo 'warning: GOMAXPROCS lowered from 16 to 8'
echo 'FAIL	example.com/relay/internal/pump	1.318s'
exit 1
`

// The states of the Desk in light and in dark, as pictures to look at, and checked by
// axe-core; then in colours that the system forces, where nothing is said by colour alone.
func TestDeskInItsStates(t *testing.T) {
	s, p := desked(t)
	p.expect("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_EMPTY_RESPONSE", "ERR_SOCKET_NOT_CONNECTED", "ERR_CONNECTION_RESET")
	s.put("relay.md", relayMd)
	s.put("test.sh", testSh)
	s.put("relay.log", strings.Repeat("2026-11-21T21:57:52.710Z INFO  pump-10 accepted sink=562\n2026-11-21T21:57:52.797Z WARN  pump-11 buffer full for 131ms\n2026-11-21T21:57:52.884Z DEBUG pump-12 publish\n2026-11-21T21:57:53.406Z ERROR pump-2 cut sink=570\n", 20))
	s.put("sinks.csv", "id,host,region,frames,dropped,p99_ms,cut_at\n"+strings.Repeat("1204,argus-00.relay.example,eu-north,220263,120,897.7,19:50:00\n1031,birch-07.relay.example,us-east,293684,511,811.7,\n", 40))
	s.put("relay.json", `{"name":"relay","listen":"127.0.0.1:8080","pump":{"buffer":64,"patience":"1s","clock":null},"sinks":[{"host":"argus-00","tls":{"on":true}},{"host":"birch-07"}],"limits":{"frame":1048576}}`)
	both := func(name string) {
		t.Helper()
		for _, as := range []struct{ scheme, rules string }{{"dark", inScheme}, {"light", allRules}} {
			p.look(1440, 900, as.scheme)
			p.shot("state-of-desk-" + name + "-" + as.scheme)
			p.follows(as.rules, name+", "+as.scheme)
		}
		if name != "off" && name != "picture" {
			p.strained(name)
		}
	}
	p.told("show me internal/pump/pump.go")
	p.front("pump.go")
	p.told("show me sinks.csv")
	p.front("sinks.csv")
	p.wait(onDesk + `.querySelector('.records')`)
	p.wait(`document.querySelector('.tab.is-front use').getAttribute('href') === '#i-table' && document.querySelector('.slip.is-front .g use').getAttribute('href') === '#i-table'`)
	both("table")
	p.told("show me relay.log")
	p.front("relay.log")
	p.has(".pane:not([hidden]) .rows .a1", "ERROR")
	both("log")
	p.told("show me relay.json")
	p.front("relay.json")
	p.has(".pane:not([hidden]) .other", "buffer")
	p.is(`document.querySelector('.tab.is-front use').getAttribute('href')`, "#i-tree")
	both("tree")
	p.told("show me relay.md")
	p.front("relay.md")
	p.wait(onDesk + `.querySelector('.other[data-shows=preview]')?.innerText.includes('Limits')`)
	both("preview")
	p.say("/image logo.png")
	p.front("logo.png")
	p.wait(onDesk + `.querySelector('.pic img')?.complete`)
	p.focus(onDesk + `.querySelector('.pic')`)
	p.press("p")
	p.has(".pane:not([hidden]) .dfoot", "Pinned")
	both("picture")
	s.put("internal/pump/pump.go", strings.Replace(pumpGo, "time.Second", "2 * time.Second", 1))
	p.told("show me internal/pump/pump.go")
	p.front("pump.go")
	p.wait(onDesk + `.querySelector('[data-view=diff]')`)
	p.click(".pane:not([hidden]) [data-view=diff]")
	p.wait(onDesk + `.querySelector('[data-change]')`)
	both("changes")
	p.click(".shelf-btn")
	p.wait(`document.querySelector('#shelf:popover-open')`)
	p.is(`[...document.querySelectorAll('#shelf h3')].filter((e) => !e.hidden).map((e) => e.textContent).join()`, "On the Desk")
	p.has("#shelf [data-pinned]", "logo.png")
	both("shelf")
	p.press("Escape")
	p.say("!sh test.sh")
	p.has(".pane:not([hidden]) .failure", "sink 2 still attached")
	both("failure")

	// Colours that the system forces.
	p.media("forced-colors", "active", "prefers-reduced-motion", "reduce")
	p.wait(`matchMedia('(forced-colors: active)').matches`)
	p.is(`getComputedStyle(document.querySelector('.tab.is-front'), '::before').backgroundColor === getComputedStyle(document.querySelector('.tab:not(.is-front)')).backgroundColor ? 'hidden' : 'seen'`, "seen")
	for _, sel := range []string{".tab.is-front [role=tab]", ".pane:not([hidden]) .code", ".pane:not([hidden]) [data-act=find]", "#turns .slip a.line", "#divider", "#prompt", "#bar [data-act=open-bar]"} {
		p.focus(`document.querySelector(` + quote(sel) + `)`)
		if !p.true(`(() => { const el = document.activeElement; return [el, el.parentElement, el.closest('.composer') ?? el].some((e) => [null, '::after'].some((part) => { const s = getComputedStyle(e, part); return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0 })) || el.id === 'divider' })()`) {
			t.Errorf("in forced colours the focus of %s cannot be seen", sel)
		}
	}
	p.click(".pane:not([hidden]) [data-act=find]")
	p.write("sink")
	p.wait(`(() => { const now = document.querySelector('.pane:not([hidden]) .line.is-hit'); return now && getComputedStyle(now).outlineStyle !== 'none' })()`)
	p.wait(`[...document.querySelectorAll('*')].every((e) => getComputedStyle(e).animationName === 'none')`)
	p.shot("state-of-desk-forced")
	p.press("Escape")
	p.media()

	// Without the server what is here stays readable, and says so.
	p.click(".tab:first-child [role=tab]")
	p.front("pump.go")
	// A server that stops refuses to note the look, of which the console would tell.
	p.wait(`(async () => {
		const out = document.querySelector('#turns .slip.is-front [data-slip]').dataset.slip
		const { events } = await (await fetch('/api/sessions/' + document.body.dataset.session + '/events?limit=5000')).json()
		return events.some((e) => e.type === 'output.opened' && e.data.outputId === out)
	})()`)
	s.down(syscall.SIGTERM)
	p.has(".pane:not([hidden]) .pane-off", "Not connected.")
	p.has(".pane:not([hidden]) .dfoot", "As it was at ")
	p.wait(`!` + onDesk + `.querySelector('.give').checkVisibility()`)
	both("off")
	s.again()
	p.wait(`!document.querySelector('.pane-off')`)
}
