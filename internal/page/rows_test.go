package page_test

import (
	"errors"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/page"
)

var folded = regexp.MustCompile(`<div data-more><a href="([^"]*)">[^<]*</a></div>`)

// opened is a page with the inside of every folded row in its place.
func opened(t *testing.T, src string, pr *page.Projector) string {
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
			t.Fatalf("%s is not an address of a row's inside", address)
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
	data := join(opening(), event.ToolExecutionStart{
		ToolCallID: "c1",
		ToolName:   "view",
		Arguments:  raw(`{"path":"a.go","note":"secret argument"}`),
		By:         event.ByAgent,
	},
		event.ToolExecutionPartialResult{ToolCallID: "c1", PartialOutput: "partial words"})
	l := newLog().add(data...)
	pr := p.Projector("s1")
	pr.Load(l.entries...)
	if inside, ok := pr.Tool("c1", 2); !ok || !strings.Contains(inside, "partial words") {
		t.Errorf("while it runs: %s", inside)
	}
	l.add(event.ToolExecutionComplete{
		ToolCallID:   "c1",
		Success:      true,
		Result:       &event.ToolResult{Content: "result of eight kilobytes"},
		ResultTokens: 2400,
	})
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
	for _, button := range []string{`data-act="show" data-path="a.go"`,
		`data-act="show-result" data-id="c1" data-from="2" data-name="a.go"`} {
		if !strings.Contains(inside, button) {
			t.Errorf("the row does not open the whole by %s: %s", button, inside)
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
	write, err := p.Export(eventlog.Summary{ID: "s1"}, &page.Film{}, whole)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "result of eight kilobytes") ||
		strings.Contains(b.String(), "data-more") || strings.Contains(b.String(), "show-result") {
		t.Error("the export lacks what is folded, or has buttons that do nothing in it")
	}
}

// leaving is a reader of a file who goes away after some bytes.
type leaving struct{ left, came int }

var errLeft = errors.New("the reader left")

func (l *leaving) Write(b []byte) (int, error) {
	if l.came += len(b); l.came > l.left {
		return 0, errLeft
	}
	return len(b), nil
}

// A file comes while it is drawn, and nothing more is drawn for a reader who left.
func TestExportEndsWithItsReader(t *testing.T) {
	p, l := pages(t, 3), newLog().add(opening()...)
	for i := range 500 {
		l.add(event.AssistantMessage{
			MessageID: fmt.Sprint("m", i),
			Content:   strings.Repeat("words ", 100),
		})
	}
	written := func(w *leaving) error {
		whole := p.ForExport("s1")
		whole.Load(l.entries...)
		write, err := p.Export(eventlog.Summary{ID: "s1"}, &page.Film{}, whole)
		if err != nil {
			t.Fatal(err)
		}
		return write(w)
	}
	all := leaving{left: 1 << 30}
	if err := written(&all); err != nil || all.came < 400_000 {
		t.Fatalf("%d bytes, %v", all.came, err)
	}
	some := leaving{left: all.came / 2}
	if err := written(&some); !errors.Is(err, errLeft) || some.came > all.came*3/4 {
		t.Errorf("%d of %d bytes were drawn: %v", some.came, all.came, err)
	}
}

// A row opens what its tool read or returned, and nothing that is not to be had.
func TestRowsOpenWhatThereIs(t *testing.T) {
	done := func(text string) event.ToolExecutionComplete {
		return event.ToolExecutionComplete{Success: true, Result: &event.ToolResult{Content: text}}
	}
	failed := func(code string) event.ToolExecutionComplete {
		return event.ToolExecutionComplete{Error: &event.ToolError{Message: "no such file", Code: code}}
	}
	const file, result = `data-act="show"`, `data-act="show-result"`
	for name, c := range map[string]struct {
		tool, args string
		end        event.ToolExecutionComplete
		want       []string
	}{
		"a read of lines": {"view", `{"path":"/home/me/code/relay/.env","view_range":[3,9]}`,
			done("A=1"), []string{file + ` data-path=".env" data-lines="3-9"`, result}},
		"a read of nothing": {"view", `{"path":"a.go"}`, done(""), []string{file}},
		"a failed read":     {"view", `{"path":"a.go"}`, failed("failure"), []string{result}},
		"a denied read":     {"view", `{"path":"a.go"}`, failed("denied"), nil},
		"a search":          {"grep", `{"pattern":"x"}`, done("a.go:1:x"), []string{result}},
		"a silent command":  {"bash", `{"command":"true"}`, done(""), nil},
	} {
		pr := pages(t, 3).Projector("s1")
		c.end.ToolCallID = "c1"
		pr.Load(newLog().add(join(opening(), event.ToolExecutionStart{
			ToolCallID: "c1",
			ToolName:   c.tool,
			Arguments:  raw(c.args),
			By:         event.ByAgent,
		}, c.end)...).entries...)
		inside, _ := pr.Tool("c1", 0)
		if n := strings.Count(inside, `data-act="show`); n != len(c.want) {
			t.Errorf("%s opens %d things: %s", name, n, inside)
		}
		for _, want := range c.want {
			if !strings.Contains(inside, want) {
				t.Errorf("%s has no %s: %s", name, want, inside)
			}
		}
	}
}

// The row of an edit shows what it changed with the numbers of lines, and its path as it
// is in the workspace, once.
func TestEditsAreDiffs(t *testing.T) {
	p := pages(t, 3)
	const dir = "/home/me/code/relay/" // of opening
	diff := func(name, hunk string) string {
		return "\ndiff --git a" + dir + name + " b" + dir + name + "\nindex 1..2 100644\n--- a" + dir +
			name + "\n+++ b" + dir + name + "\n" + hunk
	}
	const hunk = "@@ -8,2 +8,2 @@\n same\n-old\n+new <b>\n"
	for _, c := range []struct{ tool, args, log, row, inside string }{
		{"edit", `{"path":"` + dir + `pump/a.go","old_str":"old","new_str":"new"}`,
			diff("pump/a.go", hunk), "Edited pump/a.go", "@@ -8,2 +8,2 @@|8 same|9-old|9+new <b>"},
		{"apply_patch", `{"patch":"…"}`, diff("a.go", hunk) + diff("b.go", hunk), "Edited",
			"a.go|@@ -8,2 +8,2 @@|8 same|9-old|9+new <b>|b.go|@@ -8,2 +8,2 @@|8 same|9-old|9+new <b>"},
		{"create", `{"path":"/etc/x","file_text":"a"}`, "--- /dev/null\n+++ b/etc/x\n@@ -0,0 +1 @@\n+a\n",
			"Made /etc/x", "@@ -0,0 +1 @@|1+a"},
		{"bash", `{"command":"git diff"}`, diff("a.go", hunk), "Ran git diff", ""},
	} {
		l := newLog().add(join(opening(), event.ToolExecutionStart{
			ToolCallID: "c1",
			ToolName:   c.tool,
			Arguments:  raw(c.args),
			By:         event.ByAgent,
		},
			event.ToolExecutionComplete{
				ToolCallID: "c1",
				Success:    true,
				Result:     &event.ToolResult{Content: "done", DetailedContent: c.log},
			})...)
		pr := p.Projector("s1")
		pr.Load(l.entries...)
		text := func(s string) string {
			return html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(s, ""))
		}
		row := regexp.MustCompile(`(?s)</time>(<b>[A-Z].*?)</span>`).FindStringSubmatch(pr.Transcript())
		if row == nil || !strings.HasPrefix(strings.ReplaceAll(text(row[1]), "  ", " "),
			strings.Replace(c.row, " ", "", 1)) {
			t.Errorf("%s: the row says %q", c.tool, row)
		}
		inside, _ := pr.Tool("c1", 0)
		var lines []string
		for _, m := range regexp.MustCompile(
			`(?s)<div class="line[^"]*">(.*?)</div>`).FindAllStringSubmatch(inside, -1) {
			lines = append(lines, text(m[1]))
		}
		if got := strings.Join(lines, "|"); got != c.inside {
			t.Errorf("%s: inside of the row:\n%s\nwant\n%s", c.tool, got, c.inside)
		}
		if c.inside != "" && (strings.Contains(inside, "old_str") || strings.Contains(inside, dir)) {
			t.Errorf("%s: it is shown twice: %s", c.tool, inside)
		}
	}
}

// Which model an agent begins with is no switch, and one that it goes on with is.
func TestFirstModelIsNoSwitch(t *testing.T) {
	p := pages(t, 3)
	pr := p.Projector("s1")
	pr.Feed(newLog().add(event.SessionStart{SessionID: "s1", Backend: "copilot"},
		event.UserMessage{MessageID: "m1", Content: "hello"},
		event.TurnStart{TurnID: "t1", MessageID: "m1", By: event.ByUser},
		event.SessionModelChange{NewModel: "one"},
		event.TurnEnd{
			TurnID:    "t1",
			MessageID: "m1",
			Outcome:   event.Completed,
			Usage:     event.Usage{Calls: 1, InputTokens: 9},
		}, event.SessionModelChange{NewModel: "two"}).entries...)
	src := wholePage(t, p, pr)
	if strings.Contains(src, "Switched to one") || !strings.Contains(src, "Switched to two") {
		t.Errorf("the page names the wrong switches: %s", src)
	}
}
