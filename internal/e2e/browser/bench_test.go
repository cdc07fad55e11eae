package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"webchat/internal/event"
	fragments "webchat/internal/page"
	"webchat/internal/views"
)

// BenchmarkAnswerInThePage streams a Markdown answer into the page in deltas of 20
// characters: at full speed, and at 1,000 deltas a second. The reference puts the
// whole message anew at each delta (paced: once a frame), in the same browser and
// from the same HTML. CPU is what the page's main thread was busy.
func BenchmarkAnswerInThePage(b *testing.B) {
	p := sessionPage(b)
	p.sources()
	p.js(benchScript)
	var small, large, ours, again, paced, pacedAgain, longest, updates float64
	for b.Loop() {
		p.frames(40_000)
		ours += p.busy(`bench.burst()`)
		p.js(`bench.collect()`)
		again += 20 * p.busy(`bench.burst(20)`) // one of twenty, counted for all: all take a minute
		p.frames(100_000)
		small += p.busy(`bench.burst()`)
		p.frames(1_000_000)
		large += p.busy(`bench.burst()`)
		paced += p.busy(`bench.paced()`)
		longest = max(longest, eval[float64](p, `bench.longest`))
		updates += eval[float64](p, `bench.updates`)
		pacedAgain += p.busy(`bench.paced('whole')`)
	}
	b.ReportMetric(large/small, "1MB/100KB")
	b.ReportMetric(ours/again, "40KB/again")
	b.ReportMetric(ours/float64(b.N), "ms/40KB")
	b.ReportMetric(large/float64(b.N), "ms/1MB")
	b.ReportMetric(paced/pacedAgain, "paced/again")
	b.ReportMetric(longest, "ms-longest-task")
	b.ReportMetric(updates/float64(b.N), "updates/s")
}

// BenchmarkFirstWindow is how long it takes from a click to the rows of lines
// 50,001 to 50,500 of a highlighted file of 100,000, in the page, beside a file
// that has only those 500 lines.
func BenchmarkFirstWindow(b *testing.B) {
	s := start(b)
	p := s.open("/")
	var long, short float64
	for name, n := range map[string]int{"long.go": 100_000, "short.go": 500} {
		if err := os.WriteFile(filepath.Join(s.workspace, name),
			[]byte(strings.Repeat("func add(a, b int) int { return a + b } // sums\n", n)),
			0o644); err != nil {
			b.Fatal(err)
		}
		p.say("/show " + name)
		p.done()
		p.wait(`[...document.querySelectorAll('[data-card][data-state=done]')].some((c) => c.dataset.name === ` + quote(name) + `)`)
	}
	p.sources()
	window := func(name string, from int) float64 {
		return eval[float64](p, fmt.Sprintf(`(async () => {
			const { rowsOf } = await import(document.querySelector('script[src*=theme]').src.replace('app/theme.js', 'js/lines.js'))
			const { fragment } = await import(document.querySelector('script[src*=theme]').src.replace('app/theme.js', 'js/html.js'))
			const card = [...document.querySelectorAll('[data-card]')].find((c) => c.dataset.name === %s)
			const start = performance.now()
			const rows = fragment(await rowsOf(card.dataset.output, %d, %d))
			card.querySelector('.lines').replaceChildren(rows)
			card.offsetHeight
			return performance.now() - start
		})()`, quote(name), from, from+499))
	}
	at := 50_001
	for b.Loop() {
		long += window("long.go", at)
		short += window("short.go", 1)
		at = 1 + (at+20_011)%99_000 // another place: nothing is remembered
	}
	b.ReportMetric(long/float64(b.N), "ms/window")
	b.ReportMetric(long/short, "long/short")
}

// sessionPage opens the page of a session that exists.
func sessionPage(b *testing.B) *page {
	p := start(b).open("/")
	p.say("/show go.mod")
	p.done()
	return p
}

// nothing is outputs of a session that shows none.
type nothing struct{}

func (nothing) Output(string) (views.Output, bool) { return views.Output{}, false }

// frames hands the page what a server would send for an answer of so many bytes.
func (p *page) frames(bytes int) {
	p.t.Helper()
	pages, err := fragments.New(fragments.Config{Outputs: nothing{}})
	if err != nil {
		p.t.Fatal(err)
	}
	var parent event.ID
	seq, pos := int64(0), int64(0)
	entry := func(d event.Data) event.Entry {
		e := event.New(d, parent, time.Now())
		if pos++; event.Logged(d) {
			seq++
			parent = e.ID
		}
		return event.Entry{Seq: seq, Pos: pos, Event: e}
	}
	pr := pages.Projector("s1")
	pr.Load(entry(event.SessionStart{SessionID: "s1", Backend: "offline"}),
		entry(event.UserMessage{MessageID: "bench", Content: "stream"}),
		entry(event.TurnStart{TurnID: "t1", MessageID: "bench"}))
	text := strings.Repeat(
		"The test is right and the code is **late** by one frame.\n\n1. first the `lock`\n2. then the map\n\n> and nothing else, as far as anyone knows\n\n```none\none\ntwo\n```\n\n", 1+bytes/160)[:bytes]
	p.js(`window.frames20 = []`)
	var piece strings.Builder
	flush := func() {
		p.js(`frames20.push(...` + quote(strings.TrimSuffix(piece.String(), "\n")) + `.split('\n'))`)
		piece.Reset()
	}
	for at := 0; at < len(text); at += 20 {
		f, ok := pr.Feed(entry(event.AssistantMessageDelta{
			MessageID:    "a1",
			Offset:       int64(at),
			DeltaContent: text[at:min(len(text), at+20)],
		}))
		if !ok {
			continue
		}
		piece.Write(f.Data())
		piece.WriteByte('\n')
		if piece.Len() > 4<<20 {
			flush()
		}
	}
	if piece.Len() > 0 {
		flush()
	}
}

// busy returns the milliseconds of a processor that the page's main thread took for something.
func (p *page) busy(js string) float64 {
	p.t.Helper()
	metric := func() float64 {
		r, err := chromedp.Run(p.ctx, func(ctx context.Context,
			_ *chromedp.Target) (performance.GetMetricsResult, error) {
			if _, err := chromedp.Call(ctx, performance.Enable,
				performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}); err != nil {
				return performance.GetMetricsResult{}, err
			}
			return chromedp.Call(ctx, performance.GetMetrics, struct{}{})
		})
		if err != nil {
			p.t.Fatal(err)
		}
		for _, m := range r.Metrics {
			if m.Name == "TaskDuration" {
				return m.Value * 1000
			}
		}
		p.t.Fatal("no TaskDuration")
		return 0
	}
	was := metric()
	p.js(`window.over = false; ` + js + `.then(() => { over = true })`)
	for deadline := time.Now().Add(10 * time.Minute); !p.true(`window.over`); time.Sleep(
		50 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.t.Fatalf("never over: %s", js)
		}
	}
	return metric() - was
}

// benchScript is the two pages that are measured: ours, by its own queue, and one
// that puts the whole message anew ("whole").
const benchScript = `
	const from = (name) => import(document.querySelector('script[src*=theme]').src.replace('app/theme.js', 'js/' + name))
	const { push } = await from('queue.js')
	const { apply } = await from('ops.js')
	const { fragment } = await from('html.js')
	const turns = document.getElementById('turns')
	const fresh = () => turns.replaceChildren(fragment('<section class="turn" id="t-bench"><div class="turn-b" id="t-bench.b"></div></section>'))
	const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))
	const shadow = (blocks, frame) => {
		for (const op of frame.ops) {
			if (!op.h || !/^m-a1/.test(op.t ?? '') && !op.h.includes('id="m-a1.b"')) continue
			for (const b of fragment(op.h).querySelectorAll('.b')) blocks.set(b.id, b.outerHTML)
		}
		return '<div class="row" id="m-a1"><span class="g"></span><div><div class="said" id="m-a1.b">' + [...blocks.values()].join('') + '</div></div></div>'
	}
	const put = (html) => { const old = document.getElementById('m-a1'); old ? old.replaceWith(fragment(html)) : document.getElementById('t-bench.b').append(fragment(html)) }
	new PerformanceObserver((l) => { for (const e of l.getEntries()) bench.longest = Math.max(bench.longest, e.duration) }).observe({ type: 'longtask' })
	window.bench = {
		longest: 0, updates: 0, whole: [],
		collect() { const blocks = new Map(); bench.whole = frames20.map((f) => shadow(blocks, JSON.parse(f))) },
		async burst(each = 0) {
			fresh()
			const list = frames20.keys().filter((i) => !each || i % each === 0).toArray()
			const { port1, port2 } = new MessageChannel()
			await new Promise((done) => {
				let n = 0
				port1.onmessage = (e) => {
					const last = ++n === list.length
					if (each) { put(bench.whole[e.data]); if (last) done() } else push(JSON.parse(frames20[e.data]).ops, last ? done : undefined)
				}
				list.forEach((i) => port2.postMessage(i))
			})
			await painted()
		},
		async paced(how) {
			fresh()
			await painted()
			bench.longest = 0
			let seen = 0
			const watch = new MutationObserver(() => seen++)
			watch.observe(turns, { childList: true, subtree: true, characterData: true })
			const blocks = new Map()
			let html = '', waiting = false, n = 0
			const start = performance.now()
			await new Promise((done) => {
				const tick = setInterval(() => {
					const due = Math.min(frames20.length, Math.floor(performance.now() - start))
					for (; n < due; n++) {
						const frame = JSON.parse(frames20[n])
						if (!how) { push(frame.ops); continue }
						html = shadow(blocks, frame)
						if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; put(html) }) }
					}
					if (n === frames20.length) { clearInterval(tick); done() }
				})
			})
			await painted()
			watch.disconnect()
			bench.updates = seen / ((performance.now() - start) / 1000)
		},
	}`
