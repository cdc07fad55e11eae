package page_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"webchat/internal/event"
	"webchat/internal/page/pagetest"
)

// having are the elements below n of which has reports true.
func having(n *html.Node, has func(*html.Node) bool) (all []*html.Node) {
	walk(n, func(n *html.Node) {
		if n.Type == html.ElementNode && has(n) {
			all = append(all, n)
		}
	})
	return all
}

func classed(class string) func(*html.Node) bool {
	return func(n *html.Node) bool {
		got, _ := pagetest.Attr(n, "class")
		return slices.Contains(strings.Fields(got), class)
	}
}

// foldsOf is the HTML of what turns did, as far as it is folded.
func foldsOf(t *testing.T, src string) string {
	t.Helper()
	var b strings.Builder
	for _, d := range having(pagetest.Parse(t, src).Root, classed("did")) {
		if err := html.Render(&b, d); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// priceOf is what a row says that it cost.
func priceOf(t *testing.T, n *html.Node) (sum int) {
	t.Helper()
	for _, p := range having(n, func(n *html.Node) bool {
		title, _ := pagetest.Attr(n, "title")
		return title == "tokens that the model read"
	}) {
		one, err := strconv.Atoi(strings.NewReplacer("+", "", ",", "").Replace(read(p)))
		if err != nil {
			t.Fatal(err)
		}
		sum += one
	}
	return sum
}

// The sum on the line of what a turn did is that of its rows, an exception is in no fold, and each
// decision of the log is found once.
func TestALetterLosesNothing(t *testing.T) {
	all := stories()
	all["many"] = join(opening(), words("a1", "I look.", 4),
		event.AssistantMessage{MessageID: "a1", Content: "I look."}, manySteps(3),
		costly("e1", "edit", `{"path":"a.go"}`, 14), costly("e2", "edit", `{"path":"a.go"}`, 13),
		costly("v1", "view", `{"path":"b.go"}`, 400), starts("f1", "grep", `{"pattern":"x"}`),
		event.ToolExecutionComplete{ToolCallID: "f1", Error: &event.ToolError{Message: "no such folder"}},
		starts("k1", "bash", `{"command":"git push"}`), wants("p1", "k1", "git push"),
		event.PermissionCompleted{RequestID: "p1", Decision: event.Deny, By: event.DecidedByUser},
		event.ToolExecutionComplete{ToolCallID: "k1", Error: &event.ToolError{Code: "denied"}},
		event.AssistantMessage{MessageID: "a2", Content: "Done."}, closing(event.Completed))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		pr := pages(t, 9).Projector("s1")
		pr.Load(newLog().add(all[name]...).entries...)
		root := pagetest.Parse(t, pr.Transcript()).Root
		for _, d := range having(root, classed("did")) {
			head, body := d.FirstChild, having(d, classed("acts-in"))[0]
			for head.Data != "summary" {
				head = head.NextSibling
			}
			rows := 0
			for _, s := range having(body, classed("steps")) {
				if parent, _ := pagetest.Attr(s.Parent, "class"); parent != "acts-in" {
					continue // of a helper agent
				}
				own := having(s, func(n *html.Node) bool { return n.Parent == s && n.Data == "summary" })
				one := priceOf(t, own[0])
				if !classed("is-long")(s) {
					one = 0
					for _, row := range having(s, classed("tool")) {
						one += priceOf(t, row)
					}
				}
				rows += one
			}
			if got := priceOf(t, head); got != rows {
				t.Errorf("%s: the line says +%d, its rows %d", name, got, rows)
			}
			for _, bad := range having(d, func(n *html.Node) bool {
				state, _ := pagetest.Attr(n, "data-state")
				answer, _ := pagetest.Attr(n, "data-answered")
				_, hidden := pagetest.Attr(n, "hidden")
				return (state == "failed" && !hidden || answer == "denied") && n.Data == "details"
			}) {
				t.Errorf("%s: in the fold is %s", name, read(bad))
			}
		}
		found := map[string]int{}
		walk(root, func(n *html.Node) {
			list, _ := pagetest.Attr(n, "data-permissions")
			for _, id := range strings.Fields(list) {
				found[id]++
			}
		})
		asked := map[string]bool{}
		for _, d := range all[name] {
			switch d := d.(type) {
			case event.PermissionRequested:
				asked[d.RequestID] = true
			case event.PermissionCompleted:
				if asked[d.RequestID] && found[d.RequestID] != 1 {
					t.Errorf("%s: the decision %s is found %d times", name, d.RequestID, found[d.RequestID])
				}
			}
		}
	}
}

func costly(id, tool, args string, tokens int64) []event.Data {
	return []event.Data{starts(id, tool, args), event.ToolExecutionComplete{
		ToolCallID:   id,
		Success:      true,
		Result:       &event.ToolResult{Content: "ok"},
		ResultTokens: tokens,
	}}
}

// A turn at rest is its prompt, one line of what was done, what was shown, the answer and what
// changed. What was said before the last act is in the fold once the turn is over.
func TestATurnAtRestIsALetter(t *testing.T) {
	log := newLog().add(join(opening(), event.AssistantMessage{
		MessageID: "a1",
		Content:   "I look first.",
	}, manySteps(2), costly("g1", "grep", `{"pattern":"Patience"}`, 188))...)
	for i := range 40 {
		log.add(costly(fmt.Sprint("e", i), "edit", fmt.Sprintf(`{"path":"f%d.go"}`, i%3), 14)...)
	}
	log.add(event.AssistantMessage{MessageID: "a2", Content: "Now the tests."})
	log.add(show("c1", "run_and_display", `{"command":"go test ./..."}`, "out_B",
		`{"outputType":"terminal"}`)...)
	log.add(event.AssistantMessage{MessageID: "a3", Content: "It is done."})
	for _, tt := range []struct {
		name, did string
		more      []event.Data
		aside     int
	}{
		{"while it runs", "Read 2 files, searched once, edited 3 files", nil, 0},
		{"at its end", "Read 2 files, searched once, edited 3 files", closing(event.Completed), 2},
	} {
		log.add(tt.more...)
		pr := pages(t, 9).Projector("s1")
		pr.Load(log.entries...)
		root := pagetest.Parse(t, pr.Transcript()).Root
		body := having(root, classed("turn-b"))[0]
		did := having(body, classed("did"))
		if len(did) != 1 || !strings.HasPrefix(read(did[0]), tt.did) {
			t.Fatalf("%s: the turn did %s", tt.name, read(body))
		}
		rows := 0
		for n := range body.ChildNodes() {
			if n.Type == html.ElementNode {
				rows++
			}
		}
		if want := 5 - tt.aside; rows != want { // the line, the slip, and what was said
			t.Errorf("%s: %d rows at rest, want %d: %s", tt.name, rows, want, read(body))
		}
		if got := strings.Count(foldsOf(t, pr.Transcript()), "data-message-id"); got != tt.aside {
			t.Errorf("%s: %d remarks are in the fold", tt.name, got)
		}
	}
}

// Each ending of a turn, and each thing it may be doing, has its words.
func TestWordsOfWhatATurnDid(t *testing.T) {
	for _, tt := range []struct {
		want string
		data []event.Data
	}{
		{"Read Makefile", costly("c1", "view", `{"path":"Makefile"}`, 1204)},
		{"Read package.json, edited it. Waits for you",
			join(costly("c1", "view", `{"path":"package.json"}`, 700),
				costly("c2", "edit", `{"path":"package.json"}`, 34), starts("c3", "bash", `{"command":"make"}`),
				wants("p1", "c3", "make"))},
		{"Read 2 files, now editing docs/pump.md", join(manySteps(2),
			starts("c1", "edit", `{"path":"docs/pump.md"}`))},
		{"Running make", join(starts("c1", "bash", `{"command":"make"}`))},
		{"Made a.go, ran 2 commands", join(costly("c1", "create", `{"path":"a.go"}`, 3),
			costly("c2", "bash", `{"command":"make"}`, 3),
			costly("c3", "bash", `{"command":"make check"}`, 3))},
		{"Thought about it", []event.Data{event.AssistantReasoning{ReasoningID: "r1", Content: "hm"}}},
	} {
		pr := pages(t, 9).Projector("s1")
		pr.Load(newLog().add(join(opening(), tt.data)...).entries...)
		if got := read(pagetest.ByID(pagetest.Parse(t, pr.Transcript()).Root,
			"d-t-m1.s")); !strings.HasPrefix(got, tt.want) {
			t.Errorf("it did %q, want %q", got, tt.want)
		}
	}
}
