package views

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"

	types "webchat/internal/kind"
	"webchat/internal/outputs"
	"webchat/internal/render/markdown"
	"webchat/internal/render/notebook"
	"webchat/internal/wording"
)

// Names of views.
const (
	Source   = "source"   // the lines of a text
	Preview  = "preview"  // Markdown as it reads
	Table    = "table"    // records
	Tree     = "tree"     // values in values
	Diff     = "diff"     // what differs from another output
	Hex      = "hex"      // bytes
	List     = "list"     // names in a folder
	Terminal = "terminal" // what a command wrote
	Page     = "page"     // HTML as a browser shows it, without scripts and network
	Notebook = "notebook" // cells of a notebook
	Picture  = "picture"  // the bytes themselves, which a page shows as a picture
	Audio    = "audio"    // a sound, which a page plays
	Video    = "video"    // moving pictures, which a page plays
	Schema   = "schema"   // what the tables of a database are made by
	Failure  = "failure"  // the first failure of a command; part of its terminal
	App      = "app"      // as a page of the MCP server that returned it draws it
)

// format is how a text is structured.
type format int

const (
	plain format = iota
	prose
	csv
	jsonValue
	jsonLines
	yaml
	toml
	inCells  // of a notebook
	webPage  // HTML
	compared // no format: each of two texts that are compared
)

// kind is what an output is, by its content; its name and description only say what to try.
type kind struct {
	format format
	comma  byte     // of csv
	views  []string // the default first
	above  []string // views it would have if it were smaller, and a sentence that says so
	note   string
	forest forest             // that a look at it made
	cells  *notebook.Notebook // the same

	entries []inFolder // of an archive
	db      *database
}

const sniffed = 64 << 10 // bytes by which a kind is recognised

// limits is up to which size a text is more than lines. What is made of it is made of all of it
// within 500 ms on two cores, and kept with the output. BenchmarkLimits, in milliseconds of one
// core (AMD EPYC), of usual texts and of the densest:
var limits = map[format]struct {
	bytes int64
	name  string
}{
	csv:       {16 << 20, "CSV"},     // 57; 136 if a third of the rows is broken
	jsonValue: {16 << 20, "JSON"},    // 108 as a table; 357 as a tree of 8 million numbers
	jsonLines: {16 << 20, "JSON"},    // 26 as a tree, 108 as a table
	yaml:      {512 << 10, "YAML"},   // 64 and 131
	toml:      {512 << 10, "TOML"},   // 10
	prose:     {4 << 20, "Markdown"}, // 80 with its first 128 KB of HTML, 40 of a list of links
	inCells:   {16 << 20, "A notebook"},
	webPage:   {maxPage, "HTML"},
	compared:  {16 << 20, ""}, // 180 for two logs of 240,000 lines (BenchmarkCompare)
}

const maxInlined = 512 << 10 // bytes of Markdown whose HTML is looked at

// seen is what views derived from an output. It is kept with its document.
type seen struct {
	mu   sync.Mutex // guards what follows; held while it is worked out
	kind *kind

	table   *records
	tree    forest
	preview *markdown.Document
	diff    *comparison
}

// Of implements outputs.Views.
func (h *Views) Of(o *outputs.Output) []string {
	list := h.kindOf(o).views
	if h.drawn(o) {
		return append([]string{App}, list...)
	}
	if h.was(o) == nil || !slices.Contains(list, Diff) {
		return list
	}
	return append([]string{Diff}, slices.DeleteFunc(slices.Clone(list), func(v string) bool {
		return v == Diff
	})...)
}

// was returns the output that holds the file's earlier content, if it still exists.
func (h *Views) was(o *outputs.Output) *outputs.Output {
	id := o.Meta().Was
	if id == "" {
		return nil
	}
	if was, err := h.store.Get(id); err == nil {
		return was
	}
	return nil
}

// drawn reports whether a page draws the output, which is still there.
func (h *Views) drawn(o *outputs.Output) bool {
	id := o.Meta().App
	if id == "" {
		return false
	}
	_, err := h.store.Get(id)
	return err == nil
}

func (h *Views) kindOf(o *outputs.Output) *kind {
	m := o.Meta()
	switch {
	case m.Type == outputs.Terminal:
		return &kind{views: []string{Terminal, Diff}}
	case m.Type == outputs.Image && strings.HasPrefix(m.MimeType, "image/svg"):
		return &kind{views: []string{Picture, Source, Hex}}
	case m.Type == outputs.Image:
		return &kind{views: []string{Picture, Hex}}
	case m.MimeType == outputs.FolderType:
		return &kind{views: []string{List}}
	case m.Binary && !o.Complete():
		return &kind{views: []string{Hex}}
	}
	d := documentOf(o.Text())
	d.seen.mu.Lock()
	defer d.seen.mu.Unlock()
	switch {
	case d.seen.kind != nil:
	case m.Binary:
		d.seen.kind = bytesKind(d.of, &m)
	default:
		d.seen.kind = textKind(d.of, &m)
	}
	return d.seen.kind
}

// Media types of what is more than bytes.
const (
	zipType    = "application/zip"
	gzipType   = "application/gzip"
	zstdType   = "application/zstd"
	tarType    = "application/x-tar"
	sqliteType = "application/vnd.sqlite3"
)

// bytesKind looks at the beginning of binary content. What cannot be shown as what it seems to be
// is bytes, with a sentence.
func bytesKind(o *outputs.Output, m *outputs.Meta) *kind {
	k := &kind{views: []string{Hex}}
	head := make([]byte, min(o.Size(), sniffed))
	n, err := o.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return k
	}
	mediaType, _ := types.Of(head[:n])
	if played := types.Media(head[:n]); played != "" {
		mediaType = played
	}
	player, _, _ := strings.Cut(mediaType, "/")
	plays := player == Audio || player == Video
	switch known := plays || slices.Contains([]string{zipType, gzipType, zstdType, tarType,
		sqliteType}, mediaType); {
	case !known:
	case m.Gap != nil || m.Truncated:
		k.note = "This file is too large to be kept whole, so its bytes are shown."
	case plays:
		k.views = []string{player, Hex}
	case mediaType == sqliteType:
		k.tables(context.Background(), o)
	default:
		k.members(context.Background(), o, mediaType)
	}
	return k
}

// textKind looks at the beginning of a text.
func textKind(o *outputs.Output, m *outputs.Meta) *kind {
	head := make([]byte, min(o.Size(), sniffed))
	n, err := o.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return &kind{views: []string{Source, Diff}}
	}
	k := &kind{views: []string{Source, Diff}}
	if cut := m.Gap != nil || m.Truncated || m.StartLine > 1 || m.EndLine < m.TotalLines &&
		m.EndLine > 0; !cut {
		k.structure(trimBOM(head[:n]), o, m)
	}
	switch {
	case k.format != plain || k.note != "" || m.Gap != nil:
	case m.Highlight == "markdown" || m.Highlight == "Markdown":
		k.format, k.views = prose, slices.Insert(k.views, 0, Preview)
	case m.Highlight == "HTML":
		k.format, k.views = webPage, []string{Source, Page, Diff}
	default:
		k.records(head[:n], int64(n) == o.Size(), m)
	}
	k.limit(o.Size())
	return k
}

// limit shows a text that is larger than its format's limit as lines.
func (k *kind) limit(size int64) {
	l, ok := limits[k.format]
	if !ok || size <= l.bytes {
		return
	}
	k.above = slices.DeleteFunc(k.views, func(v string) bool { return v == Source || v == Diff })
	k.note = fmt.Sprintf("%s is shown as a %s up to %s: this has %s, so it is shown as lines.", l.name,
		strings.Join(k.above, " or a "), wording.Limit(l.bytes), wording.Size(size))
	k.format, k.views = plain, []string{Source, Diff}
}

// structure recognises formats that are shown from the whole text.
func (k *kind) structure(head []byte, o *outputs.Output, m *outputs.Meta) {
	ext := strings.ToLower(path.Ext(m.Path))
	switch first := bytes.TrimLeft(head, " \t\r\n"); {
	case ext == ".ipynb" && o.Size() > limits[inCells].bytes:
		k.format, k.views = inCells, []string{Notebook, Source, Diff}
		return
	case ext == ".ipynb":
		text, err := readPart(o, 0, o.Size())
		if err == nil {
			k.cells, err = notebook.Parse(text)
		}
		if err != nil {
			k.note = err.Error()
			return
		}
		k.format, k.views = inCells, []string{Notebook, Source, Tree, Diff}
		k.forest, _ = newForest(o, &kind{format: jsonValue}) // none: there is no tree
		if k.forest == nil {
			k.views = []string{Notebook, Source, Diff}
		}
		return
	case len(first) > 0 && (first[0] == '{' || first[0] == '['):
		values, lists, ok := sniffJSON(head, int64(len(head)) >= o.Size()-3)
		switch {
		case !ok:
		case values > 1:
			k.format, k.views = jsonLines, []string{Tree, Table, Source, Diff}
		case lists:
			k.format, k.views = jsonValue, []string{Tree, Table, Source, Diff}
		default:
			k.format, k.views = jsonValue, []string{Tree, Source, Diff}
		}
	}
	if k.format != plain {
		return
	}
	k.views = []string{Source, Tree, Diff}
	switch {
	case m.Highlight == "YAML" || ext == ".yml" || ext == ".yaml":
		k.format = yaml
	case m.Highlight == "TOML" || ext == ".toml":
		k.format = toml
	}
	if k.format != plain && o.Size() > limits[k.format].bytes {
		return
	}
	if k.format != plain {
		if f, err := newForest(o, k); err == nil {
			k.forest = f
			return
		}
	}
	k.format, k.views = plain, []string{Source, Diff}
}

// records recognises tables.
func (k *kind) records(head []byte, whole bool, m *outputs.Meta) {
	ext := strings.ToLower(path.Ext(m.Path))
	named := ext == ".csv" || ext == ".tsv" || ext == ".tab"
	if !named && m.Highlight != "" {
		return
	}
	least := 3
	if named {
		least = 1
	}
	best := 0
	for _, comma := range []byte{',', '\t', ';', '|'} {
		n := sameFields(head, whole, comma)
		if n == 1 && comma != ',' {
			continue // any text is one column of something
		}
		if n >= least && n > best {
			best, k.comma = n, comma
		}
	}
	switch {
	case best == 0:
	case named:
		k.format, k.views = csv, []string{Table, Source, Diff}
	default:
		k.format, k.views = csv, []string{Source, Table, Diff}
	}
}

// sameFields returns how many fields the first records have if most have as many, but for some that
// cannot be parsed; 0 if they do not.
func sameFields(head []byte, whole bool, comma byte) int {
	counts, records, broken := map[int]int{}, 0, 0
	for r := range csvRecords(head, comma) {
		if r.next == len(head) && !whole || records+broken == 200 {
			break
		}
		if r.broken {
			broken++
			continue
		}
		counts[len(r.cells)]++
		records++
	}
	for n, k := range counts {
		if k*4 >= records*3 && k >= broken && (records > 2 || whole) {
			return n
		}
	}
	return 0
}
