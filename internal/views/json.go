package views

import (
	"bytes"
	"errors"
	"io"
	"iter"

	"github.com/go-json-experiment/json/jsontext"

	"webchat/internal/wording"
)

// jsonDecoder reads what stands in files: names may occur twice, and letters may be broken.
func jsonDecoder(b []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
}

// sniffJSON reads the beginning of a text and returns how many values stand one behind the other,
// and whether the only one is a list of objects. ok is false for text that is not JSON; whole says
// that there is no more of it.
func sniffJSON(head []byte, whole bool) (values int, lists, ok bool) {
	dec := jsonDecoder(head)
	objects := 0
	for {
		depth := dec.StackDepth()
		t, err := dec.ReadToken()
		if err != nil {
			cut := err == io.EOF || !whole && errors.Is(err, io.ErrUnexpectedEOF)
			return values, lists, values > 0 && cut && (values == 1 || objects == values)
		}
		opens := t.Kind() == jsontext.KindBeginObject
		if depth == 0 {
			values++
			if opens {
				objects++
			}
		}
		lists = lists || depth == 1 && values == 1 && objects == 0 && opens
	}
}

// skip returns the index of the first byte from i on that does not stand between values.
func skip(b []byte, i int) int {
	for ; i < len(b); i++ {
		switch b[i] {
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			return i
		}
	}
	return i
}

// brokenAt returns where JSON is broken, of an error of a decoder that began at the beginning of b.
func brokenAt(b []byte, err error) int {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return min(int(e.ByteOffset), len(b))
	}
	return len(b)
}

// jsonList is where the values in a value stand.
type jsonList struct {
	begins []int32 // of items, or of the names of members
	end    int     // behind it all, or where the JSON is broken
	name   string  // of an object: the first text in it
	broken bool
}

// listJSON scans the array or object that b begins with, or values that follow one another. A value
// in it that is cut off counts if it holds others.
func listJSON(b []byte, values bool) (l jsonList) {
	dec := jsonDecoder(b)
	object := !values && b[0] == '{'
	if !values {
		_, _ = dec.ReadToken() // it is one that holds others
	}
	for {
		at := skip(b, int(dec.InputOffset()))
		switch dec.PeekKind() {
		case jsontext.KindEndObject, jsontext.KindEndArray, jsontext.KindInvalid:
			_, err := dec.ReadToken()
			if l.end = int(dec.InputOffset()); err != nil && (!values || err != io.EOF) {
				l.end, l.broken = brokenAt(b, err), true
			}
			return l
		}
		value := at
		if object {
			if err := dec.SkipValue(); err != nil { // its name
				l.end, l.broken = brokenAt(b, err), true
				return l
			}
			value = skip(b, int(dec.InputOffset()))
		}
		v, err := dec.ReadValue()
		if err != nil {
			if l.end, l.broken = brokenAt(b, err), true; l.end > value && holds(b[value]) {
				l.begins = append(l.begins, int32(at))
			}
			return l
		}
		l.begins = append(l.begins, int32(at))
		if object && l.name == "" && v.Kind() == jsontext.KindString {
			l.name = wording.Cut(jsonText(v), nameLength)
		}
	}
}

// holds reports whether a value that begins with c holds others.
func holds(c byte) bool { return c == '{' || c == '[' }

// jsonText is a string without its quotes, nothing for null, and any other value as it is written.
func jsonText(v jsontext.Value) string {
	switch v.Kind() {
	case jsontext.KindNull:
		return ""
	case jsontext.KindString:
		if bytes.IndexByte(v, '\\') < 0 {
			return string(v[1 : len(v)-1])
		}
		if s, err := jsontext.AppendUnquote(nil, v); err == nil {
			return string(s)
		}
	}
	return string(v)
}

// jsonRecords are the values of a table that stand one behind the other, or are what remains of an
// array. column returns the cell for what a name stands for, from 0; below 0: none. What cannot be
// parsed is a record as well, up to the end of the line where that shows; in an array it is the
// last one.
func jsonRecords(text []byte, array bool, width int,
	column func(name jsontext.Value) int) iter.Seq[record] {
	return func(yield func(record) bool) {
		dec, cells := jsonDecoder(nil), make([]string, max(1, width))
		for at := skip(text, 0); at < len(text) && (!array || text[at] != ']'); at = skip(text, at) {
			b := text[at:]
			dec.Reset(bytes.NewBuffer(b), dec.Options())
			clear(cells)
			err := readCells(dec, cells, column)
			x := record{begins: at, next: at + int(dec.InputOffset()), cells: cells}
			if err != nil {
				end := brokenAt(b, err)
				x.next, x.broken = at+end+lineEnd(b[end:]), true
				x.cells = []string{string(bytes.TrimRight(text[at:x.next], "\r\n"))}
			}
			if !yield(x) || x.broken && array {
				return
			}
			at = x.next
		}
	}
}

// readCells reads a value. One that is not an object is its first cell.
func readCells(dec *jsontext.Decoder, cells []string, column func(name jsontext.Value) int) error {
	if dec.PeekKind() != jsontext.KindBeginObject {
		v, err := dec.ReadValue()
		cells[0] = jsonText(v)
		return err
	}
	_, err := dec.ReadToken()
	for err == nil && dec.PeekKind() != jsontext.KindEndObject {
		var v jsontext.Value
		if v, err = dec.ReadValue(); err != nil {
			return err
		}
		i := column(v)
		if i < 0 || i >= len(cells) {
			err = dec.SkipValue()
		} else if v, err = dec.ReadValue(); err == nil {
			cells[i] = jsonText(v)
		}
	}
	if err == nil {
		_, err = dec.ReadToken()
	}
	return err
}
