// Package grep finds lines of text that match an expression: in a piece of text that the caller
// has, and in the files of a folder.
//
// # Guarantees
//
//   - [Folder] reads regular files only, opened by the caller's function; of each at most 32 MiB,
//     and none that begins like something other than text. A link, a pipe or a device is passed
//     over.
//   - What the caller calls closed is not read: it is found by its name.
//   - Files are reported in the order in which they were named, so what was reported does not move.
//   - It ends when its context does, within the time that one file takes, and after [Most] lines.
//
// # Concurrency
//
// An [Expression] belongs to one goroutine at a time. Folder searches on all processors, and calls
// its caller back in the caller's goroutine; all that it started has ended when it returns.
//
// # Usage
//
//	e, err := grep.Query{Text: "Patience"}.Parse()
//	…
//	found, err := grep.Folder{Root: root, Names: names, Open: policy.Open}.Search(ctx, e, func(f grep.File) error {
//		…
//	})
package grep

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// Bounds of a search.
const (
	Most   = 10_000 // lines that match, of all files
	Around = 3      // lines that are shown before and after one that matches

	mostText   = 300      // bytes of a line that are shown
	mostFile   = 32 << 20 // bytes of a file that are searched
	headOfFile = 64 << 10 // bytes that show what a file is
	perRound   = 128      // files that are searched between two reports, for each processor
	perTurn    = 16       // files that a goroutine takes at once; those of one folder stand together
)

// Query is what a person looks for.
type Query struct {
	Text       string
	Expression bool // Text is a regular expression (RE2)
	Case       bool // upper and lower case differ
	Word       bool // only whole words
}

// Parse fails on what is not a regular expression.
func (q Query) Parse() (*Expression, error) {
	text := q.Text
	if !q.Expression {
		text = regexp.QuoteMeta(text)
	}
	if q.Word {
		first, _ := utf8.DecodeRuneInString(q.Text)
		last, _ := utf8.DecodeLastRuneInString(q.Text)
		text = "(?:" + text + ")"
		if q.Expression || isWord(first) {
			text = `\b` + text
		}
		if q.Expression || isWord(last) {
			text += `\b`
		}
	}
	if !q.Case {
		text = "(?i)" + text
	}
	return Parse(text)
}

// isWord reports whether RE2 sees a border beside r.
func isWord(r rune) bool {
	return r == '_' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// Folder is what is searched.
type Folder struct {
	Root  *os.Root
	Names []string // relative, with slashes
	Open  func(*os.Root, string) (*os.File, fs.FileInfo, error)
	// Closed reports files that are not read, by their names. nil: none.
	Closed func(name string) bool
	// Shown has the last word on a file that is found. nil: all are shown.
	Shown func(st fs.FileInfo, name string) Shown
	// Cover changes in place what of a file is not to be seen, neither its length nor its lines: to
	// stars and characters beyond ASCII. Only what is left is searched. nil: nothing.
	Cover func(name string, text []byte)
}

// Shown says how much of a file is shown.
type Shown int

// What is shown of a file.
const (
	Whole Shown = iota
	ByName
	Nothing
)

// File is a file in which something was found.
type File struct {
	Path string `json:"path"`
	Hits int    `json:"hits"` // lines that match
	// these have ranges; with up to 3 lines before and after each
	Lines  []Line `json:"lines"`
	Closed bool   `json:"closed,omitempty"` // it may hold secrets, so it was found by its name
	More   bool   `json:"more,omitempty"`   // it was not searched to its end
}

// Found is what a search came to.
type Found struct {
	Files  int  `json:"files"`          // that were looked at
	Hits   int  `json:"hits"`           // lines that match
	In     int  `json:"in"`             // files with hits
	Closed int  `json:"closed"`         // files that were not read, since they may hold secrets
	More   bool `json:"more,omitempty"` // there were more hits than [Most]
}

// Search reports the files in which e is found. The error is that of ctx or of report.
func (d Folder) Search(ctx context.Context, e *Expression,
	report func(File) error) (found Found, err error) {
	workers := make([]*worker, runtime.GOMAXPROCS(0))
	for i := range workers {
		workers[i] = &worker{Folder: d, e: e.Until(func() bool { return ctx.Err() != nil })}
		defer workers[i].leave()
	}
	found.Files = len(d.Names)
	for rest := d.Names; len(rest) > 0 && !found.More; {
		files := round(ctx, workers, rest[:min(len(rest), perRound*len(workers))])
		if err := ctx.Err(); err != nil {
			return found, err
		}
		rest = rest[len(files):]
		for _, f := range files {
			if err := found.take(f, report); err != nil || found.More {
				return found, err
			}
		}
	}
	return found, nil
}

// round searches files, the first one at least: it stops early when it holds more hits than will be
// reported.
func round(ctx context.Context, workers []*worker, names []string) []*File {
	files := make([]*File, len(names))
	var turn, held atomic.Int64
	var wg sync.WaitGroup
	for _, w := range workers {
		wg.Go(func() {
			for to := 0; to < len(names); {
				to = int(turn.Add(perTurn))
				for i := to - perTurn; i < min(to, len(names)); i++ {
					files[i] = w.file(ctx, names[i])
					if held.Add(int64(files[i].Hits)) > Most || ctx.Err() != nil {
						return
					}
				}
			}
		})
	}
	wg.Wait()
	if i := slices.Index(files, nil); i >= 0 {
		return files[:i]
	}
	return files
}

// take counts a file, and reports it if something was found in it.
func (found *Found) take(f *File, report func(File) error) error {
	if f.Closed {
		found.Closed++
	}
	if f.Path == "" {
		return nil
	}
	if found.Hits += f.Hits; f.Hits > 0 {
		found.In++
	}
	found.More = found.Hits >= Most
	return report(*f)
}

// worker searches one file after the other.
type worker struct {
	Folder
	e     *Expression
	tuned bool

	dir  *os.Root // the folder of the last file; nil: none is open
	name string   // and its name
	buf  []byte
	hits []int
}

func (w *worker) leave() {
	if w.dir != nil {
		_ = w.dir.Close()
		w.dir = nil
	}
}

// file is what is found in a file; without a path, nothing.
func (w *worker) file(ctx context.Context, name string) *File {
	f := &File{}
	if w.Closed != nil && w.Closed(name) {
		if f.Closed = true; w.e.Match([]byte(name)) {
			f.Path = name
		}
		return f
	}
	text, st, cut := w.read(name)
	if len(text) == 0 {
		return f
	}
	if !w.tuned {
		w.e.Tune(text[:min(len(text), headOfFile)])
		w.tuned = true
	}
	if w.Cover != nil {
		if !w.e.MayMatch(text) && !w.e.MayMatch([]byte(name)) {
			return f
		}
		w.Cover(name, text) // before it is searched, so that no expression reveals what is covered
	}
	w.hits = w.e.Lines(text, 1, w.hits[:0], func() bool { return ctx.Err() != nil })
	w.hits = w.hits[:min(len(w.hits), Most)]
	named := w.e.Match([]byte(name))
	if len(w.hits) == 0 && !named {
		return f
	}
	if w.Shown != nil {
		switch w.Shown(st, name) {
		case Nothing:
			return f
		case ByName: // must not reveal whether its text matches
			if named {
				f.Path, f.Closed = name, true
			}
			return f
		}
	}
	if len(w.hits) == 0 {
		return f
	}
	f.Hits, f.More = len(w.hits), cut
	f.Path, f.Lines = name, w.about(text, w.hits)
	return f
}

// read returns the text of a file, which holds until the next one is read. Whatever cannot be read
// has none.
func (w *worker) read(name string) (text []byte, st fs.FileInfo, cut bool) {
	if dir := path.Dir(name); w.dir == nil || dir != w.name {
		w.leave()
		d, err := w.Root.OpenRoot(filepath.FromSlash(dir))
		if err != nil {
			return nil, nil, false
		}
		w.dir, w.name = d, dir
	}
	f, st, err := w.Open(w.dir, path.Base(name))
	if err != nil {
		return nil, nil, false
	}
	defer f.Close()
	if !st.Mode().IsRegular() {
		return nil, nil, false
	}
	n := 0
	size := int(min(st.Size(), mostFile))
	w.buf = slices.Grow(w.buf[:0], size)
	for n < size && err == nil {
		to := size
		if n == 0 {
			to = min(size, headOfFile)
		}
		var k int
		k, err = f.Read(w.buf[n:to])
		if n == 0 && bytes.IndexByte(w.buf[:k], 0) >= 0 {
			return nil, nil, false
		}
		n += k
	}
	return w.buf[:n], st, st.Size() > mostFile
}

// about is lines by their numbers, with those around them.
func (w *worker) about(text []byte, hits []int) (lines []Line) {
	n, start := 0, 0 // the last line that was passed, and where the next one begins
	pass := func() []byte {
		end := next(text, start, '\n')
		line := text[start:end]
		n, start = n+1, min(end+1, len(text))
		return line
	}
	for i, hit := range hits {
		for ; n < hit-Around-1; n++ {
			start = min(next(text, start, '\n')+1, len(text))
		}
		to := hit + Around
		if i+1 < len(hits) {
			to = min(to, hits[i+1]-1)
		}
		for n < to && start < len(text) {
			line := pass()
			var at [][]int
			if n == hit {
				at = w.e.Find(line, MaxRanges)
			}
			lines = append(lines, Excerpt(n, Searched(line), at, mostText))
		}
	}
	return lines
}
