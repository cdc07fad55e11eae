package browser

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// What the model holds is solid in the meter, on the screen and after a reload, beside an
// open question as well.
func TestMeterShowsWhatTheModelHolds(t *testing.T) {
	h := newHouse(t)
	ask := asking(h.site.workspace, wish{"c1", "bash", `{"command":"git push"}`, agent.Permission{Kind: agent.KindShell, Action: "run a command", Resource: "git push"}})
	h.backend.on("fill", func(ctx context.Context, host agent.Host) error {
		if err := host.Report(ctx, event.SessionUsageInfo{TokenLimit: 128_000, CurrentTokens: 42_000}); err != nil {
			return err
		}
		return ask(ctx, host)
	})
	p := h.site.open("/sessions/" + h.session(t))
	p.has("#meter", "Nothing sent yet")
	p.shots("meter-nothing")
	p.say("fill")
	p.wait(`document.querySelector('[data-ask]')`)
	solid := func() {
		t.Helper()
		p.has("#meter", "42k of 128k in context")
		p.wait(`(() => { const e = document.querySelector('#meter .held'); return e.checkVisibility({ visibilityProperty: true }) && e.getBoundingClientRect().width > 25 })()`)
	}
	solid()
	p.do(chromedp.Reload())
	p.live()
	solid()
	p.shots("meter-held")
	p.look(1080, 1000, "light")
	p.wait(ready1)
	p.answer("[data-ask] [data-act=deny]")
	p.done()
	solid()
	h.backend.on("again", func(context.Context, agent.Host) error { return nil })
	p.say("again")
	p.done()
	p.do(chromedp.Navigate(h.site.url + "/sessions/" + h.session(t)))
	p.live()
	p.say("again")
	p.done()
	p.has("#meter", "Sent, no size reported yet")
	p.shots("meter-unknown")

	// A budget is set behind the meter; past it the turn waits, until it may go on or has a larger one.
	h.backend.on("spend", func(ctx context.Context, host agent.Host) error {
		return host.Report(ctx, event.AssistantUsage{InputTokens: 150})
	})
	p.js(`document.querySelector('#meter').click()`)
	p.wait(`document.querySelector('#budget')?.checkVisibility()`)
	p.js(`document.querySelector('#budget').focus(); document.querySelector('#budget').select()`)
	p.write("100")
	p.press("Enter")
	p.has(".toast", "The budget is 100")
	p.wait(`document.querySelector('#ledger-pop').hidden`)
	p.say("spend")
	p.settled()
	p.say("again")
	p.has("#asks [data-budget]", "150 of 100 tokens")
	p.shots("budget")
	p.accessible("past the budget")
	p.look(1080, 1000, "light")
	p.wait(ready1)
	p.focus(question)
	p.wait(ripe)
	p.press("s")
	p.wait(`!document.querySelector('#asks [data-budget]')`)
	p.settled()
	p.say("spend")
	p.settled()
	p.say("again")
	p.has("#asks [data-budget]", "300 of 200 tokens")
	p.answer("[data-budget] [data-act=deny]")
	p.has("#turns", "Stopped at the budget of this session, after 300 of 200 tokens")
}
