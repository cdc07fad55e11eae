package veil

import (
	"bytes"
	"slices"
)

// longestName is how many bytes of a name are looked at, before what it is set to.
const longestName = 64

// mostBetween is how many bytes stand between a name and its operator, at most: see [nameBefore].
const mostBetween = 13

// assignments finds what names of credentials are set to: NAME=value in files of variables,
// "name": "value" in JSON and programs, name: value in YAML, name=value in addresses,
// <name>value</name> in XML, | name | value | in tables, --name value in commands, and the lists
// and blocks below a name.
type assignments struct {
	text   []byte
	spans  []Span
	passed int          // where the last name ended
	from   ['|' + 1]int // where a value ended that an operator had
	below  int          // where the lines end that were looked at below a name
}

// behind judges the operator behind the name that has a part of a credential's at i.
func (a *assignments) behind(i int) {
	end := i
	for end < len(a.text) && nameByte(a.text[end]) {
		if end++; end-i > longestName {
			return // it begins behind i
		}
	}
	a.passed = end
	for k := end; k < min(len(a.text), end+mostBetween+1); k++ {
		switch c := a.text[k]; c {
		case '=', ':', '>', '|':
			if k >= a.from[c] {
				a.assigned(k)
			}
			if c != ':' { // of :=
				return
			}
		case ' ', '\t', '`', '*', '"', '\'', '\\':
		case '\n', '\r', ',', 'v', 'V':
			a.pair(i, end)
			return
		default:
			if k > end && (a.text[end] == ' ' || a.text[end] == '\t') {
				a.flag(end)
			}
			return
		}
	}
}

// assigned judges the operator at i, and what stands below it.
func (a *assignments) assigned(i int) {
	n, ok := named(a.text, i)
	if !ok {
		return
	}
	if s, ok := n.value(a.text); ok {
		a.spans, a.from[a.text[i]] = append(a.spans, s), s.To
	} else {
		a.many(n)
	}
}

// name is the name of a credential before an operator.
type name struct {
	upper  [longestName]byte
	size   int
	begin  int
	op     byte
	at     int // the operator
	behind int // the first byte behind it
	arrow  bool
	likely bool
}

func (n *name) text(of []byte) []byte { return of[n.begin : n.begin+n.size] }

// named reads what stands before the operator at i.
func named(text []byte, i int) (n name, ok bool) {
	n.op, n.at = text[i], i
	n.arrow = n.op == '=' && next(text, i) == '>' // between a quoted name and its value
	if after := next(text, i); n.op == '=' && (after == '=' || after == '~') ||
		n.op == ':' && (after == ':' || after == '/' || after == '=') {
		return n, false
	}
	name, begin := nameBefore(text, i)
	if len(name) < 3 {
		return n, false
	}
	n.begin, n.size = begin, len(name)
	for k, c := range name {
		n.upper[k] = upperByte(c)
	}
	if !secretName(n.upper[:n.size]) {
		return n, false
	}
	if n.behind = i + 1; n.arrow {
		n.behind++
	}
	n.likely = likelyName(n.upper[:n.size])
	return n, true
}

func upperByte(c byte) byte {
	if 'a' <= c && c <= 'z' {
		c -= 'a' - 'A'
	}
	return c
}

func upperName(name []byte) []byte {
	upper := bytes.Clone(name)
	for i, c := range upper {
		upper[i] = upperByte(c)
	}
	return upper
}

// value judges the value behind the operator.
func (n *name) value(text []byte) (s Span, ok bool) {
	v := valueBehind(text, n.behind)
	tag := n.op == '>' && n.begin > 0 && text[n.begin-1] == '<' &&
		bytes.HasPrefix(text[v.to:], []byte("</"))
	if v.from >= v.to || n.arrow && v.quote == 0 || n.op == '>' && !tag {
		return s, false
	}
	if n.op == '|' {
		return n.cell(text)
	}
	word := n.text(text)
	variable := n.op == '=' && n.begin+n.size == n.at && n.at+1 == v.at && !lower(word) &&
		startsLine(text, n.begin)
	if !isSecret(text[v.from:v.to], word, n.likely, variable, v.quote != 0) {
		return s, false
	}
	return Span{v.from, v.end(text, len(text))}, true
}

func next(text []byte, i int) byte {
	if i+1 < len(text) {
		return text[i+1]
	}
	return 0
}

// nameBefore is the name that ends before an operator, and where it begins: quoted, or with blanks
// behind it.
func nameBefore(text []byte, i int) (name []byte, begin int) {
	end := i
	if end > 0 && text[end-1] == ':' { // :=
		end--
	}
	for stop := end - 8; end > max(0, stop) && (text[end-1] == ' ' || text[end-1] == '\t'); {
		end--
	}
	// of Markdown
	for stop := end - 2; end > max(0, stop) && (text[end-1] == '`' || text[end-1] == '*'); {
		end--
	}
	if end > 0 && (text[end-1] == '"' || text[end-1] == '\'') {
		end--
		if end > 0 && text[end-1] == '\\' { // in a text of JSON
			end--
		}
	}
	begin = end
	for begin > 0 && end-begin < longestName && nameByte(text[begin-1]) {
		begin--
	}
	return text[begin:end], begin
}

func nameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' ||
		c == '-' || c == '.'
}

// lower reports whether a name has a small letter: variables of an environment have none.
func lower(name []byte) bool {
	return slices.ContainsFunc(name, func(c byte) bool { return 'a' <= c && c <= 'z' })
}

// lineHead is what stands before i in its line, if that is not long. In what /proc has of an
// environment a NUL ends a line.
func lineHead(text []byte, i int) (head []byte, ok bool) {
	head = text[max(0, i-longestName):i]
	if line := bytes.LastIndexAny(head, "\n\x00"); line >= 0 {
		return head[line+1:], true
	}
	return head, i <= longestName
}

// startsLine reports whether nothing but an export stands before i in its line, or the sign of a
// difference.
func startsLine(text []byte, i int) bool {
	head, ok := lineHead(text, i)
	if !ok {
		return false
	}
	head = bytes.TrimLeft(head, "+-> \t")
	return len(head) == 0 || string(bytes.TrimRight(head, " ")) == "export" ||
		string(bytes.TrimRight(head, " ")) == "ENV"
}

// found is a value: from at on there may be a quotation mark, which is escaped in a text of JSON.
// Of a long one, to is where it was no longer looked at.
type found struct {
	at, from, to int
	quote        byte
	escaped      bool
}

// mostJudged is how many bytes of a value are judged.
const mostJudged = 256

// valueBehind is what stands behind an operator.
func valueBehind(text []byte, i int) found {
	if i < len(text) && text[i] == '*' && bytes.HasPrefix(text[i:], []byte("** ")) { // **name:** value
		i += 2
	}
	for stop := i + 16; i < min(len(text), stop) && (text[i] == ' ' || text[i] == '\t'); {
		i++
	}
	if i == len(text) {
		return found{}
	}
	v := found{at: i, from: i}
	if text[i] == '\\' && next(text, i) == '"' {
		v.escaped = true
		i++
	}
	if q := text[i]; q == '"' || q == '\'' || q == '`' {
		v.from, v.quote = i+1, q
	}
	v.to = v.end(text, min(len(text), i+mostJudged))
	return v
}

// end is where the value ends, at most.
func (v found) end(text []byte, most int) int {
	for k := v.from; k < most; k++ {
		switch c := text[k]; {
		case c == '\n', c == 0, v.quote == 0 && c == '<' && next(text, k) == '/':
			return k
		case v.escaped && c == '\\' && next(text, k) == v.quote:
			return k
		case v.quote != 0 && c == '\\':
			k++
		case v.quote != 0 && c == v.quote,
			v.quote == 0 && (c == ' ' || c == '\t' || c == '\r' || c == ';' || c == '&' || c == ',' ||
				c == '"' || c == '\'' || c == '`'):
			return k
		}
	}
	return most
}

// words are values of no secret; none has a digit.
var words = set("string", "number", "boolean", "bool", "true", "false", "null", "none", "nil",
	"undefined", "bytes", "required", "optional",
	"password", "token", "secret", "changeme", "example", "object", "integer", "text", "hidden",
	"redacted")

// isSecret judges a value by the name it is set to.
func isSecret(value, name []byte, likely, variable, quoted bool) bool {
	switch value[0] {
	case '$', '<', '{', '%', '(', '[', '*':
		return false // a name of what is elsewhere, or a placeholder
	}
	digits, letters := count(value)
	if isVersion(value) || placeholder(value, digits) || !variable && namesOne(value, digits) ||
		bytes.EqualFold(value, name) || !printable(value) {
		return false
	}
	if digits == len(value) && (digits < 6 || bytes.Contains(bytes.ToUpper(name), []byte("TOKENS"))) {
		return false // a number, for example of them
	}
	switch {
	case variable && likely:
		return true
	case variable:
		return len(value) >= 4 && digits+letters > 0 && (len(value) >= 8 || digits > 0)
	case likely && quoted:
		return len(value) >= 4 && bytes.IndexByte(value, ' ') < 0
	case likely:
		return len(value) >= 6 && digits > 0 && letters > 0 && !bytes.ContainsAny(value, "()[]{}<>") &&
			(bytes.IndexByte(value, '.') < 0 || random(value, digits, letters))
	}
	return random(value, digits, letters)
}

// isVersion reports whether a value is a version or a range of them, as packages such as
// jsonwebtoken have.
func isVersion(value []byte) bool {
	numbers, _, _ := bytes.Cut(bytes.TrimLeft(value, "^~<>=v"), []byte("-"))
	return bytes.IndexByte(numbers, '.') > 0 && len(bytes.Trim(numbers, "0123456789.x*")) == 0
}

// random reports whether a value looks like no word and no path.
func random(value []byte, digits, letters int) bool {
	if len(value) < 16 || digits < 2 || letters < 2 {
		return false
	}
	slashes := 0
	for _, c := range value {
		if c == '/' {
			slashes++
		}
		if !nameByte(c) && c != '+' && c != '/' && c != '=' && c != '~' {
			return false
		}
	}
	return slashes <= len(value)/16
}

func count(value []byte) (digits, letters int) {
	for _, c := range value {
		switch {
		case '0' <= c && c <= '9':
			digits++
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			letters++
		}
	}
	return digits, letters
}

// printable reports whether a value is text: bytes of a program are not.
func printable(value []byte) bool {
	return !slices.ContainsFunc(value, func(c byte) bool { return c < ' ' || c == 0x7f })
}
