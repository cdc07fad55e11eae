package browser

import (
	"strings"
	"testing"
)

// BenchmarkNamesInAnAnswer is the longest task of a page while 1 MB arrives that names a file
// 11,000 times, and until all of them are links.
func BenchmarkNamesInAnAnswer(b *testing.B) {
	const one = "The limit that cuts a slow sink stands in pump.go:3 for a good reason, as it says there.\n"
	h := newHouse(b)
	h.site.put("pump.go", "package pump\n\n// two\n")
	shapes := []string{one, "- " + one, one + "\n"}
	for i, shape := range shapes {
		h.backend.texts[quoteInt(i)] = strings.Repeat(shape, 11_000)
	}
	var longest float64
	for b.Loop() {
		for i := range shapes {
			p := h.site.open("/sessions/" + h.session(b))
			p.look(1440, 900, "light")
			p.js(`window.longest = 0; new PerformanceObserver((l) => { for (const e of l.getEntries()) longest = Math.max(longest, e.duration) }).observe({ type: 'longtask' })`)
			p.say(quoteInt(i))
			p.done()
			p.wait(`document.querySelectorAll('#turns .said:not(.tool-open) .at-src').length === 11000`)
			longest = max(longest, eval[float64](p, `longest`))
		}
	}
	b.ReportMetric(longest, "ms-longest-task")
}
