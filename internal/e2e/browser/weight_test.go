package browser

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// A first visit needs little before something is drawn: at most 60 kB as they travel, in
// at most 10 requests. What the page is used with comes behind that.
func TestFirstPaintIsLight(t *testing.T) {
	s, p := desked(t)
	p.told("show me internal/pump/pump.go")
	p.front("pump.go")
	address := eval[string](p, `location.pathname`)
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
			return err
		}
		_, err := chromedp.Call(ctx, network.SetCacheDisabled,
			network.SetCacheDisabledParams{CacheDisabled: true})
		return err
	}))
	for _, path := range []string{"/", address} {
		p.do(chromedp.Navigate("about:blank"))
		p.do(chromedp.Navigate(s.url + path))
		p.live()
		p.wait(`performance.getEntriesByName('first-contentful-paint').length`)
		const before = `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].filter((e) => e.startTime <= performance.getEntriesByName('first-contentful-paint')[0].startTime)`
		names := eval[string](p, before+
			`.map((e) => e.name.split('/').pop() + ' ' + e.transferSize).join(', ')`)
		if n := eval[int](p, before+`.length`); n > 10 || n < 3 {
			t.Errorf("%s: %d requests before the first paint: %s", path, n, names)
		}
		if n := eval[int](p, before+`.reduce((sum, e) => sum + e.transferSize, 0)`); n > 60_000 ||
			n < 1000 {
			t.Errorf("%s: %d bytes before the first paint: %s", path, n, names)
		}
	}
	start := eval[string](p, `(async () => {
		const { href } = document.querySelector('link[rel=manifest]')
		const m = await (await fetch(href)).json()
		const all = await Promise.all(m.icons.map((i) => fetch(new URL(i.src, href))))
		return all.every((r) => r.ok) ? new URL(m.start_url, href).pathname : 'an icon is missing'
	})()`)
	if start != "/" {
		t.Errorf("the app begins at %q", start)
	}
}

// visit is what a first visit takes, from the sign-in link to a page that is live.
type visit struct {
	mu       sync.Mutex                   // guards what follows
	requests map[network.RequestID]string // addresses of those that were not answered from a cache
	bytes    int                          // of scripts, as they travel
	took     float64                      // milliseconds
}

func (v *visit) hear(ev any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch e := ev.(type) {
	case *network.EventRequestWillBeSent:
		v.requests[e.RequestID] = e.Request.URL
	case *network.EventRequestServedFromCache:
		delete(v.requests, e.RequestID)
	case *network.EventResponseReceived:
		if e.Response.FromDiskCache {
			delete(v.requests, e.RequestID)
		}
	case *network.EventLoadingFinished:
		if strings.HasSuffix(v.requests[e.RequestID], ".js") {
			v.bytes += int(e.EncodedDataLength)
		}
	}
}

// visited makes a first visit over a line on which each answer comes so many milliseconds later.
func visited(s *site, latency float64) *visit {
	s.t.Helper()
	v := &visit{requests: map[network.RequestID]string{}}
	p := s.tab()
	if err := chromedp.Listen(p.ctx, v.hear); err != nil {
		s.t.Fatal(err)
	}
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
			return err
		}
		if _, err := chromedp.Call(ctx, network.ClearBrowserCache, cdp.Empty{}); err != nil {
			return err
		}
		_, err := chromedp.Call(ctx, network.EmulateNetworkConditionsByRule,
			network.EmulateNetworkConditionsByRuleParams{
				MatchedNetworkConditions: []*network.Conditions{{
					Latency:            latency,
					DownloadThroughput: -1,
					UploadThroughput:   -1,
				}}})
		return err
	}))
	begun := time.Now()
	p.do(chromedp.Navigate(s.link))
	p.wait(`document.body.dataset.page === 'home' && 'usable' in document.body.dataset`)
	v.took = float64(time.Since(begun).Milliseconds())
	s.link = ""
	return v
}

// A first visit, from the sign-in link until one can type and send, is at most 12 requests and 90
// kB of scripts.
func TestFirstVisitIsLight(t *testing.T) {
	v := visited(start(t), 0)
	v.mu.Lock()
	defer v.mu.Unlock()
	t.Logf("%d requests, %d bytes of scripts", len(v.requests), v.bytes)
	if len(v.requests) > 12 || len(v.requests) < 5 {
		t.Errorf("%d requests:\n%s", len(v.requests),
			strings.Join(slices.Sorted(maps.Values(v.requests)), "\n"))
	}
	if v.bytes > 90_000 || v.bytes < 10_000 {
		t.Errorf("%d bytes of scripts", v.bytes)
	}
}

// BenchmarkSignIn is a first visit on lines of several latencies; rounds is what the latency adds,
// in round trips.
func BenchmarkSignIn(b *testing.B) {
	var near float64
	for _, latency := range []float64{0, 150, 400} {
		b.Run(fmt.Sprintf("%.0fms", latency), func(b *testing.B) {
			for b.Loop() {
				v := visited(start(b), latency)
				v.mu.Lock()
				b.ReportMetric(v.took, "ms")
				b.ReportMetric(float64(len(v.requests)), "requests")
				b.ReportMetric(float64(v.bytes)/1000, "kB-scripts")
				if latency == 0 {
					near = v.took
				} else {
					b.ReportMetric((v.took-near)/latency, "rounds")
				}
				v.mu.Unlock()
			}
		})
	}
}
