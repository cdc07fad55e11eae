package browser

import (
	"context"
	"testing"

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
		_, err := chromedp.Call(ctx, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
		return err
	}))
	for _, path := range []string{"/", address} {
		p.do(chromedp.Navigate("about:blank"))
		p.do(chromedp.Navigate(s.url + path))
		p.live()
		p.wait(`performance.getEntriesByName('first-contentful-paint').length`)
		const before = `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].filter((e) => e.startTime <= performance.getEntriesByName('first-contentful-paint')[0].startTime)`
		names := eval[string](p, before+`.map((e) => e.name.split('/').pop() + ' ' + e.transferSize).join(', ')`)
		if n := eval[int](p, before+`.length`); n > 10 || n < 3 {
			t.Errorf("%s: %d requests before the first paint: %s", path, n, names)
		}
		if n := eval[int](p, before+`.reduce((sum, e) => sum + e.transferSize, 0)`); n > 60_000 || n < 1000 {
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
