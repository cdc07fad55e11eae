package page_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"webchat/internal/event"
	"webchat/internal/page"
	"webchat/internal/render/markdown"
)

// essay is n bytes of prose with lists and tables.
func essay(n int) string {
	return strings.Repeat(
		"The test is right and the code is **late** by one frame, see https://go.dev/ref/mem.\n\n1. "+
			"first the `lock`\n2. then the map\n\n| row | what |\n|---|---|\n| 1 | fan-out |\n\n```none\n"+
			"one\ntwo\n```\n\n", 1+n/150)[:n]
}

// streamed feeds an answer in 20-character deltas, encodes each frame, and
// returns how long that took and how many bytes would travel to each reader.
func streamed(p *page.Pages, text string) (took time.Duration, sent int) {
	l := newLog().add(opening()...)
	pr := p.Projector("s1")
	pr.Load(l.entries...)
	l.entries = l.entries[:0]
	for at := 0; at < len(text); at += 20 {
		l.add(event.AssistantMessageDelta{
			MessageID:    "a1",
			Offset:       int64(at),
			DeltaContent: text[at:min(len(text), at+20)],
		})
	}
	start := time.Now()
	for _, e := range l.entries {
		if f, ok := pr.Feed(e); ok {
			sent += len(f.Data())
		}
	}
	return time.Since(start), sent
}

// BenchmarkDeltas is the server's half of a long answer: from event to frame, once
// for all readers. 1 MB is to cost at most 12 times what 100 KB does; 40 KB at
// most a fifth of what it does to render the whole message again at each delta.
func BenchmarkDeltas(b *testing.B) {
	p := pages(b, 40)
	const message = 40_000
	var small, large, ours, again time.Duration
	var sent int
	streamed(p, essay(message))
	for b.Loop() {
		d, _ := streamed(p, essay(100_000))
		small += d
		d, sent = streamed(p, essay(1_000_000))
		large += d
		d, _ = streamed(p, essay(message))
		ours += d
		text := essay(message)
		start := time.Now()
		for at := 20; at <= message; at += 20 * 200 { // one of 200, counted for all
			f := page.Frame{Ops: []page.Op{{
				Action: "replace",
				Target: "m-a1",
				HTML:   string(markdown.HTML(text[:at])),
			}}}
			f.Data()
		}
		again += 200 * time.Since(start)
	}
	n := float64(b.N)
	b.ReportMetric(large.Seconds()*1e6/n/50_000, "µs/delta")
	b.ReportMetric(float64(sent)/50_000, "B/delta")
	b.ReportMetric(large.Seconds()/small.Seconds(), "1MB/100KB")
	b.ReportMetric(ours.Seconds()*1e3/n, "ours-ms")
	b.ReportMetric(again.Seconds()*1e3/n, "reference-ms")
	b.ReportMetric(ours.Seconds()/again.Seconds(), "ratio")
	b.ReportMetric(0, "ns/op")
}

// turns adds whole turns to a log.
func turns(l *logbook, from, to int) []event.Entry {
	l.entries = l.entries[:0]
	for i := from; i < to; i++ {
		m := fmt.Sprint("m", i)
		l.add(join(event.UserMessage{MessageID: m, Content: "show me go.mod"},
			event.TurnStart{TurnID: m, MessageID: m}, show("c"+m, "render_file_contents",
				`{"path":"go.mod"}`, "out_A", `{"outputType":"file"}`),
			words("a"+m, answer, 100), event.AssistantMessage{MessageID: "a" + m, Content: answer},
			event.TurnEnd{TurnID: m, MessageID: m, Outcome: event.Completed})...)
	}
	return l.entries
}

// BenchmarkLoad is what it costs to fold a log of 1,000 turns, as when a page is
// opened after a restart.
func BenchmarkLoad(b *testing.B) {
	p := pages(b, 40)
	entries := turns(newLog(), 0, 1000)
	for b.Loop() {
		p.Projector("s1").Load(entries...)
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(b.N)/float64(len(entries)), "µs/event")
}

// A projector does not grow with its session.
func TestMemoryIsBounded(t *testing.T) {
	p := pages(t, 3)
	pr := p.Projector("s1")
	l := newLog()
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const step = 1500
	pr.Load(turns(l, 0, step)...)
	before := heap()
	pr.Load(turns(l, step, 3*step)...)
	if after := heap(); after > before+1<<20 {
		t.Errorf("%d bytes after %d turns, %d after %d", before, step, after, 3*step)
	}
	runtime.KeepAlive(pr)
}
