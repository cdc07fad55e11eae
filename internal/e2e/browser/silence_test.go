package browser

import (
	"context"
	"encoding/json"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// shifted opens a page whose clock is ahead by the seconds of shift.
func (s *site) shifted(path string) *page {
	s.t.Helper()
	p := s.open(path)
	p.before(`const now = Date.now; Date.now = () => now() + 1000 * Number(localStorage.getItem('shift'))`)
	p.again()
	return p
}

// again loads the page again.
func (p *page) again() {
	p.t.Helper()
	p.js(`window.old = true; location.reload()`)
	p.wait(`!window.old && 'joined' in document.body.dataset`)
}

// shift says by how many seconds the clocks of shifted tabs are ahead.
func (p *page) shift(seconds string) {
	p.t.Helper()
	p.js(`localStorage.setItem('shift', ` + seconds + `)`)
}

// An agent that hangs: what is waited for since when stands at the conversation's end and in the
// list of sessions, in each tab and after a reload, until something arrives, and a button ends the
// turn.
func TestSilenceIsShown(t *testing.T) {
	h := newHouse(t)
	steps := make(chan event.Data)
	h.backend.on("hang", func(ctx context.Context, host agent.Host) error {
		for {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case d := <-steps:
				if d == nil {
					if _, err := host.AskPermission(ctx, agent.Permission{ToolName: "bash", Kind: agent.KindShell, Action: "run a command", Resource: "make", Digest: "00"}); err != nil {
						return err
					}
				} else if err := host.Report(ctx, d); err != nil {
					return err
				}
			}
		}
	})
	const (
		row   = `document.getElementById('wait')`
		shown = row + `.checkVisibility()`
		since = row + `.querySelector('time').dateTime`
		words = row + `.innerText.replace(/\s+/g, ' ')`
	)
	id := h.session(t)
	p := h.site.shifted("/sessions/" + id)
	p.shift("-60")
	p.say("hang")
	steps <- event.SessionModelChange{NewModel: "acme/large"}
	p.wait(`!` + row + `.hidden && !` + shown)
	p.shift("12")
	p.wait(shown + ` && /^ ?Waiting for liar 1\d s Stop ?$/.test(` + words + `)`)
	steps <- event.AssistantTurnStart{TurnID: "1"} // the model is asked
	p.wait(shown + ` && /^ ?Waiting for acme\/large 1\d s Stop ?$/.test(` + words + `)`)
	p.wait(`/^1\d s$/.test(document.querySelector('#sessions [data-session="` + id + `"][data-status=running] time').textContent)`)
	p.wait(`document.getElementById('say').innerText.includes('Waiting for acme/large')`)
	p.is(`String(document.getElementById('say').innerText.split('Waiting for acme/large').length)`, "2") // announced once
	began := eval[string](p, since)

	q := h.site.shifted("/sessions/" + id)
	q.wait(shown)
	q.is(since, began)
	p.again()
	p.wait(shown)
	p.is(since, began)
	p.shots("wait")

	p.shift("-60")
	steps <- event.AssistantMessageDelta{MessageID: "a1", DeltaContent: "I run "}
	p.wait(since + ` > ` + quote(began) + ` && !` + shown)
	p.shift("12")
	p.wait(shown)
	steps <- event.ToolExecutionStart{ToolCallID: "c1", ToolName: "bash", Arguments: json.RawMessage(`{"command":"make"}`), By: event.ByAgent}
	p.wait(row + `.hidden && /^1\d s$/.test(document.querySelector('#turns .did > summary time').textContent)`)
	p.shot("wait-tool")
	other := h.session(t)
	steps <- event.ToolExecutionProgress{ToolCallID: "c1", WaitsFor: &event.OtherSession{SessionID: other}}
	p.wait(shown + ` && /^ ?Waiting for your answer in New session 1\d s Stop ?$/.test(` + words + `)`)
	p.is(row+`.querySelector('a').pathname`, "/sessions/"+other)
	p.again() // as it is in flight
	p.wait(shown + ` && ` + row + `.querySelector('a')`)
	p.shot("wait-other")
	p.accessible("wait-other")
	steps <- event.ToolExecutionProgress{ToolCallID: "c1"}
	p.wait(row + `.hidden`)
	steps <- event.ToolExecutionComplete{ToolCallID: "c1", Success: true}
	p.wait(shown)
	steps <- nil
	p.wait(`document.querySelector('[data-ask]') && ` + row + `.hidden`)
	p.answer("[data-act=deny]")
	p.wait(shown)
	p.click("#wait [data-act=stop]")
	p.wait(`document.querySelector('.turn[data-state=aborted]') && ` + row + `.hidden && document.activeElement.id === 'prompt'`)
}
