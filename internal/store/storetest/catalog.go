package storetest

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
)

func summaryComesBack(t *testing.T, r *rig) {
	entries, _ := Start(t, "a", 1)
	s := eventlog.Summary{
		ID:        "a",
		Backend:   "copilot",
		Model:     "m-1",
		Title:     "Tïtle 'quoted' \"x\" 🚀",
		CreatedAt: epoch,
		UpdatedAt: epoch.Add(time.Hour),
		Pinned:    true,
		Status:    event.Waiting,
		Pending:   3,
		LastSeq:   1,
		Usage:     event.Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, Cost: 0.25, Calls: 4},
		Tokens:    eventlog.Tokens{Shown: 100, Sent: 10, Saved: 90},
		Open:      eventlog.Open{Turn: "t", Tools: 2, Queued: 1, LastID: entries[0].Event.ID},
	}
	if err := r.Append(t.Context(), "a", entries, s); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"at once", "after it was opened again"} {
		got, err := r.Summary(t.Context(), "a")
		if err != nil || !reflect.DeepEqual(got, s) {
			t.Errorf("%s the summary is\n%+v, %v\nwant\n%+v", when, got, err, s)
		}
		page, err := r.List(t.Context(), sessions.Query{})
		if err != nil || len(page.Sessions) != 1 || !reflect.DeepEqual(page.Sessions[0].Summary, s) {
			t.Errorf("%s the list is %+v, %v", when, page, err)
		}
		r.again()
	}
}

// marksStay: Append writes neither mark of a session that exists.
func marksStay(t *testing.T, r *rig) {
	s := r.begin("a", 1)
	gone := epoch.Add(time.Minute)
	if err := r.Mark(t.Context(), "a", sessions.Mark{Pinned: ptr(true)}); err != nil {
		t.Fatal(err)
	}
	if err := r.Mark(t.Context(), "a", sessions.Mark{DeletedAt: &gone}); err != nil {
		t.Fatal(err)
	}
	r.add(s, event.Abort{Reason: "x"})
	if got, err := r.Summary(t.Context(), "a"); err != nil || !got.Pinned ||
		!got.DeletedAt.Equal(gone) || got.LastSeq != 2 {
		t.Errorf("marked and appended to: %+v, %v", got, err)
	}
	if err := r.Mark(t.Context(), "a", sessions.Mark{DeletedAt: new(time.Time)}); err != nil {
		t.Fatal(err)
	}
	r.again()
	if got, err := r.Summary(t.Context(), "a"); err != nil || !got.Pinned || !got.DeletedAt.IsZero() {
		t.Errorf("restored: %+v, %v", got, err)
	}
}

func notFound(t *testing.T, r *rig) {
	if _, err := r.Summary(t.Context(), "none"); !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("Summary: %v", err)
	}
	if err := r.Mark(t.Context(), "none", sessions.Mark{Pinned: ptr(true)}); !errors.Is(err,
		eventlog.ErrNotFound) {
		t.Errorf("Mark: %v", err)
	}
	if err := r.Delete(t.Context(), "none"); err != nil {
		t.Errorf("Delete: %v", err)
	}
	if got := r.list(sessions.Query{}); got != "" {
		t.Errorf("an empty store lists %q", got)
	}
}

// at makes a session that was last active so many minutes after epoch.
func (r *rig) at(id eventlog.ID, minutes int, title string) eventlog.Summary {
	r.t.Helper()
	entries, s := Start(r.t, id, 1)
	s.UpdatedAt, s.Title = epoch.Add(time.Duration(minutes)*time.Minute), title
	if err := r.Append(r.t.Context(), id, entries, s); err != nil {
		r.t.Fatal(err)
	}
	return s
}

func listOrder(t *testing.T, r *rig) {
	// The clock goes back after s0 and s3.
	for i, minutes := range []int{3, 1, 2, 5, 4} {
		r.at(eventlog.ID(fmt.Sprint("s", i)), minutes, "t")
	}
	if got, want := r.list(sessions.Query{}), "s4 s3 s2 s1 s0"; got != want {
		t.Errorf("by activity: %s, want %s", got, want)
	}
	s0, err := r.Summary(t.Context(), "s0")
	if err != nil {
		t.Fatal(err)
	}
	r.add(s0, event.TurnStart{TurnID: "t", MessageID: "m"})
	s1, err := r.Summary(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	r.add(s1, event.OutputOpened{OutputID: "o"}) // which is a look
	if got, want := r.list(sessions.Query{}), "s0 s4 s3 s2 s1"; got != want {
		t.Errorf("after a turn began in s0: %s, want %s", got, want)
	}
	r.again()
	if err := r.Mark(t.Context(), "s1", sessions.Mark{Pinned: ptr(true)}); err != nil {
		t.Fatal(err)
	}
	if err := r.Mark(t.Context(), "s3", sessions.Mark{DeletedAt: ptr(epoch)}); err != nil {
		t.Fatal(err)
	}
	if got, want := r.list(sessions.Query{}), "s1 s0 s4 s2"; got != want {
		t.Errorf("one pinned, one deleted: %s, want %s", got, want)
	}
}

func listPages(t *testing.T, r *rig) {
	var want []string
	for i := range 25 {
		r.at(eventlog.ID(fmt.Sprintf("s%02d", i)), i/5, "t") // many at the same instant
		want = append([]string{fmt.Sprintf("s%02d", i)}, want...)
	}
	for _, limit := range []int{1, 4, 5, 24, 25, 26, 0} {
		if got := r.list(sessions.Query{Limit: limit}); got != strings.Join(want, " ") {
			t.Errorf("pages of %d: %s", limit, got)
		}
	}
	// The session a page ended with moves to the top and another goes away: the
	// rest still comes, each once.
	p, err := r.List(t.Context(), sessions.Query{Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	s := p.Sessions[4].Summary
	e := Entry(t, 1000, event.Abort{Reason: "later"})
	e.Seq = 2
	if err := r.Append(t.Context(), s.ID, []event.Entry{e}, eventlog.Summarize(s, e)); err != nil {
		t.Fatal(err)
	}
	if err := r.Delete(t.Context(), eventlog.ID(want[10])); err != nil {
		t.Fatal(err)
	}
	rest := append(append([]string{}, want[5:10]...), want[11:]...)
	if got := r.list(sessions.Query{Limit: 5, Cursor: p.Cursor}); got != strings.Join(rest, " ") {
		t.Errorf("after changes between two pages: %s\nwant %s", got, strings.Join(rest, " "))
	}
}

func listCursors(t *testing.T, r *rig) {
	for i := range 3 {
		r.at(eventlog.ID(fmt.Sprint("s", i)), i, "t")
	}
	p, err := r.List(t.Context(), sessions.Query{Limit: 1})
	if err != nil || p.Cursor == "" {
		t.Fatalf("%+v, %v", p, err)
	}
	for _, q := range []sessions.Query{
		{Cursor: "x"}, {Cursor: "bnVsbA"}, {Cursor: "e30"}, {Cursor: "***"}, {Cursor: p.Cursor[1:]},
		{Kind: sessions.QueryUnfinished, Cursor: p.Cursor}, {Kind: "other"},
		{Kind: sessions.QueryDeleted, Text: "x"},
		{Text: strings.Repeat("word ", 1000)},
	} {
		if _, err := r.List(t.Context(), q); !errors.Is(err, eventlog.ErrInvalid) {
			t.Errorf("List(%+v): %v", q, err)
		}
	}
}

func listText(t *testing.T, r *rig) {
	for i, title := range []string{"Show go.mod", "Größe ÄNDERN", "100% of a_b", "go home",
		"back\\slash"} {
		r.at(eventlog.ID(fmt.Sprint("s", i)), i, title)
	}
	for text, want := range map[string]string{
		"GO": "s3 s0", "go mod": "s0", "mod  go": "s0", "ändern": "s1", "GRÖ": "s1", "%": "s2",
		"a_b": "s2", "a?b": "",
		"a%b": "", "*": "", "\\": "s4", "'": "", "  ": "s4 s3 s2 s1 s0", "go nothing": "",
	} {
		if got := r.list(sessions.Query{Text: text, Limit: 1}); got != want {
			t.Errorf("%q finds %q, want %q", text, got, want)
		}
	}
}

func listKinds(t *testing.T, r *rig) {
	r.begin("idle", 2)
	r.add(r.begin("running", 1), event.TurnStart{TurnID: "t", MessageID: "m"})
	r.add(r.begin("queued", 1), event.UserMessage{MessageID: "m", Content: "x"})
	r.add(r.begin("waiting", 1), event.PermissionRequested{RequestID: "p"})
	tool := r.add(r.begin("tool", 1), event.ToolExecutionStart{ToolCallID: "c", ToolName: "x"})
	done := r.add(r.begin("done", 1), event.TurnStart{TurnID: "t", MessageID: "m"})
	r.add(done, event.TurnEnd{TurnID: "t", MessageID: "m", Outcome: event.Completed})
	for _, id := range []eventlog.ID{"running", "idle"} {
		if err := r.Mark(t.Context(), id, sessions.Mark{DeletedAt: ptr(epoch)}); err != nil {
			t.Fatal(err)
		}
	}
	r.again()
	if got, want := r.list(sessions.Query{Kind: sessions.QueryUnfinished, Limit: 2}),
		"running queued waiting tool"; got != want {
		t.Errorf("unfinished: %s, want %s", got, want)
	}
	if got, want := r.list(sessions.Query{Kind: sessions.QueryDeleted, Limit: 1}),
		"idle running"; got != want {
		t.Errorf("deleted: %s, want %s", got, want)
	}
	r.add(tool, event.ToolExecutionComplete{
		ToolCallID: "c",
		Success:    true,
		Result:     &event.ToolResult{},
	})
	if got, want := r.list(sessions.Query{Kind: sessions.QueryUnfinished}),
		"running queued waiting"; got != want {
		t.Errorf("unfinished, one less: %s, want %s", got, want)
	}
}

func deletion(t *testing.T, r *rig) {
	long, s := Start(t, "a", 2_500)
	if err := r.Append(t.Context(), "a", long, s); err != nil {
		t.Fatal(err)
	}
	r.begin("b", 3)
	if err := r.SaveDrafts(t.Context(), "a", []eventlog.Draft{{
		MessageID: "m",
		Content:   "x",
	}}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.Delete(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string) {
		t.Helper()
		if _, err := r.Summary(t.Context(), "a"); !errors.Is(err, eventlog.ErrNotFound) {
			t.Errorf("%s: Summary: %v", when, err)
		}
		if n := len(r.all("a")); n != 0 {
			t.Errorf("%s: %d entries", when, n)
		}
		if d, err := r.LoadDrafts(t.Context(), "a"); err != nil || len(d) != 0 {
			t.Errorf("%s: drafts %v, %v", when, d, err)
		}
		if n := len(r.all("b")); n != 3 {
			t.Errorf("%s: the other session has %d entries", when, n)
		}
	}
	check("deleted")
	e := Entry(t, s.LastSeq+1, event.Abort{Reason: "late"})
	if err := r.Append(t.Context(), "a", []event.Entry{e}, eventlog.Summarize(s, e)); !errors.Is(err,
		r.notNext) {
		t.Errorf("Append to a deleted session: %v", err)
	}
	r.again()
	check("deleted and opened again")
	r.begin("a", 2)
	if n := len(r.all("a")); n != 2 {
		t.Errorf("begun anew it has %d entries", n)
	}
}

func drafts(t *testing.T, r *rig) {
	r.begin("a", 1)
	want := []eventlog.Draft{{MessageID: "m", Content: "wörds\n🚀"},
		{MessageID: "r", Reasoning: true, ParentToolCallID: "c", Content: ""}}
	for _, d := range [][]eventlog.Draft{{{MessageID: "old"}}, want} {
		if err := r.SaveDrafts(t.Context(), "a", d); err != nil {
			t.Fatal(err)
		}
	}
	r.again()
	if got, err := r.LoadDrafts(t.Context(), "a"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("drafts: %+v, %v", got, err)
	}
	if err := r.SaveDrafts(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	if got, err := r.LoadDrafts(t.Context(), "a"); err != nil || len(got) != 0 {
		t.Errorf("cleared drafts: %+v, %v", got, err)
	}
	if err := r.SaveDrafts(t.Context(), "none", want); !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("drafts of an unknown session: %v", err)
	}
	if err := r.SaveDrafts(t.Context(), "none", nil); err != nil {
		t.Errorf("no drafts of an unknown session: %v", err)
	}
	if got, err := r.LoadDrafts(t.Context(), "none"); err != nil || len(got) != 0 {
		t.Errorf("drafts of an unknown session: %+v, %v", got, err)
	}
}

// listUsers: whose a session is comes back, and a user's lists, searches and folders hold no
// other's.
func listUsers(t *testing.T, r *rig) {
	in := func(id eventlog.ID, user string) {
		t.Helper()
		entries := []event.Entry{Entry(t, 1, event.SessionStart{SessionID: string(id), Workspace: "/of " +
			user, Backend: "offline", User: user}),
			Entry(t, 2, event.SessionTitleChanged{Title: "gulls"}),
			Entry(t, 3, event.UserMessage{MessageID: "m", Content: "about herons"})}
		if err := r.Append(t.Context(), id, entries, Fold(eventlog.Summary{}, entries)); err != nil {
			t.Fatal(err)
		}
	}
	in("a1", "ann@example.com")
	in("o1", "")
	in("b1", "Bob ü")
	in("a2", "ann@example.com")
	r.again()
	for _, text := range []string{"", "gulls", "herons"} {
		for user, want := range map[string]string{"": "a2 b1 o1 a1", "ann@example.com": "a2 a1",
			"Bob ü": "b1", "ann": "", "ANN@example.com": ""} {
			if got := r.list(sessions.Query{
				Filter: sessions.Filter{User: user},
				Text:   text,
				Limit:  1,
			}); got != want {
				t.Errorf("%q of %q lists %q, want %q", text, user, got, want)
			}
		}
	}
	if s, err := r.Summary(t.Context(), "b1"); err != nil || s.User != "Bob ü" {
		t.Errorf("%q, %v", s.User, err)
	}
	if all, err := r.Workspaces(t.Context(), "ann@example.com"); err != nil || len(all) != 1 ||
		all[0].Path != "/of ann@example.com" || all[0].Sessions != 2 {
		t.Errorf("%+v, %v", all, err)
	}
}

// listFilters: what keeps sessions out of a list, page by page.
func listFilters(t *testing.T, r *rig) {
	in := func(id eventlog.ID, workspace string, data ...event.Data) {
		t.Helper()
		entries := []event.Entry{Entry(t, 1, event.SessionStart{
			SessionID: string(id),
			Workspace: workspace,
			Backend:   "offline",
		})}
		for _, d := range data {
			entries = append(entries, Entry(t, int64(len(entries)+1), d))
		}
		if err := r.Append(t.Context(), id, entries, Fold(eventlog.Summary{}, entries)); err != nil {
			t.Fatal(err)
		}
	}
	turn := event.TurnStart{TurnID: "t", MessageID: "m"}
	in("a1", "/a", event.SessionTitleChanged{Title: "one"})
	in("a2", "/a", turn)
	in("a3", "/a") // it has no message
	in("b1", "/b", event.PermissionRequested{RequestID: "p"})
	in("b2", "/b", turn, event.TurnEnd{TurnID: "t", MessageID: "m", Outcome: event.Failed})
	in("c1", "", event.SessionTitleChanged{Title: "one of nowhere"})
	in("d1", "/d", turn)
	if err := r.Mark(t.Context(), "a1", sessions.Mark{Pinned: ptr(true)}); err != nil {
		t.Fatal(err)
	}
	if err := r.Mark(t.Context(), "d1", sessions.Mark{DeletedAt: ptr(epoch)}); err != nil {
		t.Fatal(err)
	}
	r.again()
	for _, c := range []struct {
		f    sessions.Filter
		text string
		want string
	}{
		{f: sessions.Filter{Workspaces: []string{"/a"}}, want: "a1 a3 a2"},
		{f: sessions.Filter{Workspaces: []string{"/a", ""}, Begun: true}, want: "a1 c1 a2"},
		{f: sessions.Filter{Hidden: []string{"/a"}}, want: "c1 b2 b1"},
		{f: sessions.Filter{Hidden: []string{"/a"}}, text: "one", want: "c1"},
		{f: sessions.Filter{State: sessions.Active}, want: "b1 a2"},
		{f: sessions.Filter{State: sessions.State(event.Waiting)}, want: "b1"},
		{f: sessions.Filter{State: sessions.Failed}, want: "b2"},
		{f: sessions.Filter{State: sessions.Pinned}, want: "a1"},
		{f: sessions.Filter{State: sessions.Resting, Begun: true}, want: "c1 b2"},
		{
			f:    sessions.Filter{Workspaces: []string{"/a"}, State: sessions.State(event.Running)},
			want: "a2",
		},
	} {
		if got := r.list(sessions.Query{Filter: c.f, Text: c.text, Limit: 1}); got != c.want {
			t.Errorf("%+v %q lists %q, want %q", c.f, c.text, got, c.want)
		}
	}
	all, err := r.Workspaces(t.Context(), "")
	counts := map[string]int{}
	for _, w := range all {
		if counts[w.Path] = w.Sessions; w.UpdatedAt.Before(epoch) {
			t.Errorf("%+v", w)
		}
	}
	if want := map[string]int{"/a": 2, "/b": 2, "": 1}; err != nil || !maps.Equal(counts, want) {
		t.Errorf("workspaces: %v, %v, want %v", counts, err, want)
	}
	if _, err := r.List(t.Context(), sessions.Query{
		Kind:   sessions.QueryDeleted,
		Filter: sessions.Filter{Begun: true},
	}); !errors.Is(err, eventlog.ErrInvalid) {
		t.Errorf("deleted sessions are filtered: %v", err)
	}
}
