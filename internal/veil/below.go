package veil

import "bytes"

// Bounds of what is looked at below a name.
const (
	mostBelow = 64      // lines
	mostLine  = 4 << 10 // bytes of one
)

// many judges the values of a name that has several, or has them below it: a list in brackets,
// items with a dash, the lines of a block of YAML.
func (a *assignments) many(n name) {
	if n.op != ':' && n.op != '=' || n.at < a.below {
		return
	}
	line := lineFrom(a.text[:min(len(a.text), n.behind+mostLine)], n.behind)
	rest := bytes.Trim(line, " \t\r")
	to := n.behind + len(line)
	switch {
	case len(rest) == 0 && n.op == ':':
		a.items(n, to, '-')
	case len(rest) == 0:
	case rest[0] == '[':
		if open := n.behind + bytes.IndexByte(line, '[') + 1; len(rest) == 1 {
			a.items(n, to, '"')
		} else if rest[1] != ']' { // the type of a list in Go
			a.list(n, open, to)
		}
	case rest[0] == '|' || rest[0] == '>':
		if n.op == ':' && len(bytes.Trim(rest[1:], "+-0123456789 ")) == 0 {
			a.block(n, to)
		}
	}
}

// list judges the items of a list in one line, as long as they are plain.
func (a *assignments) list(n name, from, to int) {
	a.below = to
	for from < to {
		v := valueBehind(a.text[:to], from)
		end := v.end(a.text[:to], to)
		if v.from >= end {
			return
		}
		value := a.text[v.from:end]
		if v.quote == 0 {
			value = bytes.TrimRight(value, "]")
		}
		from = skip(a.text[:to], end, "\"' \t\r", 4)
		last := from >= to || a.text[from] == ']'
		if !last && a.text[from] != ',' {
			return
		}
		if n.item(a.text, value) {
			a.spans = append(a.spans, Span{v.from, v.from + len(value)})
		}
		if last {
			return
		}
		from++
	}
}

// item judges one of several values: lists of names are more frequent than lists of secrets.
func (n *name) item(text, value []byte) bool {
	digits, letters := count(value)
	return n.likely && len(value) >= 6 && digits > 0 && letters > 0 && value[1] != 'x' &&
		!isAlgorithm(value) && isSecret(value, n.text(text), true, false, false)
}

// items judges the items of a list, a line each: behind a dash, or in quotation marks.
func (a *assignments) items(n name, at int, mark byte) {
	a.lines(at, func(from int, line []byte) (goes bool) {
		body := bytes.TrimLeft(line, " \t")
		switch {
		case len(body) == 0 || body[0] == '#':
			return true
		case mark == '-' && (len(body) < 3 || body[0] != '-' || body[1] != ' '),
			mark == '"' && body[0] != '"' && body[0] != '\'':
			return false
		}
		from += len(line) - len(body)
		if mark == '-' {
			from += 2
		}
		v := valueBehind(a.text, from)
		end := v.end(a.text, v.to)
		value, after := a.text[v.from:end], next(a.text, end-1)
		if len(value) > 0 && (after == 0 || bytes.IndexByte([]byte("\r\n\"',"), after) >= 0) &&
			n.item(a.text, value) {
			a.spans = append(a.spans, Span{v.from, end})
		}
		return true
	})
}

// block judges the lines of a block, which are further in than its name. A line of several words
// is prose.
func (a *assignments) block(n name, at int) {
	head, ok := lineHead(a.text, n.begin)
	if !ok {
		return
	}
	edge := indent(head)
	a.lines(at, func(from int, line []byte) (goes bool) {
		body := bytes.Trim(line, " \t\r")
		if len(body) == 0 {
			return true
		}
		if indent(line) <= edge {
			return false
		}
		if len(body) <= mostJudged && isSecret(body, n.text(a.text), n.likely, false, n.likely) {
			at := from + bytes.Index(line, body)
			a.spans = append(a.spans, Span{at, at + len(body)})
		}
		return true
	})
}

// lines calls each for the lines behind the one that ends at, until it returns false.
func (a *assignments) lines(at int, each func(from int, line []byte) (goes bool)) {
	for range mostBelow {
		from := at + 1
		if from >= len(a.text) {
			break
		}
		line := lineFrom(a.text[:min(len(a.text), from+mostLine)], from)
		if !each(from, line) {
			break
		}
		at = from + len(line)
	}
	a.below = max(a.below, at)
}

// indent is how many blanks and dashes a line begins with.
func indent(line []byte) (n int) {
	for n < len(line) && (line[n] == ' ' || line[n] == '\t' || line[n] == '-') {
		n++
	}
	return n
}

// pair judges the value that stands beside the name from i to end, which is a value itself: of
// "name": "X", "value": "Y" and of the two lines of YAML, key="X" value="Y" of XML.
func (a *assignments) pair(i, end int) {
	begin := i
	for begin > 0 && end-begin < longestName && nameByte(a.text[begin-1]) {
		begin--
	}
	word := a.text[begin:end]
	before := bytes.TrimRight(a.text[max(0, begin-16):begin], "\"' ")
	if len(before) == 0 || before[len(before)-1] != ':' && before[len(before)-1] != '=' {
		return
	}
	before = bytes.TrimRight(before[:len(before)-1], "\"' ")
	upper := upperName(word)
	if !endsLike(before, "name") && !endsLike(before, "key") || !secretName(upper) ||
		optionEnds[string(upper[bytes.LastIndexAny(upper, "-_.")+1:])] {
		return
	}
	at := skip(a.text, end, "\"', \t\r\n", mostBetween+64)
	if at+5 >= len(a.text) || !bytes.EqualFold(a.text[at:at+5], []byte("value")) {
		return
	}
	at = skip(a.text, at+5, "\"'", 1)
	at = skip(a.text, at, " ", 4)
	if at >= len(a.text) || a.text[at] != ':' && a.text[at] != '=' {
		return
	}
	v := valueBehind(a.text, at+1)
	likely, variable := likelyName(upper), !lower(word)
	if v.from < v.to && isSecret(a.text[v.from:v.to], word, likely, variable, v.quote != 0) {
		a.spans = append(a.spans, Span{v.from, v.end(a.text, len(a.text))})
	}
}

// endsLike reports whether a text ends with a word, in any case.
func endsLike(text []byte, word string) bool {
	return len(text) >= len(word) && bytes.EqualFold(text[len(text)-len(word):], []byte(word))
}

// skip returns where a text goes on behind bytes of a set, at most so many.
func skip(text []byte, at int, set string, most int) int {
	for ; most > 0 && at < len(text) && bytes.IndexByte([]byte(set), text[at]) >= 0; most-- {
		at++
	}
	return at
}
