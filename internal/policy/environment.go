package policy

import (
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
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
		case own(k, v), !slices.ContainsFunc(allow, SameVariable(k)) && (credentialName(k) || credentialValue(k, v)):
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

// servers tells the variables that are keys of the server, by name or by value.
func servers(env, keys []string) func(name, value string) bool {
	var values []string
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		if (slices.ContainsFunc(keys, SameVariable(k)) || setting(k) && credentialName(k)) && len(v) >= shortestKey {
			values = append(values, v)
		}
	}
	return func(name, value string) bool {
		return slices.ContainsFunc(keys, SameVariable(name)) || !slices.ContainsFunc(indispensable, SameVariable(name)) &&
			slices.ContainsFunc(values, func(key string) bool { return strings.Contains(value, key) })
	}
}

// SameVariable returns whether a name is that of the variable k; case does not count on Windows.
func SameVariable(k string) func(string) bool {
	return func(name string) bool {
		return name == k || runtime.GOOS == "windows" && strings.EqualFold(name, k)
	}
}

// secretWords make a variable's name one of a credential.
var secretWords = []string{"TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE", "PASS", "PWD",
	"KEY", "KEYS", "APIKEY", "APIKEYS", "CREDENTIAL", "CREDENTIALS", "COOKIE", "PAT", "JWT", "BEARER",
	"DSN", "WEBHOOK", "WEBHOOKS", "CONNSTR", "CONNECTIONSTRING"}

// secretParts do the same wherever they are in it.
var secretParts = []string{"CONNECTION_STRING", "CONN_STR"}

// secretEndings do the same where no underscore parts the words: GITHUBTOKEN.
var secretEndings = []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY", "CREDENTIALS", "ACCESSKEY", "PRIVATEKEY", "_AUTH",
	"DATABASE_URL", "DATABASE_URI", "DB_URL", "DB_URI"}

// credentialName reports whether a variable looks like a credential by its name.
func credentialName(name string) bool {
	name = strings.ToUpper(name)
	if name == "PWD" || name == "OLDPWD" {
		return false
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(secretWords, w) }) ||
		slices.ContainsFunc(secretParts, func(p string) bool { return strings.Contains(name, p) }) ||
		slices.ContainsFunc(secretEndings, func(e string) bool { return strings.HasSuffix(name, e) })
}

// credentials are what credentials look like: by what services put in front of
// them, so that leaks can be found, and by where passwords stand.
//
// They are our own and few. Collections such as that of gitleaks have hundreds of
// rules, most of which look for a name and an equals sign in source code; of a
// variable the name is known, and [credentialName] judges it.
var credentials = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(strings.Join([]string{
		`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/@:]*:[^\s/@]+@`,    // a URL with a password
		`[a-zA-Z][a-zA-Z0-9+.-]*://[A-Za-z0-9_.~%-]{20,}@`, // or a token instead of a user
		`(?i:\b(?:password|passwd|pwd|(?:account|access|api|shared ?access)[_-]?key|client_?secret|sig|secret|(?:access_|auth)?token)\s*=\s*[^\s;&"',]{3})`, // connection strings
		`(?i:\b(?:hooks\.slack\.com/|discord(?:app)?\.com/api/webhooks/|webhook\.office\.com/|api\.telegram\.org/bot))`,
		`(?i:(?:^|[:=]\s*["']?)(?:bearer|basic)\s+[A-Za-z0-9+/._~-]{12,}=*)`, // an Authorization header
		`-----BEGIN [A-Z0-9 ]*PRIVATE KEY`, `AGE-SECRET-KEY-1`, `PuTTY-User-Key-File`,
		`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.`, // JSON Web Token
		`\b(?:gh[pousr]_|github_pat_|glpat-|gl[a-z]{2,5}t-|xox[a-z]-|xapp-|npm_|pypi-|hf_|dop_v1_|shpat_|dckr_pat_|whsec_|hvs\.|lin_api_|ntn_|figd_)[A-Za-z0-9_-]{10,}`,
		`\b(?:sk|pk|rk)[-_](?:[a-z0-9]+[-_])*[A-Za-z0-9]{16,}`, // OpenAI, Anthropic, Stripe and others
		`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`, `\bAIza[A-Za-z0-9_-]{35}`, `\bya29\.[A-Za-z0-9_-]{10,}`, `\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`,
	}, "|"))
})

// indispensable are the variables without which hardly a program runs. What is in
// them looks like a credential by chance only.
var indispensable = []string{"PATH", "HOME", "SHELL", "USER", "LOGNAME", "LANG", "TERM", "TMPDIR",
	"SYSTEMROOT", "COMSPEC", "PATHEXT", "USERPROFILE", "USERNAME", "TEMP", "TMP"}

// credentialValue reports whether a variable's value holds what looks like a
// credential.
func credentialValue(name, value string) bool {
	return !slices.ContainsFunc(indispensable, SameVariable(name)) && credentials().MatchString(value)
}
