package worktree

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"webchat/internal/proc"
)

func TestMain(m *testing.M) {
	proc.Main()
	os.Exit(m.Run())
}

// lab is a checkout with one commit, and the copies made of it.
type lab struct {
	*testing.T
	trees *Trees
	dir   string // of the checkout
	now   time.Time
}

func newLab(t *testing.T) *lab {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{T: t, dir: filepath.Join(top, "relay"), now: time.Now()}
	l.trees = New(Config{Dir: filepath.Join(top, "data", "worktrees"), Env: os.Environ(), Now: func() time.Time { return l.now }})
	if err := os.Mkdir(l.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	l.git("init", "-q", "-b", "main")
	l.git("config", "user.name", "Ada")
	l.git("config", "user.email", "ada@example.com")
	l.write(l.dir, "pump.go", "one\ntwo\nthree\nfour\nfive\nsix\nseven\n")
	l.write(l.dir, "docs/pump.md", "a\nb\nc\n")
	l.write(l.dir, ".gitignore", "out/\n")
	l.git("add", ".")
	l.git("commit", "-qm", "first")
	return l
}

func (l *lab) git(args ...string) string {
	l.Helper()
	c := exec.Command("git", args...)
	c.Dir = l.dir
	out, err := c.CombinedOutput()
	if err != nil {
		l.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (l *lab) write(dir, name, text string) {
	l.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		l.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		l.Fatal(err)
	}
}

func (l *lab) holds(dir, name, want string) {
	l.Helper()
	got, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && want != "" || string(got) != want {
		l.Errorf("%s is %q (%v), want %q", name, got, err, want)
	}
}

func (l *lab) make(session string, w Wish) *Copy {
	l.Helper()
	w.Session = session
	if w.Workspace == "" {
		w.Workspace = l.dir
	}
	c, err := l.trees.Make(l.Context(), w)
	if err != nil {
		l.Fatal(err)
	}
	return c
}

func paths(all []Change) string {
	var names []string
	for _, c := range all {
		name := c.Path
		if c.Also {
			name += " also"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

func (l *lab) back(session, files, unfit string) {
	l.Helper()
	b, err := l.trees.BringBack(l.Context(), session)
	if err != nil {
		l.Fatal(err)
	}
	if paths(b.Files) != files || paths(b.Unfit) != unfit {
		l.Errorf("brought back %q, left out %q; want %q and %q", paths(b.Files), paths(b.Unfit), files, unfit)
	}
}

// Two sessions in copies of one repository: what both did is brought back as far as it fits, and a
// conflict is named and not written over.
func TestTwoCopiesAreBroughtBack(t *testing.T) {
	l := newLab(t)
	a, b := l.make("s1", Wish{Words: "Cut a sink at the limit, and say so"}), l.make("s2", Wish{Words: "Cut a sink at the limit!"})
	if a.Branch != "webchat/cut-a-sink-at-the-limit" || b.Branch != "webchat/cut-a-sink-at-the-limit-2" ||
		!strings.HasSuffix(b.Root, "/relay-cut-a-sink-at-the-limit") || a.From != "main" {
		t.Errorf("the copies are %+v and %+v", a, b)
	}
	l.write(a.Root, "pump.go", "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\n")
	l.write(a.Root, "new.txt", "new\n")
	l.write(a.Root, "out/built", "ignored\n")
	l.write(b.Root, "pump.go", "one\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n")
	l.write(b.Root, "docs/pump.md", "a\nB of two\nc\n")
	l.write(l.dir, "docs/pump.md", "a\nB of mine\nc\n")
	l.back("s1", "new.txt, pump.go", "")
	l.back("s2", "pump.go also", "docs/pump.md also")
	l.holds(l.dir, "pump.go", "ONE\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n")
	l.holds(l.dir, "docs/pump.md", "a\nB of mine\nc\n")
	l.holds(l.dir, "new.txt", "new\n")
	l.holds(l.dir, "out/built", "")
	if got := l.git("diff", "--cached", "--name-only"); got != "" {
		t.Errorf("%q is staged", got)
	}
	l.write(l.dir, "docs/pump.md", "a\nb\nc\n") // resolved: it fits now
	l.back("s2", "docs/pump.md", "")
	l.holds(l.dir, "docs/pump.md", "a\nB of two\nc\n")
	if _, err := l.trees.Undo(t.Context(), "s2"); err != nil {
		t.Error(err)
	}
	l.holds(l.dir, "docs/pump.md", "a\nb\nc\n")
	l.holds(l.dir, "pump.go", "ONE\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n")
	l.back("s2", "docs/pump.md", "")
	l.write(l.dir, "docs/pump.md", "mine again\n")
	if _, err := l.trees.Undo(t.Context(), "s2"); !errors.Is(err, ErrUnfit) {
		t.Errorf("undone over a later change: %v", err)
	}
	l.holds(l.dir, "docs/pump.md", "mine again\n")
}

// What is not committed comes along, and is not brought back as if the session had done it.
func TestChangesComeAlong(t *testing.T) {
	l := newLab(t)
	l.write(l.dir, "pump.go", "mine\ntwo\nthree\nfour\nfive\nsix\nseven\n")
	l.write(l.dir, "fresh.txt", "fresh\n")
	without := l.make("s1", Wish{})
	l.holds(without.Root, "fresh.txt", "")
	c := l.make("s2", Wish{Along: true, Workspace: filepath.Join(l.dir, "docs")})
	if c.Workspace != filepath.Join(c.Root, "docs") {
		t.Errorf("the session works in %s", c.Workspace)
	}
	l.holds(c.Root, "fresh.txt", "fresh\n")
	l.holds(c.Root, "pump.go", "mine\ntwo\nthree\nfour\nfive\nsix\nseven\n")
	l.write(c.Root, "pump.go", "mine\ntwo\nthree\nfour\nfive\nsix\ntheirs\n")
	changes, err := l.trees.Changes(t.Context(), "s2")
	if err != nil || paths(changes) != "pump.go" {
		t.Errorf("changed %q, %v", paths(changes), err)
	}
	l.back("s2", "pump.go", "")
	l.holds(l.dir, "pump.go", "mine\ntwo\nthree\nfour\nfive\nsix\ntheirs\n")
}

// One commit on the branch it began from, only where that is checked out and nothing is staged.
func TestOneCommit(t *testing.T) {
	l := newLab(t)
	c := l.make("s1", Wish{})
	l.write(c.Root, "docs/pump.md", "a\nb\nc\nd\n")
	l.write(l.dir, "pump.go", "mine\n")
	l.git("add", "pump.go")
	refused := func(why string) {
		t.Helper()
		if _, err := l.trees.Commit(t.Context(), "s1", "Say so"); !errors.Is(err, ErrUnfit) || !strings.Contains(err.Error(), why) {
			t.Errorf("committed: %v, want %q", err, why)
		}
	}
	refused("staged")
	l.git("reset", "-q")
	l.git("checkout", "-qb", "other")
	refused("main")
	l.git("checkout", "-q", "main")
	head := l.git("rev-parse", "HEAD")
	b, err := l.trees.Commit(t.Context(), "s1", "Say so")
	if err != nil || b.Commit != l.git("rev-parse", "main") || paths(b.Files) != "docs/pump.md" {
		t.Fatalf("committed %+v, %v", b, err)
	}
	if got := l.git("log", "-1", "--format=%s by %an"); got != "Say so by Ada" {
		t.Errorf("the commit is %q", got)
	}
	l.holds(l.dir, "docs/pump.md", "a\nb\nc\nd\n")
	l.holds(l.dir, "pump.go", "mine\n")
	if _, err := l.trees.Undo(t.Context(), "s1"); err != nil || l.git("rev-parse", "main") != head {
		t.Errorf("main is %s, not %s: %v", l.git("rev-parse", "main"), head, err)
	}
	l.holds(l.dir, "pump.go", "mine\n")
}

// A copy that is thrown away is back at once for 30 days; then it is gone with its branch.
func TestThrowAway(t *testing.T) {
	l := newLab(t)
	c := l.make("s1", Wish{Words: "mend it"})
	l.write(c.Root, "out/built", "kept\n")
	do := func(f func() error) {
		t.Helper()
		if err := f(); err != nil {
			t.Fatal(err)
		}
	}
	do(func() error { _, err := l.trees.Throw(t.Context(), "s1"); return err })
	l.holds(c.Root, "pump.go", "")
	if _, err := l.trees.BringBack(t.Context(), "s1"); !errors.Is(err, ErrNone) {
		t.Errorf("brought back: %v", err)
	}
	l.git("worktree", "prune", "--expire=now") // as git does by itself
	l.trees.Settle(t.Context(), func(string) bool { return true })
	do(func() error { _, err := l.trees.Restore(t.Context(), "s1"); return err })
	l.holds(c.Root, "out/built", "kept\n")
	l.write(c.Root, "new.txt", "new\n")
	l.back("s1", "new.txt", "")
	if lost := l.trees.Lost(); len(lost) != 0 {
		t.Errorf("lost are %v", lost)
	}
	l.trees.Settle(t.Context(), func(string) bool { return false })
	if lost := l.trees.Lost(); len(lost) != 1 || lost[0].Session != "s1" {
		t.Errorf("lost are %v", lost)
	}
	do(func() error { _, err := l.trees.Throw(t.Context(), "s1"); return err })
	l.now = l.now.Add(UndoThrow + time.Hour)
	l.trees.Settle(t.Context(), func(string) bool { return true })
	if _, err := l.trees.Of("s1"); !errors.Is(err, ErrNone) || l.git("branch", "--list", "webchat/*") != "" ||
		strings.Contains(l.git("worktree", "list"), "mend-it") {
		t.Errorf("it is there: %v, %s", err, l.git("worktree", "list"))
	}
}

// A branch without words is named after the first prompt, once.
func TestBranchIsNamedAfterThePrompt(t *testing.T) {
	l := newLab(t)
	c := l.make("s1", Wish{})
	if c.Branch != "webchat/session" {
		t.Errorf("the branch is %s", c.Branch)
	}
	for _, prompt := range []string{"…", "Port the *config* loader; rm -rf $(x)", "and more"} {
		if _, err := l.trees.Name(t.Context(), "s1", prompt); err != nil {
			t.Fatal(err)
		}
	}
	if c, _ = l.trees.Of("s1"); c.Branch != "webchat/port-the-config-loader-rm-rf" {
		t.Errorf("the branch is %s", c.Branch)
	}
	l.write(c.Root, "new.txt", "new\n")
	l.back("s1", "new.txt", "")
}

// What git could be set up to run by a repository does not run: hooks, monitors, drivers.
func TestNothingOfTheRepositoryRuns(t *testing.T) {
	l := newLab(t)
	ran := filepath.Join(l.dir, "..", "ran")
	run := "touch " + ran + "; cat"
	for _, hook := range []string{"post-checkout", "post-merge", "pre-commit", "reference-transaction", "post-index-change", "prepare-commit-msg"} {
		l.write(l.dir, ".git/hooks/"+hook, "#!/bin/sh\ntouch "+ran+"\n")
		if err := os.Chmod(filepath.Join(l.dir, ".git/hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l.write(l.dir, ".git/more", "[filter \"a=b.c\"]\n\tsmudge = "+run+"\n\tclean = "+run+"\n\trequired = true\n[filter \"p\"]\n\tprocess = "+run+
		"\n[merge \"m\"]\n\tdriver = touch "+ran+"\n[diff \"d\"]\n\ttextconv = "+run+"\n\tcommand = "+run+
		"\n[core]\n\tfsmonitor = "+run+"\n\tpager = "+run+"\n\teditor = "+run+"\n[diff]\n\texternal = "+run+"\n[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = "+run+"\n")
	config, _ := os.ReadFile(filepath.Join(l.dir, ".git/config"))
	l.write(l.dir, ".git/config", string(config)+"[include]\n\tpath = more\n")
	l.write(l.dir, ".git/info/attributes", "*.go filter=a=b.c diff=d merge=m\n*.md filter=p diff=d merge=m\n")
	c := l.make("s1", Wish{Along: true})
	l.write(c.Root, "pump.go", "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\n")
	l.write(l.dir, "pump.go", "one\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n")
	l.back("s1", "pump.go also", "")
	l.holds(l.dir, "pump.go", "ONE\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n")
	l.write(c.Root, "docs/pump.md", "x\n")
	if _, err := l.trees.Commit(t.Context(), "s1", "x"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("something of the repository ran")
	}
}

// What cannot be copied whole is refused by name.
func TestRefused(t *testing.T) {
	for why, spoil := range map[string]func(l *lab){
		"no git repository": func(l *lab) { _ = os.RemoveAll(filepath.Join(l.dir, ".git")) },
		"no commit yet":     func(l *lab) { _ = os.RemoveAll(filepath.Join(l.dir, ".git")); l.git("init", "-q") },
		"sparse checkout":   func(l *lab) { l.git("sparse-checkout", "set", "docs") },
		"the submodule sub": func(l *lab) {
			l.git("update-index", "--add", "--cacheinfo", "160000,"+l.git("rev-parse", "HEAD")+",sub")
		},
		"a conflict in pump.go": func(l *lab) {
			l.git("checkout", "-qb", "o")
			l.write(l.dir, "pump.go", "o\n")
			l.git("commit", "-qam", "o")
			l.git("checkout", "-q", "main")
			l.write(l.dir, "pump.go", "m\n")
			l.git("commit", "-qam", "m")
			c := exec.Command("git", "merge", "o")
			c.Dir = l.dir
			_ = c.Run() // it has a conflict
		},
	} {
		l := newLab(t)
		spoil(l)
		if _, err := l.trees.Make(t.Context(), Wish{Session: "s1", Workspace: l.dir}); !errors.Is(err, ErrUnfit) || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v", why, err)
		}
		if len(l.trees.All()) != 0 {
			t.Errorf("%s: something was left", why)
		}
	}
}
