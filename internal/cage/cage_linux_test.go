package cage

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/policy"
	"webchat/internal/proc"
)

// yard is a user's folder with a workspace in it.
type yard struct {
	same       *Cage // runs all; nil: each has its own
	t          testing.TB
	home, work string
	Config
}

func newYard(t testing.TB, files ...string) *yard {
	t.Helper()
	if err := proc.Confines(); err != nil {
		t.Skip("nothing can be confined here; package proc tests that nothing is started then:", err)
	}
	base, err := os.MkdirTemp("/var/tmp", "cage") // not in /tmp, which trees have of their own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := remove(base); err != nil {
			t.Error(err)
		}
	})
	y := &yard{t: t, home: base + "/home", work: filepath.Join(base, "home", "code", "proj")}
	y.Config = Config{
		Workspace: y.work,
		Home:      y.home,
		Scratch:   base + "/scratch",
		Logger:    slog.New(slog.DiscardHandler),
		Env:       []string{"PATH=/usr/local/bin:/usr/local/go/bin:/usr/bin:/bin", "HOME=" + y.home},
	}
	if err := os.MkdirAll(y.work, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		y.write(name, name)
	}
	return y
}

// write writes a file, by its path from the user's folder.
func (y *yard) write(name, text string) {
	y.t.Helper()
	p := filepath.Join(y.home, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		y.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		y.t.Fatal(err)
	}
}

func (y *yard) run(script string, n Needs) string {
	y.t.Helper()
	c := y.same
	if c == nil {
		var err error
		if c, err = New(y.Config); err != nil {
			y.t.Fatal(err)
		}
	}
	return y.runIn(c, script, n)
}

func (y *yard) runIn(c *Cage, script string, n Needs) string {
	y.t.Helper()
	var out bytes.Buffer
	cmd, err := c.Confine(context.Background(), proc.Command{
		Args:   []string{"bash", "-c", script},
		Dir:    y.work,
		Env:    y.Env,
		Output: &out,
	}, n)
	if err != nil {
		y.t.Fatal(err)
	}
	if _, err := proc.Run(context.Background(), cmd); err != nil {
		y.t.Fatalf("%v: %s", err, out.String())
	}
	return strings.TrimSpace(out.String())
}

// asking starts a shell in a tree of c. ask runs a command in it and expects its next line.
func (y *yard) asking(c *Cage) (ask func(command, want string), stop func()) {
	y.t.Helper()
	cmd, err := c.Confine(context.Background(), proc.Command{Args: []string{"bash", "-c",
		"while read -r l; do eval $l 2>&1; done"}, Dir: y.work, Env: y.Env, Pipes: true}, Needs{})
	if err != nil {
		y.t.Fatal(err)
	}
	child, err := proc.Start(cmd)
	if err != nil {
		y.t.Fatal(err)
	}
	answers := bufio.NewReader(child.Stdout())
	return func(command, want string) {
		y.t.Helper()
		io.WriteString(child.Stdin(), command+"\n")
		if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, want) {
			y.t.Errorf("%q, %v; not %q", line, err, want)
		}
	}, func() { child.Stop(context.Background()) }
}

// open opens something to the trees of c.
func (y *yard) open(c *Cage, name string, as proc.Access) (end func() error) {
	y.t.Helper()
	held, err := c.Hold(name)
	if err == nil {
		end, err = c.Open(held, as)
	}
	if err != nil {
		y.t.Fatal(err)
	}
	return end
}

// outside runs a script in the workspace, not confined.
func (y *yard) outside(script string) string {
	y.t.Helper()
	var out bytes.Buffer
	cmd := proc.Command{
		Args:   []string{"bash", "-c", script},
		Dir:    y.work,
		Env:    append(y.Env, "GIT_CONFIG_NOSYSTEM=1"),
		Output: &out,
	}
	if _, err := proc.Run(context.Background(), cmd); err != nil {
		y.t.Fatalf("%v: %s", err, out.String())
	}
	return strings.TrimSpace(out.String())
}

// lines compares what scripts print, one after the other in one tree, with what they should.
func (y *yard) lines(n Needs, all ...[2]string) {
	y.t.Helper()
	var script strings.Builder
	for _, one := range all {
		script.WriteString("{ " + one[0] + "; } 2>&1 | tr '\\n' ' '; echo;")
	}
	got := strings.Split(y.run(script.String(), n)+strings.Repeat("\n", len(all)), "\n")
	for i, one := range all {
		if line := strings.TrimSpace(got[i]); line != one[1] &&
			(one[1] == "" || !strings.Contains(line, one[1])) {
			y.t.Errorf("%s: %q, not %q", one[0], line, one[1])
		}
	}
}

// A command finds the workspace and the system, and of the user's folder what is named.
func TestConfinedFolders(t *testing.T) {
	y := newYard(t, ".bashrc", ".ssh/id_rsa", "code/other/x", ".cargo/bin/tool",
		".cargo/credentials.toml", "notes/n", "shared/s", "bin/own", "code/proj/a")
	y.write(".gitconfig",
		"[user]\n\tname = Somebody\n[http]\n\textraheader = Authorization: Bearer "+
			"0123456789abcdef0123456789abcdef\n")
	y.Env[0] += ":" + y.home + "/bin:" + y.home
	if err := os.Symlink("notes", y.home+"/link"); err != nil {
		t.Fatal(err)
	}
	y.Read, y.Write = []string{"~/notes", "~/link"}, []string{y.home + "/shared"}
	for _, name := range []string{"lib/go/pkg/mod/m", "lib/go/src/other", "lib/cargo/registry/c",
		"lib/cargo/credentials.toml", "lib/pyenv/libexec/p"} {
		y.write(name, name)
	}
	lib := y.home + "/lib/"
	y.Env = append(y.Env, "GOPATH="+y.home+"/none:"+lib+"go", "CARGO_HOME="+lib+"cargo",
		"PYENV_ROOT="+lib+"pyenv", "NVM_DIR="+y.home, "DO_NOT_TRACK=0")
	y.lines(Needs{}, [][2]string{
		{"cat a; echo 1 >b; cat b", "code/proj/a1"},
		{"ls ~/code", "proj"},
		{"cat ~/.bashrc ~/.ssh/id_rsa ~/code/other/x", "No such file"},
		{"cat ~/.cargo/bin/tool ~/notes/n ~/link/n ~/bin/own", ".cargo/bin/toolnotes/nnotes/nbin/own"},
		{"cat ~/.cargo/credentials.toml", "Permission denied"},
		{"echo >~/.bashrc", "Read-only file system"},
		{"echo >~/notes/new", "Read-only file system"},
		{"echo 2 >~/shared/new; cat ~/shared/new", "2"},
		{"git config user.name; git config http.extraheader", "Somebody Authorization: Bearer •"},
		{"cat /etc/shadow", "denied"},
		{"ls ~/.cache/go-build && echo 3 >~/.cache/go-build/x", ""},
		{"ls /run /var", "tmp"},
		{"cd ~/lib; cat go/pkg/mod/m cargo/registry/c pyenv/libexec/p; echo 4 >go/pkg/mod/new",
			"lib/go/pkg/mod/mlib/cargo/registry/clib/pyenv/libexec/p"},
		{"cat ~/lib/go/src/other ~/lib/cargo/credentials.toml 2>&1 | grep -c No.such", "2"},
		{"echo $npm_config_update_notifier $DO_NOT_TRACK", "false 0"},
	}...)
	if b, err := os.ReadFile(y.home + "/shared/new"); err != nil || string(b) != "2\n" {
		t.Errorf("what was written is %q: %v", b, err)
	}
	if _, err := os.Stat(y.home + "/.cache"); err == nil {
		t.Error("a folder was made outside")
	}
}

// What runs later and is there is frozen, secrets are covered unless git tracks them, and
// nothing of it is made.
func TestConfinedWorkspace(t *testing.T) {
	y := newYard(t)
	y.outside(`set -e; git init -q .; mkdir -p sub/.vscode certs .claude vendor/x
		for f in .env certs/server.key tracked.env vendor/x/t.pem sub/.vscode/tasks.json .claude/settings.json; do echo A=1 >$f; done
		ln certs/server.key other; printf 'other\n.env\n' >.gitignore
		git add tracked.env .gitignore; git -c user.name=a -c user.email=b commit -qm 1; git init -q nested; git -C nested -c user.name=a -c user.email=b commit -q --allow-empty -m n; echo >.git/info/attributes
		git config remote.origin.url https://user:0123456789abcdef0123@example.com/x.git`)
	y.Tracked = func(_ context.Context, dir string, names []string) ([]string, error) {
		return strings.Fields(y.outside("cd " + dir + "; git ls-files -s -- " + strings.Join(names, " ") +
			" | while read -r m o s n; do [ $o = $(git hash-object $n) ] && echo $n; done")), nil
	}
	const state = "git status --porcelain --ignored; find . -path ./.git -prune -o -print | sort; " +
		"ls -A .git/hooks .git/info nested/.git"
	before := y.outside(state)
	y.lines(Needs{}, [][2]string{
		{"cat .env certs/server.key other 2>&1 | grep -c denied", "3"},
		{"cat tracked.env vendor/x/t.pem", "A=1 A=1"},
		{"echo x >.git/hooks/pre-commit; echo x >.git/config; mv .git .g; mv .git/info .git/i; rm -f " +
			".git/info/attributes; ls -d .g .git/i", "No such file"},
		{"git remote -v | head -1 | tr '\\t' ' '", "origin https://user:•"},
		{"echo x >nested/.git/hooks/x", "Read-only"},
		{"echo x >sub/.vscode/tasks.json", "Read-only"},
		{"rm -rf .claude", "Read-only"},
		{"echo x >new && git add new && git add -A && git -c user.name=a -c user.email=b commit -qm 2 " +
			"&& git log --format=%s -1 --name-only | grep -e new -e env -e key", "new"},
		{"git reset -q HEAD^ && rm new && git status --porcelain | grep -c .", "4"},
	}...)
	if after := y.outside(state); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	var err error
	if y.same, err = New(y.Config); err != nil {
		t.Fatal(err)
	}
	y.lines(Needs{}, [][2]string{
		{"O=$(echo x | git hash-object -w --stdin); git update-index --add --cacheinfo 100644,$O,.env; " +
			"git ls-files .env", ".env"},
		{"mkdir a; git mv tracked.env a/x.env; mkdir b; echo A=2 >a/x.env; cat a/x.env", "A=2"},
	}...)
	y.outside("echo A=3 >b/x.env")
	y.lines(Needs{}, [][2]string{
		{"cat .env", "Permission denied"},
		{"cat a/x.env", "A=2"}, // which git had
		{"mv a c; mv b a; cat a/x.env", "Permission denied"},
	}...)
	y.lines(Needs{}, [][2]string{{"cat a/x.env", "Permission denied"}, {"cat c/x.env", "A=2"}}...)
}

// The repository that the workspace is a folder of can be read and not be changed; that of the
// user's folder is not there.
func TestConfinedBelowRepository(t *testing.T) {
	y := newYard(t, "code/proj/a", "code/other/x")
	commit := "git init -q .; git config remote.origin.url " +
		"https://user:0123456789abcdef0123@example.com/x.git; git add -A; git -c user.name=a -c " +
		"user.email=b commit -qm"
	y.outside("cd ..; " + commit + " first")
	y.lines(Needs{}, [][2]string{
		{"git log --format=%s; git diff --stat HEAD -- .; ls ../.git | grep -c objects", "first 1"},
		{"git remote -v | head -1 | tr '\t' ' '", "origin https://user:•"},
		{"echo x >>a; git -c user.name=a -c user.email=b commit -qam 2", "Read-only file system"},
		{"echo x >../.git/hooks/pre-commit", "Read-only file system"},
		{"cat ../other/x", "No such file"},
	}...)
	y.outside("rm -rf ../.git; cd ../..; " + commit + " home")
	y.lines(Needs{}, [2]string{"git log --format=%s", "not a git repository"})
}

// A name that runs later and is a link out of the workspace cannot be held.
func TestConfinedLinkOut(t *testing.T) {
	y := newYard(t, "elsewhere/tasks.json")
	if err := os.Symlink(y.home+"/elsewhere", y.work+"/.vscode"); err != nil {
		t.Fatal(err)
	}
	c, err := New(y.Config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Confine(t.Context(), proc.Command{}, Needs{}); err == nil ||
		!strings.Contains(err.Error(), "link out of the workspace") {
		t.Errorf("%v", err)
	}
}

// What running trees do not have can be opened to them, files by what they are and hosts by name,
// and is closed again.
func TestConfinedIsOpened(t *testing.T) {
	y := newYard(t, "notes/n", "code/proj/.env")
	c, err := New(y.Config)
	if err != nil {
		t.Fatal(err)
	}
	asks, stop := y.asking(c)
	defer stop()
	const host = `exec 3<>/dev/tcp/127.0.0.1/61080; printf "CONNECT 127.0.0.2:443 HTTP/1.1\r\nHost: x\r\n\r\n" >&3; grep sandbox <&3`
	later := func() string {
		return y.runIn(c, "{ cat ~/notes/n .env; echo >~/notes/n; } 2>/dev/null; "+host, Needs{})
	}
	for range 2 {
		asks("cat ~/notes/n && echo", "No such file")
		notes, secret := y.open(c, "~/notes", proc.Readable), y.open(c, ".env", proc.Writable)
		shut, err := c.OpenHost("127.0.0.2:443")
		if err != nil {
			t.Fatal(err)
		}
		asks("cat ~/notes/n && echo", "notes/n")
		asks("echo >~/notes/n", "Read-only")
		asks("cat .env && echo", ".env")
		asks(host, "it is this machine") // which is never reached
		if got := later(); !strings.Contains(got, "notes/ncode/proj/.env") ||
			!strings.Contains(got, "this machine") {
			t.Errorf("a tree that started later: %s", got)
		}
		if err := errors.Join(shut(), secret(), notes(), notes()); err != nil {
			t.Error(err)
		}
		asks("cat .env && echo", "Permission denied")
		if got := later(); strings.Contains(got, "/n") || strings.Contains(got, "/.env") {
			t.Errorf("a tree that started after it was closed: %s", got)
		}
	}
	for _, name := range []string{"~/", y.home, filepath.Dir(y.home), ".", "/", "~/link/n"} {
		if _, err := c.Hold(name); err == nil {
			t.Errorf("%s was held", name)
		}
	}
}

// A tree that starts with something open has it closed as one that was opened while it ran, and has
// what is at its path by then where no tree writes.
func TestConfinedStartsOpened(t *testing.T) {
	y := newYard(t, "notes/n", "code/proj/sub/.env", "code/proj/other/.env")
	c, err := New(y.Config)
	if err != nil {
		t.Fatal(err)
	}
	defer y.open(c, "~/notes/n", proc.Writable)()
	end := y.open(c, "sub/.env", proc.Readable)
	y.write("notes/new", "saved anew")
	if err := os.Rename(y.home+"/notes/new", y.home+"/notes/n"); err != nil {
		t.Fatal(err)
	}
	ask, stop := y.asking(c)
	defer stop()
	ask("cat ~/notes/n && echo", "saved anew")
	ask("cat sub/.env && echo", "proj/sub/.env")
	if err := end(); err != nil {
		t.Error(err)
	}
	ask("cat sub/.env && echo", "Permission denied")
	defer y.open(c, "sub/.env", proc.Readable)()
	ask("mv sub was; mv other sub; echo", "")
	if got := y.runIn(c, "cat sub/.env was/.env", Needs{}); strings.Contains(got, "other") {
		t.Errorf("another file was opened: %s", got)
	}
}

// What is kept open for a workspace follows what is kept.
func TestConfinedKeptOpen(t *testing.T) {
	y := newYard(t, "notes/n", "code/proj/a")
	kept := []policy.Opening{{Path: y.home + "/notes", ReadOnly: true}, {Host: "kept.test"},
		{Path: y.home + "/gone"}}
	y.Kept = func() []policy.Opening { return kept }
	c, err := New(y.Config)
	if err != nil {
		t.Fatal(err)
	}
	ask, stop := y.asking(c)
	defer stop()
	ask("cat ~/notes/n && echo", "notes/n")
	if !slices.Equal(c.openHosts(), []string{"kept.test"}) {
		t.Error(c.openHosts())
	}
	kept = kept[1:]
	c.Sync()
	ask("cat ~/notes/n && echo", "No such file")
}

// What the user's rules deny or ask about is covered and frozen, in the workspace and in what else
// is given; a rule that takes in the workspace itself holds nothing.
func TestConfinedRules(t *testing.T) {
	y := newYard(t, "notes/open", "notes/private/n", "code/proj/private/a", "code/proj/src/a.go",
		"code/proj/src/gen.pb.go", "code/proj/docs/d", "code/proj/docs/sub/e",
		"code/proj/node_modules/x/i", "code/proj/free/f")
	if err := os.Symlink("private", y.work+"/by"); err != nil {
		t.Fatal(err)
	}
	y.outside("git init -q .; git add -A; git -c user.name=a -c user.email=b commit -qm 1")
	y.Read = []string{"~/notes"}
	rules := []policy.Rule{{Kind: agent.KindWrite, Path: "free/**", Decision: event.Allow},
		{Kind: agent.KindRead, Path: "private/**", Decision: event.Deny},
		{Kind: agent.KindRead, Path: "~/notes/private/**", Decision: policy.Ask},
		{Kind: agent.KindWrite, Path: "docs/**", Decision: policy.Ask},
		{Kind: agent.KindWrite, Path: "**/*.pb.go", Decision: event.Deny},
		{Kind: agent.KindWrite, Path: "node_modules/x/**", Decision: event.Deny},
		{Kind: agent.KindWrite, Path: "f*/**", Decision: event.Deny},
		{Tool: "edit", Path: "src/**", Decision: event.Deny},
		{Kind: agent.KindWrite, Path: "**", Decision: policy.Ask}}
	y.Policy = policy.New(policy.Config{Workspace: y.work, Home: y.home, Rules: rules})
	y.lines(Needs{}, [][2]string{
		{"cat private/a by/a ~/notes/private/n 2>&1 | grep -c denied", "3"},
		{"cat ~/notes/open src/a.go docs/d src/gen.pb.go",
			"notes/opencode/proj/src/a.gocode/proj/docs/dcode/proj/src/gen.pb.go"},
		{"echo >docs/sub/e; echo >docs/new; rm docs/d; mv docs moved", "Read-only file system"},
		{"ls moved docs/new", "cannot access"},
		{"echo >src/gen.pb.go", "Read-only"},
		{"rm -f src/gen.pb.go", "busy"},
		{"echo >node_modules/x/i", "Read-only"},
		{"echo 1 >src/a.go; echo 2 >free/f; echo 3 >new; cat src/a.go free/f new", "1 2 3"},
	}...)
	if n := y.Policy.Unheld(); n != len(rules) {
		t.Errorf("rule %d takes in the workspace, not %d", n, len(rules))
	}
}
