package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// benchDesk opens a site with logs of 50 and of 1,000,000 lines.
func benchDesk(b *testing.B) (*site, *page) {
	s := start(b)
	for name, n := range map[string]int{"few.log": 50, "many.log": 1_000_000} {
		text := strings.Repeat("2026-11-21T21:57:31Z INFO pump-7 accepted sink=1234 region=eu-west\n", n)
		if err := os.WriteFile(filepath.Join(s.workspace, name), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	p := s.open("/")
	p.look(1440, 900, "light")
	return s, p
}

// BenchmarkDeskOpens is how long it takes from Enter behind "/show NAME" until its first
// rows are painted on the Desk, for 50 lines and for 1,000,000 in turns.
func BenchmarkDeskOpens(b *testing.B) {
	s, p := benchDesk(b)
	p.say("/show few.log")
	p.front("few.log")
	p.js(`addEventListener('keydown', (e) => { if (e.key === 'Enter') window.pressed = performance.now() }, true)`)
	n := 0
	open := func(of string) float64 {
		n++
		name := fmt.Sprintf("%s-%d.log", of, n) // a tab of its own
		if err := os.Link(filepath.Join(s.workspace, of+".log"), filepath.Join(s.workspace, name)); err != nil {
			b.Fatal(err)
		}
		p.compose("/show " + name)
		p.js(`window.painted = 0
			const look = () => {
				const pane = ` + onDesk + `
				if (pane?.dataset.base === ` + quote(name) + ` && pane.querySelector('.rows .line .ln')) requestAnimationFrame(() => setTimeout(() => { painted = performance.now() }))
				else requestAnimationFrame(look)
			}
			look()`)
		p.press("Enter")
		p.wait(`window.painted`)
		took := eval[float64](p, `painted - pressed`)
		p.done()
		return took
	}
	open("few")
	var few, many, ratios []float64
	for b.Loop() {
		for range 3 {
			f, m := open("few"), open("many")
			few, many, ratios = append(few, f), append(many, m), append(ratios, m/f)
		}
	}
	for unit, list := range map[string][]float64{"50-lines-ms": few, "1000000-lines-ms": many, "ratio": ratios} {
		slices.Sort(list)
		b.ReportMetric(list[len(list)/2], unit)
	}
}

// BenchmarkDeskScrolls goes through 1,000,000 lines in 120 frames.
func BenchmarkDeskScrolls(b *testing.B) {
	_, p := benchDesk(b)
	p.say("/show many.log")
	p.front("many.log")
	p.wait(onDesk + `.querySelector('.rows .ln')?.textContent`)
	blank, longest, rows := 0.0, 0.0, 0.0
	for b.Loop() {
		p.js(`window.scrolled = undefined
			const code = ` + onDesk + `.querySelector('.code')
			const step = (code.scrollHeight - code.clientHeight) / 120
			const seen = { blank: 0, longest: 0, rows: 0 }
			new PerformanceObserver((l) => { for (const e of l.getEntries()) seen.longest = Math.max(seen.longest, e.duration) }).observe({ type: 'longtask' })
			code.scrollTop = 0
			for (let i = 0; i < 120; i++) {
				code.scrollTop += step
				await new Promise(requestAnimationFrame)
				const box = code.getBoundingClientRect()
				const there = [...code.querySelectorAll('.rows > *')].filter((e) => { const r = e.getBoundingClientRect(); return r.bottom > box.top && r.top < box.bottom })
				if (!there.length || there.some((e) => e.matches('.line') && !e.querySelector('.ln').textContent)) seen.blank++
				seen.rows = Math.max(seen.rows, document.querySelectorAll('.rows > *').length)
			}
			window.scrolled = seen`)
		p.wait(`window.scrolled`)
		blank = max(blank, eval[float64](p, `scrolled.blank`))
		longest = max(longest, eval[float64](p, `scrolled.longest`))
		rows = max(rows, eval[float64](p, `scrolled.rows`))
	}
	b.ReportMetric(blank, "blank-frames")
	b.ReportMetric(longest, "ms-longest-task")
	b.ReportMetric(rows, "rows")
}

// BenchmarkFirstVisit is what a browser that has nothing loads before its first paint.
func BenchmarkFirstVisit(b *testing.B) {
	s := start(b)
	s.open("/")
	kB, requests := 0.0, 0.0
	for b.Loop() {
		p := s.tab()
		p.do(chromedp.Navigate(s.url + "/"))
		p.wait(`performance.getEntriesByName('first-contentful-paint').length`)
		const before = `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].filter((e) => e.startTime < performance.getEntriesByName('first-contentful-paint')[0].startTime)`
		kB = max(kB, eval[float64](p, before+`.reduce((n, e) => n + (e.encodedBodySize || 0), 0) / 1000`))
		requests = max(requests, eval[float64](p, before+`.length`))
	}
	b.ReportMetric(kB, "kB")
	b.ReportMetric(requests, "requests")
}
