package browser

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"webchat/internal/e2e/ports"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/store"
)

// BenchmarkFirstPaint is how long it takes from asking for the page to its first
// content, beside 10,000 sessions in 50 folders and beside 10 in one, in turns.
func BenchmarkFirstPaint(b *testing.B) {
	few, many := paintSite(b, 10, 1), paintSite(b, 10_000, 50)
	var took [2][]float64
	for b.Loop() {
		for range 7 {
			for i, p := range []*page{few, many} {
				p.do(chromedp.Reload())
				p.live()
				took[i] = append(took[i], eval[float64](p, `performance.getEntriesByName('first-contentful-paint')[0].startTime`))
			}
		}
	}
	median := func(x []float64) float64 { slices.Sort(x); return x[len(x)/2] }
	b.ReportMetric(median(took[0]), "10-sessions-ms")
	b.ReportMetric(median(took[1]), "10000-sessions-ms")
	b.ReportMetric(median(took[1])/median(took[0]), "ratio")
	b.ReportMetric(0, "ns/op")
}

// paintSite is the page of a server with so many sessions.
func paintSite(b *testing.B, sessions, folders int) *page {
	b.Helper()
	if noBrow != "" {
		b.Skip(noBrow)
	}
	s := &site{t: b, workspace: workspace(b), data: filepath.Join(b.TempDir(), "data")}
	db, err := store.Open(store.Config{Dir: s.data})
	if err != nil {
		b.Fatal(err)
	}
	for i := range sessions {
		folder := s.workspace
		if i%folders > 0 {
			folder = fmt.Sprintf("%s/project-%d", filepath.Dir(s.workspace), i%folders)
		}
		at := time.Now().Add(-time.Duration(sessions-i) * time.Minute)
		id, sum, entries := eventlog.ID(event.NewID()), eventlog.Summary{}, []event.Entry(nil)
		for seq, d := range []event.Data{event.SessionStart{SessionID: string(id), Workspace: folder, Backend: "offline"},
			event.SessionTitleChanged{Title: fmt.Sprintf("Look into the pump, part %d", i)}} {
			e := event.Entry{Seq: int64(seq + 1), Event: event.New(d, "", at)}
			if e.JSON, err = event.Marshal(e.Event); err != nil {
				b.Fatal(err)
			}
			sum, entries = eventlog.Summarize(sum, e), append(entries, e)
		}
		if err := db.Append(context.Background(), id, entries, sum); err != nil {
			b.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	s.up("localhost:" + ports.Free())
	b.Cleanup(func() { s.down(syscall.SIGTERM) })
	p := s.open("/")
	p.wait(fmt.Sprintf(`document.querySelectorAll('#sessions .folder').length === %d`, folders))
	return p
}
