package kind

import (
	"encoding/binary"
	"errors"
)

// An AVIF file is boxes in boxes (ISO/IEC 14496-12, 23008-12): the size of the
// picture is in the ispe property that the item properties associate with the
// primary item.

// box is one box: its type and content.
type box struct {
	kind string
	body []byte
}

// boxes splits b. What is cut short ends the list.
func boxes(b []byte) (list []box) {
	for len(b) >= 8 {
		size, head := uint64(be32(b)), 8
		switch {
		case size == 1 && len(b) >= 16:
			size, head = uint64(be32(b[8:]))<<32|uint64(be32(b[12:])), 16
		case size == 0:
			size = uint64(len(b))
		}
		if size < uint64(head) || size > uint64(len(b)) {
			return list
		}
		list = append(list, box{string(b[4:8]), b[head:size]})
		b = b[size:]
	}
	return list
}

func find(list []box, kind string) []byte {
	for _, b := range list {
		if b.kind == kind {
			return b.body
		}
	}
	return nil
}

// isAVIF looks for the brand avif or avis in the first box.
func isAVIF(b []byte) bool {
	if len(b) < 12 || string(b[4:8]) != "ftyp" {
		return false
	}
	for i := 8; i+4 <= min(len(b), be32(b), 256); i += 4 {
		if brand := string(b[i : i+4]); i != 12 && (brand == "avif" || brand == "avis") {
			return true
		}
	}
	return false
}

func avifSize(b []byte) (int, int, error) {
	meta := find(boxes(b), "meta")
	if len(meta) < 4 {
		return 0, 0, errors.New("it is cut short")
	}
	in := boxes(meta[4:])
	iprp := boxes(find(in, "iprp"))
	properties := boxes(find(iprp, "ipco"))
	primary, ok := primaryItem(find(in, "pitm"))
	if !ok {
		return 0, 0, errors.New("it names no primary picture")
	}
	for _, i := range propertiesOf(find(iprp, "ipma"), primary) {
		if i < 1 || i > len(properties) || properties[i-1].kind != "ispe" {
			continue
		}
		if ispe := properties[i-1].body; len(ispe) >= 12 {
			return be32(ispe[4:]), be32(ispe[8:]), nil
		}
	}
	return 0, 0, errors.New("its size is missing")
}

func primaryItem(pitm []byte) (int, bool) {
	switch {
	case len(pitm) >= 6 && pitm[0] == 0:
		return be16(pitm[4:]), true
	case len(pitm) >= 8 && pitm[0] > 0:
		return be32(pitm[4:]), true
	}
	return 0, false
}

// propertiesOf returns the indices, from 1, of an item's properties.
func propertiesOf(ipma []byte, item int) (list []int) {
	r := fields{b: ipma}
	version, flags := r.next(1), r.next(3)
	idSize, indexSize := 2, 1
	if version > 0 {
		idSize = 4
	}
	if flags&1 != 0 {
		indexSize = 2
	}
	for n := r.next(4); n > 0 && !r.short; n-- {
		id := r.next(idSize)
		for m := r.next(1); m > 0 && !r.short; m-- {
			// The highest bit says whether it is essential.
			if i := r.next(indexSize) & (1<<(8*indexSize-1) - 1); id == item && !r.short {
				list = append(list, i)
			}
		}
	}
	return list
}

// fields reads big-endian numbers.
type fields struct {
	b     []byte
	short bool
}

func (f *fields) next(n int) (v int) {
	if len(f.b) < n {
		f.short = true
		return 0
	}
	for _, c := range f.b[:n] {
		v = v<<8 | int(c)
	}
	f.b = f.b[n:]
	return v
}

func be16(b []byte) int { return int(binary.BigEndian.Uint16(b)) }
func be32(b []byte) int { return int(binary.BigEndian.Uint32(b)) }
