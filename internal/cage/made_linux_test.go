package cage

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"webchat/internal/proc"
)

// holder is a cage with what it needs to find what was made. Package files has the real ones of
// this; what they do is tested there.
type holder struct {
	*yard
	c     *Cage
	aside map[string]string // what was moved, by name
	since []string
}

func newHolder(t testing.TB, files ...string) *holder {
	t.Helper()
	y := newYard(t, files...)
	h := &holder{yard: y, aside: map[string]string{}}
	y.ConfigNames = func(_ context.Context, text []byte) ([]string, error) {
		p := filepath.Join(y.home, "config")
		if err := os.WriteFile(p, text, 0o600); err != nil {
			return nil, err
		}
		out := y.outside("git config -f " + p + " --no-includes --name-only --list")
		if strings.Contains(out, "bad config") {
			return nil, os.ErrInvalid
		}
		return strings.Fields(out), nil
	}
	var err error
	if h.c, err = New(y.Config); err != nil {
		t.Fatal(err)
	}
	return h
}

// look returns the names of what a look moved.
func (h *holder) look(l Look) string {
	h.t.Helper()
	l.Since = h.since
	l.Aside = func(root, name string, _ time.Time) (string, error) {
		from, to := filepath.Join(root, name), filepath.Join(h.home, "aside",
			fmt.Sprint(time.Now().UnixNano()))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return "", err
		}
		h.aside[name] = to
		return name, os.Rename(from, to)
	}
	found, err := h.c.Look(context.Background(), l)
	if err != nil {
		h.t.Error(err)
	}
	var names []string
	for _, m := range found.Made {
		if m.ID == "" || m.Stood < 0 {
			h.t.Errorf("%+v", m)
		}
		names = append(names, m.Name)
	}
	if l.Count {
		names = append(names, fmt.Sprint(found.Left))
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// begin starts a tree that runs scripts one after the other.
func (h *holder) begin() (in func(script string), end func()) {
	h.t.Helper()
	cmd, err := h.c.Confine(context.Background(),
		proc.Command{Args: []string{"bash", "-c",
			`while read -r l; do (eval "$l") 2>/dev/null >&2; echo done; done`}, Dir: h.work, Env: h.Env, Pipes: true}, Needs{})
	if err != nil {
		h.t.Fatal(err)
	}
	child, err := proc.Start(cmd)
	if err != nil {
		h.t.Fatal(err)
	}
	in = func(script string) {
		h.t.Helper()
		fmt.Fprintln(child.Stdin(), script)
		if _, err := child.Stdout().Read(make([]byte, 100)); err != nil {
			h.t.Fatal(err)
		}
	}
	end = func() { child.Stop(context.Background()) }
	h.t.Cleanup(end)
	return in, end
}

// mapped calls f with a file that is open nowhere but in memory, where it was written to.
func (h *holder) mapped(name string, f func(text []byte)) {
	h.t.Helper()
	file, err := os.OpenFile(filepath.Join(h.work, name), os.O_RDWR, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	st, err := file.Stat()
	if err != nil {
		h.t.Fatal(err)
	}
	text, err := unix.Mmap(int(file.Fd()), 0, int(st.Size()), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED)
	if err != nil {
		h.t.Fatal(err)
	}
	file.Close()
	f(text)
	if err := unix.Munmap(text); err != nil {
		h.t.Error(err)
	}
}

const evil = `[core]
	fsmonitor = touch ran; false
`

// What is made and runs later by itself is moved aside after the call, and so is what git would
// obey; what git writes itself, instruction files and what was there stay.
func TestThreat119WhatRunsLaterIsHeld(t *testing.T) {
	h := newHolder(t, "code/proj/.vscode/tasks.json", "code/proj/sub/x")
	if err := os.WriteFile(h.home+"/evil", []byte(evil), 0o600); err != nil {
		t.Fatal(err)
	}
	h.Read = append(h.Read, h.home+"/evil")
	var err error
	if h.c, err = New(h.Config); err != nil {
		t.Fatal(err)
	}
	h.outside(
		"git init -q .; git -c user.name=a -c user.email=b commit -q --allow-empty -m 1; mkdir -p " +
			"bare; git init -q --bare there.git; ln -s nowhere .yarnrc")
	e := "E=" + h.home + "/evil; "
	in, end := h.begin()
	for _, one := range []struct{ script, want string }{
		{"echo >.envrc; echo >a; echo >sub/AGENTS.md", ".envrc"},
		{"echo >.envrc", ".envrc"}, // again
		{"mkdir .claude sub/.vscode; echo {} >.claude/settings.json; echo {} >sub/.vscode/tasks.json",
			".claude sub/.vscode"},
		{"mkdir .zed; mkdir -p .cursor/rules; echo >.cursor/rules/a.mdc", ""},
		{"echo >.cursor/hooks.json", ".cursor/hooks.json"},
		{"mkdir .idea; echo >.idea/x; chmod 111 .idea", ".idea"},
		{"mkdir -p hidden; echo >hidden/.envrc; chmod 111 hidden", "hidden/.envrc"},
		{"mkdir -p .aws/in; echo >.aws/in/.envrc", ".aws/in/.envrc"},
		{"mkdir objects refs; touch HEAD; echo >.envrc", ".envrc"},
		{"touch -r . stamp; echo >.autoenv; touch -r stamp .", ".autoenv"},
		{"ln -s sub/x .exrc", ".exrc"},
		{"echo x >nowhere", "nowhere"}, // a link of a name that counts leads there
		{"mkdir -p node_modules/p vendor/v; echo >node_modules/p/.envrc; echo >vendor/v/.envrc", ""},
		{"echo ../evil >.git/commondir", ".git/commondir"},
		{e + "cp $E .git/config.worktree; mkdir -p .git/modules/m; cp $E .git/modules/m/config; echo x " +
			">.git/modules/m/HEAD", ".git/config.worktree .git/modules/m/config"},
		{"git init -q new; git -C new config user.name a; git clone -q . copy; git worktree add -q " +
			"tree; git -C copy checkout -q -b other/b.c; git -C copy push -qu origin other/b.c", ""},
		{e + "cat $E >>new/.git/config; echo x >copy/.git/hooks/pre-commit; echo x " +
			">copy/.git/info/attributes", "copy/.git/hooks copy/.git/info/attributes new/.git/config"},
		{e + "mkdir -p b/objects b/refs; echo ref: refs/heads/x >b/HEAD; cp $E b/config", "b/config"},
		{e + "mkdir -p node_modules/r/objects node_modules/r/refs g; echo ref: refs/heads/x " +
			">node_modules/r/HEAD; cp $E node_modules/r/config; echo gitdir: ../node_modules/r " +
			">g/.git", "node_modules/r/config"},
		{e + "mkdir -p .git/logs/r g2; cp $E .git/logs/r/config; ln -s ../.git/logs/r g2/.git",
			".git/logs/r/config"},
		{e + "mkdir -p two/objects two/refs one; cp $E two/config; echo ref: refs/heads/x >one/HEAD; " +
			"echo ../two >one/commondir", "one/commondir two/config"},
		{e + "cp $E bare/config; echo x >bare/HEAD", "bare/config"},
		{"echo '[include]path=../evil' >bare/config", "bare/config"},
		{"echo '[core]bare=false' >bare/config", ""},
		{"mkfifo .zshrc", ".zshrc"},
	} {
		in(one.script)
		if got := h.look(Look{}); got != one.want {
			t.Errorf("%s: %q was held, not %q", one.script, got, one.want)
		}
	}
	if out := h.outside(
		"git status --porcelain >/dev/null; for d in . new copy tree b g g2 one bare; do (cd $d; git " +
			"status >/dev/null 2>&1); done; find . -name ran; git -C tree log --format=%s -1"); out != "1" {
		t.Errorf("git says %q", out)
	}
	if got := h.look(Look{Count: true}); got != "2" {
		t.Errorf("%q is left", got)
	}
	end()
	h.look(Look{})
	h.outside("echo >.envrc") // the user
	if in, _ = h.begin(); h.look(Look{}) != "" {
		t.Error("what the user made was held")
	}
	in("echo evil >.envrc; rm .envrc; mv .envrc x")
	if got := h.look(Look{}); got != "" || h.outside("cat .envrc") != "" {
		t.Errorf("what was there was changed, and %q was held", got)
	}
}

// While a tree runs, what is not settled waits; what was made without a call is found as well, what
// stays where it is is counted once, and what is put back and then changed is held again.
func TestHeldWhileATreeRuns(t *testing.T) {
	h := newHolder(t, "code/proj/a")
	in, end := h.begin()
	in("echo 1 >.envrc; mkdir -p node_modules/x; echo >node_modules/x/.envrc")
	if got := h.look(Look{Running: true}); got != "" {
		t.Errorf("%q was held at once", got)
	}
	if got := h.look(Look{Count: true}); got != ".envrc 1" && got != "1 .envrc" {
		t.Errorf("%q was held and left", got)
	}
	if got := h.look(Look{Count: true}); got != "0" {
		t.Errorf("%q was held and left again", got)
	}
	put := func(name string) func() (string, error) {
		return func() (string, error) {
			return name, os.Rename(h.aside[name], filepath.Join(h.work, name))
		}
	}
	// changed meanwhile
	if err := h.c.Restore(h.work, put(".envrc"), func(string) bool { return false }); err != nil {
		t.Error(err)
	}
	if got := h.look(Look{}); got != ".envrc" {
		t.Errorf("what was changed before it was kept: %q was held", got)
	}
	in("mkdir -p .cursor/rules; echo >.cursor/rules/a.mdc; echo >.cursor/hooks.json")
	if got := h.look(Look{}); got != ".cursor/hooks.json" {
		t.Errorf("%q was held", got)
	}
	for _, name := range []string{".envrc", ".cursor/hooks.json"} {
		looked := make(chan string, 1)
		if err := h.c.Restore(h.work, func() (string, error) {
			name, err := put(name)()
			if name != ".envrc" {
				in("echo >.cursor/mcp.json")
			}
			go func() { looked <- h.look(Look{Running: true}) }()
			return name, err
		}, func(string) bool { return true }); err != nil {
			t.Error(err)
		}
		if got := <-looked; got != "" && got != ".cursor/mcp.json" {
			t.Errorf("a look beside it holds %q", got)
		}
	}
	if got := h.look(Look{}) + h.aside[".cursor/mcp.json"]; got == "" {
		t.Errorf("beside what was kept: %q was held", got)
	}
	in("echo 2 >>.envrc")
	if got := h.look(Look{}); got != ".envrc" {
		t.Errorf("what was changed after it was kept: %q was held", got)
	}
	in("git init -q new; echo '#' >>new/.git/config")
	h.mapped("new/.git/config", func(text []byte) {
		text[len(text)-1] = '\n' // as it was
		got := h.look(Look{})
		copy(text, "[core]fsmonitor=x;")
		if got += h.look(Look{}); got != "new/.git/config" {
			t.Errorf("what is changed unseen: %q was held", got)
		}
	})
	in("echo 3 >.envrc")
	end()
	_, end = h.begin() // it was not looked at before the next tree
	end()
	if got := h.look(Look{}); got != ".envrc" {
		t.Errorf("%q was held", got)
	}
	if h.c.Runs() {
		t.Error("something runs")
	}
}

// What git checks out as it was when the session began stays.
func TestHeldButCheckedOut(t *testing.T) {
	h := newHolder(t, "code/proj/a")
	var asked []string
	h.Committed = func(_ context.Context, _ string, since, names []string) (bool, error) {
		asked = names
		return slices.Contains(since, "tip"), nil
	}
	var err error
	if h.c, err = New(h.Config); err != nil {
		t.Fatal(err)
	}
	h.since = []string{"tip"}
	in, _ := h.begin()
	in("mkdir .vscode; echo >.vscode/a; echo >.vscode/b")
	if got := h.look(Look{Count: true}); got != "1" ||
		!slices.Equal(asked, []string{".vscode/a", ".vscode/b"}) {
		t.Errorf("%q was held; asked about %q", got, asked)
	}
	h.since = []string{"other"}
	in("echo >.vscode/c")
	if got := h.look(Look{}); got != ".vscode" {
		t.Errorf("%q was held", got)
	}
}

// A look at some thousand files.
func BenchmarkLook(b *testing.B) {
	h := newHolder(b)
	for i := range 1500 {
		h.write(fmt.Sprintf("code/proj/%d/%d/m.go", i/100, i/10%10)+fmt.Sprint(i), "x")
	}
	if err := h.c.keep.begins(context.Background()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := h.c.Look(context.Background(), Look{}); err != nil {
			b.Fatal(err)
		}
	}
}

// A link that leads through itself again and again takes no longer to follow than the kernel would
// follow it, and what a long one leads to is found.
func TestChainIsBounded(t *testing.T) {
	dir := t.TempDir()
	loop, long := filepath.Join(dir, ".envrc"), filepath.Join(dir, "long")
	for at, to := range map[string]string{
		loop: strings.Repeat(".envrc/", 580), long: strings.Repeat("./", 1500) + "end"} {
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	if got := chain(loop); len(got) > 50 {
		t.Errorf("%d links were followed", len(got))
	}
	if got := chain(long); !slices.Equal(got, []string{long, filepath.Join(dir, "end")}) {
		t.Errorf("it leads to %q", got)
	}
}

// A git that what trees wrote keeps from answering is waited for so long, and then nothing counts
// as tracked or committed.
func TestGitThatHangs(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".env", ".envrc"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		hang := func(ctx context.Context) error {
			asked++
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Hour):
				t.Error("it is waited for")
				return nil
			}
		}
		c := &Cage{read: map[string]bool{}}
		c.cfg = Config{Workspace: dir,
			Tracked: func(ctx context.Context, _ string, names []string) ([]string, error) {
				return names, hang(ctx)
			},
			Committed: func(ctx context.Context, _ string, _, _ []string) (bool, error) {
				err := hang(ctx)
				return err == nil, err
			}}
		secret := filepath.Join(dir, ".env")
		if c.tracked(t.Context(), []string{secret}, []string{filepath.Join(dir, ".git")})[secret] {
			t.Error("it counts as tracked")
		}
		c.walk = walker{known: map[string]*folder{}}
		c.keep = keeper{
			cfg:    &c.cfg,
			walk:   &c.walk,
			unseen: true,
			known:  map[string]seen{},
			prints: map[string]bool{},
			first:  map[string]time.Time{},
		}
		var held []string
		_, err := c.Look(t.Context(), Look{
			Since: []string{"1"},
			Aside: func(_, name string, _ time.Time) (string, error) {
				held = append(held, name)
				return name, nil
			},
		})
		if err == nil || !slices.Equal(held, []string{".envrc"}) || asked != 2 {
			t.Errorf("%q was held, %v, git was asked %d times", held, err, asked)
		}
	})
}
