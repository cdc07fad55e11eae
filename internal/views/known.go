package views

import (
	"context"

	"webchat/internal/outputs"
)

// Known is a view that outputs may have.
type Known struct {
	Name  string `json:"name"`
	Label string `json:"label,omitempty"` // of the button that chooses it; empty: it cannot be chosen
	Rows  int    `json:"rows,omitempty"`  // how many a page reads at once
	Class string `json:"class,omitempty"` // of the element that its rows stand in
	Lines bool   `json:"lines,omitempty"` // its rows are the output's lines
	Card  bool   `json:"-"`               // a card shows it in place of lines

	window func(*Views, context.Context, asked) (outputs.Window, error)
}

// asked is what a window is made of.
type asked struct {
	outputs.Ask
	o, text *outputs.Output // the same, and as UTF-8
	kind    *kind
}

// All are the views. What a kind of text has of them is in kind.go.
var All = []Known{
	{Name: Source, Label: "Source", Lines: true, Card: true, window: (*Views).lines},
	{Name: Terminal, Label: "Terminal", Lines: true, window: (*Views).lines},
	{Name: Preview, Label: "Preview", Rows: 5000, Class: "said", Card: true,
		window: func(h *Views, _ context.Context, a asked) (outputs.Window, error) {
			return h.preview(a.text, a.Ask)
		}},
	{Name: Notebook, Label: "Cells", Rows: 5000, Class: "said", Card: true, window: (*Views).cells},
	{Name: Page, Label: "Page", window: refused("no_html",
		"A page has an address of its own: ask for /api/outputs/{id}/page.")},
	{
		Name:  Table,
		Label: "Table",
		Rows:  500,
		Card:  true,
		window: func(h *Views, ctx context.Context, a asked) (outputs.Window, error) {
			if a.kind.db != nil {
				return a.kind.db.rows(ctx, a.o, a.Ask)
			}
			return h.table(ctx, a.text, a.kind, a.Ask)
		},
	},
	{Name: Tree, Label: "Tree", Rows: 100, Card: true,
		window: func(h *Views, _ context.Context, a asked) (outputs.Window, error) {
			return h.tree(a.text, a.kind, a.Ask)
		}},
	{Name: Hex, Label: "Hex", Rows: 4096, Class: "code",
		window: func(_ *Views, _ context.Context, a asked) (outputs.Window, error) {
			return hexRows(a.o, a.Ask)
		}},
	{Name: List, Label: "List", Rows: 1000, Class: "code",
		window: func(h *Views, ctx context.Context, a asked) (outputs.Window, error) {
			return h.list(ctx, a.text, a.kind, a.Ask)
		}},
	{Name: Diff, Label: "Changes", Rows: 5000, Class: "code diff", window: (*Views).changes},
	{Name: Schema, Label: "Schema", Rows: 5000, Class: "code",
		window: func(_ *Views, ctx context.Context, a asked) (outputs.Window, error) {
			return a.kind.db.schema(ctx, a.Ask)
		}},
	{Name: App, Label: "App", window: elsewhere},
	{Name: Audio, Label: "Audio", window: elsewhere},
	{Name: Video, Label: "Video", window: elsewhere},
	{Name: Picture, window: refused("no_html",
		"A picture is shown by its bytes: ask for the output without a format.")},
	{Name: Failure, window: func(h *Views, ctx context.Context, a asked) (outputs.Window, error) {
		return h.failure(ctx, a.text)
	}},
}

// Of is the view of a name; the zero view if there is none.
func Of(name string) Known {
	for _, v := range All {
		if v.Name == name {
			return v
		}
	}
	return Known{}
}

func refused(code, sentence string) func(*Views, context.Context, asked) (outputs.Window, error) {
	return func(*Views, context.Context, asked) (outputs.Window, error) {
		return outputs.Window{}, refuse(code, sentence)
	}
}

// elsewhere is the window of what a page plays: the bytes have an address of their own.
func elsewhere(*Views, context.Context, asked) (outputs.Window, error) {
	return window("", 0, 0, 0), nil
}

func (h *Views) lines(ctx context.Context, a asked) (outputs.Window, error) {
	if len(a.Filter) > 0 {
		return h.filtered(ctx, a.text, a.Ask)
	}
	return h.source(ctx, a.text, a.Ask)
}

func (*Views) cells(ctx context.Context, a asked) (outputs.Window, error) {
	from, to := cut(a.Ask, a.kind.cells.Len())
	html, last := a.kind.cells.HTML(ctx, from, to)
	return window(html, from, last, a.kind.cells.Len()), nil
}

func (h *Views) changes(ctx context.Context, a asked) (outputs.Window, error) {
	if a.With == nil {
		if a.With = h.was(a.o); a.With != nil && a.o.IsVeiled() {
			a.With = a.With.Veiled()
		}
	}
	return h.diff(ctx, a.text, a.Ask)
}
