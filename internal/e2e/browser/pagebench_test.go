package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// aged makes a session of many turns that each show something, and opens it with a
// long output on the Desk.
func aged(b *testing.B, s *site, turns int) *page {
	b.Helper()
	var made struct{ ID string }
	if err := json.Unmarshal([]byte(s.api("POST", "/api/sessions", map[string]string{"workspace": s.workspace})), &made); err != nil {
		b.Fatal(err)
	}
	for i := range turns {
		name := fmt.Sprintf("f%d.go", i%100)
		s.put(name, pumpGo)
		s.api("POST", "/api/sessions/"+made.ID+"/messages?wait=true", map[string]string{"content": "show me " + name})
	}
	p := s.open("/sessions/" + made.ID)
	p.look(1440, 900, "light")
	p.say("/show big.log")
	p.front("big.log")
	p.wait(onDesk + `.querySelector('.rows .cl')?.textContent`)
	return p
}

// typed returns the median of what a letter takes from its key to its paint, in milliseconds.
func typed(p *page) float64 {
	p.js(`window.took = []
		document.getElementById('prompt').focus()
		window.keyed ??= (addEventListener('input', (e) => { const at = performance.now() - e.timeStamp; const t = performance.now(); requestAnimationFrame(() => setTimeout(() => took.push(at + performance.now() - t))) }, true), true)`)
	for i := range 20 {
		p.press(string(rune('a' + i)))
		p.wait(`took.length === ` + quoteInt(i+1))
	}
	all := eval[[]float64](p, `took`)
	slices.Sort(all)
	p.js(prompt + `.select()`)
	p.press("Delete")
	return all[len(all)/2]
}

// BenchmarkTyping is what a letter takes to be seen with a long session open, beside a
// new one, and while an answer streams.
func BenchmarkTyping(b *testing.B) {
	s := start(b)
	young, old := aged(b, s, 1), aged(b, s, 300)
	var fresh, long, ratios, streaming []float64
	for b.Loop() {
		for range 3 {
			f, l := typed(young), typed(old)
			fresh, long, ratios = append(fresh, f), append(long, l), append(ratios, l/f)
		}
		old.say("stream 40000 words")
		old.wait(composer + `.dataset.status !== 'idle' && ` + prompt + `.value === ''`)
		streaming = append(streaming, typed(old))
		old.press("Control+.")
		old.done()
	}
	for unit, list := range map[string][]float64{"new-ms": fresh, "300-turns-ms": long, "ratio": ratios, "streaming-ms": streaming} {
		slices.Sort(list)
		b.ReportMetric(list[len(list)/2], unit)
	}
}

// heap is what the page holds after what it does not need was freed, in bytes.
func (p *page) heap() float64 {
	p.t.Helper()
	used := 0.0
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		if _, err := chromedp.Call(ctx, heapprofiler.CollectGarbage, cdp.Empty{}); err != nil {
			return err
		}
		got, err := chromedp.Call(ctx, runtime.GetHeapUsage, cdp.Empty{})
		if err == nil {
			used = got.UsedSize
		}
		return err
	}))
	return used
}

// BenchmarkPageAfterADay is what the page holds after a day of 300 turns and 100 outputs
// that were seen while it was open, beside what a page holds that was opened then.
func BenchmarkPageAfterADay(b *testing.B) {
	s := start(b)
	var grown, elements []float64
	for b.Loop() {
		p := aged(b, s, 1)
		id := p.session()
		for i := range 300 {
			name := fmt.Sprintf("f%d.go", i%100)
			s.put(name, pumpGo)
			s.api("POST", "/api/sessions/"+id+"/messages?wait=true", map[string]string{"content": "show me " + name})
		}
		p.wait(`Number(document.getElementById('outs').dataset.count) > 300`)
		worn, many := p.heap(), eval[float64](p, `document.querySelectorAll('*').length`)
		p.do(chromedp.Reload())
		p.live()
		p.wait(onDesk + `?.querySelector('.rows .cl')?.textContent`)
		grown, elements = append(grown, worn/p.heap()), append(elements, many/eval[float64](p, `document.querySelectorAll('*').length`))
	}
	b.ReportMetric(slices.Max(grown), "heap/fresh")
	b.ReportMetric(slices.Max(elements), "elements/fresh")
}
