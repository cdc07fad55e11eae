package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"golang.org/x/sys/unix"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// liveLines is a text of n lines that say their numbers.
func liveLines(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d of the file", i+1)
	}
	return lines
}

// What this session's agent changes in a file is drawn in its place: the line one reads and the lines that
// are selected stay, old lines are folded, and what was shown is kept as a revision. What somebody else
// changes is a dot, whether the system reports it or not.
func TestLiveFiles(t *testing.T) {
	h := newHouse(t)
	lines := liveLines(400)
	name := filepath.Join(h.site.workspace, "live.txt")
	put := func() {
		if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Error(err)
		}
	}
	put()
	edits := 0
	edit := func(change func()) plot {
		return func(ctx context.Context, host agent.Host) error {
			edits++
			call := fmt.Sprint("edit", edits)
			if err := host.Report(ctx, event.ToolExecutionStart{ToolCallID: call, ToolName: "edit", Arguments: json.RawMessage(`{"path":"live.txt"}`), By: event.ByAgent}); err != nil {
				return err
			}
			change()
			put()
			return host.Report(ctx, event.ToolExecutionComplete{ToolCallID: call, Success: true, Result: &event.ToolResult{Content: "edited"}})
		}
	}
	h.backend.on("above", edit(func() {
		lines[1] = "line 2 is another one"
		lines = append([]string{"a new first line", "a new second line"}, lines...)
		lines[204] = "line 203 reads otherwise now"
	}))
	seen := make(chan struct{})
	h.backend.on("often", func(ctx context.Context, host agent.Host) error {
		if err := edit(func() { lines[230] = "once" })(ctx, host); err != nil {
			return err
		}
		<-seen
		return edit(func() { lines[230] = "twice" })(ctx, host)
	})
	h.backend.on("again", edit(func() { lines = append(lines[:3:3], lines[4:]...) }))
	p := h.site.open("/")
	p.look(1440, 900, "light")
	p.say("/show live.txt")
	p.done()
	p.front("live.txt")
	const (
		pane  = ".pane:not([hidden])"
		foot  = pane + " .dfoot .on-disk:not([hidden])"
		top   = `Math.round(document.querySelector('` + pane + ` .ln[href="#L%d"]').getBoundingClientRect().top)`
		words = `[...document.querySelectorAll('#tabs .tab.is-news')].map((e) => e.querySelector('[data-part=word]').textContent).join()`
	)
	p.js(`document.querySelector('` + pane + ` .code').scrollTop = 3900`)
	p.has(pane+" .rows", "line 205 of the file")
	p.click(pane + ` .ln[href="#L205"]`)
	p.wait(`document.querySelectorAll('` + pane + ` .line.on').length === 1`)
	before := eval[int](p, fmt.Sprintf(top, 200))

	p.told("above")
	p.has(pane+" .timeline", "shown")
	p.has(pane+" .timeline", "agent")
	p.has(pane+" .timeline .num", "+4 −2")
	p.has(pane+" .rows .is-fresh", "line 203 reads otherwise now")
	p.wait(fmt.Sprintf(top+` === %d`, 202, before)) // what was line 200
	p.is(`document.querySelector('`+pane+` .line.on .ln').getAttribute('href')`, "#L207")
	p.is(`document.querySelector('`+pane+` .was-fold').innerText.trim()`, "1 line before")
	p.accessible("a change of the agent in its place")
	p.shot("live-agent")
	p.click(pane + " .was-fold")
	p.has(pane+" .line.was", "line 203 of the file")
	p.wait(`/^1 line before, until \d\d:\d\d$/.test(document.querySelector('` + pane + ` .was-fold').innerText.trim())`)
	p.wait(`document.querySelector('` + pane + ` .map .fr')`)
	p.shot("live-agent-unfolded")
	p.is(words, "")

	p.told("again")
	p.has(pane+" .timeline .num", "+0 −1")
	p.wait(`document.querySelectorAll('` + pane + ` .timeline .stop[data-out]').length === 3`)

	// What changes often is drawn after a pause.
	p.say("often")
	p.has(pane+" .rows .is-fresh", "once")
	close(seen)
	p.has(pane+" .dfoot", "Changes often")
	p.has(pane+" .rows .is-fresh", "twice")
	p.settled()
	p.wait(`document.querySelector('` + pane + ` .dfoot [data-often]').hidden`)

	// Somebody else, with a report of the system.
	lines[210] = "somebody else's line"
	put()
	p.has(foot, "Changed on disk See it")
	p.is(words, "changed on disk")
	p.is(`String(document.querySelector('`+pane+` .rows').innerText.includes("somebody else's"))`, "false")
	p.wait(`document.querySelector('` + pane + ` .timeline .is-disk:not([hidden])')`)
	p.shot("live-disk")
	p.dark("live-disk")
	p.strained("a file that changed on disk")
	p.js(`document.querySelector('` + foot + ` [data-act=see-disk]').click()`)
	p.has(pane+" .rows .is-fresh", "somebody else's line")
	p.is(words, "")

	// Through memory, of which the system reports nothing.
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	copy(b, "A NEW")
	if err := unix.Msync(b, unix.MS_SYNC); err != nil {
		t.Fatal(err)
	}
	if err := unix.Munmap(b); err != nil {
		t.Fatal(err)
	}
	p.has(foot, "Changed on disk See it")

	// Replaced by rename, and deleted.
	p.js(`document.querySelector('` + foot + ` [data-act=see-disk]').click()`)
	p.wait(`!document.querySelector('` + foot + `')`)
	if err := os.WriteFile(name+".new", []byte("one line is left\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		t.Fatal(err)
	}
	p.has(foot, "Changed on disk See it")
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	p.has(foot, "No longer on disk. The last text is of")

	// After a reload the revisions are still there.
	p.do(chromedp.Reload())
	p.live()
	p.front("live.txt")
	p.wait(`document.querySelectorAll('` + pane + ` .timeline .stop[data-out]').length === 7`)
}

// BenchmarkLiveFile has a file of 10 MB on the Desk that changes ten times a second: by somebody else,
// which is a dot, and by the session's agent, which is drawn in place. Server is the processor time of
// this process, which is the server and the writer, as a share of a core; page is that of the page's
// main thread. Elsewhere the agent changes a file that is not on the Desk: what its calls alone cost
// in the conversation.
func BenchmarkLiveFile(b *testing.B) {
	const line = "2026-11-21T21:57:31Z INFO pump-7 accepted sink=1234 region=eu-west\n"
	for _, by := range []string{"else", "agent", "elsewhere"} {
		b.Run(by, func(b *testing.B) {
			h := newHouse(b)
			changed := "live.log"
			if by == "elsewhere" {
				changed = "other.log"
			}
			for _, name := range []string{"live.log", "other.log"} {
				h.site.put(name, strings.Repeat(line, 10_000_000/len(line)))
			}
			f, err := os.OpenFile(filepath.Join(h.site.workspace, changed), os.O_WRONLY, 0)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			changes := 0
			change := func() error {
				changes++
				at := int64(changes) * 7919 % (10_000_000/int64(len(line)) - 1) * int64(len(line))
				_, err := f.WriteAt(fmt.Appendf(nil, "%020d", changes), at)
				return err
			}
			h.backend.on("write", func(ctx context.Context, host agent.Host) error {
				for tick := time.Tick(100 * time.Millisecond); ; {
					select {
					case <-ctx.Done():
						return nil
					case <-tick:
					}
					if by == "else" {
						if err := change(); err != nil {
							return err
						}
						continue
					}
					call := fmt.Sprint("edit", changes)
					if err := host.Report(ctx, event.ToolExecutionStart{ToolCallID: call, ToolName: "edit", Arguments: json.RawMessage(`{"path":` + quote(changed) + `}`), By: event.ByAgent}); err != nil {
						return err
					}
					if err := change(); err != nil {
						return err
					}
					if err := host.Report(ctx, event.ToolExecutionComplete{ToolCallID: call, Success: true, Result: &event.ToolResult{Content: "edited"}}); err != nil {
						return err
					}
				}
			})
			p := h.site.open("/")
			p.look(1440, 900, "light")
			p.say("/show live.log")
			p.front("live.log")
			p.done()
			p.say("write")
			seen := `document.querySelector('.pane:not([hidden]) .dfoot .on-disk:not([hidden])')`
			switch by {
			case "agent":
				first := eval[string](p, onDesk+`.dataset.output`)
				seen = onDesk + `.dataset.output !== ` + quote(first)
			case "elsewhere":
				seen = `document.querySelectorAll('#turns .tool').length > 10`
			}
			p.wait(seen)
			if by == "agent" {
				p.has(".pane:not([hidden]) .dfoot", "Changes often")
			}
			server, page := 0.0, 0.0
			for b.Loop() {
				const seconds = 10
				before := processorTime(b)
				page = max(page, p.busy(fmt.Sprintf(`new Promise((done) => setTimeout(done, %d000))`, seconds))/(seconds*1000))
				server = max(server, (processorTime(b)-before).Seconds()/seconds)
			}
			p.press("Control+.")
			b.ReportMetric(server, "server-cores")
			b.ReportMetric(page, "page-cores")
		})
	}
}

// processorTime is what this process took of its processors.
func processorTime(t testing.TB) time.Duration {
	var of unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &of); err != nil {
		t.Fatal(err)
	}
	return time.Duration(of.Utime.Nano() + of.Stime.Nano())
}
