package views

import (
	"bytes"
	"io"
	"path"
	"slices"
	"strings"
	"sync"

	"webchat/internal/outputs"
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
	Picture  = "picture"  // the bytes themselves, which a page shows as a picture
	Failure  = "failure"  // the first failure of a command; part of its terminal
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
)

// kind is what an output is, by its content; its name and description only say what
// to try.
type kind struct {
	format format
	comma  byte     // of csv
	views  []string // the default first
}

const (
	sniffed    = 64 << 10 // bytes a kind is told by
	maxPreview = 4 << 20  // bytes of Markdown
	maxParsed  = 512 << 10
)

// seen is what views know of an output, and goes with its document.
type seen struct {
	mu    sync.Mutex // guards what follows; held while it is worked out
	kind  *kind
	blobs map[string]any // what each view keeps, by its name
}

// Of implements the interface Views of package serve.
func (h *Views) Of(o *outputs.Output) []string {
	list := h.kindOf(o).views
	if h.was(o) == nil || !slices.Contains(list, Diff) {
		return list
	}
	return append([]string{Diff}, slices.DeleteFunc(slices.Clone(list), func(v string) bool { return v == Diff })...)
}

// was is what a file was, if the output holds that and it is still there.
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
	case m.Binary:
		return &kind{views: []string{Hex}}
	}
	d := h.document(o.Text())
	d.seen.mu.Lock()
	defer d.seen.mu.Unlock()
	if d.seen.kind == nil {
		d.seen.kind = textKind(d.of, &m)
	}
	return d.seen.kind
}

// textKind looks at the beginning of a text.
func textKind(o *outputs.Output, m *outputs.Meta) *kind {
	head := make([]byte, min(o.Size(), sniffed))
	n, err := o.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return &kind{views: []string{Source, Diff}}
	}
	k := &kind{views: []string{Source, Diff}}
	if cut := m.Gap != nil || m.Truncated || m.StartLine > 1 || m.EndLine < m.TotalLines && m.EndLine > 0; !cut {
		k.structure(bytes.TrimPrefix(head[:n], []byte("\ufeff")), o, m)
	}
	if k.format == plain && (m.Highlight == "markdown" || m.Highlight == "Markdown") && o.Size() <= maxPreview {
		k.format, k.views = prose, slices.Insert(k.views, 0, Preview)
	}
	if k.format == plain && m.Gap == nil {
		k.records(head[:n], int64(n) == o.Size(), m)
	}
	return k
}

// structure tells texts of which a beginning is not enough to show the rest.
func (k *kind) structure(head []byte, o *outputs.Output, m *outputs.Meta) {
	ext := strings.ToLower(path.Ext(m.Path))
	switch first := bytes.TrimLeft(head, " \t\r\n"); {
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
	if k.format != plain || o.Size() > maxParsed {
		return
	}
	switch {
	case m.Highlight == "YAML" || ext == ".yml" || ext == ".yaml":
		if _, err := parseYAML(o); err == nil {
			k.format, k.views = yaml, []string{Source, Tree, Diff}
		}
	case m.Highlight == "TOML" || ext == ".toml":
		if _, err := parseTOML(o); err == nil {
			k.format, k.views = toml, []string{Source, Tree, Diff}
		}
	}
}

// records tells whether a text is a table.
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

// sameFields returns how many fields the first records have if most have as many; 0: they do not.
func sameFields(head []byte, whole bool, comma byte) int {
	var p csvParser
	p.comma = comma
	counts := map[int]int{}
	records := 0
	for len(head) > 0 && records < 200 {
		cells, n, ok := p.record(head, whole)
		if !ok {
			break
		}
		if head = head[n:]; len(cells) == 1 && len(cells[0]) == 0 {
			continue
		}
		counts[len(cells)]++
		records++
	}
	for n, k := range counts {
		if k*4 >= records*3 && (records > 2 || records > 0 && whole) {
			return n
		}
	}
	return 0
}
