package copilot_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/agenttest"
	"webchat/internal/agent/copilot"
	"webchat/internal/agent/copilot/copilottest"
	"webchat/internal/event"
)

// plant makes files and links ("name -> target") below a new folder, each with its
// name as content unless it says another ("name: content").
func plant(t testing.TB, all ...string) (dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		name, target, isLink := strings.Cut(f, " -> ")
		name, content, ok := strings.Cut(name, ": ")
		if !ok {
			content = "MARK[" + name + "]"
		}
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if !isLink {
			write(t, full, []byte(content))
		} else if err := os.Symlink(strings.ReplaceAll(target, "DIR", dir), full); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	return dir
}

// What is loaded is what a model of the real CLI was seen to get; see
// TestRealInstructions.
func TestInstructions(t *testing.T) {
	top := []string{"AGENTS.md", "Claude.md", "gemini.md", ".github/copilot-instructions.md",
		".github/instructions/x/a.instructions.md", ".claude/rules/r.md",
		"README.md", ".github/instructions/other.md", ".claude/CLAUDE.md", "sub/AGENTS.md"}
	var all []string
	for _, dir := range []string{"out/", "out/top/", "out/top/mid/", "out/top/mid/ws/"} {
		for _, f := range top {
			all = append(all, dir+f)
		}
	}
	dir := plant(t, append(all, "out/top/.git/HEAD")...)
	ws := filepath.Join(dir, "out", "top", "mid", "ws")
	b := backend(t, copilot.Config{Home: dir})
	var got []string
	for _, f := range b.Instructions(ws) {
		rel, err := filepath.Rel(filepath.Join(dir, "out", "top"), f)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, filepath.ToSlash(rel))
	}
	var want []string
	for _, dir := range []string{"", "mid/", "mid/ws/"} {
		want = append(want, dir+"AGENTS.md", dir+"Claude.md", dir+"gemini.md", dir+
			".github/copilot-instructions.md")
		if dir != "mid/" {
			want = append(want, dir+".github/instructions/x/a.instructions.md", dir+".claude/rules/r.md")
		} else {
			want = append(want, dir+".claude/CLAUDE.md")
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if off := backend(t, copilot.Config{
		Home:           dir,
		NoInstructions: true,
	}); off.Instructions(ws) != nil {
		t.Error("some are loaded that are switched off")
	}
}

// Instruction files that would send the model what the user was not asked about.
func TestInstructionsThatLeadAway(t *testing.T) {
	for name, c := range map[string]struct {
		files  []string
		loaded int
	}{
		"plain":       {[]string{"ws/AGENTS.md", "ws/.claude/rules/secrets.md"}, 2},
		"link inside": {[]string{"ws/AGENTS.md", "ws/CLAUDE.md -> AGENTS.md"}, 2},
		"imports": {[]string{"ws/AGENTS.md: see @doc/a.md, write to me@example.com\n",
			"ws/doc/a.md: @AGENTS.md @b.md", "ws/doc/b.md"}, 3},
		"link outside":     {[]string{"ws/AGENTS.md -> ../key", "key"}, 0},
		"link to a secret": {[]string{"ws/AGENTS.md", "ws/GEMINI.md -> prod.env", "ws/prod.env"}, 0},
		"linked folder": {[]string{"ws/.github/instructions -> ../../out", "out/a.instructions.md"},
			0},
		"imports a secret": {[]string{"ws/AGENTS.md: read\n@.env\n", "ws/.env"}, 0},
		"deeper": {[]string{"ws/AGENTS.md: @a.md", "ws/a.md: @secrets.yml", "ws/secrets.yml"},
			0},
		"imports through": {[]string{"ws/AGENTS.md: @a.md", "ws/a.md -> ../key", "key"}, 0},
		"imports outside": {[]string{"ws/AGENTS.md: @../key", "key"}, 1}, // which is not done
		"imports a settings": {[]string{"ws/CLAUDE.md: @.git/config",
			"ws/.git/config: [remote]\nurl = https://me:secret@example.com/\n", "ws/.git/HEAD: x"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			ws := filepath.Join(plant(t, c.files...), "ws")
			if got := backend(t, copilot.Config{Home: ws}).Instructions(ws); len(got) != c.loaded {
				t.Errorf("%q are loaded, want %d", got, c.loaded)
			}
			cfg, dir := scripted(t, nil)
			host := agenttest.NewHost(agenttest.DisplayTools())
			conn, err := backend(t, cfg).Open(t.Context(),
				agent.Options{SessionID: "s", Workspace: ws, Tools: agenttest.DisplayTools()}, host)
			if err != nil {
				t.Fatal(err)
			}
			k := &talker{t: t, host: host, conn: conn}
			if err := k.say("hello"); err != nil {
				t.Error(err)
			}
			k.close()
			if want := `"skipCustomInstructions":` + map[bool]string{
				true:  "true",
				false: "false",
			}[c.loaded == 0]; !strings.Contains(received(t, dir, "session.create")[0], want) {
				t.Errorf("the session was not made with %s", want)
			}
			said := slices.ContainsFunc(host.Events(), func(d event.Data) bool {
				e, ok := d.(event.SessionError)
				return ok && e.ErrorType == "warning" && strings.Contains(e.Message,
					"No instruction file of this folder was loaded: ")
			})
			if said != (c.loaded == 0) {
				t.Errorf("it was said: %v", said)
			}
		})
	}
}

// What a turn wrote counts from the next prompt on.
func TestInstructionsThatChange(t *testing.T) {
	ws := plant(t, "AGENTS.md", ".env")
	cfg, dir := scripted(t, nil)
	host := agenttest.NewHost(agenttest.DisplayTools())
	conn, err := backend(t, cfg).Open(t.Context(),
		agent.Options{SessionID: "s", Workspace: ws, Tools: agenttest.DisplayTools()}, host)
	if err != nil {
		t.Fatal(err)
	}
	k := &talker{t: t, host: host, conn: conn}
	for _, content := range []string{"be kind", "be kind @.env", "be kind @.env", "be kind"} {
		write(t, filepath.Join(ws, "AGENTS.md"), []byte(content))
		if err := k.say("hello"); err != nil {
			t.Error(err)
		}
	}
	k.close()
	told := received(t, dir, "session.options.update")
	if len(told) != 2 || !strings.Contains(told[0], `"skipCustomInstructions":true`) ||
		!strings.Contains(told[1], `"skipCustomInstructions":false`) {
		t.Errorf("told %q", told)
	}
}

// repository makes a folder what git takes for one.
func repository(t *testing.T, dir string) {
	t.Helper()
	for _, d := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(dir, ".git", d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/main\n"))
	write(t, filepath.Join(dir, ".git", "config"), []byte("[core]\n\trepositoryformatversion = 0\n"))
}

// The real CLI loads what is said to be loaded, and nothing that leads away.
func TestRealInstructions(t *testing.T) {
	model := copilottest.New(t)
	on, off := sharing(t, real(t, model)), real(t, model)
	off.NoInstructions = true
	model.Answer(func(r copilottest.Request) *copilottest.Reply {
		if r.Messages[len(r.Messages)-1].Role != "user" || r.Prompt() != "ask the helpers" {
			return nil
		}
		var calls []copilottest.Call
		for _, kind := range []string{"general-purpose", "explore", "task", "code-review"} {
			calls = append(calls, copilottest.Call{
				Tool: "task",
				Arguments: `{"description":"say hello","prompt":"hello","agent_type":"` + kind + `","name":"` +
					kind + `"}`,
			})
		}
		return &copilottest.Reply{Calls: calls}
	})
	// loads opens a session and returns the files that models were sent in as many
	// turns as there are things to do before them.
	loads := func(b *copilot.Backend, ws string, prompts ...func(ws string)) (names []string) {
		t.Helper()
		host := agenttest.NewHost(agenttest.DisplayTools())
		conn, err := b.Open(t.Context(), agent.Options{
			SessionID: fresh("instructions"),
			Workspace: ws,
			Tools:     agenttest.DisplayTools(),
		}, host)
		if err != nil {
			t.Fatal(err)
		}
		k := &talker{t: t, host: host, conn: conn}
		defer k.close()
		before := len(model.Requests())
		for _, then := range prompts {
			then(ws)
			if err := k.say("ask the helpers"); err != nil {
				t.Error(err)
			}
		}
		for _, r := range model.Requests()[before:] {
			for _, m := range mark.FindAllSubmatch(r.Body, -1) {
				if name := string(m[1]); !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
		slices.Sort(names)
		return names
	}
	var all []string
	for _, dir := range []string{"", "top/", "top/mid/", "top/mid/ws/", "top/mid/ws/sub/"} {
		for _, f := range []string{"AGENTS.md", "Claude.md", "GEMINI.md",
			".github/copilot-instructions.md", ".github/instructions/x/a.instructions.md",
			".claude/rules/x/r.md", "README.md", ".github/instructions/other.md", ".claude/CLAUDE.md",
			"CODEX.md", ".cursorrules", ".github/prompts/a.prompt.md"} {
			all = append(all, dir+f+": MARK["+dir+f+"]\n@sub/imported.md\n")
		}
	}
	dir := plant(t, append(all, "top/mid/ws/sub/imported.md", "top/sub/imported.md")...)
	repository(t, filepath.Join(dir, "top"))
	ws := filepath.Join(dir, "top", "mid", "ws")
	var want []string
	for _, f := range on.Instructions(ws) {
		rel, err := filepath.Rel(dir, f)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, filepath.ToSlash(rel))
	}
	slices.Sort(want)
	if got := loads(on, ws, nothing); !slices.Equal(got, want) || len(got) < 10 {
		t.Errorf("the CLI loads\n%q, we say\n%q", got, want)
	}
	if got := loads(sharing(t, off), ws, nothing); len(got) > 0 {
		t.Errorf("switched off, the CLI loads %q", got)
	}
	for _, c := range [][]string{
		{"ws/AGENTS.md -> ../key", "key"},
		{"ws/.claude/rules -> ../../out", "out/r.md"},
		{"ws/CLAUDE.md: read\n@.env\n", "ws/.env"},
		{"ws/AGENTS.md: @a.md, please", "ws/a.md: @prod.env", "ws/prod.env"},
	} {
		ws := filepath.Join(plant(t, c...), "ws")
		repository(t, ws)
		if got := loads(on, ws, nothing); len(got) > 0 {
			t.Errorf("%q: the CLI loads %q", c, got)
		}
	}
	// What a turn writes counts from the next prompt on.
	later := filepath.Join(plant(t, "ws/.env", "ws/AGENTS.md: be kind"), "ws")
	repository(t, later)
	if got := loads(on, later, nothing, func(ws string) {
		write(t, filepath.Join(ws, "AGENTS.md"), []byte("be kind\n@.env\n"))
	}); len(got) > 0 {
		t.Errorf("the CLI loads %q later", got)
	}
}

func nothing(string) {}

var mark = regexp.MustCompile(`MARK\[([^\]]+)\]`)
