package storetest

import (
	"fmt"
	"strings"
	"testing"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
)

// talk makes a session with a prompt, a tool call and an answer.
func (r *rig) talk(id eventlog.ID, prompt, path, answer string) eventlog.Summary {
	r.t.Helper()
	s := r.begin(id, 1)
	s = r.add(s, event.UserMessage{MessageID: "m", Content: prompt})
	s = r.add(s, event.ToolExecutionStart{
		ToolCallID: "c",
		ToolName:   "render_file_contents",
		By:         event.ByAgent,
		Arguments:  []byte(fmt.Sprintf(`{"path":%q,"startLine":1}`, path)),
	})
	return r.add(s, event.AssistantMessage{MessageID: "a", Content: answer})
}

// hits lists what a text finds as "session:seq", in the order of the list.
func (r *rig) hits(text string) string {
	r.t.Helper()
	p, err := r.List(r.t.Context(), sessions.Query{Text: text})
	if err != nil {
		r.t.Fatalf("search %q: %v", text, err)
	}
	var all []string
	for _, s := range p.Sessions {
		seq := int64(0)
		if s.Hit != nil {
			seq = s.Hit.Seq
		}
		all = append(all, fmt.Sprint(s.ID, ":", seq))
	}
	return strings.Join(all, " ")
}

// search: prompts, answers, tools and paths are found, by whole words in any
// case and by the beginning of the last one.
func search(t *testing.T, r *rig) {
	r.talk("a", "Where is the LIGHTHOUSE?", "coast/harbour.md", "On the northern cliff, near Größe.")
	b := r.talk("b", "where was it", "docs/lighthouse-keeper.txt", "Nowhere. 灯台は崖の上にある。")
	r.add(b, event.AssistantTurnEnd{TurnID: "t"}) // so that b was active after a
	r.begin("c", 5)
	want := map[string]string{
		"lighthouse": "b:3 a:2", "LightHouse where": "a:2", "northern cliff": "a:4",
		"cliff northern": "a:4", "harbour.md": "a:3",
		"render_file_contents": "b:3 a:3", "coast/harb": "a:3", "harb": "a:3", "harb md": "", "ha": "",
		"GRÖSSE": "", "größe": "a:4",
		"崖": "b:4", "灯台": "b:4", "keeper": "b:3", "lighthouse cliff": "", "startline": "",
		"nowhere zebra": "", `"cliff*`: "a:4", "NOT cliff": "",
		"title of a": "a:0", "wörds": "c:5", "-": "",
	}
	check := func(when string) {
		t.Helper()
		for text, want := range want {
			if got := r.hits(text); got != want {
				t.Errorf("%s: %q finds %q, want %q", when, text, got, want)
			}
		}
	}
	check("at once")
	r.again()
	check("opened again")

	p, err := r.List(t.Context(), sessions.Query{Text: "northern cliff"})
	if err != nil || len(p.Sessions) != 1 {
		t.Fatalf("%v, %v", p, err)
	}
	hit := p.Sessions[0].Hit
	if got, want := strings.Join(hit.Parts, "|"),
		"On the |northern| |cliff|, near Größe."; got != want {
		t.Errorf("the hit is cut as %q, want %q", got, want)
	}
	if d, ok := hit.Data.(event.AssistantMessage); !ok || d.MessageID != "a" {
		t.Errorf("the hit is %#v", hit.Data)
	}
	if err := r.Mark(t.Context(), "b", sessions.Mark{DeletedAt: ptr(epoch)}); err != nil {
		t.Fatal(err)
	}
	if err := r.Delete(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	if got := r.hits("lighthouse") + "/" + r.hits("wörds"); got != "a:2/" {
		t.Errorf("of deleted sessions is found: %q", got)
	}
}

// searchPages: pages of a search have every session once, by activity.
func searchPages(t *testing.T, r *rig) {
	var want []string
	for i := range 60 {
		id := eventlog.ID(fmt.Sprintf("s%02d", i))
		r.talk(id, "all of them say seagull", "x.md", strings.Repeat("and more ", 100))
		want = append([]string{string(id)}, want...)
	}
	for _, limit := range []int{7, 59, 60, 61} {
		if got := r.list(sessions.Query{Text: "seagull", Limit: limit}); got != strings.Join(want, " ") {
			t.Errorf("pages of %d: %s", limit, got)
		}
	}
}

// searchMany: a session with very many hits hides no other one, and is found at its last hit.
func searchMany(t *testing.T, r *rig) {
	for _, c := range []struct {
		id   eventlog.ID
		hits int
	}{{"first", 1}, {"many", 3000}, {"exactly", 256}, {"last", 2}} {
		entries, sum := Start(t, c.id, 1)
		for i := range c.hits {
			e := Entry(t, int64(2+i), event.AssistantMessage{
				MessageID: fmt.Sprint(i),
				Content:   "two common words",
			})
			entries, sum = append(entries, e), eventlog.Summarize(sum, e)
		}
		if err := r.Append(t.Context(), c.id, entries, sum); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.hits("common words"); got != "last:3 exactly:257 many:3001 first:2" {
		t.Errorf("found is %q", got)
	}
}
