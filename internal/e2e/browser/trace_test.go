package browser

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
)

// task is a task of a page's main thread, as Chromium traces it.
type task struct {
	busy  float64            // milliseconds of a processor: other processes do not lengthen it
	wall  float64            // milliseconds
	parts map[string]float64 // busy milliseconds of what it did, by Chromium's names
}

// traced returns the tasks of the main threads of pages while f runs, the busiest first.
func (p *page) traced(f func()) []task {
	p.t.Helper()
	ctx, stop := context.WithCancel(p.ctx)
	defer stop()
	over := make(chan struct{})
	var events []json.RawMessage
	if err := chromedp.Listen(ctx, func(ev any) {
		switch e := ev.(type) {
		case *tracing.EventDataCollected:
			for _, v := range e.Value {
				events = append(events, json.RawMessage(v))
			}
		case *tracing.EventTracingComplete:
			close(over)
		}
	}); err != nil {
		p.t.Fatal(err)
	}
	call := func(begin bool) {
		p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			if !begin {
				_, err := chromedp.Call(ctx, tracing.End, cdp.Empty{})
				return err
			}
			_, err := chromedp.Call(ctx, tracing.Start, tracing.StartParams{
				TransferMode: "ReportEvents",
				TraceConfig: &tracing.TraceConfig{
					RecordMode:          "recordUntilFull",
					TraceBufferSizeInKb: 400_000,
					IncludedCategories:  []string{"devtools.timeline", "disabled-by-default-devtools.timeline"},
					ExcludedCategories:  []string{"*"},
				},
			})
			return err
		}))
	}
	call(true)
	f()
	call(false)
	<-over
	return tasksOf(p.t, events)
}

// String is how long it took, and what of it took longest.
func (k task) String() string {
	names := slices.SortedFunc(maps.Keys(k.parts), func(a, b string) int {
		return cmp.Compare(k.parts[b], k.parts[a])
	})
	s := fmt.Sprintf("%.0f ms busy, %.0f in all:", k.busy, k.wall)
	for _, name := range names[:min(len(names), 6)] {
		s += fmt.Sprintf(" %s %.0f", name, k.parts[name])
	}
	return s
}

func tasksOf(t testing.TB, events []json.RawMessage) (tasks []task) {
	type span struct {
		Name, Ph      string
		Pid, Tid      int
		Ts, Dur, Tdur float64
		Args          struct{ Name string }
	}
	type thread struct{ pid, tid int }
	mains := map[thread][]span{}
	var all []span
	for _, raw := range events {
		var s span
		if err := json.Unmarshal(raw, &s); err != nil {
			continue // its arguments have another shape
		}
		if s.Ph == "M" && s.Name == "thread_name" && s.Args.Name == "CrRendererMain" {
			mains[thread{s.Pid, s.Tid}] = nil
		}
		all = append(all, s)
	}
	for _, s := range all {
		at := thread{s.Pid, s.Tid}
		if _, ok := mains[at]; ok && s.Ph == "X" {
			mains[at] = append(mains[at], s)
		}
	}
	for _, spans := range mains {
		slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.Ts, b.Ts), cmp.Compare(b.Dur, a.Dur)) })
		end := 0.0
		for _, s := range spans {
			switch {
			case s.Name == "RunTask":
				end = s.Ts + s.Dur
				tasks = append(tasks, task{min(s.Tdur, s.Dur) / 1000, s.Dur / 1000, map[string]float64{}})
			case s.Ts < end:
				tasks[len(tasks)-1].parts[s.Name] += s.Tdur / 1000
			}
		}
	}
	slices.SortFunc(tasks, func(a, b task) int { return cmp.Compare(b.busy, a.busy) })
	if len(tasks) == 0 {
		t.Fatalf("no task in %d events", len(events))
	}
	return tasks
}
