package veil

import (
	"bytes"
	"math/bits"
	"slices"
	"strings"
)

// secretWords make a variable's name one of a credential.
var secretWords = set("TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE", "PASS", "PWD",
	"KEY", "KEYS", "APIKEY", "APIKEYS", "CREDENTIAL", "CREDENTIALS", "COOKIE", "PAT", "JWT", "BEARER",
	"DSN", "WEBHOOK", "WEBHOOKS", "CONNSTR", "CONNECTIONSTRING")

// secretParts do the same wherever they are in it.
var secretParts = all("CONNECTION_STRING", "CONN_STR")

// secretEndings do the same where no underscore parts the words: GITHUBTOKEN.
var secretEndings = all("TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY", "CREDENTIALS", "ACCESSKEY", "PRIVATEKEY", "_AUTH",
	"DATABASE_URL", "DATABASE_URI", "DB_URL", "DB_URI")

// plainParts are in names whose values are secrets also where they look like any word. KEY, PASS and
// the like have other uses in programs and their data.
var plainParts = all("PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "TOKEN", "API_KEY", "APIKEY", "API-KEY", "ACCESS_KEY", "ACCESSKEY",
	"PRIVATE_KEY", "PRIVATEKEY", "CREDENTIAL", "_AUTH")

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
		len(name) > 0 && nameEnds[name[len(name)-1]] && slices.ContainsFunc(secretEndings, func(e []byte) bool { return bytes.HasSuffix(name, e) })
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

// letter is the bit of a capital letter in a set of letters; none for other bytes.
func letter(c byte) uint32 {
	if c -= 'A'; c < 26 {
		return 1 << c
	}
	return 0
}

// needed are sets of letters: a name of a credential has all letters of one of them.
var needed = func() (sets []uint32) {
	words := slices.Concat(secretParts, secretEndings)
	for w := range secretWords {
		words = append(words, []byte(w))
	}
	for _, w := range words {
		set := uint32(0)
		for _, c := range w {
			set |= letter(c)
		}
		sets = append(sets, set)
	}
	slices.SortFunc(sets, func(a, b uint32) int { return bits.OnesCount32(a) - bits.OnesCount32(b) })
	least := sets[:0:0]
	for _, set := range sets {
		if !slices.ContainsFunc(least, func(has uint32) bool { return has&^set == 0 }) {
			least = append(least, set)
		}
	}
	return least
}()

// mayName reports whether a name with these letters can be one of a credential: that of most settings
// cannot.
func mayName(letters uint32) bool {
	for _, set := range needed {
		if set&^letters == 0 {
			return true
		}
	}
	return false
}

func containsAny(b []byte, parts [][]byte) bool {
	return slices.ContainsFunc(parts, func(p []byte) bool { return bytes.Contains(b, p) })
}
