package views

import (
	"context"
	"strconv"
	"time"

	"webchat/internal/outputs"
	"webchat/internal/render"
)

// forest is values in values.
type forest interface {
	// children returns children of the value with this handle, from the from-th on
	// (from 1) and n at most, and how many it has. The handle of all is "".
	children(ctx context.Context, at string, from, n int) ([]render.Node, int, error)
	// index finds what children needs, until stop.
	index(ctx context.Context, stop func() bool) error
}

var errNoNode = refuse("no_node", "There is no such value: give at as it stands in data-at.")

// foldedFrom is how many children of a value are shown before the rest is a range.
const (
	foldedFrom  = 100
	maxChildren = 1000
)

// tree is children of a value, each a list item; those of a value that stands alone
// are shown with it.
func (h *Views) tree(ctx context.Context, o *outputs.Output, k *kind, a Ask) (w Window, err error) {
	d := h.document(o)
	d.seen.mu.Lock()
	defer d.seen.mu.Unlock()
	t, ok := d.seen.blobs[Tree].(forest)
	if !ok {
		switch k.format {
		case yaml:
			t, err = parseYAML(o)
		case toml:
			t, err = parseTOML(o)
		default:
			t = newJSONTree(o, k.format == jsonLines)
		}
		if err != nil {
			return w, err
		}
		d.seen.keep(Tree, t)
	}
	until := time.Now().Add(indexTime)
	if !ok {
		until = time.Now().Add(firstTime)
	}
	if err := t.index(ctx, func() bool { return time.Now().After(until) }); err != nil {
		return w, err
	}
	rows := min(a.Rows, maxChildren)
	if a.From == 1 { // the rest is a range
		rows = min(rows, foldedFrom)
	}
	nodes, total, err := t.children(ctx, a.At, a.From, rows)
	if err != nil {
		return w, err
	}
	for i := range nodes {
		if err := open(ctx, t, &nodes[i], a.At == "" && total == 1); err != nil {
			return w, err
		}
	}
	to := a.From + len(nodes) - 1
	w = window(render.Tree(nodes, total-to, to), a.From, to, total)
	if j, ok := t.(*jsonTree); ok {
		w.Partial = !j.complete
		if j.broken {
			w.Header = map[string]string{"Broken": strconv.Itoa(j.line)}
		}
	}
	return w, nil
}

// open adds a value's children to it.
func open(ctx context.Context, t forest, n *render.Node, whole bool) (err error) {
	if !whole || n.At == "" {
		return nil
	}
	n.Children, _, err = t.children(ctx, n.At, 1, foldedFrom)
	return err
}
