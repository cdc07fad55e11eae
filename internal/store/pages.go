package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"os"
)

// pages reads the rows of tables from a file that SQLite calls malformed, page by page, with what
// its journal has committed. It asks nothing of what may be damaged but that a row reads like one:
// not the schema, not the tree, not how many rows a page says that it has. Offsets are those of
// SQLite's file format and of its WAL-mode file format.
type pages struct {
	file, journal *os.File
	size, count   int64
	newer         map[int64]int64 // pages the journal has, by number: where in it
}

// ordinarySize is of the pages of each file of ours, where its header does not say.
const ordinarySize = 4096

// openPages opens a file and, unless it is of another one, its journal.
func openPages(path string, alone bool) (*pages, error) {
	p := &pages{size: ordinarySize, newer: map[int64]int64{}}
	err := p.open(path, alone)
	if err != nil {
		p.close()
	}
	return p, fileError(err)
}

func (p *pages) open(path string, alone bool) (err error) {
	if p.file, err = os.Open(path); err != nil {
		return err
	}
	fi, err := p.file.Stat()
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() {
		return fmt.Errorf("%w: it is not a file", ErrCorrupt)
	}
	var head [headSize]byte
	if _, err := p.file.ReadAt(head[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if n := sizeOf(uint32(binary.BigEndian.Uint16(head[16:]))); n > 0 {
		p.size = n
	}
	p.count = fi.Size() / p.size
	if alone {
		return nil
	}
	if p.journal, err = os.Open(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = p.readJournal()
	}
	return err
}

// sizeOf is the size that a header names; 0 if it names none.
func sizeOf(n uint32) int64 {
	if n == 1 {
		n = 1 << 16
	}
	if n < 512 || n > 1<<16 || bits.OnesCount32(n) != 1 {
		return 0
	}
	return int64(n)
}

func (p *pages) close() {
	for _, f := range []*os.File{p.file, p.journal} {
		if f != nil {
			_ = f.Close() // it was only read
		}
	}
}

// readJournal notes which pages were committed, up to the first frame that is not sound.
func (p *pages) readJournal() error {
	const headLen, frameLen = 32, 24
	var head [headLen]byte
	if n, err := p.journal.ReadAt(head[:], 0); n < headLen {
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
	order := binary.ByteOrder(binary.LittleEndian)
	switch binary.BigEndian.Uint32(head[:]) {
	case 0x377f0682:
	case 0x377f0683:
		order = binary.BigEndian
	default:
		return nil
	}
	var a, b uint32
	sum := func(text []byte) {
		for ; len(text) >= 8; text = text[8:] {
			a += order.Uint32(text) + b
			b += order.Uint32(text[4:]) + a
		}
	}
	is := func(stored []byte) bool {
		return a == binary.BigEndian.Uint32(stored) && b == binary.BigEndian.Uint32(stored[4:])
	}
	size := sizeOf(binary.BigEndian.Uint32(head[8:]))
	if sum(head[:24]); size == 0 || !is(head[24:]) {
		return nil
	}
	p.size = size
	since := map[int64]int64{} // not committed yet
	frame := make([]byte, frameLen+size)
	for at := int64(headLen); ; at += frameLen + size {
		if n, err := p.journal.ReadAt(frame, at); n < len(frame) {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		sum(frame[:8])
		if sum(frame[frameLen:]); [8]byte(frame[8:]) != [8]byte(head[16:]) || !is(frame[16:]) {
			return nil
		}
		since[int64(binary.BigEndian.Uint32(frame))] = at + frameLen
		if n := binary.BigEndian.Uint32(frame[4:]); n > 0 {
			p.count = int64(n)
			for page, at := range since {
				p.newer[page] = at
			}
			clear(since)
		}
	}
}

// page reads a page, from 1 on.
func (p *pages) page(n int64) ([]byte, error) {
	b := make([]byte, p.size)
	from, at := p.file, (n-1)*p.size
	if newer, ok := p.newer[n]; ok {
		from, at = p.journal, newer
	}
	if got, err := from.ReadAt(b, at); got < len(b) {
		return nil, fmt.Errorf("%w: page %d cannot be read: %w", ErrCorrupt, n, err)
	}
	return b, nil
}

// cell is a row of a table as a page has it.
type cell struct {
	id      int64   // its rowid
	length  int64   // of its record
	local   []byte  // the part that is on this page
	next    int64   // the page with the next part; 0: there is none
	types   []int64 // of its columns
	columns int     // where in the record they begin
}

// leaf is the type of a page with rows of a table.
const leaf = 0x0d

// cells calls each for what reads like a row on a page, with its offset. A page whose type is wrong
// by one bit may be one with rows. Of the header nothing else is asked.
func (p *pages) cells(b []byte, each func(at int, c cell)) {
	const headLen = 8
	if bits.OnesCount8(b[0]^leaf) > 1 {
		return
	}
	first := len(b) // the pointers end before the first row
	for i := headLen; i+2 <= first; i += 2 {
		at := int(binary.BigEndian.Uint16(b[i:]))
		if at < i+2 {
			continue
		}
		if c, ok := p.cell(b, at); ok {
			first = min(first, at)
			each(at, c)
		}
	}
}

// cell reads a row; false if it reads like none.
func (p *pages) cell(b []byte, at int) (c cell, ok bool) {
	if at >= len(b) {
		return c, false
	}
	length, n := varint(b[at:])
	id, m := varint(b[at+n:])
	if n == 0 || m == 0 || length < 2 || length > p.count*p.size {
		return c, false
	}
	c.id, c.length, c.local = id, length, b[at+n+m:]
	if kept := p.kept(length); kept < length {
		if int64(len(c.local)) < kept+4 {
			return c, false
		}
		c.local, c.next = c.local[:kept], int64(binary.BigEndian.Uint32(c.local[kept:]))
	} else if int64(len(c.local)) < length {
		return c, false
	} else {
		c.local = c.local[:length]
	}
	head, n := varint(c.local)
	if n == 0 || head < 2 || head > int64(len(c.local)) {
		return c, false
	}
	c.columns = int(head)
	sum := head
	for n < c.columns {
		kind, m := varint(c.local[n:c.columns])
		if m == 0 || kind < 0 || kind > 1<<32 {
			return c, false
		}
		c.types, n, sum = append(c.types, kind), n+m, sum+width(kind)
	}
	return c, sum == length && len(c.types) > 0
}

// kept is how many bytes of a record are on the page of its row.
func (p *pages) kept(length int64) int64 {
	most := p.size - 35
	if length <= most {
		return length
	}
	least := (p.size-12)*32/255 - 23
	if n := least + (length-least)%(p.size-4); n <= most {
		return n
	}
	return least
}

// record reads all of a row.
func (p *pages) record(c cell) ([]byte, error) {
	if c.next == 0 {
		return c.local, nil
	}
	all := append(make([]byte, 0, c.length), c.local...)
	for next := c.next; int64(len(all)) < c.length; {
		if next < 1 || next > p.count {
			return nil, fmt.Errorf("%w: a part of it is not there", ErrCorrupt)
		}
		b, err := p.page(next)
		if err != nil {
			return nil, err
		}
		next = int64(binary.BigEndian.Uint32(b))
		all = append(all, b[4:min(int64(len(b)), 4+c.length-int64(len(all)))]...)
	}
	return all, nil
}

// values reads the columns of a record: int64, []byte, or nil.
func (c cell) values(record []byte) (all []any) {
	at := int64(c.columns)
	for _, kind := range c.types {
		b := record[at : at+width(kind)]
		switch at += width(kind); {
		case kind >= 12:
			all = append(all, b)
		case kind == 8 || kind == 9:
			all = append(all, kind-8)
		case kind >= 1 && kind <= 6:
			n := int64(int8(b[0]))
			for _, b7 := range b[1:] {
				n = n<<8 | int64(b7)
			}
			all = append(all, n)
		default: // NULL; no table of ours has fractions
			all = append(all, nil)
		}
	}
	return all
}

// width is how many bytes a column of a type takes.
func width(kind int64) int64 {
	if kind >= 12 {
		return (kind - 12) / 2
	}
	return [12]int64{0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 1 << 40, 1 << 40}[kind]
}

// varint reads a number of SQLite's; n is how many bytes it takes, and 0 if it does not end.
func varint(b []byte) (v int64, n int) {
	for n < len(b) && n < 8 {
		v = v<<7 | int64(b[n]&0x7f)
		if n++; b[n-1] < 0x80 {
			return v, n
		}
	}
	if n == 8 && n < len(b) {
		return v<<8 | int64(b[n]), 9
	}
	return 0, 0
}
