package policy

import (
	"runtime"
	"slices"
	"strings"

	"webchat/internal/veil"
)

// Inherit returns what commands that an agent asks for get of an environment: all
// but what is the server's own and what looks like a credential by its name or by
// its value. Variables named in allow are inherited all the same, unless they are
// the server's own. Those are WEBCHAT_*, the variables named in keys, which hold
// keys of model providers, and whatever else has one of those keys in its value.
//
// withheld names, in order, what was held back, but for WEBCHAT_*.
func Inherit(env, allow, keys []string) (kept, withheld []string) {
	own := servers(env, keys)
	for _, kv := range env {
		k, v, ok := strings.Cut(kv, "=")
		switch {
		case !ok || setting(k):
		case own(k, v), !slices.ContainsFunc(allow, SameVariable(k)) &&
			(veil.Name(k) || credentialValue(k, v)):
			withheld = append(withheld, k)
		default:
			kept = append(kept, kv)
		}
	}
	slices.Sort(withheld)
	return kept, slices.Compact(withheld)
}

// InheritWhole returns what the user's own programs get of an environment: all but
// what is the server's own, see [Inherit].
func InheritWhole(env, keys []string) (kept []string) {
	own := servers(env, keys)
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok && !setting(k) && !own(k, v) {
			kept = append(kept, kv)
		}
	}
	return kept
}

// setting reports whether a variable is a setting of the server, its token among
// them.
func setting(name string) bool { return strings.HasPrefix(strings.ToUpper(name), "WEBCHAT_") }

// shortestKey is the length from which on a key is looked for in other variables.
const shortestKey = 12

// servers returns the variables that are keys of the server, by name or by value.
func servers(env, keys []string) func(name, value string) bool {
	var values []string
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		if (slices.ContainsFunc(keys, SameVariable(k)) || setting(k) && veil.Name(k)) &&
			len(v) >= shortestKey {
			values = append(values, v)
		}
	}
	return func(name, value string) bool {
		return slices.ContainsFunc(keys, SameVariable(name)) ||
			!slices.ContainsFunc(indispensable, SameVariable(name)) &&
				slices.ContainsFunc(values, func(key string) bool { return strings.Contains(value, key) })
	}
}

// SameVariable returns whether a name is that of the variable k; case does not count on Windows.
func SameVariable(k string) func(string) bool {
	return func(name string) bool {
		return name == k || runtime.GOOS == "windows" && strings.EqualFold(name, k)
	}
}

// indispensable are the variables without which hardly a program runs. What is in
// them looks like a credential by chance only.
var indispensable = []string{"PATH", "HOME", "SHELL", "USER", "LOGNAME", "LANG", "TERM", "TMPDIR",
	"SYSTEMROOT", "COMSPEC", "PATHEXT", "USERPROFILE", "USERNAME", "TEMP", "TMP"}

// credentialValue reports whether a variable's value holds what looks like a
// credential.
func credentialValue(name, value string) bool {
	return !slices.ContainsFunc(indispensable, SameVariable(name)) && veil.Value(value)
}
