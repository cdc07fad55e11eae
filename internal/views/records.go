package views

import (
	"bytes"
	"context"
	"io"
	"sort"

	"webchat/internal/outputs"
)

// reader reads what follows an offset.
type reader struct {
	o    *outputs.Output
	buf  []byte
	base int64
	size int64
}

func newReader(o *outputs.Output) *reader { return &reader{o: o, size: o.Size()} }

// from returns bytes from off on, at least so many of them if there are, valid until
// the next call, and whether they are all there are.
func (r *reader) from(off int64, need int) (b []byte, whole bool, err error) {
	if end := r.base + int64(len(r.buf)); off < r.base || off > end || end-off < int64(need) && end < r.size {
		if cap(r.buf) < 4*need {
			r.buf = make([]byte, min(int64(4*need), r.size))
		}
		r.buf = r.buf[:min(int64(cap(r.buf)), r.size-off)]
		n, err := r.o.ReadAt(r.buf, off)
		if r.buf, r.base = r.buf[:n], off; err != nil && err != io.EOF {
			return nil, false, err
		}
	}
	return r.buf[off-r.base:], r.base+int64(len(r.buf)) >= r.size, nil
}

// usualRecord is how many bytes most records do not exceed.
const usualRecord = 16 << 10

// parser reads one record of a table. skip is how many bytes stand before it; without
// cells there is no record any more.
type parser interface {
	next(b []byte, whole bool) (cells [][]byte, skip, n int, ok bool)
}

// place is where a record begins.
type place struct {
	off   int64
	line  int // as shown
	index int // of the record, from 0
}

// placeEvery is how many records are between two places that are remembered.
const placeEvery = 64

// records is a table whose records are found as they are asked for.
type records struct {
	o        *outputs.Output
	parse    func() parser
	columns  []string
	numeric  []bool
	places   []place // of every placeEvery-th record
	next     place   // the first record that is not known
	complete bool
	scan     parser // goes on at next
	orders   []*order
}

// row is a record. Its cells are valid until the next one is read.
type row struct {
	place
	begins int // the line its text begins at: the place may be before that
	cells  [][]byte
}

// known is how many records are known.
func (t *records) known() int { return t.next.index }

// index goes on to find where records are, until stop.
func (t *records) index(ctx context.Context, stop func() bool) error {
	if t.complete {
		return nil
	}
	at := t.next
	err := t.read(ctx, newReader(t.o), t.scan, &at, func(r row) bool {
		if r.index%placeEvery == 0 {
			t.places = append(t.places, r.place)
		}
		return r.index%256 != 255 || !stop()
	})
	t.next = at
	t.complete = err == nil && !stopped(err) && at.off >= t.o.Size()
	if stopped(err) {
		err = nil
	}
	return err
}

// errStopped ends a reading that is to end.
type errStopped struct{}

func (errStopped) Error() string { return "stopped" }

func stopped(err error) bool { return err == errStopped{} }

// read reads records from at on and moves it behind each that f took. f returns false
// to end.
func (t *records) read(ctx context.Context, src *reader, p parser, at *place, f func(row) bool) error {
	for at.off < src.size {
		if at.index%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		b, whole, err := src.from(at.off, usualRecord)
		if err != nil {
			return err
		}
		cells, skip, n, ok := p.next(b, whole)
		if !ok && !whole {
			if b, whole, err = src.from(at.off, maxRecord); err != nil {
				return err
			}
			cells, skip, n, ok = p.next(b, whole)
		}
		if !ok || cells == nil {
			at.off = src.size // nothing more that can be read
			return nil
		}
		r := row{*at, at.line + bytes.Count(b[:skip], []byte{'\n'}), cells}
		at.off += int64(n)
		at.line += bytes.Count(b[:n], []byte{'\n'})
		at.index++
		if !f(r) {
			return errStopped{}
		}
	}
	return nil
}

// rows reads the records with these indexes, which ascend, each on its way from the
// nearest place.
func (t *records) rows(ctx context.Context, indexes []int, f func(row) bool) error {
	src := newReader(t.o)
	for i := 0; i < len(indexes); {
		k := sort.Search(len(t.places), func(k int) bool { return t.places[k].index > indexes[i] }) - 1
		if k < 0 {
			return nil
		}
		at, more := t.places[k], true
		err := t.read(ctx, src, t.parse(), &at, func(r row) bool {
			if r.index == indexes[i] {
				i++
				more = f(r)
			}
			return more && i < len(indexes) && indexes[i]-r.index <= placeEvery
		})
		if err != nil && !stopped(err) {
			return err
		}
		if err == nil || !more {
			return nil
		}
	}
	return nil
}

// csvRecords reads records of fields.
type csvRecords struct{ csvParser }

func (p *csvRecords) next(b []byte, whole bool) (cells [][]byte, skip, n int, ok bool) {
	cells, n, ok = p.record(b, whole)
	return cells, 0, n, ok
}

// jsonRecords reads objects, one behind the other or in an array.
type jsonRecords struct {
	columns map[string]int
	width   int
}

func (p *jsonRecords) next(b []byte, whole bool) (cells [][]byte, skip, n int, ok bool) {
	skip, end := recordBounds(b)
	if end <= skip {
		return nil, skip, len(b), end == 0
	}
	cells = make([][]byte, p.width)
	if b[skip] != '{' {
		cells[0] = jsonText(b[skip:end])
		return cells, skip, end, true
	}
	eachMember(b[:end], skip, func(key, value []byte) bool {
		if i, ok := p.columns[string(jsonText(key))]; ok {
			cells[i] = jsonText(value)
		}
		return true
	})
	return cells, skip, end, true
}

// recordBounds returns where the next value of a list begins and ends; an end of 0: the
// list has ended, of -1: the value has no end.
func recordBounds(b []byte) (skip, end int) {
	for skip < len(b) && bytes.IndexByte([]byte(" \t\r\n,["), b[skip]) >= 0 {
		skip++
	}
	if skip == len(b) || b[skip] == ']' {
		return skip, 0
	}
	return skip, skipValue(b, skip)
}
