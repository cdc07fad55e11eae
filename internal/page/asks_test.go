package page_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"webchat/internal/event"
	"webchat/internal/page/pagetest"
)

const workspace = "/home/me/code/relay"

func starts(id, tool, args string) event.ToolExecutionStart {
	return event.ToolExecutionStart{
		ToolCallID: id,
		ToolName:   tool,
		Arguments:  raw(args),
		By:         event.ByAgent,
	}
}

// wants is a question about a command with what may be granted beyond it.
func wants(req, call, command string) event.PermissionRequested {
	p := allow(req, call, command)
	p.ToolName = "bash"
	p.Grants = []event.Grant{{
		ID:     "exact " + command,
		Text:   "this command, exactly: `" + command + "`",
		Covers: "the command above, nothing else",
	}}
	if strings.HasPrefix(command, "go test ") {
		p.Grants = append(p.Grants, event.Grant{
			ID:     "go test",
			Text:   "commands that begin with `go test`",
			Covers: "`go test -race \u202e./...`",
		})
	}
	return p
}

// reads is a question that a rule answers at once.
func reads(req, call, path string) []event.Data {
	p := event.PermissionRequested{
		RequestID:  req,
		ToolCallID: call,
		ToolName:   "grep",
		Kind:       "read",
		Action:     "search files",
		Resource:   path,
		Digest:     "9f86",
		Grants:     []event.Grant{},
	}
	return []event.Data{p, event.PermissionCompleted{
		RequestID: req,
		Decision:  event.Allow,
		Scope:     event.Once,
		By:        event.DecidedByRule,
		Rule:      &event.Rule{BuiltIn: true, Covers: "reading in this workspace"},
	}}
}

// questions are the stories about permissions.
func questions() map[string][]event.Data {
	yes := func(req string) event.PermissionCompleted {
		return event.PermissionCompleted{
			RequestID: req,
			Decision:  event.Allow,
			Scope:     event.Once,
			By:        event.DecidedByUser,
		}
	}
	write := event.PermissionRequested{
		RequestID:  "p1",
		ToolCallID: "c1",
		ToolName:   "edit",
		Kind:       "write",
		Action:     "change a file",
		Resource:   "notes.txt",
		Target:     "/elsewhere/notes\u202e.txt",
		Diff:       "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n",
		Digest:     "9f86",
		Sensitive:  true,
		Why:        "It leads outside this workspace.",
		Withheld:   []string{"DATABASE_URL", "TOKEN\u200b"},
		Grants:     []event.Grant{},
	}
	two := write
	two.Resource, two.Target = "a.txt", workspace+"/a.txt"
	const name = workspace + "/a.txt"
	two.Diff = "diff --git a" + name + " b" + name + "\nindex 0000000..5e1c309 100644\n--- a" + name +
		"\n+++ b" + name + "\n@@ -1,2 +1 @@\n--- a" + name + "\n index 0000000..5e1c309\n"
	two.Resources = []event.Resource{{
		Kind:     "write",
		Action:   "change a file",
		Resource: "a.txt",
		Target:   workspace + "/a.txt",
	},
		{
			Kind:     "write",
			Action:   "change a file",
			Resource: "link\u202e/b.txt",
			Target:   "/elsewhere/b.txt",
		}, {Kind: "read", Action: "read a file", Resource: "c\nd", Target: workspace + "/c\nd"}}
	secret := wants("p1", "c1", "cp deploy.key\u202e x\u200b && cp deploy.key\u202e y")
	secret.Sensitive, secret.Grants, secret.Why = true, []event.Grant{},
		"No rule allows `cp deploy.key\u202e x`."
	secret.Secret = &event.Secret{File: "deploy.key\u202e", Looks: "looks like a private key"}
	plain := two
	plain.RequestID, plain.Diff = "p2", ""
	other := func(p event.PermissionRequested, id string) event.PermissionRequested {
		p.RequestID = id
		return p
	}
	go1 := event.Grant{
		ID:    "go test",
		Text:  "commands that begin with `go test`",
		Scope: event.ForSession,
	}
	return map[string][]event.Data{
		"several": join(opening(), starts("c1", "bash", `{"command":"go test ./a"}`),
			starts("c2", "bash", `{"command":"go test ./b"}`), starts("c3", "bash", `{"command":"rm x"}`),
			wants("p1", "c1", "go test ./a"), wants("p2", "c2", "go test ./b"), wants("p3", "c3", "rm x"),
			event.UserInputRequested{RequestID: "q1", Question: "Which?", Choices: []string{"a", "b"}},
			event.PermissionCompleted{
				RequestID: "p2",
				Decision:  event.Allow,
				Scope:     event.ForSession,
				Grant:     &go1,
				By:        event.DecidedByUser,
			}, yes("p1"),
			event.UserInputCompleted{RequestID: "q1", Answer: "a"},
			event.PermissionCompleted{RequestID: "p3", Decision: event.Deny, By: event.DecidedByTimeout},
			closing(event.Completed)),
		"mixed": join(opening(), other(secret, "p1"), other(two, "p2"), other(write, "p3"),
			wants("p4", "c4", "ls")),
		"held":  heldStory(),
		"hosts": hostsStory(), "budget": budgetStory(), "beside": besideStory(), "worktree": treeStory(),
		"granted": join(opening(), starts("c1", "bash", `{"command":"go test ./a"}`),
			wants("p1", "c1", "go test ./a"),
			event.PermissionCompleted{
				RequestID: "p1",
				Decision:  event.Allow,
				Scope:     event.ForWorkspace,
				Grant:     &event.Grant{ID: "go test", Text: go1.Text, Scope: event.ForWorkspace},
				By:        event.DecidedByGrant,
			}, closing(event.Completed)),
		"ended": join(opening(), starts("c1", "bash", `{"command":"go test ./a"}`),
			wants("p1", "c1", "go test ./a"),
			event.PermissionCompleted{
				RequestID: "p1",
				Decision:  event.Deny,
				By:        event.DecidedByAbort,
				Reason:    "The program ended before this did.",
			}, closing(event.Interrupted)),
		"by rule": join(opening(), starts("c1", "grep",
			`{"pattern":"needle","path":"src","glob":"*.go"}`), reads("p1", "c1", "src"),
			event.ToolExecutionComplete{
				ToolCallID: "c1",
				Success:    true,
				Result:     &event.ToolResult{Content: "1 hit"},
				DurationMs: 12,
			}, reads("p2", "", "src"),
			starts("c2", "render_file_contents", `{"path":"go.mod"}`), reads("p3", "c2", "go.mod"),
			reads("p4", "c9", "src"), starts("c9", "view", `{"path":"src"}`), closing(event.Completed)),
		"secret": join(opening(), starts("c1", "bash", `{"command":"cp"}`), secret, yes("p1"),
			closing(event.Completed)),
		"the user's own": join(opening()[:1], event.ToolExecutionStart{
			ToolCallID: "c1",
			ToolName:   "render_file_contents",
			Arguments:  raw(`{"path":"key.pem"}`),
			By:         event.ByUser,
		},
			event.PermissionRequested{
				RequestID:  "p1",
				ToolCallID: "c1",
				ToolName:   "render_file_contents",
				Kind:       "read",
				Action:     "show a file",
				Resource:   "key.pem",
				Sensitive:  true,
			}, event.PermissionCompleted{
				RequestID: "p1",
				Decision:  event.Deny,
				By:        event.DecidedByUser,
				Reason:    "The user said no.",
			},
			event.ToolExecutionComplete{
				ToolCallID: "c1",
				Error: &event.ToolError{
					Message: "The user said no.",
					Code:    "denied",
					Kind:    event.KindDenied,
					By:      event.DecidedByUser,
				},
			}),
		"of several": join(opening(), starts("c1", "edit", `{"path":"a.txt"}`), two, plain, yes("p1"),
			yes("p2"), closing(event.Completed)),
		"elsewhere": join(opening(), starts("c1", "edit", `{"path":"notes.txt"}`), write,
			event.PermissionCompleted{
				RequestID: "p1",
				Decision:  event.Deny,
				By:        event.DecidedByHook,
				Reason:    "no",
			}, closing(event.Completed)),
		"changed by hooks": join(opening(), event.HookStart{
			HookID:  "h0",
			Event:   "prompt_submitted",
			Command: "check.sh",
		}, event.HookEnd{
			HookID:  "h0",
			Event:   "prompt_submitted",
			Command: "check.sh",
			Allow:   true,
			Prompt:  "show me go.mod, only",
		},
			starts("c1", "bash", `{"command":"rm -rf /"}`),
			event.HookStart{HookID: "h1", Event: "before_tool", Command: "soften.sh", ToolCallID: "c1"},
			wants("p1", "c1", "rm -rf build"), event.HookEnd{
				HookID:    "h1",
				Event:     "before_tool",
				Command:   "soften.sh",
				Allow:     true,
				Arguments: raw(`{"command":"rm -rf build"}`),
			}, yes("p1"),
			event.ToolExecutionComplete{
				ToolCallID: "c1",
				Success:    true,
				Result:     &event.ToolResult{Content: "ok"},
				DurationMs: 9,
			},
			starts("c2", "bash", `{"command":"ls"}`), event.HookStart{
				HookID:  "h2",
				Event:   "before_tool",
				Command: "which one.sh",
			}, event.HookEnd{
				HookID:    "h2",
				Event:     "before_tool",
				Command:   "which one.sh",
				Allow:     true,
				Arguments: raw(`{"command":"ls -l"}`),
			}, closing(event.Completed)),
		"plan": join(opening(), event.UserInputRequested{
			RequestID:     "q1",
			Question:      "Carry out this plan?",
			Detail:        "# Mend it\n\n1. <script>first</script>\n2. then **this**",
			Choices:       []string{"Carry it out"},
			AllowFreeform: true,
		},
			event.UserInputCompleted{RequestID: "q1", Answer: "Carry it out"}, closing(event.Completed)),
		"late call": join(opening(), wants("p1", "c1", "go test ./a"),
			starts("c1", "grep", `{"pattern":"x"}`), yes("p1"), wants("p2", "c1", "go test ./a"), yes("p2"),
			closing(event.Completed)),
		"instructions": join(event.SessionStart{
			SessionID: "s1",
			Backend:   "copilot",
			Context:   event.Context{Cwd: workspace},
			Instructions: []string{workspace + "/AGENTS.md", workspace + "/docs/CLAUDE.md",
				"/home/me/AGENTS.md"},
		},
			opening()[1:], closing(event.Completed)),
	}
}

// read is what a reader sees of an element, on one line.
func read(n *html.Node) string {
	var b strings.Builder
	var add func(*html.Node)
	add = func(n *html.Node) {
		if _, hidden := pagetest.Attr(n, "hidden"); hidden {
			return
		}
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		if n.Data == "dt" || n.Data == "dd" || n.Data == "p" || n.Data == "pre" {
			b.WriteByte(' ')
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			add(c)
		}
	}
	add(n)
	return strings.Join(strings.Fields(b.String()), " ")
}

// after feeds the first n events of a story, and returns the page.
func after(t *testing.T, story string, n int) *pagetest.DOM {
	t.Helper()
	p := pages(t, 3)
	pr := p.Projector("s1")
	pr.Feed(newLog().add(questions()[story]...).entries[:n]...)
	return pagetest.Parse(t, opened(t, wholePage(t, p, pr), pr))
}

// upTo is how many events of a story come before and with the first that fits.
func upTo(story string, fits func(event.Data) bool) int {
	return slices.IndexFunc(questions()[story], fits) + 1
}

func says(t *testing.T, d *pagetest.DOM, id string, parts ...string) {
	t.Helper()
	n := pagetest.ByID(d.Root, id)
	if n == nil {
		t.Fatalf("the page has no #%s", id)
	}
	for _, part := range parts {
		if got := read(n); !strings.Contains(got, part) {
			t.Errorf("#%s does not say %q: %s", id, part, got)
		}
	}
}

// What an agent asks at the same moment is one card; what the agent wants to know stands beside it.
func TestSeveralQuestionsAreOneCard(t *testing.T) {
	open := func(d event.Data) bool { _, is := d.(event.UserInputRequested); return is }
	d := after(t, "several", upTo("several", open))
	says(t, d, "asks-head", "copilot asks 4 questions")
	var groups []string
	walk(pagetest.ByID(d.Root, "asks-groups"), func(n *html.Node) {
		if v, ok := pagetest.Attr(n, "data-several"); ok {
			groups = append(groups, v)
		}
	})
	if !slices.Equal(groups, []string{"p1 p2 p3"}) {
		t.Errorf("together are %q", groups)
	}
	says(t, d, "asks-groups", "copilot asks to run 3 commands", "go test ./a", "go test ./b", "rm x",
		"will be denied", "Allow 3", "Deny all")
	for _, id := range []string{"q-p1", "q-p2", "q-p3", "q-q1"} {
		if pagetest.ByID(d.Root, id) == nil {
			t.Errorf("the question %s is not in the list", id)
		}
	}
	d = after(t, "mixed", len(questions()["mixed"]))
	says(t, d, "asks-groups", "copilot asks to run 2 commands and change 2 files",
		"a.txt and 2 more +0 −1 hides a character", "notes.txt +1 −1 hides a character",
		"deploy.key⟨U+202E⟩ looks like a private key")
	for row, want := range map[string]bool{"p-p1.k": true, "p-p2.k": true, "p-p3.k": true,
		"p-p4.k": false} {
		if _, wrong := pagetest.Attr(pagetest.ByID(d.Root, row), "data-wrong"); wrong != want {
			t.Errorf("%s wrong is %v", row, wrong)
		}
	}
}

// What a question is about stands in its card and afterwards in its row, as an answer of
// the agent's does.
func TestPlanStandsWithItsQuestion(t *testing.T) {
	d := after(t, "plan", upTo("plan", func(d event.Data) bool {
		_, is := d.(event.UserInputRequested)
		return is
	}))
	says(t, d, "q-q1", "Mend it", "<script>first</script>", "then this", "Carry out this plan?")
	says(t, after(t, "plan", len(questions()["plan"])), "p-q1", "Mend it", "then this", "Carry it out")
}

// What a card offers beyond this once is in words, and nothing of it is chosen.
// A question about what the user opens does not name the agent, which reads no reason either.
func TestTheUsersOwnActIsNotTheAgents(t *testing.T) {
	says(t, after(t, "the user's own", 3), "asks-head", "1 question to answer")
	card := read(pagetest.ByID(after(t, "the user's own", 3).Root, "q-p1"))
	if !strings.Contains(card, "You asked to show a file") || strings.Contains(card, "copilot") ||
		strings.Contains(card, "reason") {
		t.Errorf("the question reads %q", card)
	}
	var b strings.Builder
	if err := html.Render(&b, pagetest.ByID(after(t, "the user's own", 5).Root, "c-c1")); err != nil {
		t.Fatal(err)
	}
	if card := b.String(); !strings.Contains(card, "<b>Denied by you</b>") ||
		strings.Contains(card, "The user") {
		t.Errorf("the card reads %q", card)
	}
}

func TestGrantsAreOfferedInWords(t *testing.T) {
	d := after(t, "several", upTo("several", func(d event.Data) bool {
		_, is := d.(event.PermissionRequested)
		return is
	}))
	var offered []string
	walk(pagetest.ByID(d.Root, "q-p1"), func(n *html.Node) {
		for _, name := range []string{"data-grant", "data-scope"} {
			if what, ok := pagetest.Attr(n, name); ok {
				on, _ := pagetest.Attr(n, "aria-checked")
				offered = append(offered, what+": "+read(n)+" "+on)
			}
		}
	})
	want := []string{"session: This session true", "workspace: This folder false",
		"exact go test ./a: this command, exactly covers the command above, nothing else true",
		"go test: commands that begin with go test covers go test -race U+202E./... false"}
	if !slices.Equal(offered, want) {
		t.Errorf("offered are %q, want %q: the narrowest is chosen", offered, want)
	}
	says(t, d, "q-p1", "Why ask No rule and nothing you allowed covers it.")
	opened := after(t, "secret", upTo("secret", func(d event.Data) bool {
		_, is := d.(event.PermissionRequested)
		return is
	}))
	says(t, opened, "q-p1", "Why ask No rule allows cp deploy.key⟨U+202E⟩ x.",
		"Secret deploy.keyU+202E looks like a private key", "This can only be allowed once.",
		"Hidden U+202E reverses the text after it on the screen. Hidden U+200B is invisible.")
	walk(pagetest.ByID(opened.Root, "q-p1"), func(n *html.Node) {
		if got, ok := pagetest.Attr(n, "data-secret"); ok &&
			got != "deploy.key⟨U+202E⟩ looks like a private key" {
			t.Errorf("notifications read %q", got)
		}
	})
	d = after(t, "elsewhere", upTo("elsewhere", func(d event.Data) bool {
		_, is := d.(event.PermissionRequested)
		return is
	}))
	says(t, d, "q-p1", "notes.txt → /elsewhere/notesU+202E.txt, outside this workspace",
		"DATABASE_URL, TOKENU+200B: the command does not get these variables.",
		"This can only be allowed once.", "Why ask It leads outside this workspace.",
		"U+202E reverses the text after it on the screen.")
	if got := read(pagetest.ByID(d.Root, "q-p1")); strings.Contains(got, "Do not ask again") {
		t.Errorf("what counts once is offered for longer: %s", got)
	}
}

// An act that is about several things shows all of them, before and after its answer, with
// or without a difference, and where each leads.
func TestAllAnActIsAboutIsShown(t *testing.T) {
	all := []string{"change a file: a.txt change a file: linkU+202E/b.txt → /elsewhere/b.txt, " +
		"outside this workspace read a file: c↵ d", "a.txt and 2 more"}
	d := after(t, "of several", upTo("of several", func(d event.Data) bool {
		p, is := d.(event.PermissionRequested)
		return is && p.RequestID == "p2"
	}))
	says(t, d, "q-p1", all[0], "U+202E reverses the text after it on the screen.")
	says(t, d, "q-p2", all[0])
	says(t, d, "p-p1", all...)
	whole := after(t, "of several", len(questions()["of several"]))
	says(t, whole, "c-c1", all[0])
	says(t, whole, "c-c1", all[0]+" change a file")
}

// The card of a write names its file as it is in the workspace, without git's names of
// objects, and changes nothing of the lines themselves.
func TestWritesNameFilesInTheWorkspace(t *testing.T) {
	asked := func(d event.Data) bool { _, is := d.(event.PermissionRequested); return is }
	says(t, after(t, "of several", upTo("of several", asked)), "q-p1",
		"diff --git a/a.txt b/a.txt --- a/a.txt +++ b/a.txt @@ -1,2 +1 @@ 1--- a"+workspace+
			"/a.txt 1 index 0000000..5e1c309")

	// Of one file the hunks are shown below its path; what else its head says is kept.
	write := allow("p1", "", workspace+"/docs/a.txt")
	const name = workspace + "/docs/a.txt"
	write.Kind, write.Action = "write", "change a file"
	write.Diff = "diff --git a" + name + " b" + name +
		"\nold mode 100644\nnew mode 100755\nindex 0000000..5e1c309\n--- a" + name + "\n+++ b" + name +
		"\n@@ -1,2 +1 @@\n-x\n y\n"
	pr := pages(t, 3).Projector("s1")
	pr.Load(newLog().add(join(opening(), write)...).entries...)
	d := pagetest.Parse(t, wholePage(t, pages(t, 3), pr))
	says(t, d, "q-p1", "docs/a.txt+0 −1old mode 100644 new mode 100755 @@ -1,2 +1 @@")
	if got := read(pagetest.ByID(d.Root, "q-p1")); strings.Contains(got, "diff --git") ||
		strings.Contains(got, "+++") {
		t.Errorf("the card has git's head: %s", got)
	}
}

func TestRowsSayWhoDecided(t *testing.T) {
	whole := func(story string) *pagetest.DOM { return after(t, story, len(questions()[story])) }
	says(t, whole("several"), "c-c1", "you allowed it once")
	says(t, whole("several"), "c-c2", "you allowed it for this session",
		"Allowed by you, in this session from now on: commands that begin with go test")
	says(t, whole("several"), "p-p3", "Denied", "no answer within")
	says(t, whole("granted"), "c-c1", "Allowed by your grant: commands that begin with go test")
	says(t, whole("elsewhere"), "p-p1", "Denied by your hook", "/elsewhere/notesU+202E.txt")
	says(t, whole("ended"), "p-p1", "The program ended before this did.")
	d := whole("by rule")
	if pagetest.ByID(d.Root, "p-p1") != nil || pagetest.ByID(d.Root, "p-p3") != nil {
		t.Error("what a rule allowed has a row of its own beside that of its call")
	}
	says(t, d, "c-c1", "Searched", "needle in *.go, src",
		"Allowed by the built-in rule: reading in this workspace")
	says(t, d, "c-c2", "Allowed by the built-in rule: reading in this workspace")
	// it has no call to stand in
	says(t, d, "p-p2", "Allowed by the built-in rule: reading in this workspace")
	if hidden := pagetest.ByID(d.Root, "dock-asks"); hidden == nil || read(hidden) != "" {
		t.Error("answered questions stand in the list of open ones")
	}
}

func TestQuestionShowsTheSearchAndTheRewrite(t *testing.T) {
	d := after(t, "by rule", upTo("by rule", func(d event.Data) bool {
		_, is := d.(event.PermissionRequested)
		return is
	}))
	says(t, d, "q-p1", "Pattern needle in *.go, src")
	d = after(t, "changed by hooks", upTo("changed by hooks", func(d event.Data) bool {
		e, is := d.(event.HookEnd)
		return is && e.HookID == "h1"
	}))
	says(t, d, "q-p1", "Changed by your hook: soften.sh", `{"command":"rm -rf /"}`,
		`{"command":"rm -rf build"}`)
	d = after(t, "changed by hooks", len(questions()["changed by hooks"]))
	says(t, d, "c-c1", "Changed by your hook: soften.sh", `{"command":"rm -rf /"}`,
		`{"command":"rm -rf build"}`)
	says(t, d, "c-c2", "Changed by your hook: which one.sh", `{"command":"ls"}`, `{"command":"ls -l"}`)
	says(t, d, "t-m1.p", "Changed by your hook: check.sh",
		"Before show me go.mod Now show me go.mod, only")
}

func TestFirstTurnNamesTheInstructions(t *testing.T) {
	d := after(t, "instructions", len(questions()["instructions"]))
	says(t, d, "n-loads",
		"The agent reads these instructions of this folder: AGENTS.md, docs/CLAUDE.md, "+
			"/home/me/AGENTS.md")
	var shows []string
	walk(pagetest.ByID(d.Root, "n-loads"), func(n *html.Node) {
		if path, ok := pagetest.Attr(n, "data-path"); ok {
			shows = append(shows, path)
		}
	})
	if !slices.Equal(shows, []string{"AGENTS.md", "docs/CLAUDE.md"}) {
		t.Errorf("%q can be shown", shows)
	}
}

// A question that a rule answers at once is not announced.
func TestWhatARuleAllowsIsNotAnnounced(t *testing.T) {
	p := pages(t, 3)
	pr := p.Projector("s1")
	story := questions()["by rule"]
	f, _ := pr.Feed(newLog().add(story...).entries...)
	for _, op := range f.Ops {
		if op.Action == "alert" {
			t.Errorf("announced: %q", op.HTML)
		}
	}
}
