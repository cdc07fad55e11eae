package outputs

import (
	"slices"
	"sync"
)

// Writer makes an output grow. Complete must be called in the end, on every path: defer it.
type Writer struct {
	o      *Output
	limits Limits

	mu       sync.Mutex // one Write at a time; taken before store.mu and o.mu
	reserved int64      // bytes of chunks paid for by Create and not allocated yet
	head     int64      // bytes of chunks allocated for the head
	tail     int64      // and for the tail
	tailing  bool       // the head is closed
	done     bool       // complete or deleted: what still comes is dropped
}

// ID returns the output's id, valid from the start.
func (w *Writer) ID() ID { return w.o.id }

// Output returns the output, for reading while it grows.
func (w *Writer) Output() *Output { return w.o }

// Bytes is the number of bytes written so far.
func (w *Writer) Bytes() int64 { return w.o.Size() }

// Lines is the number of lines written so far, an unfinished last one included.
func (w *Writer) Lines() int64 { return int64(w.o.TotalLines()) }

// Write appends p, which may be reused afterwards. It never fails and never waits for a reader:
// when the limits are reached or the budget allows no more, the oldest bytes after the head are
// left out. After Complete, or once the output's session was deleted, bytes are dropped.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(p)
	for len(p) > 0 && !w.done {
		last := w.o.view.last.buf // only we change it, so reading it needs no lock
		if len(last) == cap(last) {
			w.next()
			continue
		}
		k := copy(last[len(last):cap(last)], p) // beyond what is published: no reader looks there
		lines := count(p[:k])
		w.o.mu.Lock()
		if v := &w.o.view; v.complete {
			w.done = true
		} else {
			v.last.buf = last[:len(last)+k]
			v.size += int64(k)
			v.nl += lines
			v.open = p[k-1] != '\n'
			if k == len(p) {
				w.o.notify()
			}
		}
		w.o.mu.Unlock()
		p = p[k:]
	}
	return n, nil
}

// WriteZeros appends n zero bytes, as Write would, but in a time that is bounded by the limits:
// once the whole tail is zeros, more of them only move it.
func (w *Writer) WriteZeros(n int64) {
	w.mu.Lock()
	written := min(n, w.limits.Head+w.limits.Tail+2*maxChunk)
	w.mu.Unlock()
	zeros := make([]byte, min(written, maxChunk))
	for left := written; left > 0; left -= int64(len(zeros)) {
		w.Write(zeros[:min(left, int64(len(zeros)))])
	}
	w.o.mu.Lock()
	defer w.o.mu.Unlock()
	if v := &w.o.view; n > written && !v.complete {
		v.tail = slices.Clone(v.tail) // snapshots keep theirs
		for i := range v.tail {
			v.tail[i].off += n - written
		}
		v.last.off += n - written
		v.size += n - written
		w.o.notify()
	}
}

// next seals the full chunk and starts another: of the head while its limit and the budget
// allow, then of the tail, whose oldest chunk makes room in the end.
func (w *Writer) next() {
	tail := w.tailing
	b := w.growHead()
	if b == nil {
		w.tailing = true
		b = w.growTail()
	}
	if w.done {
		return
	}
	w.o.mu.Lock()
	defer w.o.mu.Unlock()
	v := &w.o.view
	v.seal(tail)
	if b == nil { // in the memory of the oldest chunk of the tail, unless a reader may have it
		old := v.tail[0]
		v.tail = v.tail[1:]
		if b = old.buf[:0]; old.off < w.o.seen {
			b = make([]byte, 0, cap(b))
		}
	}
	v.last = chunk{off: v.size, nl: v.nl, buf: b}
}

func (w *Writer) growHead() []byte {
	if w.tailing {
		return nil
	}
	if w.head == 0 { // the first chunk is always there
		w.head, w.reserved = minChunk, w.reserved-minChunk
		return make([]byte, 0, minChunk)
	}
	n := min(w.head, maxChunk, w.limits.Head-w.head)
	if n <= 0 || !w.pay(n) {
		return nil
	}
	w.head += n
	return make([]byte, 0, n)
}

// growTail returns nil when the tail's limit or the budget is reached. Its first two chunks were
// paid for by Create, so that there is always one to drop.
func (w *Writer) growTail() []byte {
	n := min(maxChunk, max(minChunk, w.limits.Tail/8))
	switch {
	case w.tail+n <= w.limits.Tail && w.pay(n):
	case w.tail+minChunk <= w.limits.Tail && w.reserved >= minChunk && !w.done:
		n = minChunk
		w.reserved -= n
	default:
		return nil
	}
	w.tail += n
	return make([]byte, 0, n)
}

// pay asks the budget for n bytes more.
func (w *Writer) pay(n int64) bool {
	ok := w.o.store.pay(w.o, n, true)
	w.done = w.done || !ok && w.o.deleted()
	return ok
}

func (v *view) seal(tail bool) {
	if len(v.last.buf) == 0 {
		return
	}
	if tail {
		v.tail = append(v.tail, v.last)
	} else {
		v.head = append(v.head, v.last)
	}
	v.last = chunk{}
}

// Complete ends the growth and starts the output's life. describe, which may be nil, fills in what
// is only known now; it must not use the Writer or the Output. Calls after the first do nothing.
func (w *Writer) Complete(describe func(*Meta)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limits == (Limits{}) {
		return
	}
	o := w.o
	o.mu.Lock()
	v, meta := o.view, o.meta
	o.mu.Unlock()
	if describe != nil {
		describe(&meta)
	}
	v.seal(w.tailing)
	v.finish()
	if meta.Type == Terminal && meta.TotalLines == 0 {
		meta.TotalLines = int(v.lines())
	}
	w.done, w.limits = true, Limits{}
	o.store.complete(o, v, meta)
	if k := o.store.keeper; k != nil && !o.deleted() {
		k.save(o)
	}
}

func (o *Output) deleted() bool {
	o = o.Raw()
	o.store.mu.Lock()
	defer o.store.mu.Unlock()
	return o.gone
}

// keepWhole is up to what size a completed output is copied into one piece.
const keepWhole = 4 * maxChunk

// finish makes v the final state: whole lines around the gap where that costs little, no memory
// beyond the bytes kept, small outputs in one piece. It builds new slices: earlier snapshots
// keep theirs.
func (v *view) finish() {
	v.complete = true
	switch _, _, _, gap := v.gap(); {
	case gap:
		v.head, v.tail = slices.Clone(v.head), slices.Clone(v.tail)
		trimEnd(&v.head[len(v.head)-1])
		trimStart(&v.tail[0])
		clip(&v.head[len(v.head)-1])
		clip(&v.tail[0])
		clip(&v.tail[len(v.tail)-1])
	case v.size <= keepWhole:
		v.set(v.join(0, v.len()))
	default:
		v.head, v.tail = slices.Concat(v.head, v.tail), nil
		clip(&v.head[len(v.head)-1])
	}
}

// set makes b all of v's bytes.
func (v *view) set(b []byte) {
	v.head, v.nl = split(b, 0, 0)
	v.tail, v.last = nil, chunk{}
	v.size, v.open = int64(len(b)), len(b) > 0 && !endsWithLine(b)
}

// cut makes copies of data's head and tail all that v keeps.
func (v *view) cut(data []byte, l Limits) {
	from := int64(len(data)) - l.Tail
	v.size, v.open = int64(len(data)), !endsWithLine(data)
	head, tail := chunk{buf: data[:l.Head]}, chunk{off: from, nl: count(data[:from]), buf: data[from:]}
	trimEnd(&head)
	trimStart(&tail)
	v.head, _ = split(slices.Clone(head.buf), 0, 0)
	v.tail, v.nl = split(slices.Clone(tail.buf), tail.off, tail.nl)
}

// split cuts b, which is preceded by off bytes and nl line ends, into chunks that share its memory;
// it returns the line ends up to the end of b.
func split(b []byte, off, nl int64) ([]chunk, int64) {
	chunks := make([]chunk, 0, (len(b)+maxChunk-1)/maxChunk)
	for len(b) > 0 {
		k := min(len(b), maxChunk)
		chunks = append(chunks, chunk{off, nl, b[:k:k]})
		off, nl, b = off+int64(k), nl+count(b[:k]), b[k:]
	}
	return chunks, nl
}

// kept is the memory that v's bytes occupy.
func (v *view) kept() (n int64) {
	for i := range v.len() {
		n += int64(cap(v.at(i).buf))
	}
	return n
}

// clip gives back memory that c does not use.
func clip(c *chunk) {
	if len(c.buf) < cap(c.buf) {
		c.buf = slices.Clip(slices.Clone(c.buf))
	}
}
