package browser

import (
	"context"
	"sync"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"webchat/internal/e2e/ports"
)

// seat is a place in the browser that tests use one after the other: cookies, storage and workers
// of its own, and an address. What Chromium has compiled for that address it need not compile for
// each test, since one tab stays, and with it the process that all tabs of the seat share.
type seat struct {
	address string // host and port
	profile cdp.BrowserContextID
	tab     context.Context // which stays
	id      target.ID
	there   bool // the tab is at the address
}

var seats struct {
	sync.Mutex
	free []*seat
}

// sit gives the site a seat until the test's end.
func (s *site) sit() {
	s.t.Helper()
	if s.seat != nil {
		return
	}
	seats.Lock()
	if n := len(seats.free); n > 0 {
		s.seat, seats.free = seats.free[n-1], seats.free[:n-1]
	}
	seats.Unlock()
	if s.seat == nil {
		ctx, _ := chromedp.NewContext(chrome, chromedp.WithNewBrowserContext()) // ends with the browser
		if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
			s.t.Fatalf("open a tab: %v", err)
		}
		s.seat = &seat{address: "localhost:" + ports.Free(), profile: chromedp.FromContext(ctx).BrowserContextID, tab: ctx, id: chromedp.FromContext(ctx).Target.TargetID}
	}
	s.t.Cleanup(func() { s.seat.leave(s) })
}

// stay has the tab that stays show something of the site, once.
func (e *seat) stay(s *site) {
	if e.there || s.url != "http://"+e.address {
		return
	}
	e.there = true
	if err := chromedp.Do(e.tab, chromedp.Navigate(s.url+"/healthz")); err != nil {
		s.t.Fatalf("the tab that stays: %v", err)
	}
}

// leave forgets what the test did. A seat whose tabs do not close is not used again.
func (e *seat) leave(s *site) {
	ctx, stop := context.WithTimeout(e.tab, limit)
	defer stop()
	poll(s.t, func() bool { return e.alone(ctx) })
	if err := chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		if _, err := chromedp.CallBrowser(ctx, storage.ClearCookies, storage.ClearCookiesParams{BrowserContextID: e.profile}); err != nil {
			return err
		}
		if _, err := chromedp.CallBrowser(ctx, browser.ResetPermissions, browser.ResetPermissionsParams{BrowserContextID: e.profile}); err != nil {
			return err
		}
		if _, err := chromedp.CallBrowser(ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{Behavior: "default", BrowserContextID: e.profile}); err != nil {
			return err
		}
		_, err := chromedp.Call(ctx, storage.ClearDataForOrigin, storage.ClearDataForOriginParams{Origin: s.url, StorageTypes: "all"})
		return err
	})); err != nil {
		s.t.Errorf("leave the seat: %v", err)
		return
	}
	seats.Lock()
	seats.free = append(seats.free, e)
	seats.Unlock()
}

// alone closes tabs that pages opened, and reports whether only the seat's own tab is left.
func (e *seat) alone(ctx context.Context) bool {
	targets, err := chromedp.CallBrowser(ctx, target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		return false
	}
	alone := true
	for _, one := range targets.TargetInfos {
		if one.BrowserContextID != e.profile || one.TargetID == e.id {
			continue
		}
		alone = false
		if one.Type == "page" { // which a page opened, or which is about to close
			_, _ = chromedp.CallBrowser(ctx, target.CloseTarget,
				target.CloseTargetParams{TargetID: one.TargetID})
		}
	}
	return alone
}
