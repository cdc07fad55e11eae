package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// BenchmarkFollow follows a command on the Desk that prints numbered lines as fast as
// it can, for some seconds, and stops it by key. CPU is what the page's main thread was
// busy, as a share of a core; missing are the lines of the kept beginning and end that
// are not there, or not as they were printed.
func BenchmarkFollow(b *testing.B) {
	s := start(b)
	p := s.open("/")
	p.look(1440, 900, "light")
	share, stop, rate, missing := 0.0, 0.0, 0.0, 0.0
	n := 0
	for b.Loop() {
		n++
		// Lines of 100 bytes; their end names the run, so that each is a command of its own.
		p.say(fmt.Sprintf("!seq -f '%%09.0f%s' 1 1000000000 # %d", strings.Repeat("-", 90), n))
		const running = `document.querySelector('.pane:not([hidden])[data-state=running]')`
		p.wait(running + `?.querySelector('.rows .line .ln')`)
		began := time.Now()
		share = max(share, p.busy(`new Promise((done) => setTimeout(done, 5000))`)/(1000*time.Since(began).Seconds()))
		p.js(`window.ended = 0; window.keyed = 0
			addEventListener('keydown', (e) => { if (e.key === 's') window.keyed = performance.now() }, true)
			const look = () => ` + running + ` ? requestAnimationFrame(look) : (window.ended = performance.now())
			look()`)
		p.press("Escape")
		p.press("s")
		p.wait(`window.ended`)
		took := time.Since(began)
		stop = max(stop, eval[float64](p, `ended - keyed`))
		lines, lost := p.kept()
		rate, missing = max(rate, lines*100/1e6/took.Seconds()), missing+lost
		p.done()
	}
	b.ReportMetric(share, "cores")
	b.ReportMetric(stop, "ms-to-stop")
	b.ReportMetric(rate, "MB/s")
	b.ReportMetric(missing, "lines-lost")
}

// kept returns the number of the last line of numbered output, and how many lines of
// its beginning and end are missing: one gap, in the middle, is as it should be.
func (p *page) kept() (last, lost float64) {
	p.t.Helper()
	p.js(`const text = await (await fetch('/api/outputs/' + ` + onDesk + `.dataset.output)).text()
		const kept = window.kept = { last: 0, lost: 0, gaps: 0 }
		const lines = text.split('\n').slice(0, -1)
		for (const [i, line] of lines.entries()) {
			const at = /^[0-9]{9}-{90}$/.test(line) ? Number(line.slice(0, 9)) : 0
			if (!at) {
				if (i < lines.length - 1) kept.gaps++ // the last may have been cut by the stop
				continue
			}
			if (at !== kept.last + 1 && kept.gaps !== 1) kept.lost++
			kept.last = at
		}
		kept.lost += Math.max(0, kept.gaps - 1)`)
	return eval[float64](p, `kept.last`), eval[float64](p, `kept.lost`)
}
