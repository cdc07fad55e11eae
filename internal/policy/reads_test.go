package policy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// readable is a workspace with a repository, links and what may hold secrets.
func readableWorkspace(t *testing.T) (ws string) {
	t.Helper()
	ws = lay(t, "a.txt", "b.txt", "src/main.go", "src/deep/x.go", "sub/.env", "deploy.key", "out.log",
		"linked/a.txt", "plain/a.txt", "plain/b c.txt",
		".git/HEAD", ".git/objects/", ".git/refs/", "bare/HEAD", "bare/objects/", "bare/refs/",
		".vscode/tasks.json")
	for name, text := range map[string]string{".git/config": "[core]\n\trepositoryformatversion = 0\n",
		"a.txt": "one\ntwo\nthree\n", "bare/config": "[core]\n\tfsmonitor = evil\n"} {
		if err := os.WriteFile(filepath.Join(ws, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link(t, "/etc", filepath.Join(ws, "away"))
	link(t, "sub/.env", filepath.Join(ws, "innocent"))
	link(t, "src", filepath.Join(ws, "inner"))
	link(t, "/etc/passwd", filepath.Join(ws, "linked", "x.go"))
	return ws
}

// What runs unasked: one of seven programs, with options of its row and literal paths.
var onlyReading = []string{
	"ls", "ls -la", "ls  -l src ", "ls -R src", "ls '-l' src", "cat a.txt",
	"cat a.txt b.txt src/main.go", "cat -n ./src/main.go",
	"cat 'plain/b c.txt'", "cat away2", "head -5 a.txt", "head -n 5 a.txt", "head -n5 a.txt b.txt",
	"head -qn 5 a.txt",
	"head -c 100 a.txt", "tail -n +2 a.txt", "tail -20 a.txt", "wc -l a.txt src/main.go", "wc", "pwd",
	"pwd -P",
	"grep -n one a.txt", "grep -rn 'func main' src", "grep -rnE 'a|b$' src", "grep -c . a.txt",
	"grep -A3 -B 2 one a.txt",
	"grep -i 'x `y` !z' a.txt", "grep one a.txt b.txt", "cat src/../a.txt",
}

// What is asked about: whatever has a meaning to some shell, other programs, other options, and
// other paths. The first ones ran unasked as long as commands were read with an imitation of
// shells, git and go.
var notOnlyReading = []string{
	"cat <<E\nx\\\nE\ntouch pwned\nE", "cat <<\"E\"F\nx\nEF\ntouch pwned",
	"cat <<$'E'\nx\nE\ntouch pwned\n$E", "cat << 'E'\nx\nE", "cat <<E\nx\nE",
	"git status", "git log --oneline -5", "cd ./b && git status", "cd ./b && echo x > ./HEAD",
	"tree -Lo 1 a.txt", "go list -m -f '{{module \"x\"}}'",
	"go list ./...", "go version", "go env", "cat ??", "cat *.txt", "env", "jq env", "printf %s x",
	"echo x", "echo x > y", "sed -n 1p a.txt",
	"find . -name x", "rg one src", "sort a.txt", "diff a.txt b.txt", "stat a.txt", "file a.txt",
	"which go", "date", "test -f a.txt", "true",
	// forms
	"cat a.txt | head -3", "ls && pwd", "ls; pwd", "ls || pwd", "ls &", "ls\npwd", "ls\n", "\tls",
	"(ls)", "{ ls; }", "! ls", "time ls", "if ls; then pwd; fi",
	"for f in a.txt; do cat $f; done", "cat < a.txt", "ls > x", "ls 2>&1", "ls 2>/dev/null",
	"cat <<< x", "X=1 ls", "ls # x", "cat $x", "cat $(ls)", "cat `ls`",
	"cat ~/x", "cat a.tx?", "cat a{.txt,}", "cat [a]*", "cat a\\.txt", "c\\at a.txt", "cat 'a'.txt",
	"cat 'a''b'", "cat a'.txt'", "cat \"a.txt\"", "'cat' a.txt x|y",
	"cat 'a.txt", "cat '", "grep 'a\\' x", "cat 'a\nb'", "=cat a.txt", "cat =x", "cat a.txt\r",
	"cat \u00a0a.txt", "ca\u200bt a.txt", "cat é", "cat a^b", "cat !x", "", " ",
	// programs and options
	"/bin/cat a.txt", "./cat a.txt", "src/cat", "env cat a.txt", "sudo ls", "command ls", "CAT a.txt",
	"cat --number a.txt", "cat -- a.txt", "cat -", "cat -Z a.txt",
	"ls -L src", "ls -H away", "ls -I x", "ls --color", "head -n", "head -n x a.txt",
	"head -n 5k a.txt", "tail -f a.txt", "tail -F a.txt", "tail --pid=1 a.txt",
	"wc --files0-from=a.txt", "wc -L0", "grep -f a.txt b.txt", "grep -R one src", "grep -rR one src",
	"grep -D read one a.txt", "grep -e one a.txt", "grep", "grep -n", "pwd x/../../y",
	// paths
	"cat /etc/passwd", "cat ../x", "cat away/passwd", "cat inner/../../x", "ls /", "ls ..", "ls away",
	"cat .env", "cat sub/.env", "cat deploy.key", "cat innocent",
	"grep -r one", "grep -r one .", "grep -rn one sub", "grep x deploy.key", "head -5 'deploy.key'",
	"cat file:///etc/passwd", "cat ''", "wc -c linked/x.go",
}

func TestThreat52OnlyReading(t *testing.T) {
	ws := readableWorkspace(t)
	link(t, "a.txt", filepath.Join(ws, "away2"))
	p := New(Config{Workspace: ws, Home: t.TempDir(), Reading: true, Path: "/usr/bin:/bin"})
	asks := New(Config{Workspace: ws, Path: "/usr/bin:/bin"})
	shadowed := New(Config{Workspace: ws, Reading: true, Path: "/usr/bin:" + ws + "/src"})
	for _, command := range onlyReading {
		act := agent.Permission{ToolName: "bash", Kind: agent.KindShell, Resource: command, Cwd: ws}
		if got := p.Rule(t.Context(), act); got.Decision != event.Allow || !got.Rule.BuiltIn {
			t.Errorf("%q is asked about: %+v", command, got)
		}
		if got := asks.Rule(t.Context(), act); got.Decision != "" {
			t.Errorf("%q is allowed without the built-in rule", command)
		}
		if got := shadowed.Rule(t.Context(), act); got.Decision != "" {
			t.Errorf("%q is allowed where the workspace may hold the program", command)
		}
	}
	// To a shell an address is a path below a folder "file:".
	if err := os.MkdirAll(filepath.Join(ws, "file:", ws), 0o700); err != nil {
		t.Fatal(err)
	}
	link(t, filepath.Join(ws, "deploy.key"), filepath.Join(ws, "file:", ws, "a.txt"))
	addresses := []string{"cat file://" + ws + "/a.txt", "ls file://" + ws, "grep -n one file://" +
		ws + "/a.txt"}
	if got := New(Config{Workspace: ws, Rules: []Rule{{
		Kind:     agent.KindShell,
		Decision: event.Allow,
	}}}).Rule(t.Context(),
		agent.Permission{ToolName: "bash", Kind: agent.KindShell, Resource: "cp file://" + ws +
			"/a.txt x", Cwd: ws}); got.Secret == nil || got.Secret.File != "deploy.key" {
		t.Errorf("a key behind a folder of that name: %+v", got)
	}
	for _, command := range append(addresses, notOnlyReading...) {
		act := agent.Permission{ToolName: "bash", Kind: agent.KindShell, Resource: command, Cwd: ws}
		if got := p.Rule(t.Context(), act); got.Decision != "" {
			t.Errorf("%q is not asked about", command)
		}
	}
}

// Where the agent's shell is not known to be in a folder, only what does not depend on it is
// allowed.
func TestReadingInAFolderThatIsNotKnown(t *testing.T) {
	ws := readableWorkspace(t)
	p := New(Config{Workspace: ws, Reading: true, Path: "/usr/bin"})
	for command, want := range map[string]event.Decision{
		"cat a.txt": "", "ls": "", "grep -r one": "", "cat " + ws + "/a.txt": event.Allow,
		"pwd": event.Allow, "cat " + ws + "/deploy.key": "",
	} {
		got := p.Rule(t.Context(), agent.Permission{
			ToolName:   "bash",
			Kind:       agent.KindShell,
			Resource:   command,
			Cwd:        ws,
			CwdUnknown: true,
		})
		if got.Decision != want {
			t.Errorf("%q: %+v, want %q", command, got, want)
		}
	}
}

// A shell stays in its folder only for certain where a program of a list was run alone.
func TestStays(t *testing.T) {
	for command, want := range map[string]bool{
		"ls": true, "cat a.txt": true, "pwd": true, "go test ./...": true,
		"go test ./... 2>&1 | tail -5": true, "npm test": true, "go vet ./... | head": true,
		"cd src": false, "cd ./src && ls": false, "make": false, "go test; cd x": false,
		"go test\ncd x": false, "eval x": false, "src": false, "": false, "x=1": false,
	} {
		if got := Stays(command); got != want {
			t.Errorf("%q stays: %v, want %v", command, got, want)
		}
	}
}

// A command that has very many parts, or is very deep, takes no more than it should.
func TestThreat52DeepCommands(t *testing.T) {
	ws := readableWorkspace(t)
	p := New(Config{
		Workspace: ws,
		Reading:   true,
		Path:      "/usr/bin",
		Rules:     []Rule{{Kind: agent.KindShell, Prefix: "rm", Decision: event.Deny}},
	})
	deep := strings.Repeat("$(", 1<<19)
	for _, command := range []string{deep, strings.Repeat("(", 1<<16), "ls " +
		strings.Repeat("a ", 1<<16), "ls */*/*/*/*/*/*/*/*"} {
		got := p.Rule(t.Context(), agent.Permission{
			ToolName: "bash",
			Kind:     agent.KindShell,
			Resource: command,
			Cwd:      ws,
		})
		if got.Decision != "" {
			t.Errorf("%.20q of %d bytes: %+v", command, len(command), got)
		}
	}
}

// What a rule denies or asks about is found where every shell finds it, and a text that shells may
// read in different ways is asked about.
func TestThreat52RulesAboutWhatCannotBeRead(t *testing.T) {
	ws := t.TempDir()
	deny := New(Config{Workspace: ws, Rules: []Rule{{
		Kind:     agent.KindShell,
		Prefix:   "rm",
		Decision: event.Deny,
	}, {Kind: agent.KindShell, Prefix: "go vet", Decision: event.Allow}}})
	for command, want := range map[string]string{
		"rm x": "deny", "ls && rm -rf x": "deny", "ls | rm x > y 2>&1": "deny", "make; rm x": "deny",
		"true & rm x": "deny",
		"ls && make":  "", "make > x 2>&1": "", "go vet ./...": "allow", "make 'a b' \"c d\"": "",
		"make\nls":                 "",
		"cat <<E\nx\\\nE\nrm x\nE": "ask", "cat <<\"E\"F\nx\nEF\nrm x": "ask", "cat <<'E'\nx\nE": "ask",
		"r\\m x": "ask", "r$e'm' x": "ask", "$(echo rm) x": "ask",
		"if rm x; then ls; fi": "ask", "X=1 make": "ask", "ls # x": "ask", "ls $HOME": "ask",
		"{ make; }": "ask", "(make)": "ask", "if": "ask", "ls *": "ask",
		"make <<< x": "", "a() { make; }": "ask", "[[ -f x ]]": "ask",
	} {
		got := deny.Rule(t.Context(), agent.Permission{
			ToolName: "bash",
			Kind:     agent.KindShell,
			Resource: command,
			Cwd:      ws,
		})
		decided := string(got.Decision)
		if got.Ask {
			decided = "ask"
		}
		if decided != want {
			t.Errorf("%q: %q, want %q (%+v)", command, decided, want, got)
		}
	}
	for _, r := range []Rule{{Kind: agent.KindShell, Prefix: "ls", Decision: event.Allow},
		{Tool: "other", Prefix: "rm", Decision: event.Deny},
		{Kind: agent.KindWrite, Path: "x", Decision: event.Deny}} {
		p := New(Config{Workspace: ws, Rules: []Rule{r}})
		if got := p.Rule(t.Context(), agent.Permission{
			ToolName: "bash",
			Kind:     agent.KindShell,
			Resource: "make # x",
			Cwd:      ws,
		}); got.Ask {
			t.Errorf("%+v asks about what it is not about", r)
		}
	}
}

// The widest grant covers commands that webchat does not look at, but not what names a secret or a
// path outside, and not what a rule of the user's asks about.
func TestEveryCommand(t *testing.T) {
	ws := readableWorkspace(t)
	every := func(p *Policy, command string, unknown bool) string {
		all := p.Grants(agent.Permission{
			ToolName:   "bash",
			Kind:       agent.KindShell,
			Resource:   command,
			Cwd:        ws,
			CwdUnknown: unknown,
		})
		if len(all) == 0 || all[len(all)-1].Text != everyCommand {
			return ""
		}
		if all[len(all)-1].Scope != event.ForSession {
			t.Errorf("it can be allowed for %q", all[len(all)-1].Scope)
		}
		return all[len(all)-1].ID
	}
	p := New(Config{Workspace: ws, Home: t.TempDir(), Reading: true, Path: "/usr/bin"})
	of := every(p, "make", false)
	if of == "" {
		t.Fatal("it is not offered")
	}
	for _, command := range []string{"ls", "go test ./...", "git status",
		"cd src && make | tee out.log", "cat <<E\nx\nE", "for f in *.txt; do cat $f; done",
		"awk '/one/ {print}' a.txt",
		"sed -i s/a/b/ a.txt", "make 2>/dev/null", "curl https://example.com/x", "rm -rf src",
		"if true; then", "echo $HOME"} {
		if got := every(p, command, false); got != of {
			t.Errorf("%q is not covered: %q", command, got)
		}
		if got := every(p, command, true); got != of {
			t.Errorf("%q in another folder is not covered: %q", command, got)
		}
	}
	for _, command := range []string{"cat sub/.env", "cp deploy.key x", "bash -c 'cat sub/.env'",
		"cat <<E\nx\\\nE\ncat deploy.key\nE", "cat /etc/passwd", "ls ..", "cd .. && ls", "cat ~/.bashrc",
		"cat $HOME/x", "echo x > /tmp/y", "cp a.txt ../b", "echo x > .git/hooks/pre-commit",
		"tee .vscode/tasks.json", "ls\u200b", "cat *.key", "cat away/passwd", "grep -r x .",
		"cat sub/.e\\\nnv"} {
		if got := every(p, command, false); got != "" {
			t.Errorf("%q is covered", command)
		}
	}
	rules := New(Config{
		Workspace: ws,
		Reading:   true,
		Rules:     []Rule{{Kind: agent.KindShell, Prefix: "git push", Decision: Ask}},
	})
	for command, want := range map[string]bool{"make": true, "git push": false,
		"make && git push": false, "make # x": false} {
		if got := every(rules, command, false); (got == of) != want {
			t.Errorf("beside a rule %q is covered: %v", command, got == of)
		}
	}
}

// A grant of edits covers no command, whatever it writes.
func TestEditsCoverNoCommand(t *testing.T) {
	p := New(Config{Workspace: lay(t, "a.txt")})
	for _, command := range []string{"echo x > a.txt", "printf x > a.txt", "cat <<E > a.txt\nx\nE"} {
		for _, g := range texts(p.Grants(agent.Permission{
			Kind:     agent.KindShell,
			Resource: command,
			Cwd:      p.workspace,
		})) {
			if strings.HasPrefix(g, "edits") {
				t.Errorf("%q may be granted by %q", command, g)
			}
		}
	}
}

func BenchmarkJudgeCommand(b *testing.B) {
	ws := b.TempDir()
	p := New(Config{Workspace: ws, Reading: true, Path: "/usr/bin"})
	var long []string
	for i := range 97 {
		long = append(long,
			fmt.Sprintf(
				"echo 'line %d of a long command' \"and what it does\" and why it does it %[1]d times in a "+
					"row | head -n %[1]d", i))
	}
	for _, c := range []struct {
		name, command string
		want          event.Decision
	}{{"short", "head -50 main.go", event.Allow}, {"10KB-asked", strings.Join(long, "\n"), ""}} {
		act := agent.Permission{ToolName: "bash", Kind: agent.KindShell, Resource: c.command, Cwd: ws}
		if got := p.Rule(b.Context(), act).Decision; got != c.want {
			b.Fatalf("%s: %q, want %q", c.name, got, c.want)
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportMetric(float64(len(c.command)), "bytes")
			for b.Loop() {
				p.Rule(b.Context(), act)
			}
		})
	}
}

// What is allowed unasked is run in a real shell below strace: it changes no file, starts no
// program outside of the table, and opens nothing of the workspace's neighbours.
func TestReadingUnderStrace(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no strace here: apt-get install strace")
		}
		t.Skip("no strace here")
	}
	if out, err := exec.Command(strace, "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("this system does not let processes be traced: %s", out)
	}
	parent := t.TempDir()
	ws := filepath.Join(parent, "ws")
	if err := os.Rename(readableWorkspace(t), ws); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(parent, "neighbour"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	ws, _ = filepath.EvalSymlinks(ws)
	before := snapshot(t, ws)
	for _, command := range onlyReading {
		trace := filepath.Join(t.TempDir(), "trace")
		c := exec.Command(strace, "-f", "-qq", "-o", trace, "-e",
			"trace=execve,open,openat,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,link,linkat,symlink,symlinkat,truncate,chmod,fchmodat,connect", "bash", "-c", command)
		c.Dir, c.Env = ws, []string{"PATH=/usr/bin:/bin", "HOME=" + parent}
		_, _ = c.CombinedOutput() // a file of the list is not there, which is fine
		text, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if why := forbidden(line, parent, ws); why != "" {
				t.Errorf("%q: %s: %s", command, why, line)
			}
		}
	}
	if after := snapshot(t, ws); after != before {
		t.Errorf("files changed:\n%s\n%s", before, after)
	}
}

var (
	started = regexp.MustCompile(`execve\("([^"]+)".* = 0$`)
	opened  = regexp.MustCompile(`open(?:at)?\((?:AT_FDCWD, |\d+, )?"([^"]*)", ([A-Z_|0-9]+)`)
	changes = regexp.MustCompile(
		`\b(creat|unlink|unlinkat|rename|renameat|renameat2|mkdir|mkdirat|link|linkat|symlink|symlinkat|truncate|chmod|fchmodat|connect)\(.* = 0$`)
)

// forbidden says what is wrong with a call of the system; empty means nothing.
func forbidden(line, parent, ws string) string {
	if m := started.FindStringSubmatch(line); m != nil {
		if _, reads := readers[filepath.Base(m[1])]; !reads && filepath.Base(m[1]) != "bash" {
			return "a program outside of the table"
		}
	}
	if m := opened.FindStringSubmatch(line); m != nil {
		switch name, flags := m[1], m[2]; {
		case name == "/dev/null", name == "/dev/tty":
		case strings.Contains(flags, "O_WRONLY"), strings.Contains(flags, "O_RDWR"),
			strings.Contains(flags, "O_CREAT"):
			return "a file opened to write"
		case strings.HasPrefix(name, parent+"/") && !strings.HasPrefix(name, ws):
			return "a file beside the workspace"
		}
	}
	if changes.MatchString(line) {
		return "a change"
	}
	return ""
}

func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && !d.IsDir() {
			fmt.Fprintf(&b, "%s %v %d %v\n", name, info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
