package views

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"webchat/internal/outputs"
)

// opened are the texts a window of which is asked for, by how many lines they have.
func opened(lines int, name string) string {
	var b strings.Builder
	if strings.HasSuffix(name, ".csv") {
		b.WriteString("time,level,pump,text\n")
	}
	for i := range lines {
		switch {
		case strings.HasSuffix(name, ".csv"):
			fmt.Fprintf(&b, "%d,INFO,pump-%d,\"accepted, sink %d\"\n", i, i%16, i)
		case strings.HasSuffix(name, ".json"):
			fmt.Fprintf(&b, "{\"time\": %d, \"level\": \"INFO\", \"text\": \"accepted sink %d\"}\n", i, i)
		default:
			fmt.Fprintf(&b, "2026-11-21T21:57:31Z INFO pump-%d accepted sink=%d region=eu-west\n", i%16, i)
		}
	}
	return b.String()
}

// BenchmarkWindow opens an output and then looks at windows all over it, as who drags the scroll
// bar does, beside the same of 50 lines in the same round: "ratio" is the time through that of 50
// lines, the median of the rounds. "first" and "later" are the times themselves.
func BenchmarkWindow(b *testing.B) {
	for _, name := range []string{"a.log", "a.csv", "a.json"} {
		for _, lines := range []int{10_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/%d", name, lines), func(b *testing.B) {
				h := New(outputsOf(b, 1<<30), nil)
				few, many := file(b, h, name, opened(50, name)), file(b, h, name, opened(lines, name))
				known := file(b, h, name, opened(lines, name)) // which is opened once
				ask(b, h, known, outputs.Ask{View: h.Of(known)[0]})
				look := func(h *Views, o *outputs.Output, from int) time.Duration {
					begun := time.Now()
					ask(b, h, o, outputs.Ask{View: h.Of(o)[0], From: from, Rows: 50})
					return time.Since(begun)
				}
				var ratios, firsts, laters []float64
				for i := 0; b.Loop(); i++ {
					many.Attach(forget)
					first := look(h, many, 1)
					reference := look(h, few, 1)
					ratios = append(ratios, first.Seconds()/reference.Seconds())
					firsts = append(firsts, first.Seconds()*1000)
					laters = append(laters, look(h, known, 1+(i*7919)%1000*lines/1000).Seconds()*1000)
				}
				for unit, list := range map[string][]float64{"ratio": ratios, "first-ms": firsts,
					"later-ms": laters} {
					slices.Sort(list)
					b.ReportMetric(list[len(list)/2], unit)
				}
			})
		}
	}
}

// BenchmarkLimits opens texts that are as large as limits lets them be: what they are, and the
// first window of each view, then a filter and an order of a table, in milliseconds.
func BenchmarkLimits(b *testing.B) {
	rows := map[string]int{Table: 50, Tree: 50, Preview: 5000} // as the page asks
	for name, c := range map[string]struct {
		of               format
		head, line, tail string
	}{
		"usual.csv":  {csv, "time,level,pump,text\n", "17,INFO,pump-3,\"accepted, sink 5\"\n", ""},
		"broken.csv": {csv, "time,text\n", "17,accepted\n18,\"sink\" 5\n19,accepted\n", ""},
		"usual.jsonl": {jsonLines, "",
			"{\"time\": 17, \"level\": \"INFO\", \"text\": \"accepted sink 5\"}\n", ""},
		"dense.json": {jsonValue, "{\"a\":[1", ",1", "]}"},
		"usual.yaml": {yaml, "", "- host: a.example\n  port: 443\n  tags: [x, y]\n", ""},
		"dense.yaml": {yaml, "a: [1", ",1", "]\n"},
		"usual.md": {prose, "# Pumps\n\n",
			"A pump *moves* what its `buffer` holds, see [the log](https://example.com/log).\n\n- one\n- " +
				"two\n\n", ""},
		"list.md": {prose, "# Stars\n\n",
			"- [example/pump](https://github.com/example/pump) - A *fast* pump for `frames` and what they " +
				"hold\n", ""},
		"usual.toml": {toml, "", "[[a]]\nhost = \"a.example\"\nport = 443\ntags = [\"x\", \"y\"]\n", ""},
	} {
		b.Run(name, func(b *testing.B) {
			h := New(outputsOf(b, 1<<30), nil)
			o := file(b, h, name, c.head+strings.Repeat(c.line, (int(limits[c.of].bytes)-20)/len(c.line)-1)+
				c.tail)
			took := map[string]time.Duration{}
			look := func(what string, f func()) {
				begun := time.Now()
				f()
				took[what] += time.Since(begun)
			}
			for b.Loop() {
				o.Attach(forget)
				look("kind", func() { h.Of(o) })
				for _, view := range h.Of(o) {
					if view == Table || view == Tree || view == Preview {
						look(view, func() { ask(b, h, o, outputs.Ask{View: view, Rows: rows[view]}) })
					}
					if view == Table {
						look("filter", func() { ask(b, h, o, outputs.Ask{View: view, Filter: []string{"nothing"}}) })
						look("sort", func() { ask(b, h, o, outputs.Ask{View: view, Sort: "-1"}) })
					}
				}
			}
			for what, d := range took {
				b.ReportMetric(d.Seconds()*1000/float64(b.N), what+"-ms")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// forget has an output opened anew.
func forget(any) any { return nil }

// BenchmarkCompare compares two texts as large as may be compared, in which each twentieth line
// changed.
func BenchmarkCompare(b *testing.B) {
	h := New(outputsOf(b, 1<<30), nil)
	line := "2026-11-21T21:57:31Z INFO pump-%d accepted sink=%d region=eu-west\n"
	var old, now strings.Builder
	for i := 0; old.Len() < int(limits[compared].bytes)-200; i++ {
		fmt.Fprintf(&old, line, i%16, i)
		if i%20 == 7 {
			i++
		}
		fmt.Fprintf(&now, line, i%16, i)
	}
	was, is := file(b, h, "a.log", old.String()), file(b, h, "a.log", now.String())
	for b.Loop() {
		is.Attach(forget)
		ask(b, h, is, outputs.Ask{View: Diff, With: was, Rows: 50})
	}
}
