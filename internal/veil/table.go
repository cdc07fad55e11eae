package veil

import "bytes"

// cell judges the cell behind a name that is the first of its row.
func (n *name) cell(text []byte) (s Span, ok bool) {
	head, ok := lineHead(text, n.begin)
	head = bytes.TrimLeft(head, " \t|`*\"'")
	if !ok || bytes.IndexByte(head, '|') >= 0 || bytes.Count(head, []byte(" ")) > 2 {
		return s, false
	}
	whole := string(head) + string(n.text(text)) // "API key"
	n.likely = likelyName([]byte(columnName(whole)))
	to := n.behind
	for to < min(len(text), n.behind+mostJudged) && text[to] != '|' && text[to] != '\n' {
		to++
	}
	return plainCell(text, n.behind, to, n)
}

// plainCell judges a cell of a table in a text that may be about credentials: most such cells say
// what a name means.
func plainCell(text []byte, from, to int, n *name) (s Span, ok bool) {
	body := bytes.Trim(text[from:to], " \t\r`*\"'")
	if bytes.IndexByte(body, ' ') >= 0 || !n.item(text, body) {
		return s, false
	}
	from += bytes.Index(text[from:to], body)
	return Span{from, from + len(body)}, true
}

// isAlgorithm reports whether a value is a word with digits.
func isAlgorithm(value []byte) bool {
	return len(value) <= 16 && algorithms[string(bytes.ToLower(value))]
}

var algorithms = set("base64", "base32", "sha256", "sha512", "oauth2", "oauth2.0", "argon2",
	"argon2id", "pbkdf2", "ed25519", "aes128", "aes256", "uint32", "uint64", "x25519")

// tables adds the cells below columns that are named like credentials, of tables whose names
// stand above a rule: | --- | of Markdown, ---+--- of programs.
func tables(spans []Span, text []byte) []Span {
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte("---"))
		if i < 0 {
			return spans
		}
		from, to := lineAround(text, at+i)
		at = to
		rule := text[from:to]
		if from == 0 || to-from > mostLine || !isRule(rule) {
			continue
		}
		above, end := lineAround(text, from-1)
		if above < from-1 && end-above <= mostLine {
			spans, at = rows(spans, text, text[above:end], to, bytes.IndexByte(rule, '+') >= 0)
		}
	}
}

// isRule reports whether a line is the one below the names of a table's columns.
func isRule(line []byte) bool {
	parts := 0
	for _, c := range line {
		switch c {
		case '|', '+':
			parts++
		case '-', ':', ' ', '\r':
		default:
			return false
		}
	}
	return parts > 0
}

// rows adds the cells of the rows behind the rule that ends at, and returns where they end. data
// says that the table is of a program: all below a column is of its kind.
func rows(spans []Span, text, head []byte, at int, data bool) ([]Span, int) {
	var names []string
	secret := false
	bars(head, func(from, to int) {
		name := columnName(string(bytes.Trim(head[from:to], " \t\r`*\"'")))
		if !secretColumn(name) {
			name = ""
		}
		names, secret = append(names, name), secret || name != ""
	})
	for secret && at < len(text) {
		from := at + 1
		line := lineFrom(text[:min(len(text), from+mostLine)], from)
		if bytes.IndexByte(line, '|') < 0 {
			break
		}
		at = from + len(line)
		column := 0
		bars(line, func(a, b int) {
			if column < len(names) && names[column] != "" {
				if s, ok := below(text, from+a, from+b, names[column], data); ok {
					spans = append(spans, s)
				}
			}
			column++
		})
	}
	return spans, at
}

func below(text []byte, from, to int, column string, data bool) (s Span, ok bool) {
	if !data {
		return plainCell(text, from, to, &name{likely: likelyName([]byte(column))})
	}
	body := bytes.Trim(text[from:to], " \t\r")
	if !secretCell(column, body) {
		return s, false
	}
	from += bytes.Index(text[from:to], body)
	return Span{from, from + len(body)}, true
}

// bars calls each for what stands between the bars of a line.
func bars(line []byte, each func(from, to int)) {
	line = bytes.TrimRight(line, " \t\r")
	from := 0
	for i := 0; i <= len(line); i++ {
		if i == len(line) || line[i] == '|' {
			each(from, i)
			from = i + 1
		}
	}
}
