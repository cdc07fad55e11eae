package page_test

import (
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"webchat/internal/event"
	"webchat/internal/page"
	"webchat/internal/transcript"
)

var folded = regexp.MustCompile(`<div class="tool-more" data-more><a class="tool-open" href="([^"]*)">[^<]*</a></div>`)

// opened is a page with the inside of every folded row in its place.
func opened(t *testing.T, src string, pr *transcript.Projector) string {
	t.Helper()
	return folded.ReplaceAllStringFunc(src, func(box string) string {
		address := html.UnescapeString(folded.FindStringSubmatch(box)[1])
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		id, ok := strings.CutPrefix(u.Path, "/api/sessions/s1/tools/")
		from, err := strconv.ParseInt(u.Query().Get("from"), 10, 64)
		if !ok || err != nil {
			t.Fatalf("%s is no address of a row's inside", address)
		}
		inside, ok := pr.Tool(id, from)
		if !ok {
			t.Errorf("there is nothing at %s", address)
		}
		return inside
	})
}

// What is folded is not in the page; it comes when its row is opened, and a file of
// the session holds all of it.
func TestFoldedRowsHoldNothing(t *testing.T) {
	p := pages(t, 3)
	data := join(opening(), event.ToolExecutionStart{ToolCallID: "c1", ToolName: "view", Arguments: raw(`{"path":"a.go","note":"secret argument"}`), By: event.ByAgent},
		event.ToolExecutionPartialResult{ToolCallID: "c1", PartialOutput: "partial words"})
	l := newLog().add(data...)
	pr := p.Projector("s1")
	pr.Load(l.entries...)
	if inside, ok := pr.Tool("c1", 2); !ok || !strings.Contains(inside, "partial words") {
		t.Errorf("while it runs: %s", inside)
	}
	l.add(event.ToolExecutionComplete{ToolCallID: "c1", Success: true, Result: &event.ToolResult{Content: "result of eight kilobytes"}, ResultTokens: 2400})
	pr.Feed(l.entries...)
	src := pr.Transcript()
	for _, words := range []string{"secret argument", "result of", "partial words"} {
		if strings.Contains(src, words) {
			t.Errorf("the page holds %q", words)
		}
	}
	if !strings.Contains(src, ">&#43;2,400</span>") {
		t.Errorf("the row does not say what it costs: %s", src)
	}
	inside, ok := pr.Tool("c1", 2)
	for _, words := range []string{"secret argument", "result of eight kilobytes"} {
		if !ok || !strings.Contains(inside, words) {
			t.Errorf("the row does not hold %q: %s", words, inside)
		}
	}
	if _, ok := pr.Tool("c1", 3); ok {
		t.Error("it is in a turn that there is not")
	}
	if again, ok := pr.Tool("c1", 0); !ok || again != inside {
		t.Errorf("in any turn: %s", again)
	}
	whole := p.ForExport("s1")
	whole.Load(l.entries...)
	var b strings.Builder
	if err := p.Export(&b, page.Export{SessionID: "s1"}, whole); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "result of eight kilobytes") || strings.Contains(b.String(), "data-more") {
		t.Error("the export lacks what is folded")
	}
}
