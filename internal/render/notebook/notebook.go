// Package notebook shows Jupyter notebooks of format 4 as cells. Its guarantees are those of
// package render.
package notebook

//lint:file-ignore ST1005 its errors are shown to users, as sentences

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"

	pictures "webchat/internal/kind"
	"webchat/internal/render"
	"webchat/internal/render/markdown"
	"webchat/internal/render/terminal"
	"webchat/internal/wording"
)

// Bounds of a notebook. One with more cells is shown as lines.
const (
	maxCells      = 10_000
	maxCellOut    = 100             // outputs of a cell that are shown
	cellText      = 128 << 10       // bytes of a text that a cell wrote
	notebookSpace = 1 << 20         // bytes of HTML after which a request for cells ends early
	notebookTime  = 2 * time.Second // after which it does as well; one cell is made at least
)

// A Notebook is what was read of one. It may be used from anywhere.
type Notebook struct {
	Format   int             `json:"nbformat"`
	Cells    []*notebookCell `json:"cells"`
	Metadata struct {
		Kernel struct {
			Language string `json:"language"`
		} `json:"kernelspec"`
		Language struct {
			Name string `json:"name"`
		} `json:"language_info"`
	} `json:"metadata"`
}

type notebookCell struct {
	Type    string        `json:"cell_type"`
	Source  cellLines     `json:"source"`
	Count   *int          `json:"execution_count"`
	Outputs []*cellOutput `json:"outputs"`
}

type cellOutput struct {
	Type      string               `json:"output_type"`
	Text      cellLines            `json:"text"` // of a stream
	Data      map[string]cellLines `json:"data"` // by media type
	Name      string               `json:"ename"`
	Value     string               `json:"evalue"`
	Traceback []string             `json:"traceback"`
}

// cellLines is a text, which a notebook has as one string or as a list of lines. Any other value is
// its JSON.
type cellLines string

// UnmarshalJSON implements json.Unmarshaler.
func (l *cellLines) UnmarshalJSON(b []byte) error {
	var lines []string
	var text string
	switch {
	case json.Unmarshal(b, &lines) == nil:
		*l = cellLines(strings.Join(lines, ""))
	case json.Unmarshal(b, &text) == nil:
		*l = cellLines(text)
	default:
		*l = cellLines(b)
	}
	return nil
}

// Parse reads a notebook. The error says in a sentence why it is shown as lines.
func Parse(text []byte) (*Notebook, error) {
	n := &Notebook{}
	err := json.Unmarshal(text, n)
	switch {
	case err != nil || n.Cells == nil || slices.Contains(n.Cells, nil):
		return nil, errors.New("This notebook is damaged, so it is shown as lines.")
	case n.Format != 4:
		return nil,
			fmt.Errorf(
				"Notebooks of format 4 are shown as cells: this has format %d, so it is shown as lines.",
				n.Format)
	case len(n.Cells) > maxCells:
		return nil,
			fmt.Errorf(
				"Notebooks are shown as cells up to %s of them: this has %s, so it is shown as lines.",
				wording.Count(maxCells), wording.Count(len(n.Cells)))
	}
	return n, nil
}

// Len is the number of cells.
func (n *Notebook) Len() int { return len(n.Cells) }

// Page is what a cell wrote as HTML, both by their numbers from 1; empty if it wrote none.
func (n *Notebook) Page(cell, output int) string {
	if cell < 1 || cell > len(n.Cells) || output < 1 || output > len(n.Cells[cell-1].Outputs) ||
		n.Cells[cell-1].Outputs[output-1] == nil {
		return ""
	}
	return n.Cells[cell-1].Outputs[output-1].page()
}

// HTML shows the cells from to to (from 1, both included) and returns the number of the last one it
// made: fewer than asked for if they are large or take long, or once ctx ends.
//
//	<div class="cell" data-cell="3"><span class="cell-n">[7]</span><pre …>…</pre><div class="cell-out">…</div></div>
//	<span class="pic-ref" data-picture="image/png" data-bytes="BASE64">…</span>
//	<button type="button" class="btn quiet" data-html="cell=3&output=1">Show as HTML</button>
func (n *Notebook) HTML(ctx context.Context, from, to int) (template.HTML, int) {
	var b strings.Builder
	at := from - 1
	limited, cancel := context.WithTimeout(ctx, notebookTime)
	defer cancel()
	for at < min(to, len(n.Cells)) && b.Len() < notebookSpace && (at < from || limited.Err() == nil) {
		at++
		n.cell(ctx, &b, at, n.Cells[at-1])
	}
	return template.HTML(b.String()), at
}

func (n *Notebook) cell(ctx context.Context, b *strings.Builder, number int, c *notebookCell) {
	fmt.Fprintf(b, `<div class="cell" data-cell="%d">`, number)
	switch c.Type {
	case "markdown":
		b.WriteString(string(markdownOf(c.Source)))
	case "code":
		count := " "
		if c.Count != nil {
			count = strconv.Itoa(*c.Count)
		}
		b.WriteString(`<span class="cell-n">[` + count + `]</span>`)
		language := n.Metadata.Language.Name
		if language == "" {
			language = n.Metadata.Kernel.Language
		}
		b.WriteString(string(markdown.Code(language, string(c.Source))))
	default:
		b.WriteString(string(markdown.Code("", string(c.Source))))
	}
	for i, o := range c.Outputs[:min(len(c.Outputs), maxCellOut)] {
		if o == nil {
			continue
		}
		b.WriteString(`<div class="cell-out">`)
		o.show(ctx, b, number, i+1)
		b.WriteString("</div>")
	}
	if left := len(c.Outputs) - maxCellOut; left > 0 {
		b.WriteString(remark(wording.Count(left) + " more outputs of this cell are in its source."))
	}
	b.WriteString("</div>\n")
}

func markdownOf(text cellLines) template.HTML {
	d := markdown.NewDocument(markdown.Inline(string(text)))
	html, _ := d.HTML(1, d.Len())
	return html
}

// remark is a sentence of ours in a cell.
func remark(sentence string) string {
	return `<p class="cell-said">` + render.EscapeText(sentence) + "</p>"
}

// show shows what a cell wrote, in the best of the forms it wrote it in.
func (o *cellOutput) show(ctx context.Context, b *strings.Builder, cell, number int) {
	switch o.Type {
	case "stream":
		written(ctx, b, string(o.Text))
		return
	case "error":
		trace := strings.Join(o.Traceback, "\n")
		if trace == "" {
			trace = o.Name + ": " + o.Value
		}
		written(ctx, b, trace)
		return
	}
	for _, t := range pictureTypes {
		if data, ok := o.Data[t]; ok && cellPicture(b, t, string(data)) {
			return
		}
	}
	if text, ok := o.Data["text/markdown"]; ok {
		b.WriteString(string(markdownOf(text)))
		return
	}
	text, plain := o.Data["text/plain"]
	if plain {
		written(ctx, b, string(text))
	}
	if o.page() != "" {
		fmt.Fprintf(b,
			`<button type="button" class="btn quiet" data-html="cell=%d&amp;output=%d">Show as HTML</button>`, cell, number)
		return
	}
	if !plain {
		b.WriteString(remark("What this cell wrote has no form that is shown here: it is in the source."))
	}
}

// page is what a cell wrote as HTML, or as a drawing, which is shown in the same way.
func (o *cellOutput) page() string {
	if text := o.Data["text/html"]; text != "" {
		return string(text)
	}
	return string(o.Data["image/svg+xml"])
}

// pictureTypes are the types of pictures that a notebook may hold, the best first.
var pictureTypes = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// cellPicture writes a picture that a script shows; it reports whether it is one.
func cellPicture(b *strings.Builder, mediaType, data string) bool {
	raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(data), ""))
	if err != nil || pictures.Picture(raw) != mediaType {
		return false
	}
	width, height, err := pictures.Size(raw)
	if err != nil || width*height > maxCellPixels {
		return false
	}
	fmt.Fprintf(b, `<span class="pic-ref" data-picture="%s" data-bytes="%s">Picture of %d × %d</span>`,
		mediaType, base64.StdEncoding.EncodeToString(raw), width, height)
	return true
}

const maxCellPixels = 100e6

// written is a text that a cell wrote, drawn as a terminal does.
func written(ctx context.Context, b *strings.Builder, text string) {
	left := len(text) - cellText
	if left > 0 {
		text = strings.ToValidUTF8(text[:cellText], "")
	}
	t := terminal.New(strings.NewReader(text), 1)
	limited, cancel := context.WithTimeout(ctx, render.WorkLimit)
	defer cancel()
	if err := t.Advance(limited, int64(len(text))); err != nil || !t.Drawn() {
		b.WriteString(string(markdown.Code("", text)))
	} else {
		b.WriteString(`<div class="cell-text terminal" tabindex="0">` + string(t.Rows(1, t.Total())) +
			"</div>")
	}
	if left > 0 {
		b.WriteString(remark(wording.Size(int64(left)) + " more are in the source."))
	}
}
