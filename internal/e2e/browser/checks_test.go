package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/tokens"
)

// The checks of the Desk, and the tests that show them:
//
//	1  what is opened is not sent            TestDeskLooksAreNotSent, TestStartPageLists
//	2  slips and prices are the log's        TestSlipsAreWhatTheModelWasTold
//	3  new tabs leave the reader alone       TestDeskStaysWithItsReader
//	4  two panes that scroll apart           TestConversationAndDeskScrollApart
//	5  a million lines                       TestDeskScrollsAMillionLines, BenchmarkDeskScrolls
//	6  find counts all                       TestDeskFindsAll, TestDeskShowsOnlyLinesThatMatch
//	7  typing reaches the composer           TestTypingReachesTheComposer, TestDeskHandsOverWhatIsSelected
//	8  a question leaves the caret           TestQuestionLeavesTheCaret, TestLongCommandIsReadToItsEnd
//	9  addresses                             TestDeskAddresses, TestAddressOfWhatIsDeleted
//	10 the meter is honest                   TestMeterNeverExceedsItsRoom (internal/page)
//	11 one line each, nothing sideways       TestDeskFitsItsWindow
//	12 the queue outlives a stop             TestWhatWaitsIsThereAfterAStopAndAReload

// showing is the plot of an agent that shows some files, one right after the other.
func showing(files ...string) plot {
	return func(ctx context.Context, host agent.Host) error {
		for _, name := range files {
			call := agent.ToolCall{ID: "show-" + name, Name: "render_file_contents", Arguments: json.RawMessage(`{"path":` + quote(name) + `}`)}
			if _, err := host.CallTool(ctx, call); err != nil {
				return err
			}
		}
		return nil
	}
}

// numbered is a text of n short lines.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "- line %d\n", i+1)
	}
	return b.String()
}

// What somebody opens, by whichever way, changes nothing of what the agent is sent next.
func TestDeskLooksAreNotSent(t *testing.T) {
	h := newHouse(t)
	h.site.put("a.txt", "one\n")
	h.site.put("b.txt", "two\n")
	h.backend.texts["names"] = "See b.txt."
	h.backend.texts["next"] = "ok"
	p := h.site.open("/sessions/" + h.session(t))
	p.look(1440, 900, "light")
	p.say("names")
	p.done()
	p.say("next")
	p.done()
	p.say("/show a.txt")
	p.front("a.txt")
	p.click("#turns .said:not(.tool-open) a.at-src")
	p.front("b.txt")
	p.bar("a.txt")
	p.wait(hits + `[0] === 'a.txt'`)
	p.press("Enter")
	p.front("a.txt")
	p.press("Escape")
	p.say("next")
	p.wait(`[...document.querySelectorAll('#turns .turn')].filter((e) => e.checkVisibility()).length === 3`)
	p.done()
	sent := h.backend.sent()
	if len(sent) != 3 {
		t.Fatalf("the agent was prompted %d times, want 3", len(sent))
	}
	sent[2].MessageID = sent[1].MessageID
	if !reflect.DeepEqual(sent[2], sent[1]) {
		t.Errorf("after looks the agent was sent %+v, before %+v", sent[2], sent[1])
	}
}

// Each slip has what was sent to the model, character by character, and at the tokenizer's price.
func TestSlipsAreWhatTheModelWasTold(t *testing.T) {
	_, p := desked(t)
	for _, name := range []string{"internal/pump/pump.go", "README.md", "logo.png", "none.go"} {
		p.told("show me " + name)
	}
	text := eval[string](p, `(async () => JSON.stringify((await (await fetch('/api/sessions/' + document.body.dataset.session + '/events')).json()).events.filter((e) => e.type === 'tool.execution_complete').map((e) => e.data.result?.content ?? '')))()`)
	var told []string
	if err := json.Unmarshal([]byte(text), &told); err != nil || len(told) < 3 {
		t.Fatalf("the log says %s (%v)", text, err)
	}
	lines := eval[[]string](p, `[...document.querySelectorAll('#turns .slip')].map((e) => e.querySelector('samp').textContent)`)
	prices := eval[[]string](p, `[...document.querySelectorAll('#turns .slip')].map((e) => e.querySelector('.num').textContent.replace(/\s+/g, ' ').trim())`)
	whole := map[int]string{0: pumpGo, 1: "# Relay\n\nCarries frames from here to there.\n\n- fast\n- quiet\n"}
	if len(lines) != len(told) || len(prices) != len(told) {
		t.Fatalf("the page has the slips %q at %q for %q", lines, prices, told)
	}
	for i, line := range told {
		if line == "" {
			continue
		}
		if lines[i] != line {
			t.Errorf("slip %d says %q, the model was told %q", i, lines[i], line)
		}
		n, _ := tokens.Count(line)
		want := fmt.Sprintf("%d of ", n)
		if text := whole[i]; text != "" {
			n, _ := tokens.Count(text)
			want += fmt.Sprintf("%d tokens", n)
		}
		if !strings.HasPrefix(prices[i], want) {
			t.Errorf("slip %d costs %q, want %q", i, prices[i], want)
		}
	}
}

// What the agent shows while something else is read waits as a tab with a mark, and is
// announced once: the reader's place stays.
func TestDeskStaysWithItsReader(t *testing.T) {
	h := newHouse(t)
	h.site.put("long.txt", numbered(400))
	var names []string
	for i := range 5 {
		names = append(names, fmt.Sprintf("shown-%d.txt", i))
		h.site.put(names[i], "text\n")
	}
	read := make(chan struct{})
	h.backend.on("show five", func(ctx context.Context, host agent.Host) error {
		<-read
		return showing(names...)(ctx, host)
	})
	p := h.site.open("/sessions/" + h.session(t))
	p.look(1440, 900, "light")
	p.say("/show long.txt")
	p.front("long.txt")
	p.wait(onDesk + `.querySelector('.rows .cl')?.textContent`)
	p.js(`window.spoken = {}
		new MutationObserver((all) => { for (const m of all) for (const n of m.addedNodes) { const w = n.textContent; (spoken[w] ??= { times: 0, painted: false }).times++; requestAnimationFrame(() => { spoken[w].painted ||= document.getElementById('say').textContent.includes(w) }) } }).observe(document.getElementById('say'), { childList: true, subtree: true })`)
	p.say("show five")
	p.wait(`document.querySelectorAll('#turns .turn').length === 2`)
	p.js(onDesk + `.querySelector('.code').scrollTop = 2400`)
	p.wait(`Number(` + onDesk + `.dataset.at) > 100`)
	place := eval[string](p, onDesk+`.dataset.at + ' ' + `+onDesk+`.querySelector('.code').scrollTop`)
	close(read)
	p.done()
	p.wait(`document.querySelectorAll('.tab.is-news').length === 5`)
	p.front("long.txt")
	p.is(onDesk+`.dataset.at + ' ' + `+onDesk+`.querySelector('.code').scrollTop`, place)
	for _, name := range names {
		p.wait(`spoken['` + name + ` is on the Desk']?.painted`)
		if n := eval[int](p, `spoken['`+name+` is on the Desk'].times`); n != 1 {
			t.Errorf("%s was told %d times", name, n)
		}
	}
	p.shot("desk-news")
	p.accessible("five new tabs")
}

// Conversation and Desk scroll each by itself; find, views and the split move neither.
func TestConversationAndDeskScrollApart(t *testing.T) {
	h := newHouse(t)
	h.site.put("notes.md", "# Notes\n\n"+numbered(300))
	h.site.put("other.txt", numbered(300))
	h.backend.texts["long"] = numbered(200)
	p := h.site.open("/sessions/" + h.session(t))
	p.look(1440, 900, "light")
	p.say("long")
	p.done()
	p.say("/show other.txt")
	p.front("other.txt")
	p.say("/show notes.md")
	p.front("notes.md")
	p.click(".pane:not([hidden]) [data-view=source]")
	p.wait(onDesk + `.querySelector('.rows .cl')?.textContent`)
	const talk = `document.getElementById('scroll').scrollTop`
	// What the Desk draws while the conversation grows does not keep that from being followed.
	p.js(`const grown = document.createElement('div'); grown.style.height = '900px'; document.getElementById('turns').append(grown)
		` + onDesk + `.dispatchEvent(new CustomEvent('webchat:lines')); grown.remove()`)
	p.wait(`document.getElementById('latest').hidden`)
	p.js(talk + ` = 700`)
	p.wait(`!document.getElementById('latest').hidden`)
	stays := func(after string) {
		t.Helper()
		p.js(`await new Promise(requestAnimationFrame); await new Promise(requestAnimationFrame)`)
		if got := eval[float64](p, talk); got != 700 {
			t.Errorf("after %s the conversation stands at %v, not at 700", after, got)
			p.js(talk + ` = 700`)
		}
	}
	p.js(onDesk + `.querySelector('.code').scrollTop = 900`)
	p.wait(`Number(` + onDesk + `.dataset.at) > 30`)
	stays("scrolling the Desk")
	p.press("Escape", "f")
	p.wait(`document.querySelector('.pane .find input') === document.activeElement`)
	p.write("line 250")
	p.has(".pane .find", "1 of 1")
	stays("finding")
	p.press("Escape", "v")
	p.wait(onDesk + `.querySelector('.other[data-shows]')`)
	stays("another view")
	p.press("v")
	p.wait(`!` + onDesk + `.querySelector('.other') && ` + onDesk + `.querySelector('.rows .cl')?.textContent`)
	stays("the view before")
	p.press("\\")
	p.wait(`document.querySelectorAll('.pane:not([hidden])').length === 2`)
	stays("two panes")
	p.press("\\")
	p.wait(`document.querySelectorAll('.pane:not([hidden])').length === 1`)
	stays("one pane again")
	place := eval[string](p, onDesk+`.dataset.at + ' ' + `+onDesk+`.querySelector('.code').scrollTop`)
	p.js(talk + ` = 1500; await new Promise(requestAnimationFrame); await new Promise(requestAnimationFrame)`)
	p.is(onDesk+`.dataset.at + ' ' + `+onDesk+`.querySelector('.code').scrollTop`, place)
}

// A question that comes while somebody types takes neither the caret nor the Enter, and
// is wholly in view where the window is low.
func TestQuestionLeavesTheCaret(t *testing.T) {
	h := newHouse(t)
	h.site.put("a.txt", "one\n")
	come := make(chan struct{})
	ask := asking(h.site.workspace, shell("c1", "go vet ./... &&\ngo test ./... &&\ngit push origin main"))
	h.backend.texts["halfx of a thought"] = "ok"
	h.backend.on("later", func(ctx context.Context, host agent.Host) error {
		select {
		case <-come:
		case <-ctx.Done():
			return ctx.Err()
		}
		return ask(ctx, host)
	})
	p := h.site.open("/sessions/" + h.session(t))
	p.look(1100, 640, "light")
	p.say("/show a.txt")
	p.front("a.txt")
	p.say("later")
	p.wait(composer + `.dataset.status !== 'idle' && ` + prompt + `.value === ''`)
	p.write("half of a thought")
	p.js(prompt + `.setSelectionRange(4, 4)`)
	close(come)
	p.wait(`document.querySelector('[data-ask][data-ready][data-read]')`)
	p.is(`document.activeElement.id + ' ' + `+prompt+`.selectionStart + ' ' + `+prompt+`.value`, "prompt 4 half of a thought")
	box := eval[[]float64](p, `(() => { const r = document.querySelector('.perm').getBoundingClientRect(), b = document.querySelector('[data-act=allow-once]').getBoundingClientRect(), d = document.getElementById('desk').getBoundingClientRect(); return [r.top, b.bottom, r.right, d.left, innerHeight] })()`)
	if box[0] < 48 || box[1] > box[4] || box[2] > box[3] {
		t.Errorf("the question is not wholly in view beside the Desk: %v", box)
	}
	p.shot("question-1100")
	p.accessible("a question beside the Desk")
	p.press("x") // a letter goes where the caret is
	p.is(prompt+`.value`, "halfx of a thought")
	p.press("Enter")
	p.has("#dock-queue .queued-text", "halfx of a thought")
	if !p.true(`document.querySelector('[data-ask]') && !document.querySelector('[data-answered]')`) {
		t.Fatal("Enter in the composer answered the question")
	}
	p.wait(`document.querySelector('[data-ask][data-ready]')`) // it has moved
	p.answer("[data-ask] [data-act=deny]")
	p.has("[data-answered]", "You denied")
	p.wait(`document.querySelector('#dock-queue').hidden`) // what waited is sent
	p.done()
}

// The address of what is deleted leads to the reason, and sends nothing.
func TestAddressOfWhatIsDeleted(t *testing.T) {
	s, p := desked(t, "--output-ttl", "3s")
	p.late()
	p.say("!echo one")
	p.front("echo one")
	p.wait(`document.querySelector('.knows').checkVisibility() || document.querySelector('.pane .nothing')`) // it is over soon
	p.say("!echo two")
	p.wait(`document.querySelectorAll('#outs .gone').length === 2`)
	outs := eval[[]string](p, `[...document.querySelectorAll('#outs [data-output]')].map((e) => e.dataset.output)`)
	before := s.logged(t, p.session())
	p.js(`window.old = true; location.hash = ` + quote("#out/"+outs[0]+":10-12&with="+outs[1]) + `; location.reload()`)
	p.wait(`!window.old`)
	p.live()
	p.front("echo one")
	p.wait(`document.querySelectorAll('.pane:not([hidden])').length === 2`)
	p.has(".pane:not(.is-second) .nothing", "after it was shown")
	p.has(".pane.is-second .nothing", "after it was shown")
	p.has(".tab.is-front.is-off", "echo one")
	if !p.true(`performance.getEntriesByType('resource').every((e) => e.responseStatus !== 404)`) {
		t.Error("what is known to be gone is asked for again")
	}
	p.shot("desk-deleted")
	p.accessible("two deleted outputs")
	if after := s.logged(t, p.session()); strings.Count(after, `"id"`) > strings.Count(before, `"id"`)+1 { // the session is resumed
		t.Errorf("opening an address logged more than was there:\n%s\n%s", before, after)
	}
}
