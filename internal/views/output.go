package views

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"path"
	"strings"
	"time"

	"webchat/internal/outputs"
	"webchat/internal/render"
)

// Output is a stored output as it can be shown now.
type Output struct {
	Path, Command, Language, MimeType string
	StartLine, EndLine, TotalLines    int // as shown; EndLine 0: to the end
	FileLines                         int // of the whole file; 0 if it was not read as lines
	Width, Height                     int // of a picture
	Bytes                             int64
	// the output that holds what a file was, while that is there
	Was                      string
	App                      string // the one that holds the page which draws it, likewise
	ExitCode                 *int
	TimedOut, Binary, Pinned bool
	Folder                   bool // it holds the names in a folder
	CreatedAt, ExpiresAt     time.Time
	EvictedAt                time.Time // when it had to make room for others
	Content                  Content
}

// Content is what an output holds. It may end while it is read.
type Content interface {
	// Rows returns the rows from to to, as GET /api/outputs/{id}?format=html does.
	Rows(from, to int) (template.HTML, error)
	// Last returns the number of the last row. A command's output has fewer rows than lines where
	// the command wrote over what it had written.
	Last() int
	// Failure returns the numbers of the lines about the first failure that a command reports; 0
	// if there is none.
	Failure() (from, to int)
	// Hex returns rows of the first bytes, at most n, in hexadecimal.
	Hex(n int) template.HTML
	// Head returns the first bytes, at most n.
	Head(n int) []byte
	// Seen returns the first rows, at most n, of the view that the output is best seen in, with how
	// many rows that has; view is empty where that is lines or bytes.
	Seen(n int) (view string, rows template.HTML, total int)
	// Views returns the names of the views it has, the best first; none while it is not whole, and
	// where finding them needs more of a text than a page waits for.
	Views() []string
	// First returns the rows that a page reads first, or none if it has to ask for them.
	First() First
	// Read returns all bytes, or an error if they are more than limit.
	Read(limit int64) ([]byte, error)
}

// First is what a page asks for first of an output: its views, and the first rows of the best one.
// Head is empty if there is none of it.
type First struct {
	Head map[string]string // as of a window of GET /api/outputs/{id}/views/{view}
	Rows template.HTML
}

// JSON is the head as an object.
func (f First) JSON() (string, error) {
	b, err := json.Marshal(f.Head)
	return string(b), err
}

// Output returns what is stored under an id; false when its life is over or it never was. Of one
// that had to make room, the time of that is known.
func (h *Views) Output(id string) (Output, bool) {
	o, err := h.store.Get(outputs.ID(id))
	if err != nil {
		return Output{EvictedAt: h.store.EvictedAt(outputs.ID(id))}, false
	}
	m := o.Meta()
	if h.was(o) == nil {
		m.Was = ""
	}
	if !h.drawn(o) {
		m.App = ""
	}
	return Output{
		App:        string(m.App),
		Was:        string(m.Was),
		Path:       m.Path,
		Command:    m.Command,
		Language:   m.Highlight,
		MimeType:   m.MimeType,
		StartLine:  m.StartLine,
		EndLine:    m.EndLine,
		TotalLines: o.Text().TotalLines(),
		FileLines:  m.TotalLines,
		Width:      m.Width,
		Height:     m.Height,
		Bytes:      o.Size(),
		ExitCode:   m.ExitCode,
		TimedOut:   m.TimedOut,
		Binary:     m.Binary,
		Folder:     m.MimeType == outputs.FolderType,
		Pinned:     o.Pinned(),
		CreatedAt:  o.CreatedAt(),
		ExpiresAt:  o.ExpiresAt(),
		Content:    content{h, o},
	}, true
}

// content implements [Content]. Its work is bounded by package render.
type content struct {
	views *Views
	o     *outputs.Output
}

func (c content) Rows(from, to int) (template.HTML, error) {
	o := c.o.Veiled()
	html, err := c.views.rows(context.Background(), o, from, to)
	return veiled(o, html), err
}

func (c content) Last() int { return c.views.last(context.Background(), c.o.Veiled()) }

func (c content) Failure() (from, to int) {
	f, err := c.views.firstFailure(context.Background(), c.o.Veiled())
	if err != nil { // it ended meanwhile
		return 0, 0
	}
	return f.from, f.to
}

func (c content) Hex(n int) template.HTML {
	w, err := hexRows(c.o.Veiled(), outputs.Ask{
		From: 1,
		Rows: (n + render.HexWidth - 1) / render.HexWidth,
	})
	if err != nil { // it ended meanwhile
		return ""
	}
	return render.Veil(string(w.HTML))
}

// Bounds of [Content.Seen]: a page holds it for each card, and waits for it.
const (
	maxSeen     = 512 << 10 // bytes of a text
	maxSeenData = 16 << 20  // bytes of a database, of which few are read
	maxSeenRows = 64 << 10  // bytes of HTML
	seenTime    = 500 * time.Millisecond
)

func (c content) Seen(n int) (view string, rows template.HTML, total int) {
	o := c.o.Veiled()
	m, most := o.Meta(), int64(maxSeen)
	if m.Binary {
		most = maxSeenData
	}
	if m.Type != outputs.File || !o.Complete() || o.Size() > most {
		return "", "", 0
	}
	k := c.views.kindOf(o)
	if view = k.views[0]; !Of(view).Card || Of(view).Lines {
		return "", "", 0
	}
	ctx, cancel := context.WithTimeout(context.Background(), seenTime)
	defer cancel()
	for ; n > 0; n /= 2 {
		w, err := c.views.viewOf(ctx, o, k, outputs.Ask{View: view, From: 1, Rows: n})
		if err != nil || w.To == 0 {
			break
		}
		if len(w.HTML) <= maxSeenRows {
			return view, render.Veil(string(w.HTML)), w.Total
		}
	}
	return "", "", 0
}

func (c content) Views() []string {
	o := c.o.Veiled()
	m := o.Meta()
	// of all others the first 64 KB are looked at
	whole := strings.EqualFold(path.Ext(m.Path), ".ipynb")
	if m.Type != outputs.File || !o.Complete() || whole && o.Size() > maxSeen {
		return nil
	}
	return c.views.kindOf(o).views
}

// firstLines is how many lines a page reads at once.
const firstLines = 500

func (c content) First() First {
	o := c.o.Veiled()
	m := o.Meta()
	if !o.Complete() || m.Gap != nil || m.Type == outputs.Image {
		return First{}
	}
	if m.Type != outputs.Terminal && len(c.Views()) == 0 {
		return First{}
	}
	names := c.views.Of(o)
	best := Of(names[0])
	ask := outputs.Ask{View: best.Name, From: 1, Rows: best.Rows}
	if best.Lines {
		ask.From, ask.Rows = max(m.StartLine, 1), firstLines
	}
	ctx, cancel := context.WithTimeout(context.Background(), seenTime)
	defer cancel()
	w, err := c.views.View(ctx, o, ask)
	if err != nil || best.Name == Terminal && w.Total > firstLines { // its end is read first
		return First{}
	}
	return First{w.Head(names), render.Veil(string(w.HTML))}
}

func (c content) Head(n int) []byte {
	b := make([]byte, n)
	read, _ := c.o.ReadAt(b, 0) // of one that was deleted meanwhile nothing is shown
	return b[:read]
}

func (c content) Read(limit int64) ([]byte, error) {
	r := c.o.Reader()
	if r.Size() > limit {
		return nil, fmt.Errorf("an output of %d bytes, at most %d are wanted", r.Size(), limit)
	}
	return io.ReadAll(r)
}
