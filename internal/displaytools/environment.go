package displaytools

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"webchat/internal/policy"
)

// forced makes programs print colours for a terminal of 120 columns, although
// they print to a pipe.
var forced = []string{"CLICOLOR_FORCE=1", "FORCE_COLOR=1", "TERM=xterm-256color", "COLUMNS=120"}

// dropped would contradict what is forced, or name another folder.
var dropped = []string{"NO_COLOR", "CLICOLOR", "LINES", "PWD", "OLDPWD", "CLICOLOR_FORCE", "FORCE_COLOR", "TERM", "COLUMNS"}

// environment is what commands get, but for PWD.
func environment(inherited, allow, deny []string) []string {
	env := policy.Inherit(inherited, allow, deny)
	env = slices.DeleteFunc(env, func(kv string) bool {
		k, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(dropped, sameVariable(k))
	})
	return append(env, forced...)
}

func sameVariable(k string) func(string) bool {
	return func(name string) bool {
		return name == k || runtime.GOOS == "windows" && strings.EqualFold(name, k)
	}
}

func getenv(env []string, key string) string {
	for _, kv := range slices.Backward(env) {
		if k, v, ok := strings.Cut(kv, "="); ok && sameVariable(k)(key) {
			return v
		}
	}
	return ""
}

// shell is what runs commands: the user's own, unless that is none.
func shell(configured string) string {
	if runtime.GOOS == "windows" {
		return "cmd"
	}
	switch filepath.Base(configured) {
	case ".", "nologin", "false", "true", "sync":
		return "sh"
	}
	return configured
}

// invocation is the program and arguments that run command.
func (s *Set) invocation(command string) []string {
	if runtime.GOOS == "windows" {
		return []string{s.shell, "/c", command}
	}
	return []string{s.shell, "-c", command}
}
