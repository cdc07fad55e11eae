package outputs

import (
	"bytes"
	"errors"
	"io"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jellydator/ttlcache/v3"
)

// Output is one thing that was shown. Offsets and line numbers are true ones: those of everything
// that was written, whether it is still kept or not.
type Output struct {
	id      ID
	created time.Time
	store   *Store

	mu        sync.Mutex // guards all below; held for moments, never while waiting
	meta      Meta
	view      view
	seen      int64         // up to which offset readers may hold chunks, which are then not recycled
	changed   chan struct{} // closed at the next change; nil when nothing waits
	completed time.Time     // zero while it grows; with its monotonic reading
	kept      time.Time     // until when it is kept on disk, by the wall clock; zero: it is not
	pin       time.Time     // when the user pinned it; zero: not

	made  atomic.Pointer[content] // its bytes, once it is complete and they were asked for
	forms [codings]form           // its bytes compressed, once asked for

	attaching sync.Mutex // held while Attach makes something

	decoding sync.Mutex // guards decoded and veiled; taken before all others
	decoded  *Output    // its text in UTF-8, once asked for
	veiled   *Output    // without what looks like a secret, once asked for

	raw    *Output // of a veiled one, what it reads; nothing but covers is its own
	covers *covers

	// Guarded by store.mu.
	cost                int64
	grows, pinned, gone bool
}

// Attach keeps with o what make returns. make gets what was kept before, or nil: only the latest
// maxAttached outputs keep theirs. make may be called by one goroutine at
// a time.
func (o *Output) Attach(make func(before any) any) any {
	o.attaching.Lock()
	defer o.attaching.Unlock()
	var before any
	if i := o.store.attached.Get(o); i != nil {
		before = i.Value()
	}
	made := make(before)
	if !o.deleted() { // else both end with its last reader
		o.store.attached.Set(o, made, ttlcache.NoTTL)
	}
	return made
}

// chunk is a piece of an output. Its published bytes never change.
type chunk struct {
	off, nl int64 // bytes and line ends before it
	buf     []byte
}

func (c chunk) end() int64 { return c.off + int64(len(c.buf)) }

// view is an immutable state of an output: head, then perhaps a gap, then tail and last. While
// nothing is left out these are adjacent.
type view struct {
	head, tail []chunk
	last       chunk // being filled
	size, nl   int64 // of everything written
	open       bool  // the last byte is not a line end
	complete   bool

	covers *covers // nil: readers get the chunks as they are
}

func (v *view) len() int {
	n := len(v.head) + len(v.tail)
	if len(v.last.buf) > 0 {
		n++
	}
	return n
}

func (v *view) at(i int) chunk {
	if i < len(v.head) {
		return v.head[i]
	}
	if i -= len(v.head); i < len(v.tail) {
		return v.tail[i]
	}
	return v.last
}

// lines counts the lines written, an unfinished last one included.
func (v *view) lines() int64 {
	if v.open {
		return v.nl + 1
	}
	return v.nl
}

// gap returns where bytes are left out: [from, to), and the line ends among them.
func (v *view) gap() (from, to, nl int64, ok bool) {
	if len(v.head) == 0 || v.len() == len(v.head) {
		return 0, 0, 0, false
	}
	h, t := v.head[len(v.head)-1], v.at(len(v.head))
	if h.end() == t.off {
		return 0, 0, 0, false
	}
	return h.end(), t.off, t.nl - h.nl - count(h.buf), true
}

// find returns the index of the chunk that holds off, or the next one after a gap, or v.len().
func (v *view) find(off int64) int {
	return sort.Search(v.len(), func(i int) bool { return v.at(i).end() > off })
}

func (v *view) describe(m *Meta) *Gap {
	from, to, nl, ok := v.gap()
	if !ok {
		return nil
	}
	h := v.head[len(v.head)-1]
	after := h.nl + count(h.buf)
	if h.buf[len(h.buf)-1] != '\n' {
		after++
	}
	return &Gap{Offset: from, Bytes: to - from, Lines: nl, AfterLine: m.First() - 1 + int(after)}
}

func count(b []byte) int64 { return int64(bytes.Count(b, []byte{'\n'})) }

// ID returns the output's id.
func (o *Output) ID() ID { return o.id }

// CreatedAt is when the output was created.
func (o *Output) CreatedAt() time.Time { return o.created.Round(0) }

// ExpiresAt is when the output's life ends; zero while it grows.
func (o *Output) ExpiresAt() time.Time {
	o = o.Raw()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.completed.IsZero() {
		return time.Time{}
	}
	if !o.kept.IsZero() && !o.pinnedNow() {
		return o.kept
	}
	return o.until().Round(0)
}

// Complete reports whether the output has stopped growing.
func (o *Output) Complete() bool {
	o = o.Raw()
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.view.complete
}

// Size is the number of bytes written so far, those left out included.
func (o *Output) Size() int64 {
	o = o.Raw()
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.view.size
}

// TotalLines is the number of lines written so far, those left out and an unfinished last one
// included.
func (o *Output) TotalLines() int {
	o = o.Raw()
	o.mu.Lock()
	defer o.mu.Unlock()
	return int(o.view.lines())
}

// Meta returns a copy of the description, as things are now.
func (o *Output) Meta() Meta {
	o = o.Raw()
	o.mu.Lock()
	defer o.mu.Unlock()
	m := o.meta
	if g := o.view.describe(&m); g != nil {
		m.Gap, m.Truncated = g, true
	}
	return m
}

// acquire returns the present state, whose bytes never change.
func (o *Output) acquire() (view, Meta) {
	if o.raw != nil {
		v, m := o.raw.acquire()
		v.covers = o.covers
		return v, m
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen = o.view.size
	return o.view, o.meta
}

func (o *Output) sessionID() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.meta.SessionID
}

// wait returns a channel that is closed at the next change after the state of size; nil if that has
// already happened or the output is complete.
func (o *Output) wait(size int64) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.view.complete || o.view.size != size {
		return nil
	}
	if o.changed == nil {
		o.changed = make(chan struct{})
	}
	return o.changed
}

// notify wakes readers that wait for a change. The caller holds o.mu.
func (o *Output) notify() {
	if o.changed != nil {
		close(o.changed)
		o.changed = nil
	}
}

// GapError is returned when the bytes asked for were left out.
type GapError struct {
	From, To int64 // the gap, by true offsets; reading goes on at To
}

func (e *GapError) Error() string {
	return "bytes " + strconv.FormatInt(e.From, 10) + " to " + strconv.FormatInt(e.To, 10) +
		" were left out; read on from the latter"
}

// ReadAt reads at a true offset, from what is there now: [io.EOF] at the end of a growing output
// means "not yet", see Complete and Follow. A read that meets the gap returns what is before it and
// a [*GapError].
func (o *Output) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errors.New("read output: negative offset")
	}
	v, _ := o.acquire()
	n := 0
	for i := v.find(off); n < len(p); i++ {
		if i == v.len() {
			return n, io.EOF
		}
		c := v.text(i)
		if c.off > off {
			from, to, _, _ := v.gap()
			return n, &GapError{from, to}
		}
		k := copy(p[n:], c.buf[off-c.off:])
		n, off = n+k, off+int64(k)
	}
	return n, nil
}
