package offline

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"webchat/internal/agent"
	"webchat/internal/agent/agenttest"
	"webchat/internal/event"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// only makes a PATH with programs of these names, so that the tests are the
// same everywhere.
func only(t testing.TB, names ...string) Config {
	t.Helper()
	dir := t.TempDir()
	for _, n := range names {
		if runtime.GOOS == "windows" {
			n += ".exe"
		}
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return Config{Path: dir + string(filepath.ListSeparator) + "." + string(filepath.ListSeparator)}
}

// spy keeps the last conversation, to tell what it was offered.
type spy struct {
	*Backend
	last *conn
}

func (s *spy) Open(ctx context.Context, o agent.Options, h agent.Host) (agent.Conn, error) {
	c, err := s.Backend.Open(ctx, o, h)
	if err == nil {
		s.last = c.(*conn)
	}
	return c, err
}

func TestContract(t *testing.T) {
	b := &spy{Backend: New(only(t, "touch", "go", "sleep"))}
	agenttest.Run(t, b, agenttest.Options{
		Background: func(command string) string { return "run " + command + " in the background" },
		Show:       func(path string) string { return "show " + path },
		Run:        func(command string) string { return "run " + command },
		Answer:     "hello there",
		Talk:       "stream 5000 words slowly",
		Ask:        "ask me which colour",
		Offered: func(testing.TB) (names []string) {
			for name, offered := range b.last.offered {
				if offered {
					names = append(names, name)
				}
			}
			return names
		},
	})
}

func TestViewIsNeverTaken(t *testing.T) {
	c := open(t, only(t), agenttest.NewHost(nil), "", agent.ToolSpec{Name: "view"})
	if c.offered["view"] {
		t.Error("the tool view is offered")
	}
}

func open(t testing.TB, config Config, h agent.Host, dir string, specs ...agent.ToolSpec) *conn {
	t.Helper()
	if dir == "" {
		dir = t.TempDir()
	}
	c, err := New(config).Open(t.Context(), agent.Options{Workspace: dir, Tools: specs}, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*conn)
}

// folder makes a workspace of empty files; a name with "=" carries content.
func folder(t testing.TB, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		name, content, _ := strings.Cut(f, "=")
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// talkTo sends one prompt and returns the calls, one a line, and all words.
func talkTo(t testing.TB, h *agenttest.Host, dir, prompt string) (calls []string, said string) {
	t.Helper()
	c := open(t, only(t, "go", "ls", "echo", "git", "make", "npm"), h, dir,
		agenttest.DisplayTools()...)
	h.Begin()
	err := c.Prompt(t.Context(), agent.Prompt{MessageID: "p1", Content: prompt})
	h.End(err)
	if err != nil {
		t.Errorf("Prompt(%q): %v", prompt, err)
	}
	for _, b := range h.Broken() {
		t.Errorf("Prompt(%q): %s", prompt, b)
	}
	for _, call := range h.Calls() {
		calls = append(calls, call.Name+" "+string(call.Arguments))
	}
	return calls, strings.Join(h.Said(), "\n")
}

func host() *agenttest.Host { return agenttest.NewHost(agenttest.DisplayTools()) }

// TestStream: exactly so many words, one a tick when slow, the same each time.
func TestStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, slow := talkTo(t, host(), "", "stream 200 words slowly")
		if d := time.Since(began); d != 200*pace {
			t.Errorf("200 words took %v, want %v", d, 200*pace)
		}
		if n := len(strings.Fields(slow)); n != 200 {
			t.Errorf("%d words, want 200", n)
		}
		began = time.Now()
		_, fast := talkTo(t, host(), "", "Stream 200 words")
		if d := time.Since(began); d != 0 {
			t.Errorf("not slowly, it took %v", d)
		}
		if fast != slow {
			t.Errorf("the words differ:\n%s\n%s", slow, fast)
		}
	})
	_, said := talkTo(t, host(), "", "stream 99999999999999999999 words")
	if n := len(strings.Fields(said)); n < maxWords ||
		!strings.Contains(said, "200000 words at once are the most") {
		t.Errorf("%d words", n)
	}
}

func TestAskingWithChoices(t *testing.T) {
	h := host()
	h.Reply = func(q agent.Question) agent.Answer {
		return agent.Answer{Text: q.Choices[1], Answered: true}
	}
	_, said := talkTo(t, h, "", "ask me which one? red | dark green")
	if q := h.Questions(); len(q) != 1 || q[0].Question != "which one?" || len(q[0].Choices) != 2 {
		t.Errorf("asked %+v", q)
	}
	if !strings.Contains(said, "`dark green`") {
		t.Errorf("it says %s", said)
	}
	h = host()
	h.Reply = func(agent.Question) agent.Answer { return agent.Answer{} }
	if _, said := talkTo(t, h, "", "ask me something"); !strings.Contains(said, "You did not answer") {
		t.Errorf("unanswered, it says %s", said)
	}
}

// TestSameEventsEachTime: deterministic, ids included.
func TestSameEventsEachTime(t *testing.T) {
	dir := folder(t, "go.mod", "README.md")
	record := func() string {
		h := host()
		talkTo(t, h, dir, "show go.mod then show the readme\nhello\nstream 50 words")
		b, err := json.Marshal(h.Events())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if a, b := record(), record(); a != b {
		t.Errorf("twice the same prompt:\n%s\n%s", a, b)
	}
}

func TestNoUsageAndNoModel(t *testing.T) {
	h := host()
	c, err := New(only(t)).Open(t.Context(), agent.Options{Workspace: t.TempDir(), Model: "big"}, h)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	h.Begin()
	err = c.Prompt(t.Context(), agent.Prompt{MessageID: "p", Content: "hello",
		Attachments: []agent.Attachment{{Name: "x"}}})
	h.End(err)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range h.Events() {
		if _, ok := d.(event.AssistantUsage); ok {
			t.Error("it reports usage without a model")
		}
	}
	said := strings.Join(h.Said(), "")
	for _, w := range []string{"`big` is not used", "1 attachment"} {
		if !strings.Contains(said, w) {
			t.Errorf("%q is not in %s", w, said)
		}
	}
	if err := c.SetModel(t.Context(), "m"); !errors.Is(err, agent.ErrUnsupported) {
		t.Errorf("SetModel: %v", err)
	}
}

// TestWithoutTools: a session that offers none is answered so, and none is called.
func TestWithoutTools(t *testing.T) {
	h := agenttest.NewHost(nil)
	c := open(t, only(t, "ls"), h, folder(t, "go.mod"))
	h.Begin()
	err := c.Prompt(t.Context(), agent.Prompt{MessageID: "p", Content: "show go.mod\nrun ls"})
	h.End(err)
	if err != nil || len(h.Calls()) > 0 || len(h.Broken()) > 0 {
		t.Errorf("%v, calls %v, broken %v", err, h.Calls(), h.Broken())
	}
	if said := strings.Join(h.Said(), ""); !strings.Contains(said,
		"offers no tool `run_and_display`") {
		t.Errorf("it says %s", said)
	}
}

func TestOpenRefusesWhatIsNoFolder(t *testing.T) {
	dir := folder(t, "file")
	_, err := New(Config{}).Open(t.Context(), agent.Options{Workspace: filepath.Join(dir, "file")},
		host())
	if err == nil {
		t.Errorf("a file: %v", err)
	}
	_, err = New(Config{}).Open(t.Context(), agent.Options{Workspace: filepath.Join(dir, "none")},
		host())
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
}
