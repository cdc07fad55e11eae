package browser

import (
	"strings"
	"testing"
)

// BenchmarkNamesInAnAnswer is the longest task of a page while 1 MB arrives that names a file
// 11,000 times, and until all of them are links: in a paragraph, a list, paragraphs and a table.
func BenchmarkNamesInAnAnswer(b *testing.B) {
	const sentence = "The limit that cuts a slow sink stands in pump.go:3 for a good reason, as it says there."
	h := newHouse(b)
	h.site.put("pump.go", "package pump\n\n// two\n")
	shapes := map[string]string{
		"paragraph":  strings.Repeat(sentence+"\n", 11_000),
		"list":       strings.Repeat("- "+sentence+"\n", 11_000),
		"paragraphs": strings.Repeat(sentence+"\n\n", 11_000),
		"table":      "| what | n |\n|---|---|\n" + strings.Repeat("| "+sentence+" | 3 |\n", 11_000),
	}
	h.backend.texts = shapes
	longest, busiest := map[string]float64{}, 0.0
	for b.Loop() {
		for name := range shapes {
			p := h.site.open("/sessions/" + h.session(b))
			p.look(1440, 900, "light")
			tasks := p.traced(func() {
				p.say(name)
				p.done()
				p.wait(`document.querySelectorAll('#turns .said:not(.tool-open) .at-src').length === 11000`)
			})
			for _, k := range tasks {
				longest[name] = max(longest[name], k.wall)
				busiest = max(busiest, k.busy)
			}
			b.Logf("%s: %v", name, tasks[0])
		}
	}
	for name, ms := range longest {
		b.ReportMetric(ms, name+"-ms-longest-task")
	}
	b.ReportMetric(busiest, "busy-ms-longest-task")
}
