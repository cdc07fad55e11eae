package veil

import (
	"bytes"
	"path"
	"strings"
)

// Columns are those of a text of delimited values whose names are of credentials. The cells below
// them are covered. The zero value has none.
type Columns struct {
	comma  byte
	names  []string // of all columns in capital letters; empty: of no credential
	secret bool     // one is
}

// Row says where a line of such a text begins: the zero value, with a record.
type Row struct {
	column int  // in whose cell it begins
	quoted bool // it begins within quotation marks
}

// Delimited reports whether a file holds delimited values by its name.
func Delimited(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".csv", ".tsv", ".tab":
		return true
	}
	return false
}

// ColumnsOf reads the first line of a file that is [Delimited]; of others there are none.
func ColumnsOf(name string, text []byte) (c Columns) {
	if !Delimited(name) {
		return c
	}
	head, _, _ := bytes.Cut(bytes.TrimLeft(text, "\r\n"), []byte{'\n'})
	most := 0
	for _, comma := range []byte(",\t;|") {
		if n := bytes.Count(head, []byte{comma}); n > most || c.comma == 0 {
			c.comma, most = comma, n
		}
	}
	var at Row
	c.cells(head, &at, func(_, from, to int) {
		name := columnName(string(head[from:to]))
		if !secretColumn(name) {
			name = ""
		}
		c.names, c.secret = append(c.names, name), c.secret || name != ""
	})
	return c
}

// Secret reports whether a column is named like a credential.
func (c *Columns) Secret() bool { return c.secret }

// Spans are the cells of one line to be covered. It moves at to the next line.
func (c *Columns) Spans(line []byte, at *Row) (spans []Span) {
	add := func(column, from, to int) {
		if column < len(c.names) && c.names[column] != "" && secretCell(c.names[column], line[from:to]) {
			spans = append(spans, Span{from, to})
		}
	}
	inside := at.quoted
	c.cells(line, at, add)
	// a mark may stand there by mistake
	if inside && bytes.Count(line, []byte{c.comma}) == len(c.names)-1 {
		c.cells(line, &Row{}, add)
	}
	return spans
}

// Next moves at to the next line.
func (c *Columns) Next(line []byte, at *Row) { c.cells(line, at, func(int, int, int) {}) }

// mark may stand before a text.
var mark = []byte("\ufeff")

// cells reads the cells of one line, without their quotation marks.
func (c *Columns) cells(line []byte, at *Row, each func(column, from, to int)) {
	line = bytes.TrimRight(line, "\r\n")
	i := 0
	if !at.quoted && bytes.HasPrefix(line, mark) {
		i = len(mark)
	}
	for ; ; i++ { // at the beginning of the line, then behind a comma
		from := i
		if !at.quoted && i < len(line) && line[i] == '"' {
			at.quoted = true
			from, i = i+1, i+1
		}
		to := -1
		for at.quoted && i < len(line) {
			switch {
			case line[i] != '"':
				i++
			case i+1 < len(line) && line[i+1] == '"':
				i += 2
			default:
				to, at.quoted = i, false
				i++
			}
		}
		if at.quoted { // it goes on in the next line
			each(at.column, from, len(line))
			return
		}
		n := bytes.IndexByte(line[i:], c.comma)
		if n < 0 {
			n = len(line) - i
		}
		if n > 0 || to < 0 { // without marks, or with something behind them
			to = i + n
		}
		each(at.column, from, to)
		if i += n; i == len(line) {
			*at = Row{}
			return
		}
		at.column++
	}
}

// secretColumn judges the name of a column, in capital letters.
func secretColumn(name string) bool { return secretName([]byte(name)) || name == "PWD" }

// Column reports whether a column of a table is named like a credential.
func Column(name string) bool { return secretColumn(columnName(name)) }

// columnName is a name as settings have it, in capital letters.
func columnName(name string) string {
	return strings.ReplaceAll(strings.ToUpper(strings.TrimSpace(name)), " ", "_")
}

// Cell reports whether a value looks like a secret in a column for which [Column] holds.
func Cell(column, value string) bool {
	return secretCell(columnName(column), []byte(value))
}

// secretCell judges a value by the name of its column, in capital letters. Unlike settings, tables
// hold no names of what is elsewhere; some say yes or no, or count tokens.
func secretCell(name string, value []byte) bool {
	value = bytes.TrimSpace(value)
	if len(value) == 0 || columnName(string(value)) == name ||
		words[string(bytes.ToLower(value[:min(len(value), 16)]))] {
		return false
	}
	digits, letters := count(value)
	if digits == len(value) && strings.Contains(name, "TOKEN") &&
		(digits < 6 || strings.Contains(name, "TOKENS")) {
		return false
	}
	if name == "PWD" || name == "PASS" || containsAny([]byte(name), plainParts) {
		return true
	}
	return random(value, digits, letters)
}

// FileSpans are those of [Spans] in the text of a file, and of its cells below [Columns].
func FileSpans(name string, text []byte) []Span {
	spans := Spans(text)
	c := ColumnsOf(name, text)
	if !c.secret {
		return spans
	}
	var at Row
	for from := 0; from < len(text); {
		line := lineFrom(text, from)
		for _, s := range c.Spans(line, &at) {
			spans = append(spans, Span{from + s.From, from + s.To})
		}
		from += len(line) + 1
	}
	return Joined(spans)
}
