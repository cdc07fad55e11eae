package veil

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
)

// secretWords make a variable's name one of a credential.
var secretWords = set("TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWORDS", "PASSWD",
	"PASSPHRASE", "PASS", "PWD",
	"KEY", "KEYS", "APIKEY", "APIKEYS", "CREDENTIAL", "CREDENTIALS", "COOKIE", "PAT", "JWT", "BEARER",
	"DSN", "WEBHOOK", "WEBHOOKS", "CONNSTR", "CONNECTIONSTRING")

// secretParts do the same wherever they are in it.
var secretParts = all("CONNECTION_STRING", "CONN_STR")

// secretEndings do the same where no underscore parts the words: GITHUBTOKEN.
var secretEndings = all("TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY", "CREDENTIALS",
	"ACCESSKEY", "ACCOUNTKEY", "PRIVATEKEY", "_AUTH",
	"DATABASE_URL", "DATABASE_URI", "DB_URL", "DB_URI")

// plainParts are in names whose values are secrets also where they look like any word. KEY, PASS
// and the like have other uses in programs and their data.
var plainParts = all("PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "TOKEN", "API_KEY", "APIKEY",
	"API-KEY", "ACCESS_KEY", "ACCESSKEY", "ACCOUNTKEY",
	"PRIVATE_KEY", "PRIVATEKEY", "CREDENTIAL", "_AUTH")

// plainEndings do the same at the end of a name.
var plainEndings = all("_PASS", "-PASS", ".PASS")

// likelyName reports whether a value of this name, in capital letters, is a secret also where it
// looks like any word.
func likelyName(upper []byte) bool {
	return containsAny(upper, plainParts) ||
		slices.ContainsFunc(plainEndings, func(e []byte) bool { return bytes.HasSuffix(upper, e) })
}

func set(words ...string) map[string]bool {
	m := map[string]bool{}
	for _, w := range words {
		m[w] = true
	}
	return m
}

func all(words ...string) (b [][]byte) {
	for _, w := range words {
		b = append(b, []byte(w))
	}
	return b
}

// Name reports whether a variable or a setting looks like a credential by its name.
func Name(name string) bool {
	return secretName([]byte(strings.ToUpper(name)))
}

// secretName is [Name] for a name in upper case; it allocates nothing.
func secretName(name []byte) bool {
	if string(name) == "PWD" || string(name) == "OLDPWD" {
		return false
	}
	begin := 0
	for i := 0; i <= len(name); i++ {
		if i == len(name) || name[i] == '_' || name[i] == '-' || name[i] == '.' {
			if begin < i && wordBegins[name[begin]] && secretWords[string(name[begin:i])] {
				return true
			}
			begin = i + 1
		}
	}
	return bytes.IndexByte(name, '_') > 0 && containsAny(name, secretParts) ||
		len(name) > 0 && nameEnds[name[len(name)-1]] &&
			slices.ContainsFunc(secretEndings, func(e []byte) bool { return bytes.HasSuffix(name, e) })
}

// wordBegins are the bytes that secretWords begin with, and nameEnds those that secretEndings end
// with: most names need no other look.
var wordBegins, nameEnds = func() (begins, ends [256]bool) {
	for w := range secretWords {
		begins[w[0]] = true
	}
	for _, e := range secretEndings {
		ends[e[len(e)-1]] = true
	}
	return begins, ends
}()

// nameParts are the shortest parts of names of credentials: each such name has one.
var nameParts = func() (least []string) {
	words := slices.Collect(maps.Keys(secretWords))
	for _, w := range slices.Concat(secretParts, secretEndings) {
		words = append(words, string(w))
	}
	slices.SortFunc(words, func(a, b string) int {
		return cmp.Or(len(a)-len(b), strings.Compare(a, b))
	})
	for _, w := range words {
		if !slices.ContainsFunc(least, func(part string) bool { return strings.Contains(w, part) }) {
			least = append(least, w)
		}
	}
	return least
}()

func containsAny(b []byte, parts [][]byte) bool {
	return slices.ContainsFunc(parts, func(p []byte) bool { return bytes.Contains(b, p) })
}
