package policy

import (
	"runtime"
	"slices"
	"strings"
)

// Inherit is what the user's own commands get of an environment: all but what is a
// secret by its name or among deny. Names in allow are inherited all the same, but
// for the server's own.
func Inherit(env, allow, deny []string) []string {
	var kept []string
	for _, kv := range env {
		k, _, ok := strings.Cut(kv, "=")
		if !ok {
			continue
		}
		allowed := slices.ContainsFunc(allow, sameVariable(k))
		// The server's own settings, its token among them, are nobody's to allow.
		if strings.HasPrefix(strings.ToUpper(k), "WEBCHAT_") {
			continue
		}
		if !allowed && (secretVariable(k) || slices.ContainsFunc(deny, sameVariable(k))) {
			continue
		}
		kept = append(kept, kv)
	}
	return kept
}

func sameVariable(k string) func(string) bool {
	return func(name string) bool {
		return name == k || runtime.GOOS == "windows" && strings.EqualFold(name, k)
	}
}

// secretWords make a variable's name one of a secret.
var secretWords = []string{"TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE", "PASS", "PWD",
	"KEY", "KEYS", "APIKEY", "APIKEYS", "CREDENTIAL", "CREDENTIALS", "COOKIE", "PAT", "JWT", "BEARER"}

// secretEndings do the same where no underscore parts the words: GITHUBTOKEN.
var secretEndings = []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY", "CREDENTIALS", "ACCESSKEY", "PRIVATEKEY", "_AUTH"}

// secretVariable reports whether a variable is kept from commands by its name.
func secretVariable(name string) bool {
	name = strings.ToUpper(name)
	if name == "PWD" || name == "OLDPWD" {
		return false
	}
	if strings.HasPrefix(name, "WEBCHAT_") {
		return true
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(secretWords, w) }) {
		return true
	}
	return slices.ContainsFunc(secretEndings, func(e string) bool { return strings.HasSuffix(name, e) })
}
