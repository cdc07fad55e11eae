package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// THREATS 15: a page of ours is not shown within another one, where somebody could
// be made to click on what they do not see.
func TestPagesAreNotFramed(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.say("run echo framed")
	p.wait(`document.querySelector('[data-ask]')`)
	at := "/sessions/" + p.session()
	for _, path := range []string{"/", "/auth", "/consent", at} {
		around := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<!doctype html><title>around</title><iframe src="%s%s" onload="document.title = 'loaded'"></iframe>`, s.url, path)
		}))
		defer around.Close()
		outer := s.tab()
		outer.expect("frame-ancestors", "X-Frame-Options", "ERR_BLOCKED_BY_RESPONSE", "Refused to", "chrome-error")
		outer.do(chromedp.Navigate(strings.Replace(around.URL, "127.0.0.1", "localhost", 1))) // the same site: the frame is in the same tree
		outer.is(`document.title`, "loaded")
		outer.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			tree, err := chromedp.Call(ctx, cdppage.GetFrameTree, cdp.Empty{})
			if err != nil {
				return err
			}
			for _, child := range tree.FrameTree.ChildFrames {
				if child.Frame.UnreachableURL == "" {
					t.Errorf("%s is shown within another page", path)
				}
			}
			if len(tree.FrameTree.ChildFrames) != 1 {
				t.Errorf("%d frames", len(tree.FrameTree.ChildFrames))
			}
			return nil
		}))
	}
}

// THREATS 15: a click or a key that was meant for something else and falls on a
// question that has only just come decides nothing.
func TestFreshQuestionIsInert(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.say("what can you do?") // what comes now comes to a page that listens
	p.done()
	p.js(`new MutationObserver((changes) => {
		for (const c of changes) for (const n of c.addedNodes) {
			const ask = n.querySelector?.('[data-ask]') ?? (n.matches?.('[data-ask]') ? n : null)
			if (!ask || window.tried) continue
			window.tried = true
			ask.focus()
			for (const key of ['a', 's']) ask.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
			for (const b of ask.querySelectorAll('[data-act^=allow]')) b.click()
		}
	}).observe(document, { childList: true, subtree: true })`)
	p.say("run touch acted")
	p.wait(`window.tried && document.querySelector('[data-ask][data-ready]')`)
	// What was tried would have been answered before what is sent now.
	got := eval[string](p, `(async () => {
		`+send+`
		const id = document.body.dataset.session
		return (await send('get', '/api/sessions/' + id + '/events?limit=5000')).events.map((e) => e.type).join(' ')
	})()`)
	if p.true(`document.querySelector('[data-answered]')`) {
		t.Errorf("a question was answered before it could be read: %s", got)
	}
	p.click("[data-ask] [data-act=allow-once]")
	p.has("[data-answered]", "you allowed it once")
}
