package browser

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"webchat/internal/agent"
	"webchat/internal/event"
)

const rejoined = "The limit that cuts a slow sink stands in pump.go:3 for a good reason, as it says there.\n\n"

// inFlight opens a session whose agent has written so many paragraphs and goes on when the test
// calls what is returned.
func inFlight(t testing.TB, paragraphs int) (p *page, goOn func()) {
	h := newHouse(t)
	text, release := strings.Repeat(rejoined, paragraphs), make(chan struct{})
	h.backend.plots = map[string]plot{"write": func(ctx context.Context, host agent.Host) error {
		for at := 0; at < len(text); at += 1000 {
			if err := host.Report(ctx, event.AssistantMessageDelta{MessageID: "a1", Offset: int64(at),
				DeltaContent: text[at:min(len(text), at+1000)]}); err != nil {
				return err
			}
		}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return host.Report(ctx, event.AssistantMessage{MessageID: "a1", Content: text + "The end."})
	}}
	p = h.site.open("/sessions/" + h.session(t))
	p.look(1440, 900, "light")
	p.say("write")
	p.wait(written(paragraphs))
	return p, func() { close(release) }
}

func written(paragraphs int) string {
	return `document.querySelectorAll('#turns .said p').length === ` + quoteInt(paragraphs)
}

// awake is the page of a tab that slept: it asks for all that it has missed.
func (p *page) awake() {
	p.js(`window.frames = 0
		document.addEventListener('webchat:frame', (e) => { if (e.detail.join) frames++ })
		document.dispatchEvent(new Event('resume'))`)
	p.wait(`window.frames === 1`)
}

// A page that comes back to a long answer in flight keeps the elements it has of it, and where its
// reader is.
func TestALongAnswerIsRejoinedWhereItIs(t *testing.T) {
	p, goOn := inFlight(t, 1000)
	p.js(`const scroller = document.getElementById('scroll')
		scroller.scrollTop = scroller.scrollHeight / 2
		await new Promise((done) => requestAnimationFrame(() => setTimeout(done)))
		window.first = document.querySelector('#turns .said p')
		window.at = scroller.scrollTop
		window.least = Infinity
		new MutationObserver(() => { least = Math.min(least, document.querySelectorAll('#turns .said p').length) })
			.observe(document.getElementById('turns'), { subtree: true, childList: true })`)
	p.awake()
	p.wait(written(1000))
	if !p.true(`first.isConnected && least >= 1000 && Math.abs(document.getElementById('scroll').scrollTop - at) < 2`) {
		t.Errorf("kept: %v, at least %v paragraphs, moved by %v", eval[bool](p, `first.isConnected`), eval[float64](p, `least`),
			eval[float64](p, `document.getElementById('scroll').scrollTop - at`))
	}
	goOn()
	p.done()
	p.wait(written(1001))
}

// BenchmarkRejoin is the longest task of a page that comes back to an answer of 1 MB in flight: one
// that was loaded anew, and one that slept.
func BenchmarkRejoin(b *testing.B) {
	p, goOn := inFlight(b, 11_000)
	busiest := map[string]float64{}
	note := func(what string, tasks []task) {
		busiest[what] = max(busiest[what], tasks[0].busy)
		b.Logf("%s: %v", what, tasks[0])
	}
	for b.Loop() {
		note("loaded", p.traced(func() {
			p.do(chromedp.Reload())
			p.live()
			p.wait(written(11_000))
		}))
		note("slept", p.traced(func() {
			p.awake()
			p.wait(written(11_000))
		}))
	}
	goOn()
	p.done()
	b.ReportMetric(busiest["loaded"], "loaded-busy-ms-longest-task") // most of it is the page's own HTML
	b.ReportMetric(busiest["slept"], "busy-ms-longest-task")
}
