package markdown

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// longAnswer is n bytes of what models write: prose, lists, code, a table.
func longAnswer(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "## Step %d\n\nThe test is right and the code is **late** by one frame. `Publish` looks at a full buffer when the *next* frame arrives, see https://go.dev/ref/mem.\n\n", i)
		b.WriteString("1. first the [lock](https://pkg.go.dev/sync)\n2. then the map\n   - which is shared\n   - and grows\n\n```go\nfunc main() {\n\tfor i := range 10 {\n\t\tfmt.Println(\"hi\", i) // says hi\n\t}\n}\n```\n\n")
		b.WriteString("| row | what | reach |\n|---|---|--:|\n| 1 | fan-out | 4x |\n| 2 | paced | 1.2x |\n\n")
	}
	return b.String()[:n]
}

// stream writes text in pieces as a model sends them, and shows what changed after each.
func stream(text string, piece int) (bytes int) {
	var s Stream
	for at := 0; at < len(text); at += piece {
		s.Write(text[at:min(len(text), at+piece)])
		bytes += show(&s)
	}
	s.End()
	return bytes + show(&s)
}

func show(s *Stream) (bytes int) {
	for _, p := range s.Patches() {
		b := s.Block(p.Block)
		if p.Part < 0 {
			bytes += len(b.Whole())
		} else {
			bytes += len(b.Part(p.Part).HTML())
		}
	}
	return bytes
}

// BenchmarkMarkdownStream is the server's half of a long answer in 20-character deltas. 1 MB is to cost at most 12 times
// what 100 KB does, and 40 KB at most a fifth of rendering the message again at each delta.
func BenchmarkMarkdownStream(b *testing.B) {
	small, large, message := longAnswer(100_000), longAnswer(1_000_000), longAnswer(40_000)
	stream(small, 20)
	var ours, tenfold, forty, again time.Duration
	timed := func(d *time.Duration, f func()) {
		start := time.Now()
		f()
		*d += time.Since(start)
	}
	for b.Loop() {
		timed(&ours, func() { stream(small, 20) })
		timed(&tenfold, func() { stream(large, 20) })
		timed(&forty, func() { stream(message, 20) })
		timed(&again, func() {
			for at := 20; at <= len(message); at += 20 * 200 { // one of 200, counted for all
				HTML(message[:at])
			}
		})
	}
	again *= 200
	n := float64(b.N) * 1e6
	b.ReportMetric(float64(ours)/n, "100KB-ms")
	b.ReportMetric(float64(tenfold)/n, "1MB-ms")
	b.ReportMetric(float64(tenfold)/float64(ours), "1MB/100KB")
	b.ReportMetric(float64(forty)/n, "40KB-ms")
	b.ReportMetric(float64(again)/n, "40KB-again-ms")
	b.ReportMetric(float64(forty)/float64(again), "ours/again")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkMarkdownHostile is what 100 KB of the worst texts cost in 20-character deltas.
func BenchmarkMarkdownHostile(b *testing.B) {
	for name, text := range hostileMarkdown(100_000) {
		b.Run(name, func(b *testing.B) {
			sent := 0
			for b.Loop() {
				sent = stream(text, 20)
			}
			b.ReportMetric(float64(sent)/1e6, "sent-MB")
		})
	}
}

func hostileMarkdown(n int) map[string]string {
	repeat := func(s string) string { return strings.Repeat(s, 1+n/len(s))[:n] }
	return map[string]string{
		"one paragraph": repeat("word and word "), "one word": repeat("w"), "lines": repeat("a line of words\n"), "one fence": "```go\n" + repeat("\tx := map[string]int{\"a\": 1} // c\n"),
		"fence without lines": "```go\n" + repeat("x"), "comment": "```go\n/*" + repeat(" /*"), "fence in a list": "1. x\n   ```go\n" + repeat("   x := 1\n"), "one list": repeat("- an item\n"), "nested list": repeat("- a\n  - b\n    - c\n\n      d\n"),
		"one table": "| a | b |\n|---|---|\n" + repeat("| cell | `cell` |\n"), "wide table": repeat("| a "), "quotes": repeat("> said\n"), "deep quotes": repeat("> "), "deep lists": repeat("- "), "deep quotes in lines": repeat(strings.Repeat(">", 500) + "\n"),
		"brackets": repeat("["), "images": repeat("![a]("), "links": repeat("[a](b"), "stars": repeat("*a **b "), "emphasis": repeat("a**b_c "), "ticks": repeat("`a ``b "), "backslashes": repeat("\\"), "entities": repeat("&amp"), "addresses": repeat("http://a.b "), "mail": repeat("a@b.c,"),
		"angle": repeat("<a"), "rules": repeat("- - "), "equals": repeat("="), "spaces": repeat(" "), "tabs": repeat("\t- "), "delimiters": repeat("a | b\n-|-\n"), "struck": repeat("~~a "), "carriage": repeat("\r"), "bidi": repeat("\u202e"),
		"formulas": repeat("$x$ "), "open formulas": repeat("$x "), "ticked formulas": repeat("$` "), "open displays": repeat("$$ x "), "display": "$$\n" + repeat("x "), "unreadable": repeat("$\\a$ "), "formulas in a table": "| a |\n|---|\n" + repeat("| $x$ |\n"),
	}
}
