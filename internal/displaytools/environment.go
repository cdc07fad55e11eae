package displaytools

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/policy"
)

// forced makes programs print colours for a terminal of 120 columns, although
// they print to a pipe.
var forced = []string{"CLICOLOR_FORCE=1", "FORCE_COLOR=1", "TERM=xterm-256color", "COLUMNS=120"}

// dropped would contradict what is forced, or name another folder.
var dropped = []string{"NO_COLOR", "CLICOLOR", "LINES", "PWD", "OLDPWD", "CLICOLOR_FORCE",
	"FORCE_COLOR", "TERM", "COLUMNS"}

// environments are what commands get, but for PWD.
type environments struct {
	agents, users []string
	withheld      []string // names of what an agent's do not get
}

func newEnvironments(inherited, allow, keys []string) (e environments) {
	e.agents, e.withheld = policy.Inherit(inherited, allow, keys)
	e.users = policy.InheritWhole(inherited, keys)
	e.agents, e.users = forTerminal(e.agents), forTerminal(e.users)
	return e
}

// of returns what the command of a call gets, and the names of what it does not.
func (e *environments) of(call agent.CallInfo) (env, withheld []string) {
	if call.Typed {
		return e.users, nil
	}
	return e.agents, e.withheld
}

func forTerminal(env []string) []string {
	env = slices.DeleteFunc(env, func(kv string) bool {
		k, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(dropped, policy.SameVariable(k))
	})
	return append(env, forced...)
}

func getenv(env []string, key string) string {
	for _, kv := range slices.Backward(env) {
		if k, v, ok := strings.Cut(kv, "="); ok && policy.SameVariable(k)(key) {
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

// home is the user's folder by the environment env.
func home(env []string) string {
	for _, key := range []string{"HOME", "USERPROFILE"} {
		if v := getenv(env, key); filepath.IsAbs(v) {
			return filepath.Clean(v)
		}
	}
	return ""
}
