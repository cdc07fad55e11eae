package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/offline"
	"webchat/internal/event"
	"webchat/internal/files"
	"webchat/internal/patch"
	"webchat/internal/policy"
	"webchat/internal/store/storetest"
)

// editing is an agent that writes the files its prompt holds as JSON, by their names; null deletes
// one. It reports what changed; of what "by command" holds, only that a command ran.
type editing struct {
	*offline.Backend
	heard *heard // nil: nothing is noted
}

// heard is what an agent was made to forget, and given as text, in its order.
type heard struct{ all []string }

func (h *heard) note(what string) {
	if h != nil {
		h.all = append(h.all, what)
	}
}

func (e editing) Open(ctx context.Context, o agent.Options, host agent.Host) (agent.Conn, error) {
	conn, err := e.Backend.Open(ctx, o, host)
	return editor{conn, host, o.Workspace, e.heard}, err
}

// Info says that it has a model, which may act without a question.
func (e editing) Info(ctx context.Context) agent.Info {
	i := e.Backend.Info(ctx)
	i.Counting = agent.CountsTurns
	return i
}

type editor struct {
	agent.Conn
	host  agent.Host
	dir   string
	heard *heard
}

// Rewind implements [agent.Rewinder].
func (e editor) Rewind(_ context.Context, prompt string) error {
	e.heard.note("forgot " + prompt)
	return nil
}

func (e editor) Prompt(ctx context.Context, p agent.Prompt) error {
	for _, a := range p.Attachments {
		e.heard.note("given " + string(a.Data))
	}
	if err := e.host.Report(ctx, event.AssistantTurnStart{
		TurnID:   p.MessageID,
		PromptID: p.MessageID,
	}); err != nil {
		return err
	}
	text, silent := strings.CutPrefix(p.Content, "by command ")
	var texts map[string]*string
	if err := json.Unmarshal([]byte(text), &texts); err != nil {
		return err
	}
	if silent {
		id := string(event.NewID())
		for _, d := range []event.Data{event.ToolExecutionStart{
			ToolCallID: id,
			ToolName:   "bash",
			Arguments:  []byte(`{"command":"make"}`),
			By:         event.ByAgent,
		},
			event.ToolExecutionComplete{
				ToolCallID: id,
				Success:    true,
				Result:     &event.ToolResult{Content: "done"},
			}} {
			if err := e.host.Report(ctx, d); err != nil {
				return err
			}
		}
	}
	for name, now := range texts {
		path := filepath.Join(e.dir, name)
		was, err := os.ReadFile(path)
		from, to, is := "a/"+name, "b/"+name, ""
		if err != nil {
			from = "/dev/null"
		}
		if now == nil {
			to = "/dev/null"
			err = os.Remove(path)
		} else {
			is = *now
			err = os.WriteFile(path, []byte(is), 0o600)
		}
		if err != nil {
			return err
		}
		if silent {
			continue
		}
		id := string(event.NewID())
		args, _ := json.Marshal(map[string]string{"path": path})
		diff := "--- " + from + "\n+++ " + to + "\n" + patch.Unified(was, []byte(is))
		if strings.HasSuffix(name, ".png") { // as git has it
			diff = "diff --git a/" + name + " b/" + name + "\nBinary files " + from + " and " + to +
				" differ\n"
		}
		for _, d := range []event.Data{event.ToolExecutionStart{
			ToolCallID: id,
			ToolName:   "edit",
			Arguments:  args,
			By:         event.ByAgent,
		},
			event.ToolExecutionComplete{
				ToolCallID: id,
				Success:    true,
				Result: &event.ToolResult{Content: "done",
					DetailedContent: diff},
			}} {
			if err := e.host.Report(ctx, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// reviewed is a session whose agent edits files.
type reviewed struct {
	*house
	t    *testing.T
	path string // of its API
	id   string
	*heard
}

func newReviewed(t *testing.T, git bool, change ...any) *reviewed {
	noted := &heard{}
	h := newHouseOn(t, storetest.NewMemory(),
		editing{offline.New(offline.Config{Path: os.Getenv("PATH")}), noted}, change...)
	h.file("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n")
	h.file("b.txt", "b\n")
	h.file(".env", "KEY=1\n")
	if git {
		h.git("init", "-q")
		h.git("add", "-A", "-f")
		h.git("commit", "-qm", "x")
	}
	id, path := h.session(t)
	return &reviewed{h, t, path, id, noted}
}

func (r *reviewed) say(content string) {
	r.t.Helper()
	body, _ := json.Marshal(map[string]string{"content": content})
	if res, got := r.do("POST", r.path+"/messages?wait=true", string(body)); res.StatusCode/100 != 2 {
		r.t.Fatalf("%d %s", res.StatusCode, got)
	}
}

var (
	reviewFile = regexp.MustCompile(`data-path="([^"]*)" data-output="([^"]*)" data-with="([^"]*)"`)
	reviewFrom = regexp.MustCompile(`data-from="(\d+)"`)
	reviewHunk = regexp.MustCompile(
		`<article class="hunk( is-undone)?"[^>]*aria-label="Change ([^"]*)"`)
)

// page is the review in short, and by file the two outputs.
func (r *reviewed) page(query string) (page string, hunks []string, outs map[string][2]string) {
	r.t.Helper()
	res, page := r.do("GET", "/sessions/"+r.id+"/review"+query, "")
	if res.StatusCode != 200 {
		r.t.Fatalf("%d %s", res.StatusCode, page)
	}
	outs = map[string][2]string{}
	for _, m := range reviewFile.FindAllStringSubmatch(page, -1) {
		outs[m[1]] = [2]string{m[2], m[3]}
	}
	for _, m := range reviewHunk.FindAllStringSubmatch(page, -1) {
		hunks = append(hunks, m[2]+strings.TrimPrefix(m[1], " is-"))
	}
	return page, hunks, outs
}

func (r *reviewed) undo(status int, outs [2]string, undone string) string {
	r.t.Helper()
	res, got := r.do("POST", r.path+"/outputs/"+outs[0]+"/undo",
		fmt.Sprintf(`{"with":%q,"undone":%s}`, outs[1], undone))
	if res.StatusCode != status {
		r.t.Errorf("undo %s: %d %s, want %d", undone, res.StatusCode, got, status)
	}
	return got
}

func (r *reviewed) holds(name, want string) {
	r.t.Helper()
	b, err := os.ReadFile(filepath.Join(r.workspace, name))
	if want == "" && os.IsNotExist(err) {
		return
	}
	if err != nil || string(b) != want {
		r.t.Errorf("%s holds %q, want %q (%v)", name, b, want, err)
	}
}

const reviewedNow = "one\n2\nthree\nfour\nfive\nsix\nseven\neight\n9\nten\n"

// With git and without, changes are undone by themselves, are seen to be, and come back, the file
// with them; the review of a turn needs no git.
func TestReviewUndoesByTheChange(t *testing.T) {
	for _, c := range []struct {
		name, query string
		git         bool
	}{{"a turn without git", "", false}, {"a turn in a repository", "", true},
		{"the commit", "?since=commit", true}} {
		t.Run(c.name, func(t *testing.T) {
			r := newReviewed(t, c.git)
			edits, _ := json.Marshal(map[string]any{"a.txt": reviewedNow, "new.txt": "n\n", "b.txt": nil,
				".env": "KEY=2\n"})
			r.say(string(edits))
			page, hunks, outs := r.page(c.query)
			if want :=
				"2 of 5: a.txt, line 2|3 of 5: a.txt, line 9|4 of 5: b.txt, removed line 1|5 of 5: new.txt, " +
					"line 1"; strings.Join(hunks, "|") != want {
				t.Fatalf("%q, want %q", hunks, want)
			}
			if strings.Contains(page, "KEY=") || !strings.Contains(page, "only its name is shown") {
				t.Error("it shows a file that may hold secrets")
			}
			if got := strings.Contains(page, "Since the commit"); got != c.git {
				t.Errorf("since the commit is offered: %v", got)
			}
			half := strings.Replace(reviewedNow, "\n9\n", "\nnine\n", 1)
			r.undo(200, outs["a.txt"], "[2]")
			r.holds("a.txt", half)
			r.undo(200, outs["new.txt"], "[1]")
			r.holds("new.txt", "")
			r.undo(200, outs["b.txt"], "[1]")
			r.holds("b.txt", "b\n")
			if _, hunks, again := r.page(c.query); strings.Join(hunks,
				"|") != "2 of 5: a.txt, line 2|3 of 5: a.txt, line 9undone|4 of 5: b.txt, removed line "+
				"1undone|5 of 5: new.txt, line 1undone" || again["a.txt"] != outs["a.txt"] {
				t.Errorf("%q", hunks)
			}
			for _, name := range []string{"a.txt", "b.txt", "new.txt"} {
				r.undo(200, outs[name], "[]")
			}
			r.holds("a.txt", reviewedNow)
			r.holds("b.txt", "")
			r.holds("new.txt", "n\n")

			// The agent goes on: what it left then counts.
			r.undo(200, outs["a.txt"], "[1]")
			more, _ := json.Marshal(
				map[string]any{"a.txt": "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n9\nten\neleven\n"})
			r.say(string(more))
			query := c.query
			if query == "" {
				query = "?since=prompt&from=" + reviewFrom.FindStringSubmatch(page)[1]
			}
			if _, hunks, _ := r.page(query); strings.Join(hunks,
				"|") != "2 of 5: a.txt, line 9|3 of 5: a.txt, line 11|4 of 5: b.txt, removed line 1|5 of 5: "+
				"new.txt, line 1" {
				t.Errorf("%q", hunks)
			}
		})
	}
}

// A file that is no longer what the agent left is refused and left alone, and the review says so;
// so are changes that are not there, outputs of another session, and links.
func TestReviewRefuses(t *testing.T) {
	r := newReviewed(t, false)
	edits, _ := json.Marshal(map[string]any{"a.txt": reviewedNow, "b.txt": "c", "c.bin": "\x00\n"})
	r.say(string(edits))
	page, _, outs := r.page("")
	if !strings.Contains(page, "3 files · 4 changes") {
		t.Error("it counts otherwise: ", page)
	}
	if _, whole := r.do("GET", "/sessions/"+r.id, ""); !strings.Contains(whole,
		"<span>3 files</span>") {
		t.Error("the turn counts other changes than the review")
	}
	if got := r.undo(400, outs["a.txt"], "[3]"); !strings.Contains(got, "no such change") {
		t.Error(got)
	}
	r.undo(404, [2]string{outs["a.txt"][0], "out_none"}, "[1]")
	_, other := r.session(t)
	if res, got := r.do("POST", other+"/outputs/"+outs["a.txt"][0]+"/undo",
		fmt.Sprintf(`{"with":%q,"undone":[1]}`, outs["a.txt"][1])); res.StatusCode != 404 {
		t.Errorf("%d %s", res.StatusCode, got)
	}
	for _, query := range []string{"?since=ever", "?from=x", "?from=0"} {
		if res, _ := r.do("GET", "/sessions/"+r.id+"/review"+query, ""); res.StatusCode != 400 {
			t.Errorf("%s: %d", query, res.StatusCode)
		}
	}

	r.file("a.txt", reviewedNow+"somebody's\n")
	if got := r.undo(409, outs["a.txt"], "[1]"); !strings.Contains(got, "nothing was written") {
		t.Error(got)
	}
	r.holds("a.txt", reviewedNow+"somebody's\n")
	if page, _, _ := r.page(""); !strings.Contains(page,
		"The file is no longer what the agent left.") || !strings.Contains(page, "See it") {
		t.Error("the review does not say that the file changed")
	}
	r.file("a.txt", reviewedNow)
	if page, _, _ := r.page(""); strings.Contains(page, "no longer") {
		t.Error("the file is what the agent left again")
	}
	outside := filepath.Join(t.TempDir(), "b.txt")
	if err := os.WriteFile(outside, []byte("c"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(r.workspace, "b.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(r.workspace, "b.txt")); err != nil {
		t.Fatal(err)
	}
	r.undo(409, outs["b.txt"], "[1]")
	if b, _ := os.ReadFile(outside); string(b) != "c" {
		t.Errorf("a file outside holds %q", b)
	}
	if left, _ := filepath.Glob(filepath.Join(r.workspace, ".webchat-*")); left != nil {
		t.Errorf("left behind: %q", left)
	}
}

// What is not text is listed with its sizes and undone whole where its bytes are known; where they
// are not, the review says what brings it back.
func TestReviewListsWhatIsNotText(t *testing.T) {
	for _, git := range []bool{false, true} {
		r := newReviewed(t, git)
		r.say(`{"c.bin": "\u0000\n", "a.txt": "one\n\u0000", "logo.png": "\u0000PNG"}`)
		page, hunks, outs := r.page("")
		if want :=
			"1 of 3: a.txt, 49 bytes before, 5 bytes after|2 of 3: c.bin, new, 2 bytes"; strings.Join(hunks,
			"|") != want {
			t.Errorf("%q, want %q", hunks, want)
		}
		for _, want := range []string{"cannot be compared line by line", "It has 4 bytes now.",
			"take it from a copy"} {
			if !strings.Contains(page, want) {
				t.Errorf("it does not say %q: %s", want, page)
			}
		}
		if _, whole := r.do("GET", "/sessions/"+r.id, ""); !strings.Contains(whole,
			"<span>3 files</span>") {
			t.Error("the turn counts other changes than the review")
		}
		was := "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"
		for _, name := range []string{"a.txt", "c.bin"} {
			r.undo(200, outs[name], "[1]")
		}
		r.holds("a.txt", was)
		r.holds("c.bin", "")
		if _, hunks, _ := r.page(""); len(hunks) != 2 || !strings.HasSuffix(hunks[0], "undone") ||
			!strings.HasSuffix(hunks[1], "undone") {
			t.Errorf("%q", hunks)
		}
		r.undo(200, outs["a.txt"], "[]")
		r.holds("a.txt", "one\n\x00")
		r.file("a.txt", "one\n\x00!")
		r.undo(409, outs["a.txt"], "[1]")
	}

	// What git has is named, and undone against the commit.
	r := newReviewed(t, false)
	r.file("logo.png", "\x00PNG, as committed")
	r.file("gone.png", "\x00")
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A", "-f"}, {"commit", "-qm", "x"}} {
		r.git(args...)
	}
	r.id, r.path = r.session(t)
	r.say(`{"logo.png": "\u0000PNG", "gone.png": null, "*.png": "\u0000"}`)
	page, hunks, _ := r.page("")
	for _, want := range []string{"It has 4 bytes now, and 18 bytes in the commit",
		"It is gone, and has 1 byte in the commit", "-- logo.png</code>", "-- gone.png</code>"} {
		if !strings.Contains(page, want) {
			t.Errorf("it does not say %q: %s", want, page)
		}
	}
	if len(hunks) > 0 || strings.Contains(page, "-- &#39;*") {
		t.Errorf("%q %s", hunks, page)
	}
	_, hunks, outs := r.page("?since=commit")
	if want :=
		"1 of 3: *.png, new, 1 byte|2 of 3: gone.png, deleted, 1 byte|3 of 3: logo.png, 18 bytes " +
			"before, 4 bytes after"; strings.Join(hunks, "|") != want {
		t.Errorf("%q, want %q", hunks, want)
	}
	r.undo(200, outs["logo.png"], "[1]")
	r.holds("logo.png", "\x00PNG, as committed")
	r.undo(200, outs["gone.png"], "[1]")
	r.holds("gone.png", "\x00")
	if _, hunks, _ := r.page("?since=commit"); len(hunks) != 3 ||
		!strings.HasSuffix(hunks[2], "undone") {
		t.Errorf("%q", hunks)
	}
}

// What commands changed is known against the commit alone.
func TestReviewOfCommands(t *testing.T) {
	r := newReviewed(t, true)
	r.say(`by command {"a.txt":"one\n"}`)
	if page, hunks, _ := r.page(""); len(hunks) > 0 ||
		!strings.Contains(page, "Nothing changed in this turn") {
		t.Errorf("%q", hunks)
	}
	if _, hunks, _ := r.page("?since=commit"); len(hunks) != 1 {
		t.Errorf("%q", hunks)
	}
}

// What git left half done, and what the sandbox kept it from writing, is listed beside Undo.
func TestReviewListsWhatGitLeftHalfDone(t *testing.T) {
	snapshots := files.NewSnapshots(files.SnapshotsConfig{
		Dir:    filepath.Join(t.TempDir(), "snapshots"),
		Env:    os.Environ(),
		Secret: policy.SensitiveFile,
	})
	var r *reviewed
	r = newReviewed(t, true, snapshots, func(string, int, string) (all []event.SandboxRefused) {
		for _, name := range []string{".vscode/tasks.json", ".git/config", "../elsewhere"} {
			all = append(all, event.SandboxRefused{
				What:  filepath.Join(r.workspace, name),
				Kind:  event.RefusedPath,
				Write: true,
			})
		}
		return all
	})
	r.say(`by command {"a.txt":"one\n"}`)
	const kept, half = "The sandbox kept <code>", "git merge --abort"
	page, _, _ := r.page("")
	if strings.Count(page, kept) != 1 || !strings.Contains(page, kept+".vscode/tasks.json") ||
		strings.Contains(page, half) {
		t.Errorf("%s", page)
	}
	r.file(".git/MERGE_HEAD", "x")
	r.say(`{"b.txt":"changed\n"}`)
	if page, _, _ := r.page(""); strings.Contains(page, kept) || !strings.Contains(page, half) {
		t.Errorf("of the next turn: %s", page)
	}
}

// Where nothing could be kept of a turn, its review says what it lacks, and why.
func TestReviewSaysWhyNothingWasKept(t *testing.T) {
	r := newReviewed(t, true, files.NewSnapshots(files.SnapshotsConfig{Dir: filepath.Join(t.TempDir(),
		"snapshots"), Env: []string{"PATH="}, Secret: policy.SensitiveFile}))
	const lacks = "What commands changed in this turn is not listed and cannot be undone: git is " +
		"not installed."
	r.say(`by command {"a.txt":"one\n"}`)
	if page, _, _ := r.page(""); !strings.Contains(page, lacks) {
		t.Errorf("a turn of commands: %s", page)
	}
	r.say(`{"b.txt":"changed\n"}`)
	if page, hunks, _ := r.page(""); !strings.Contains(page, lacks) || len(hunks) != 1 {
		t.Errorf("a turn of edits: %q", hunks)
	}
	if page, _, _ := r.page("?since=commit"); strings.Contains(page, lacks) {
		t.Error("since the commit it is known")
	}
}

// A turn is reviewed with what commands changed in it, without git in the folder, and undone as a
// whole: each file only where it still is what the turn left. That can be taken back.
func TestTurnIsUndoneWithItsCommands(t *testing.T) {
	snapshots := files.NewSnapshots(files.SnapshotsConfig{
		Dir:    filepath.Join(t.TempDir(), "snapshots"),
		Env:    os.Environ(),
		Secret: policy.SensitiveFile,
	})
	r := newReviewed(t, false, snapshots)
	// the first turn does not wait for longer than 2 seconds
	if err := snapshots.Warm(t.Context(), r.workspace); err != nil {
		t.Fatal(err)
	}
	was, err := os.ReadFile(filepath.Join(r.workspace, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	r.say(`by command {"a.txt":"one\n","b.txt":null,"made.txt":"made\n","data.bin":"\u0000","c.txt":"c\n"}`)
	page, hunks, _ := r.page("")
	if len(hunks) != 5 || !strings.Contains(page, "Undo the turn") {
		t.Errorf("%q", hunks)
	}
	m := regexp.MustCompile(`data-turn="([^"]*)"`).FindStringSubmatch(page)
	if m == nil {
		t.Fatal("the turn cannot be undone")
	}
	turn := func(way string, status int, want string) {
		t.Helper()
		res, got := r.do("POST", r.path+"/turns/"+m[1]+way, "{}")
		if res.StatusCode != status || !strings.Contains(got, want) {
			t.Errorf("%s: %d %s, want %d %s", way, res.StatusCode, got, status, want)
		}
	}
	turn("/undo?dry=true", 200,
		`"written":["a.txt","b.txt"],"deleted":["c.txt","data.bin","made.txt"]`)
	r.holds("a.txt", "one\n")
	r.file("c.txt", "somebody's\n")
	turn("/undo", 200,
		`"written":["a.txt","b.txt"],"deleted":["data.bin","made.txt"],"kept":[{"path":"c.txt","why":"changed"}],"notUndone":[]`)
	r.holds("a.txt", string(was))
	r.holds("b.txt", "b\n")
	r.holds("made.txt", "")
	r.holds("c.txt", "somebody's\n")
	if page, hunks, _ := r.page(""); len(hunks) != 5 || !strings.HasSuffix(hunks[0], "undone") ||
		!strings.Contains(page, "Bring the turn back") {
		t.Errorf("%q", hunks)
	}
	turn("/redo", 200, `"deleted":["b.txt"]`)
	r.holds("a.txt", "one\n")
	r.holds("b.txt", "")

	r.say(`{"a.txt":"one\ntwo\n"}`)
	r.say(`by command {"a.txt":"one\ntwo\nthree\n"}`)
	if _, hunks, _ := r.page(""); len(hunks) != 1 || !strings.Contains(hunks[0], "line 3") {
		t.Errorf("the last turn: %q", hunks)
	}
	if _, hunks, _ := r.page("?since=prompt&from=" + r.firstPrompt()); len(hunks) != 5 {
		t.Errorf("since the first: %q", hunks)
	}
	turn("/undo", 200, `"kept":[{"path":"a.txt","why":"changed"}`)
	m[1] = "none"
	turn("/undo", 404, "no such turn")
}

// firstPrompt is the first that the review can begin with.
func (r *reviewed) firstPrompt() string {
	page, _, _ := r.page("?since=prompt")
	return regexp.MustCompile(`<option value="(\d+)"`).FindStringSubmatch(page)[1]
}
