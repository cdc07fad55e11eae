package policy

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What is read as one simple command is exactly that to every shell that is here: the
// words are those the shell gives to the program, and nothing else happens.
func TestShellsReadSimpleCommandsAlike(t *testing.T) {
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
	agree := func(fatal func(string, ...any), command string) {
		words, ok := simpleCommand("printf %s_ " + command)
		if !ok {
			return
		}
		for name, shell := range shells {
			out, err := exec.Command(shell[0], append(shell[1:len(shell):len(shell)], "printf '%s_' "+command)...).CombinedOutput()
			if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
				fatal("%s: %v", name, err)
			}
			if got := string(out); got != strings.Join(words[2:], "_")+"_" {
				fatal("%s makes %q of %q, not %q", name, got, command, words[2:])
			}
		}
	}
	for _, command := range tricky {
		agree(t.Fatalf, strings.TrimPrefix(command, "go test "))
	}
	parts := slices.Concat(strings.Split("abc'\"'\"  $`\\!#~*?[]{}()<>|&;=^%@+-_./:,\n\t", ""), []string{" ", " ", "a", "''", `""`, "x=y", "--a=b", "${", "$(", "é"})
	rapid.Check(t, func(rt *rapid.T) {
		command := "x" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12).Draw(rt, "parts"), "")
		agree(rt.Fatalf, command)
	})
}
