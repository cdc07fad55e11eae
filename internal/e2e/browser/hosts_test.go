package browser

import (
	"context"
	"encoding/json"
	"maps"
	"sync"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// The hosts that a command waits for are one card: what came with it has a tick, what comes later has
// none until somebody gives it one, and what has none is refused. By keys, in another tab, on a phone.
func TestHostsThatACommandWaitsFor(t *testing.T) {
	h := newHouse(t)
	var mu sync.Mutex
	got := map[string]string{}
	more := make(chan bool)
	h.backend.on("install", func(ctx context.Context, host agent.Host) error {
		if err := host.Report(ctx, event.ToolExecutionStart{ToolCallID: "c1", ToolName: "bash", Arguments: json.RawMessage(`{"command":"npm install"}`), By: event.ByAgent}); err != nil {
			return err
		}
		var wg sync.WaitGroup
		defer wg.Wait()
		reach := func(name, why string) {
			wg.Go(func() {
				v, err := host.AskPermission(ctx, agent.Permission{ToolCallID: "c1", ToolName: "sandbox", Kind: agent.KindHost, Action: "reach a host", Resource: name, Why: why})
				mu.Lock()
				defer mu.Unlock()
				if got[name] = string(v.Decision) + " " + string(v.Scope); err != nil {
					got[name] = err.Error()
				}
			})
		}
		reach("registry.example", "")
		for _, next := range []string{"10.0.0.7:5432", "later.example", "later.example"} {
			select {
			case <-more:
				reach(next, "It is in a private network: 10.0.0.7.")
			case <-ctx.Done():
				return nil
			}
		}
		return nil
	})
	p := h.site.open("/sessions/" + h.session(t))
	other := h.site.open("/sessions/" + p.session())
	p.say("install")
	ticks := func(want string) {
		t.Helper()
		p.is(`[...document.querySelectorAll('.is-hosts [role=checkbox]')].map((b) => b.ariaChecked).join()`, want)
	}
	p.has("#asks-groups h3", "npm wants registry.example")
	p.wait(`document.querySelector('.is-hosts[data-ready] [data-act=open-hosts][aria-disabled=false]')`)
	p.wait(`[...document.querySelectorAll('#asks > li')].every((li) => li.hidden)`)
	more <- true
	p.has(".is-hosts", "an address without a name")
	p.has(".is-hosts", "It is in a private network: 10.0.0.7.")
	more <- true
	p.has("#asks-groups h3", "npm wants 3 hosts")
	ticks("true,false,false")
	p.shots("31-hosts")

	// Down to the second, which is given a tick; then all with one, for this session.
	p.focus(`document.querySelector('.is-hosts')`)
	p.press("ArrowDown", "ArrowDown", " ")
	ticks("true,true,false")
	p.wait(`document.querySelector('.is-hosts[data-keys][data-ready]')`)
	p.press("s")
	p.wait(`document.querySelectorAll('[data-answered]').length === 3`)
	want := map[string]string{"registry.example": "allow session", "10.0.0.7:5432": "allow session", "later.example": "deny "}
	poll(t, func() bool { mu.Lock(); defer mu.Unlock(); return maps.Equal(got, want) })

	// Alone, in another tab, on a phone: without a tick nothing can be opened.
	other.expect("navigator.vibrate") // nobody has touched it yet
	other.touch(390, 844)
	more <- true
	other.has("#asks-groups h3", "npm wants later.example")
	other.fits("a host on a phone")
	other.tap(".is-hosts [role=checkbox]")
	other.wait(`document.querySelector('.is-hosts [data-act=open-hosts]').ariaDisabled === 'true'`)
	other.tap(".is-hosts [role=checkbox]")
	other.wait(`document.querySelector('.is-hosts[data-ready] [data-act=open-hosts][aria-disabled=false]')`)
	other.shot("42-hosts")
	other.tap(".is-hosts [data-act=ways]")
	other.wait(`document.querySelector('.is-hosts[data-ready] [data-scope=workspace][aria-disabled=false]')`)
	other.fits("for how long a host is opened, on a phone")
	other.shot("42-hosts-more")
	other.tap(".is-hosts [data-scope=workspace]")
	want["later.example"] = "allow workspace"
	poll(t, func() bool { mu.Lock(); defer mu.Unlock(); return maps.Equal(got, want) })
	p.wait(`!document.querySelector('.is-hosts')`)
	p.done()
}
