package veil

import (
	"bytes"
	"encoding/base64"
	"slices"
)

// flag judges the name that ends at end as an option of a command, whose value is the next word:
// --password X, -token X.
func (a *assignments) flag(end int) {
	begin := end
	for begin > 0 && end-begin < longestName && nameByte(a.text[begin-1]) {
		begin--
	}
	name := a.text[begin:end]
	if string(name) == "password" {
		a.login(begin, end)
	}
	if len(name) < 4 || name[0] != '-' || begin > 0 && !between(a.text[begin-1]) {
		return
	}
	upper := upperName(bytes.TrimLeft(name, "-"))
	likely := likelyName(upper)
	last := upper[bytes.LastIndexAny(upper, "-_")+1:]
	if !secretName(upper) || !secretName(last) && !likely || optionEnds[string(last)] ||
		bytes.HasPrefix(upper, []byte("RECV")) {
		return
	}
	v := valueBehind(a.text, end)
	if v.from >= v.to || v.at == end {
		return
	}
	value := a.text[v.from:v.to]
	if isWordOf(value, a.text[v.to:], likely, v.quote != 0) && !bytes.EqualFold(value, last) {
		a.spans = append(a.spans, Span{v.from, v.end(a.text, len(a.text))})
	}
}

// optionEnds are last words of options that have no secret: a file, where it comes from, or keys
// that are public.
var optionEnds = set("STDIN", "FILE", "PATH", "DIR", "KEYS", "TOKENS", "ID", "TYPE", "NAME", "URL",
	"TTL", "LENGTH")

// login judges the value of a password in a .netrc that has a line for each word, below that of
// the user.
func (a *assignments) login(begin, end int) {
	head, ok := lineHead(a.text, begin)
	above := begin - len(head) - 1
	v := valueBehind(a.text, end)
	if !ok || above < 0 || len(bytes.TrimLeft(head, " \t")) > 0 || v.from >= v.to ||
		len(bytes.TrimSpace(lineFrom(a.text[:min(len(a.text), v.to+mostBetween)], v.to))) > 0 ||
		!isGiven(nil, a.text[v.from:v.to]) {
		return
	}
	line := a.text[max(0, above-longestName):above]
	line = bytes.TrimLeft(line[bytes.LastIndexByte(line, '\n')+1:], " \t")
	for _, word := range all("login ", "account ", "machine ", "default") {
		if bytes.HasPrefix(line, word) {
			a.spans = append(a.spans, Span{v.from, v.to})
			return
		}
	}
}

// between reports whether a byte may stand before an option.
func between(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '"' || c == '\'' || c == '`' || c == '[' ||
		c == '('
}

// isWordOf judges the value of an option. In prose an option is followed by words, so that one
// that looks like a word counts only before another option.
func isWordOf(value, rest []byte, likely, quoted bool) bool {
	switch value[0] {
	case '-', '/', '.', '~', '$', '<', '{', '%', '(', '[', '*', '|', '\\':
		return false // another option, a path, or a name of what is elsewhere
	}
	digits, letters := count(value)
	if placeholder(value, digits) || namesOne(value, digits) || !printable(value) ||
		bytes.IndexByte(value, '=') > 0 && value[len(value)-1] != '=' {
		return false
	}
	switch {
	case !likely:
		return random(value, digits, letters)
	case len(value) < 4 || digits == len(value) && digits < 6 || bytes.IndexByte(value, ' ') >= 0:
		return false
	case quoted, digits > 0 && letters > 0, bytes.ContainsAny(value, "!@#%^&+"):
		return true
	}
	return bytes.HasPrefix(bytes.TrimLeft(rest, " \t"), []byte("-"))
}

// placeholder reports whether a value is a word that is none, or what its reader is to replace.
func placeholder(value []byte, digits int) bool {
	var low [16]byte
	n := copy(low[:], value)
	for i, c := range low[:n] {
		if 'A' <= c && c <= 'Z' {
			low[i] = c + 'a' - 'A'
		}
	}
	return digits == 0 && words[string(low[:n])] || bytes.HasPrefix(low[:n], []byte("your")) ||
		bytes.HasPrefix(low[:n], []byte("xxx"))
}

// namesOne reports whether a value is the name of a variable that is a credential.
func namesOne(value []byte, digits int) bool {
	return digits == 0 && len(value) <= longestName && !lower(value) && secretName(value)
}

// isGiven reports whether a secret of a shape is not a placeholder for one.
func isGiven(_, secret []byte) bool {
	digits, _ := count(secret)
	return bytes.IndexByte([]byte("$<{%([*-"), secret[0]) < 0 &&
		!placeholder(secret, digits) && !namesOne(secret, digits)
}

// isJoined is isGiven for what stands right behind -p, which other options begin with.
func isJoined(match, secret []byte) bool {
	other := all("rint", "ort", "ath", "rotocol", "lugin", "ager", "assword")
	return isGiven(match, secret) &&
		!slices.ContainsFunc(other, func(o []byte) bool { return bytes.HasPrefix(secret, o) })
}

// isUsers reports whether what stands behind a user and a colon is a password: not the number or
// the name of a group, and no path.
func isUsers(match, secret []byte) bool {
	digits, _ := count(secret)
	same := append(append(bytes.Clone(secret), ':'), secret...)
	return isGiven(match, secret) && digits < len(secret) &&
		bytes.IndexByte([]byte("/.~"), secret[0]) < 0 && !bytes.HasSuffix(match, same)
}

// isBasic reports whether a secret is the encoding of a user and a password.
func isBasic(_, secret []byte) bool {
	plain, err := base64.StdEncoding.DecodeString(string(secret))
	return err == nil && bytes.IndexByte(plain, ':') > 0 && printable(plain)
}
