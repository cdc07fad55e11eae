package browser

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// The inside of a folded row comes when it is opened, by keys as by a click, goes on
// with what its tool does, and is open for who comes by a link to it.
func TestFoldedRowsAreFilledWhenOpened(t *testing.T) {
	h := newHouse(t)
	if err := os.WriteFile(filepath.Join(h.site.workspace, "big.log"), []byte(bigLog()), 0o600); err != nil {
		t.Fatal(err)
	}
	more, end := make(chan bool), make(chan bool)
	h.backend.on("look", func(ctx context.Context, host agent.Host) error {
		for _, d := range []event.Data{
			event.ToolExecutionStart{ToolCallID: "v1", ToolName: "view", Arguments: []byte(`{"path":"big.log","view_range":[50000,50009]}`), By: event.ByAgent},
			event.ToolExecutionComplete{ToolCallID: "v1", Success: true, Result: &event.ToolResult{Content: "package pump\n\nfunc main() {}"}, DurationMs: 12},
			event.ToolExecutionStart{ToolCallID: "b1", ToolName: "bash", Arguments: []byte(`{"command":"make"}`), By: event.ByAgent},
			event.ToolExecutionPartialResult{ToolCallID: "b1", PartialOutput: "first line\n"},
		} {
			if err := host.Report(ctx, d); err != nil {
				return err
			}
		}
		<-more
		if err := host.Report(ctx, event.ToolExecutionPartialResult{ToolCallID: "b1", PartialOutput: "second line\n"}); err != nil {
			return err
		}
		<-end
		return host.Report(ctx, event.ToolExecutionComplete{ToolCallID: "b1", Success: true, Result: &event.ToolResult{Content: "all was made"}, DurationMs: 900})
	})
	id := h.session(t)
	p := h.site.open("/sessions/" + id)
	p.say("look")
	p.wait(`document.querySelectorAll('#turns .tool').length === 2`)
	if p.true(`document.querySelector('#turns').textContent.includes('package pump')`) {
		t.Error("the page holds what is folded")
	}
	p.js(`document.querySelector('.did').open = true`)
	p.js(`document.querySelector('#c-v1 .tool > summary').focus()`)
	p.press("Enter")
	p.wait(`document.querySelector('#c-v1 .tool[open] [data-more]')?.textContent.includes('func main() {}')`)
	p.js(`document.querySelector('#c-b1 .tool > summary').click()`)
	p.wait(`document.querySelector('#c-b1 [data-more]').textContent.includes('first line')`)
	p.shots("row-open")
	more <- true
	p.wait(`document.querySelector('#c-b1 [data-more]').textContent.includes('second line')`)
	end <- true
	p.done()
	p.wait(`document.querySelector('#c-b1 .tool[open] [data-more]')?.textContent.includes('all was made')`)
	p.wait(`document.querySelector('#c-v1 .tool[open] [data-more]')?.textContent.includes('func main() {}')`)

	p.look(1440, 900, "light") // where the Desk stands beside
	p.js(`document.querySelector('#c-b1 [data-act=show-result]').click()`)
	p.wait(`[...document.querySelectorAll('.pane:not([hidden]) .line .cl')].some((e) => e.textContent.trim() === 'all was made')`)
	p.is(`document.querySelector('.tab.is-front [data-part=name]')?.textContent`, "make")
	p.js(`document.querySelector('#c-v1 [data-act=show]').click()`)
	p.is(`document.querySelector('.tab.is-front [data-part=name]')?.textContent`, "big.log")
	p.wait(`[...document.querySelectorAll('.pane:not([hidden]) .line .cl')].some((e) => e.textContent.startsWith('050000 ') && e.getBoundingClientRect().top < innerHeight)`)
	p.is(`String(document.querySelectorAll('#turns .turn:not([data-look])').length)`, "1")

	p.do(chromedp.Navigate("about:blank"))
	p.do(chromedp.Navigate(h.site.url + "/sessions/" + id + "?from=4#c-v1")) // as a search leads there
	p.live()
	p.wait(`document.querySelector('#c-v1 .tool[open] [data-more]')?.textContent.includes('func main() {}')`)
	if p.true(`document.querySelector('#c-b1 .tool').open`) {
		t.Error("another row is open, too")
	}
}
