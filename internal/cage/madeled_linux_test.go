package cage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What trees could not change when they began is found when they make it anew: by a link that is
// replaced, in the place of a folder that they moved, where a repository's settings and links lead,
// and where it was removed outside.
func TestThreat119WhatWasThereIsMadeAnew(t *testing.T) {
	h := newHolder(t, "code/proj/sub/.zed/x", "code/proj/.githooks/x", "code/proj/.vscode/a",
		"code/proj/.yarnrc.yml", "code/proj/end", "code/state/x")
	h.Write = append(h.Write, h.home+"/code/state")
	var err error
	if h.c, err = New(h.Config); err != nil {
		t.Fatal(err)
	}
	h.outside(
		`for r in . c d p; do git init -q $r; done; rm -rf .git/hooks; ln -s ../.githooks .git/hooks; mv c/.git/config c/conf; ln -s ../conf c/.git/config
		git -C p config core.hooksPath .myhooks; mkdir p/.myhooks; ln -s mid .exrc; ln -s end mid`)
	before := h.outside("cat sub/.zed/x c/conf end")
	state := "S=" + h.home + "/code/state; "
	in, _ := h.begin()
	for _, one := range []struct{ script, want string }{
		// frozen
		{"echo x >.githooks/pre-commit; echo x >c/conf; echo x >p/.myhooks/pre-commit; echo x >end", ""},
		{"rm .git/hooks; mkdir .git/hooks; echo x >.git/hooks/pre-commit", ".git/hooks"},
		{"rm c/.git/config; echo '[core] fsmonitor=x' >c/.git/config", "c/.git/config"},
		{"mv p q; mkdir -p p/.git p/.myhooks; cp q/.git/config p/.git; echo x >p/.myhooks/pre-commit",
			"p/.git/config p/.myhooks"},
		{state + "git init -q $S/r; echo '[core]fsmonitor=x' >>$S/r/.git/config; mkdir l; echo gitdir: " +
			"$S/r/.git >l/.git", "l/.git"},
		{state + "mkdir l2; ln -s $S/r/.git l2/.git", "l2/.git"},
		{"rm mid; echo evil >mid", "mid"},
		{"mv sub sub2; mkdir -p sub/.zed; echo evil >sub/.zed/x", "sub/.zed"},
		{"mv d d2; git init -q d; echo '[core]fsmonitor=x' >>d/.git/config", "d/.git/config"},
		{"mkdir -p .claude/rules/.git .claude/rules/in; echo a >.claude/rules/a.md; echo " +
			"'[core]fsmonitor=x' >.claude/rules/.git/config; echo x >.claude/rules/in/.envrc",
			".claude/rules/.git/config .claude/rules/in/.envrc"},
	} {
		in(one.script)
		if got := h.look(Look{}); got != one.want {
			t.Errorf("%s: %q was held, not %q", one.script, got, one.want)
		}
	}
	if after := h.outside("cat sub2/.zed/x c/conf end"); after != before {
		t.Errorf("what was there is now %q", after)
	}
	if err := os.Remove(h.work + "/.yarnrc.yml"); err != nil {
		t.Fatal(err)
	}
	h.look(Look{})
	if err := os.RemoveAll(h.work + "/.vscode"); err != nil {
		t.Fatal(err)
	}
	in("echo evil >.yarnrc.yml; mkdir x; echo evil >x/tasks.json; mv x .vscode")
	if got := h.look(Look{}); got != ".vscode .yarnrc.yml" {
		t.Errorf("what was removed outside was made, and %q was held", got)
	}
}

// A workspace that is a folder of settings is known by its place, and none is or holds the user's
// folder, where what runs by itself has too many names.
func TestWorkspaceThatIsSettings(t *testing.T) {
	h := newHolder(t, ".config/fish/config.fish", ".config/other/x")
	h.Workspace, h.work = h.home+"/.config", h.home+"/.config"
	var err error
	if h.c, err = New(h.Config); err != nil {
		t.Fatal(err)
	}
	in, _ := h.begin()
	in("echo evil >fish/config.fish; mkdir autostart; echo evil >autostart/x.desktop; echo 1 >other/x")
	if got := h.look(Look{}); got != "autostart" {
		t.Errorf("%q was held", got)
	}
	if got := h.outside("cat fish/config.fish other/x"); got != ".config/fish/config.fish1" {
		t.Errorf("%q is there", got)
	}
	for _, workspace := range []string{h.home, filepath.Dir(h.home)} {
		h.Workspace = workspace
		if _, err := New(h.Config); err == nil || !strings.Contains(err.Error(), "home folder") {
			t.Errorf("%s: %v", workspace, err)
		}
	}
}

// A folder of hooks is frozen that settings name which the user's include.
func TestConfinedHooksOfIncluded(t *testing.T) {
	y := newYard(t, "code/proj/.shared/pre-commit")
	y.write(".gitconfig", "[includeIf \"gitdir:~/\"]\n\tpath = ~/more\n")
	y.write("more", "[include] path = \"sub/x\"\n")
	y.write("sub/x", "[core]\n\thooksPath = .shared\n")
	y.outside("git init -q .")
	y.lines(Needs{}, [2]string{"echo x >.shared/pre-commit", "Read-only"})
}

// What earlier trees put in the place of folders that variables and settings name leads nowhere.
func TestConfinedLinksOfEarlierTrees(t *testing.T) {
	y := newYard(t, ".netrc", "notes/n", "shared/x", "code/proj/a", "more/m", "tools/bin/t")
	in := []string{"code/proj/bin", "code/proj/cache", "shared/lib", "shared/prog"}
	y.Env = append(y.Env, "JAVA_HOME="+y.home+"/shared/lib", "GOCACHE="+y.home+"/code/proj/cache")
	y.Env[0] += ":" + y.home + "/code/proj/bin"
	y.Read, y.Write = []string{"~/shared/lib"}, []string{"~/shared"}
	n := Needs{Programs: []string{y.home + "/shared/prog"}}
	y.lines(n, [2]string{"cd ~; ln -s ~ " + strings.Join(in[:3], "; ln -s ~ ") +
		"; ln -s ~/tools/bin/t " + in[3] + "; ls -d " + in[0], in[0]})
	y.lines(n, [][2]string{
		{"cat ~/notes/n", "No such file"},
		{"cat ~/tools/bin/t", "No such file"},
		{"ls ~ | grep -c -e notes -e more", "0"},
	}...)
}
