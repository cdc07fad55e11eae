package page_test

import (
	"strings"
	"testing"

	"webchat/internal/event"
	"webchat/internal/page/pagetest"
)

// What did not come to be is said once.
func TestRefusalsAreSaidOnce(t *testing.T) {
	p := pages(t, 3)
	tell := func(data ...any) string {
		pr := p.Projector("s1")
		pr.Feed(newLog().add(join(append([]any{opening()}, data...)...)...).entries...)
		return pr.Transcript()
	}
	failed := func(tool string, e event.ToolError) []event.Data {
		return []event.Data{event.ToolExecutionStart{
			ToolCallID: "c1",
			ToolName:   tool,
			Arguments:  raw(`{"path":"RAEDME.md"}`),
			By:         event.ByAgent,
		},
			event.ToolExecutionComplete{ToolCallID: "c1", Error: &e}}
	}
	deny := func(reason string) []event.Data {
		return []event.Data{allow("p1", "", "make"), event.PermissionCompleted{
			RequestID: "p1",
			Decision:  event.Deny,
			By:        event.DecidedByUser,
			Reason:    reason,
		}}
	}
	none := event.ToolError{
		Code:    "failure",
		Kind:    event.KindNotFound,
		Message: "Nothing in ~/code/relay has that name.",
		Nearest: []string{"README.md", "docs/README.md"},
	}
	missing := tell(failed("render_file_contents", none))
	for _, x := range []struct {
		name, html string
		has, not   []string
	}{
		{"missing", missing,
			[]string{`<b>Nothing in ~/code/relay has that name.</b> The nearest are:</p>`,
				`data-act="show" data-path="README.md"`,
				`data-act="show" data-path="docs/README.md"`, `data-act="again"`,
				"<samp>Nothing in ~/code/relay has that name.</samp>"}, nil},
		{"a command's folder is missing", tell(failed("run_and_display", none)), []string{"Nothing in"},
			[]string{`data-act="show"`}},
		{"missing, of a time without kinds", tell(failed("render_file_contents",
			event.ToolError{
				Code:    "failure",
				Message: "No such name. The nearest are: a, b",
			})), []string{"The nearest are: a, b"}, []string{`data-act="show"`}},
		{"denied", tell(deny("")), []string{"You denied"}, []string{`class="why"`}},
		{"denied with a reason", tell(deny("use make check")),
			[]string{`<span class="why">use make check</span>`}, nil},
		{"stopped", tell(event.Abort{Reason: "Stopped by the user.", By: event.DecidedByUser}),
			[]string{"<span>Stopped at 1"}, []string{"by the user"}},
		{"stopped for a reason", tell(event.Abort{Reason: "the disk is full."}),
			[]string{": the disk is full</span>"}, nil},
		{"a row was stopped", tell(failed("view", event.ToolError{
			Code:    "aborted",
			Kind:    event.KindAborted,
			By:      event.DecidedByUser,
			Message: "The user stopped it.",
		})), []string{"<b>Stopped</b>", `<span class="why">by you</span>`}, nil},
	} {
		for _, part := range x.has {
			if !strings.Contains(x.html, part) {
				t.Errorf("%s: no %s in %s", x.name, part, x.html)
			}
		}
		for _, part := range x.not {
			if strings.Contains(x.html, part) {
				t.Errorf("%s: %s in %s", x.name, part, x.html)
			}
		}
	}
	if n := strings.Count(missing, "<p><b>Nothing in ~/code/relay has that name"); n != 1 {
		t.Errorf("said %d times", n)
	}
}

// THREATS 36: what a look of the user's is called shows the characters of the name
// that would be invisible or turn it round.
func TestThreat36NameOfALook(t *testing.T) {
	pr := pages(t, 3).Projector("s1")
	pr.Feed(newLog().add(event.ToolExecutionStart{
		ToolCallID: "c1",
		ToolName:   "render_file_contents",
		By:         event.ByUser,
		Arguments:  raw("{\"path\":\"rlo\u202etxt.exe\\u001b[31m\"}"),
	}).entries...)
	if h := pr.Transcript(); !strings.Contains(h,
		"You opened rlo⟨U&#43;202E⟩txt.exe⟨U&#43;001B⟩[31m</h2>") {
		t.Error(h)
	}
}

// A turn whose files were brought back says so after a reload, too, until that is taken back.
func TestAnUndoneTurnStaysUndone(t *testing.T) {
	end := closing(event.Completed)
	whole := end[0].(event.TurnEnd)
	whole.Changed, whole.Added, whole.Removed = 3, 12, 5
	end[0] = whole
	undo := event.SessionRewound{TurnID: "t1", After: 1, FilesOnly: true}
	redo := undo
	redo.Undoes = 9
	for _, c := range []struct {
		more []event.Data
		has  string
	}{{nil, "Undo"}, {[]event.Data{undo}, "Bring it back"}, {[]event.Data{undo, redo}, "Undo"}} {
		p := pages(t, 3)
		pr := p.Projector("s1")
		pr.Load(newLog().add(join(opening(), end, c.more)...).entries...)
		d := pagetest.Parse(t, wholePage(t, p, pr))
		says(t, d, "t-m1.c", "3 files", "+12 −5", c.has)
		_, undone := pagetest.Attr(pagetest.ByID(d.Root, "t-m1"), "data-undone")
		if undone != (c.has == "Bring it back") {
			t.Errorf("%d events: undone is %v", len(c.more), undone)
		}
	}
}

// A 401 is about a key where a provider answered it, and about signing in where the agent's program
// did.
func TestA401IsAboutAKeyOrALogin(t *testing.T) {
	for kind, title := range map[string]string{"authentication": "Wrong key",
		event.ErrorLogin: "Not signed in"} {
		p := pages(t, 3)
		pr := p.Projector("s1")
		pr.Load(newLog().add(join(opening(), event.SessionError{
			Message:    "HTTP 401.",
			ErrorType:  kind,
			StatusCode: 401,
		},
			closing(event.Failed))...).entries...)
		if src := wholePage(t, p, pr); !strings.Contains(src, title) || strings.Count(src, "Wrong key")+
			strings.Count(src, "Not signed in") != 1 {
			t.Errorf("%s has no title %q", kind, title)
		}
	}
}
