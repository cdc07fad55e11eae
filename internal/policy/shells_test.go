package policy

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// What is read as one simple command is exactly that to every shell that is here: the
// words are those the shell gives to the program, and nothing else happens.
func TestShellsReadSimpleCommandsAlike(t *testing.T) {
	shells := shellsHere(t)
	agree := func(fatal func(string, ...any), command string) {
		for _, read := range []func(string) ([]string, bool){simpleCommand, wordsOf} {
			words, ok := read("printf %s_ " + command)
			if !ok {
				continue
			}
			for name, shell := range shells {
				out, err := exec.Command(shell[0], append(shell[1:len(shell):len(shell)], "printf '%s_' "+
					command)...).CombinedOutput()
				if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
					fatal("%s: %v", name, err)
				}
				if got := string(out); got != strings.Join(words[2:], "_")+"_" {
					fatal("%s makes %q of %q, not %q", name, got, command, words[2:])
				}
			}
		}
	}
	for _, command := range tricky {
		agree(t.Fatalf, strings.TrimPrefix(command, "go test "))
	}
	parts := slices.Concat(strings.Split("abc'\"'\"  $`\\!#~*?[]{}()<>|&;=^%@+-_./:,\n\t", ""),
		[]string{" ", " ", "a", "''", `""`, "x=y", "--a=b", "${", "$(", "é", "<<E\n"})
	rapid.Check(t, func(rt *rapid.T) {
		command := "x" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12).Draw(rt, "parts"),
			"")
		agree(rt.Fatalf, command)
	})
}

func shellsHere(t *testing.T) map[string][]string {
	t.Helper()
	shells := map[string][]string{}
	for _, name := range []string{"sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "busybox"} {
		if path, err := exec.LookPath(name); err == nil {
			shells[name] = []string{path, "-c"}
		}
	}
	if b := shells["busybox"]; b != nil {
		shells["busybox"] = []string{b[0], "sh", "-c"}
	}
	if len(shells) == 0 {
		t.Skip("no shell is here")
	}
	return shells
}

// What a rule denies runs in no shell unasked: either the rule finds it in the text, or the text is
// asked about. Here-documents, quotes, expansions and ends of lines are put together at random; the
// program "hit" leaves a file behind.
func TestThreat52ADeniedProgramRunsInNoShell(t *testing.T) {
	shells := shellsHere(t)
	bin := t.TempDir()
	mark := filepath.Join(bin, "mark")
	if err := os.WriteFile(filepath.Join(bin, "hit"), []byte("#!/bin/sh\n: >"+mark+"\n"),
		0o700); err != nil {
		t.Fatal(err)
	}
	ws := t.TempDir()
	p := New(Config{Workspace: ws, Rules: []Rule{{
		Kind:     agent.KindShell,
		Prefix:   "hit",
		Decision: event.Deny,
	}}})
	parts := []string{"hit", "hit x", "hi", "t", "cat", ":", "echo", "a", "E", "F", "'", "\"", "\\",
		"\\\n", "\n", "\nE\n", "\nEF\n", "<<E\n", "<<'E'\n", "<<\"E\"F\n", "<<$'E'\n",
		"<<-E\n\t", "<<<", " ", ";", "&&", "||", "|", "&", "$(", ")", "`", "${x:-", "}", "{", "(", "#",
		"if ", "then ", "fi", "x=", "$x", "!", ">y", "<y", "2>&1", "*", "~", "=", "[[ ", " ]]"}
	rapid.Check(t, func(rt *rapid.T) {
		command := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 10).Draw(rt, "parts"), "")
		if !strings.Contains(strings.NewReplacer("'", "", "\"", "", "\\", "", "\n", "").Replace(command),
			"hit") {
			return
		}
		act := agent.Permission{ToolName: "bash", Kind: agent.KindShell, Resource: command, Cwd: ws}
		if got := p.Rule(t.Context(), act); got.Ask || got.Decision == event.Deny {
			return
		}
		for name, shell := range shells {
			c := exec.Command(shell[0], append(shell[1:len(shell):len(shell)], command)...)
			c.Dir, c.Env = ws, []string{"PATH=" + bin + ":/usr/bin:/bin"}
			_ = c.Run() // most are no command
			if os.Remove(mark) == nil {
				rt.Fatalf("%s runs it in %q", name, command)
			}
		}
	})
}
