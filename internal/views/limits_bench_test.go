package views

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// BenchmarkLimits opens the largest texts that are more than lines: the first window, a
// later one, and a filter and an order of a table, in milliseconds.
func BenchmarkLimits(b *testing.B) {
	yamlLine := "- {host: a.example, port: 443, tags: [x, y], note: \"some text\"}\n"
	for name, c := range map[string]struct {
		f          format
		head, line string
	}{
		"table.csv": {csv, "time,level,pump,text\n", "17,INFO,pump-3,\"accepted, sink 5\"\n"}, "dense.csv": {csv, "a,b,c\n", "1,2,3\n"}, "quotes.csv": {csv, "a,b,c\n", "1,2,3\n4,\"x\" y,5\n"},
		"log.jsonl": {jsonLines, "", "{\"time\": 17, \"level\": \"INFO\", \"text\": \"accepted sink 5\"}\n"}, "list.json": {jsonValue, "[", "{\"time\": 17, \"level\": \"INFO\", \"text\": \"accepted sink 5\"},\n"},
		"dense.json": {jsonValue, "{\"a\":[", "1,"}, "deep.json": {jsonValue, "[", strings.Repeat("[", 500) + strings.Repeat("]", 500) + ","},
		"a.yaml": {yaml, "", "- host: a.example\n  port: 443\n  tags: [x, y]\n  note: some text\n"}, "flow.yaml": {yaml, "", yamlLine}, "dense.yaml": {yaml, "a: [", "1,"},
		"a.toml": {toml, "", "[[a]]\nhost = \"a.example\"\nport = 443\ntags = [\"x\", \"y\"]\n"},
	} {
		b.Run(name, func(b *testing.B) {
			limit := int(limits[c.f].bytes)
			text := c.head + strings.Repeat(c.line, (limit-len(c.head)-2)/len(c.line))
			if strings.HasPrefix(c.line, "1,") && c.f != csv {
				text += "]"
			}
			store := outputsOf(b, 1<<30)
			h := New(store, nil)
			o := file(b, h, name, text)
			took := map[string]time.Duration{}
			look := func(what string, a Ask) {
				begun := time.Now()
				a.Rows = 50
				ask(b, h, o, a)
				took[what] += time.Since(begun)
			}
			for b.Loop() {
				h.open = nil
				begun := time.Now()
				views := h.Of(o)
				took["kind"] += time.Since(begun)
				for _, view := range views {
					if view == Table || view == Tree {
						look(view, Ask{View: view})
						look(view+"-later", Ask{View: view, From: 50_000})
					}
					if view == Table {
						look("filter", Ask{View: view, Filter: []string{"nothing"}})
						look("sort", Ask{View: view, Sort: "-1"})
					}
				}
			}
			for what, d := range took {
				b.ReportMetric(d.Seconds()*1000/float64(b.N), what+"-ms")
			}
			b.ReportMetric(0, "ns/op")
			_ = fmt.Sprint
		})
	}
}
