package outputs

import "sync"

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
	zeros := make([]byte, min(n, maxChunk))
	w.mu.Lock()
	enough := w.limits.Tail + maxChunk
	w.mu.Unlock()
	for tail := int64(0); n > 0; {
		k := min(n, int64(len(zeros)))
		w.Write(zeros[:k])
		n -= k
		w.mu.Lock()
		if w.tailing {
			tail += k
		}
		if tail > enough+maxChunk { // of which the first may have been the head's
			w.move(n)
			n = 0
		}
		if w.done {
			n = 0
		}
		w.mu.Unlock()
	}
}

// move moves the tail, which is all zeros, by n bytes. The caller holds w.mu.
func (w *Writer) move(n int64) {
	w.o.mu.Lock()
	defer w.o.mu.Unlock()
	v := &w.o.view
	if v.complete || n == 0 {
		return
	}
	v.tail = append([]chunk(nil), v.tail...) // snapshots keep theirs
	for i := range v.tail {
		v.tail[i].off += n
	}
	v.last.off += n
	v.size += n
	w.o.notify()
}

// next seals the full chunk and starts another: of the head while its limit and the budget allow,
// then of the tail, whose oldest chunk makes room in the end.
func (w *Writer) next() {
	sealed := w.tailing
	if !w.tailing {
		if b := w.growHead(); b != nil {
			w.start(b, sealed)
			return
		}
		w.tailing = true
	}
	if b := w.growTail(); b != nil {
		w.start(b, sealed)
		return
	}
	if !w.done {
		w.rotate()
	}
}

func (w *Writer) growHead() []byte {
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
	ok, gone := w.o.store.grow(w.o, n)
	w.done = w.done || gone
	return ok
}

// start seals the chunk being filled, into the tail or the head, and goes on in b.
func (w *Writer) start(b []byte, tail bool) {
	w.o.mu.Lock()
	defer w.o.mu.Unlock()
	v := &w.o.view
	v.seal(tail)
	v.last = chunk{off: v.size, nl: v.nl, buf: b}
}

// rotate seals the chunk being filled and goes on in the memory of the oldest chunk of the tail, or
// in as much new memory if a reader still uses that.
func (w *Writer) rotate() {
	w.o.mu.Lock()
	defer w.o.mu.Unlock()
	v := &w.o.view
	if v.complete { // deleted meanwhile: readers no longer say that they read
		w.done = true
		return
	}
	v.seal(true)
	b := v.tail[0].buf[:0]
	if w.o.active > 0 { // a snapshot has both the list and the oldest chunk
		b = make([]byte, 0, cap(b))
		v.tail = append(make([]chunk, 0, len(v.tail)+1), v.tail[1:]...)
	} else {
		v.tail = v.tail[:copy(v.tail, v.tail[1:])]
	}
	v.last = chunk{off: v.size, nl: v.nl, buf: b}
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
	o.store.mu.Lock()
	defer o.store.mu.Unlock()
	return o.gone
}

// keepWhole is up to what size a completed output is copied into one piece.
const keepWhole = 4 * maxChunk

// finish makes v the final state: whole lines around the gap where that costs little, no memory
// beyond the bytes kept, small outputs in one piece. It builds new slices: earlier snapshots keep
// theirs.
func (v *view) finish() {
	v.complete = true
	if _, _, _, gap := v.gap(); gap {
		v.head = append([]chunk(nil), v.head...)
		v.tail = append([]chunk(nil), v.tail...)
		trimEnd(&v.head[len(v.head)-1])
		trimStart(&v.tail[0])
		clip(&v.head[len(v.head)-1])
		clip(&v.tail[0])
		clip(&v.tail[len(v.tail)-1])
		return
	}
	switch n := v.len(); {
	case n == 0:
		v.whole = []byte{}
	case v.size <= keepWhole:
		b := v.at(0).buf
		if n > 1 || cap(b) > len(b) {
			b = make([]byte, 0, v.size)
			for i := range n {
				b = append(b, v.at(i).buf...)
			}
		}
		v.set(b)
	default:
		all := append(append([]chunk(nil), v.head...), v.tail...)
		clip(&all[n-1])
		v.head, v.tail = all, nil
	}
}

// set makes b all of v's bytes.
func (v *view) set(b []byte) {
	v.head, v.nl = split(b, 0, 0)
	v.tail, v.last = nil, chunk{}
	v.size, v.whole = int64(len(b)), b
	v.open = len(b) > 0 && b[len(b)-1] != '\n'
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
	if v.whole != nil {
		return int64(cap(v.whole))
	}
	for i := range v.len() {
		n += int64(cap(v.at(i).buf))
	}
	return n
}

// clip gives back memory that c does not use.
func clip(c *chunk) {
	if len(c.buf) < cap(c.buf) {
		c.buf = append(make([]byte, 0, len(c.buf)), c.buf...)
	}
}
