package outputs

import (
	"bytes"
	"cmp"
	"strings"

	charset "golang.org/x/text/encoding"

	"webchat/internal/kind"
)

// Text returns o as a text in UTF-8: o itself, or the same lines decoded if its MimeType names
// another charset. What was decoded counts in the budget and ends with o; where there is no room
// for it, o is returned as it is.
func (o *Output) Text() *Output {
	if o.raw != nil {
		return o.raw.Text().Veiled()
	}
	v, m := o.acquire()
	_, name, ok := strings.Cut(m.MimeType, "; charset=")
	if !ok || kind.Encoding(name) == nil {
		return o
	}
	o.decoding.Lock()
	defer o.decoding.Unlock()
	if o.decoded != nil || !v.complete {
		return cmp.Or(o.decoded, o)
	}
	text := v.decode(kind.Encoding(name), kind.IsWide(name))
	if n := text.kept(); n > o.store.budget/2 || !o.store.pay(o, n, true) {
		return o
	}
	m.MimeType = strings.TrimSuffix(m.MimeType, name) + "utf-8"
	o.decoded = &Output{id: o.id, created: o.created, store: o.store, meta: m, view: text}
	return o.decoded
}

// decode makes v's bytes UTF-8. Lines keep their numbers, and offsets are those of what was made.
func (v *view) decode(e charset.Encoding, wide bool) view {
	text := view{complete: true}
	from, to, nl, gap := v.gap()
	if !gap {
		text.set(decodeAll(e, v.join(0, v.len())))
		return text
	}
	head, tail := v.join(0, len(v.head)), v.join(len(v.head), v.len())
	if wide && len(head)%2 == 1 { // the second half of a line end was left out
		head = append(head[:len(head)-1:len(head)-1], 0)
	}
	if wide && to%2 == 1 {
		tail = tail[1:]
	}
	h := decodeAll(e, head)
	if endsWithLine(v.head[len(v.head)-1].buf) && !bytes.HasSuffix(h, []byte{'\n'}) {
		h = append(h, '\n')
	}
	t := decodeAll(e, tail)
	start := int64(len(h)) + to - from
	text.head, text.nl = split(h, 0, 0)
	text.tail, text.nl = split(t, start, text.nl+nl)
	text.size, text.open = start+int64(len(t)), len(t) > 0 && !endsWithLine(t)
	return text
}

// join copies the bytes of some chunks together.
func (v *view) join(from, to int) []byte {
	n := 0
	for i := from; i < to; i++ {
		n += len(v.at(i).buf)
	}
	b := make([]byte, 0, n)
	for ; from < to; from++ {
		b = append(b, v.at(from).buf...)
	}
	return b
}

// decodeAll never fails: what is wrong becomes U+FFFD.
func decodeAll(e charset.Encoding, b []byte) []byte {
	text, err := e.NewDecoder().Bytes(b)
	if err != nil { // these charsets have no such error
		return bytes.ToValidUTF8(b, []byte("\ufffd"))
	}
	return text
}
