// Package code shows source code in colours: a window of lines of a text of any length, pieces of
// code as they stand in Markdown, and which language a file is written in. Its guarantees are those
// of package render.
//
// Functions may be called concurrently. A [Document] locks itself; [Lines] belongs to one goroutine
// at a time.
//
//	lang := code.Language("main.go", head)
//	doc := code.New(lang, source, 1)
//	rows, err := doc.Rows(ctx, 1, 500)           // later windows cost what they show, not what is above them
package code

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"webchat/internal/render"
)

const (
	shownLine     = 256 << 10 // characters of one line that are shown at all
	shownWindow   = 2 << 20   // bytes of all its long lines, of which each has LongLine nevertheless
	lookahead     = 200       // lines below the window that expressions may look into
	lookaheadSize = 32 << 10  // and bytes
	maxStates     = 16 << 10  // remembered states of one document; with more it begins anew
	spacing       = 16        // lines between them
	reach         = 1000      // lines between a known state and the window that are lexed to be exact
	reachSize     = 256 << 10 // and bytes
	guessBack     = 48        // lines above the window where a guess starts
)

// Source is a text by lines, as its owner keeps it. It must not change; a text that grows is opened
// again.
type Source interface {
	// Total is the number of lines. A last line without a line end counts.
	Total() int
	// Lines returns lines from to to (from 1, both included) with their line ends. The caller does not
	// change or keep the bytes. It may be called concurrently.
	Lines(ctx context.Context, from, to int) ([]byte, error)
}

// Document is one text in one language, from which windows are shown.
//
// A window costs what its own lines cost: highlighting starts at a state near it, which is
// remembered from a window that was shown. A window far from any known state starts at a guess, a
// line near above it that looks like the start of something, and sets Exact to false.
type Document struct {
	src     Source
	grammar *grammar      // nil: plain text
	first   int           // the number of its first line, as shown
	limit   time.Duration // of the work for one request

	mu     sync.Mutex   // guards states
	states []savedState // ascending by line
}

type savedState struct {
	line int // the line that starts in this state
	*lexState
}

// New opens a document; first is the number that its first line shows. A language that [Language]
// never returns is shown as plain text.
func New(language string, src Source, first int) *Document {
	return &Document{src: src, grammar: grammars()[language], first: first,
		limit: render.WorkLimit, states: []savedState{{1, rootState}}}
}

// Rows returns lines from to to (from 1, both included, cut to what exists and to render.MaxRows)
// as HTML:
//
//	<div class="line"><a class="ln" href="#L10" aria-label="Line 10">10</a><code class="cl">…</code></div>
//
// It spends at most about [render.WorkLimit] on highlighting. The error is the source's or ctx's.
func (c *Document) Rows(ctx context.Context, from, to int) (render.Rows, error) {
	from, to = max(from, 1), min(to, c.src.Total(), max(from, 1)+render.MaxRows-1)
	rows := render.Rows{From: from, To: to, Exact: true}
	if to < from {
		return rows, nil
	}
	if c.grammar == nil || c.grammar.err() != nil {
		return c.plainRows(ctx, rows)
	}
	start, known := c.nearest(from)
	var w *window
	var err error
	if known {
		w, err = c.window(ctx, start.line, from, to)
	}
	if err == nil && (w == nil || w.size > reachSize+lookaheadSize && start.line < from) {
		rows.Exact = false
		w, err = c.window(ctx, max(1, from-guessBack), from, to)
		if err == nil {
			start = savedState{w.guess(), rootState}
		}
	}
	if err != nil {
		return render.Rows{}, fmt.Errorf("highlight lines %d to %d: %w", from, to, err)
	}
	var save func(int, *lexState)
	if rows.Exact {
		save = c.save
	}
	out := newRowWriter(c.first, w)
	c.lex(ctx, w, start, c.limit, out, save)
	rows.HTML = out.finish()
	if err := ctx.Err(); err != nil {
		return render.Rows{}, err
	}
	return rows, nil
}

func (c *Document) plainRows(ctx context.Context, rows render.Rows) (render.Rows, error) {
	w, err := c.window(ctx, rows.From, rows.From, rows.To)
	if err != nil {
		return render.Rows{}, fmt.Errorf("show lines %d to %d: %w", rows.From, rows.To, err)
	}
	out := newRowWriter(c.first, w)
	for n := rows.From; n <= rows.To && c.grammar == nil; n++ {
		out.level(n, w.line(n))
	}
	rows.HTML = out.finish()
	return rows, nil
}

// nearest returns the last known state at or above line, and whether it is near enough to be exact
// from.
func (c *Document) nearest(line int) (savedState, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, found := c.find(line)
	if !found {
		i--
	}
	return c.states[i], line-c.states[i].line <= reach
}

// find is where the state of a line stands, or would. c.mu is held.
func (c *Document) find(line int) (i int, found bool) {
	return slices.BinarySearchFunc(c.states, line, func(s savedState, line int) int {
		return cmp.Compare(s.line, line)
	})
}

// save remembers that line starts in state, if no near one is remembered.
func (c *Document) save(line int, state *lexState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, found := c.find(line)
	if found || line-c.states[i-1].line < spacing || i < len(c.states) &&
		c.states[i].line-line < spacing/2 {
		return
	}
	if len(c.states) == maxStates {
		c.states, i = c.states[:1], 1
	}
	above := c.states[i-1].lexState
	if !slices.Equal(above.stack, state.stack) {
		above = &lexState{stack: slices.Clone(state.stack)} // most are the same
	}
	c.states = slices.Insert(c.states, i, savedState{line, above})
}

// window is the piece of text one call looks at.
type window struct {
	first    int      // number of lines[0]
	from, to int      // what is shown
	lines    [][]byte // without line ends
	size     int      // bytes
}

// window reads lines first-1 (to look behind) to to and what may be looked into below.
func (c *Document) window(ctx context.Context, first, from, to int) (*window, error) {
	first = max(1, first-1)
	last := min(to+lookahead, c.src.Total())
	if c.grammar == nil {
		first, last = from, to
	}
	b, err := c.src.Lines(ctx, first, last)
	if err != nil {
		return nil, err
	}
	w := &window{first: first, from: from, to: to, lines: make([][]byte, 0, last-first+1)}
	below := 0
	for n := first; n <= last; n++ {
		line, rest, _ := bytes.Cut(b, []byte("\n"))
		b = rest
		if n > to {
			if below += len(line) + 1; below > lookaheadSize {
				break
			}
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		w.lines = append(w.lines, line)
		w.size += min(len(line), render.LongLine) + 1
	}
	return w, nil
}

func (w *window) line(n int) []byte { return w.lines[n-w.first] }

// guess picks the line to start from when nothing is known: the nearest at or above from that
// stands at the margin after a blank line, where most languages start something new.
func (w *window) guess() int {
	for n := w.from; n > w.first+1; n-- {
		line := w.line(n)
		if len(bytes.TrimSpace(w.line(n-1))) == 0 && len(line) > 0 &&
			(isLetter(line[0]) || line[0] == '@' || line[0] == '#' || line[0] == '<') {
			return n
		}
	}
	return min(w.first+1, w.from)
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// text joins lines from on into what the lexer sees: long lines are left empty, invalid UTF-8
// replaced. skip is where from starts: the line before it is there only to look behind.
func (w *window) text(from int) (text string, skip int) {
	var b strings.Builder
	b.Grow(w.size)
	for n := max(w.first, from-1); n < w.first+len(w.lines); n++ {
		if n == from {
			skip = b.Len()
		}
		if line := w.line(n); !isLong(line) {
			if utf8.Valid(line) {
				b.Write(line)
			} else {
				b.WriteString(string([]rune(string(line))))
			}
		}
		b.WriteByte('\n')
	}
	return b.String(), skip
}

func isLong(line []byte) bool {
	return len(line) > render.LongLine && (len(line) > utf8.UTFMax*render.LongLine ||
		utf8.RuneCount(line) > render.LongLine)
}

// lex highlights from start to the end of the window into out, if there is one, and hands over the
// states at line ends. It gives up where its work is over the limit.
func (c *Document) lex(ctx context.Context, w *window, start savedState, limit time.Duration,
	out *rowWriter, save func(int, *lexState)) {
	text, skip := w.text(start.line)
	work := render.BeginWork(limit)
	defer work.End()
	l, err := c.grammar.start(text, skip, start.lexState)
	if err != nil {
		return
	}
	line := start.line
	for tokens := 1; line <= w.to; tokens++ {
		gap, t, ok, err := l.token()
		if err != nil {
			return
		}
		if !ok {
			break
		}
		if out != nil {
			out.text(line, "", gap)
			out.text(line+strings.Count(gap, "\n"), tokenClass(t.Type), t.Value)
		}
		if n := strings.Count(gap, "\n") + strings.Count(t.Value, "\n"); n > 0 {
			line += n
			if save != nil && line <= w.to+1 && text[l.pos-1] == '\n' {
				if s := l.at(); s != nil {
					save(line, s)
				}
			}
		}
		if tokens%8 == 0 && (work.Over() || ctx.Err() != nil) {
			return
		}
	}
	if out != nil && line <= w.to {
		out.text(line, "", text[l.pos:])
	}
}
