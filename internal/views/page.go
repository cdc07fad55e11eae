package views

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"

	"webchat/internal/outputs"
	"webchat/internal/veil"
)

// A page is HTML that a file or a cell of a notebook holds, for a frame that runs nothing, sends
// nothing and loads nothing: the headers of its route see to that. What would still have a browser
// look up a name or open a connection is taken out here, and links lead to places in it only.
var dropped = map[string]bool{"script": true, "link": true, "meta": true, "base": true,
	"iframe": true, "frame": true, "frameset": true,
	"object": true, "embed": true, "portal": true, "applet": true, "noscript": true, "template": true}

// Bounds of a page. There is HTML of 4 MB that takes minutes and gigabytes to parse: of many <html>
// with attributes, or of formatting that is opened again in each paragraph.
const (
	maxPage    = 4 << 20     // bytes of HTML
	maxWritten = 2 * maxPage // of what is made of it
	pageTime   = time.Second
)

// parsing holds one place, so that what parsing needs is never needed twice.
var parsing = make(chan struct{}, 1)

// ErrNoPage is the error for an output without such a page.
var ErrNoPage = errors.New("this output has no page")

// Page returns an HTML file, or what a cell of a notebook wrote as HTML (both count from 1), as a
// page that loads nothing. [ErrNoPage] if there is none, or it takes too much to make.
func (h *Views) Page(ctx context.Context, o *outputs.Output, cell, output int) ([]byte, error) {
	k := h.kindOf(o)
	var text []byte
	switch {
	case k.format == webPage:
		all, err := readPart(o.Text(), 0, o.Text().Size())
		if err != nil {
			return nil, err
		}
		text = all
	case k.cells != nil:
		text = []byte(k.cells.Page(cell, output))
	}
	if len(text) == 0 || len(text) > maxPage {
		return nil, ErrNoPage
	}
	select {
	case parsing <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-parsing }()
	ctx, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	return still(ctx, text, o.Veiled().IsVeiled())
}

// still parses HTML and writes it without what is [dropped]; veiled, with dots in place of what
// looks like a secret.
func still(ctx context.Context, text []byte, veiled bool) ([]byte, error) {
	doc, err := html.Parse(timed{ctx, bytes.NewReader(text)})
	if err != nil {
		return nil, ErrNoPage
	}
	next := []*html.Node{doc}
	for len(next) > 0 {
		n := next[len(next)-1]
		next = next[:len(next)-1]
		for c := n.FirstChild; c != nil; {
			after := c.NextSibling
			if c.Type == html.ElementNode && dropped[strings.ToLower(c.Data)] || c.Type == html.CommentNode {
				n.RemoveChild(c)
			} else {
				c.Attr = slices.DeleteFunc(c.Attr, func(a html.Attribute) bool {
					return a.Key == "ping" || a.Key == "target" || a.Key == "href" &&
						!strings.HasPrefix(a.Val, "#")
				})
				next = append(next, c)
			}
			c = after
		}
	}
	if veiled {
		veilPage(doc)
	}
	var out bounded
	if err := html.Render(&out, doc); err != nil && err != io.EOF {
		return nil, ErrNoPage
	}
	return out.Bytes(), nil
}

// apart are elements whose text begins a line, or a cell, of its own.
var apart = map[string]byte{"p": '\n', "div": '\n', "br": '\n', "pre": '\n', "tr": '\n', "li": '\n',
	"dt": '\n', "dd": '\n', "section": '\n', "blockquote": '\n',
	"h1": '\n', "h2": '\n', "h3": '\n', "h4": '\n', "h5": '\n', "h6": '\n', "td": '\t', "th": '\t',
	"option": '\n', "input": '\n', "textarea": '\n'}

// veilPage covers the text of a page as one, since a name and its value may stand in elements of
// their own, and what attributes show.
func veilPage(doc *html.Node) {
	type place struct {
		node     *html.Node
		from, to int
	}
	var text []byte
	var places []place
	for n := range doc.Descendants() {
		switch {
		case n.Type == html.ElementNode:
			if c := apart[n.Data]; c != 0 {
				text = append(text, c)
			}
			veilAttributes(n)
		case n.Type == html.TextNode && n.Parent.Data != "style":
			from := len(text)
			text = append(text, n.Data...)
			places = append(places, place{n, from, len(text)})
		}
	}
	spans := veil.Spans(text)
	veil.Cover(text, spans)
	for _, s := range spans {
		i, _ := slices.BinarySearchFunc(places, s.From, func(p place, at int) int {
			return cmp.Compare(p.to, at+1)
		})
		for ; i < len(places) && places[i].from < s.To; i++ {
			p := places[i]
			p.node.Data = string(veil.Dotted(bytes.ToValidUTF8(text[p.from:p.to], []byte("•"))))
		}
	}
}

// veilAttributes covers what a browser shows of attributes.
func veilAttributes(n *html.Node) {
	secret := false // what is typed into it
	for _, a := range n.Attr {
		secret = secret || n.Data == "input" && (a.Key == "name" || a.Key == "id") && veil.Name(a.Val)
	}
	for i, a := range n.Attr {
		switch {
		case a.Key == "value" && secret:
			n.Attr[i].Val = veil.Dots
		case slices.Contains([]string{"value", "title", "alt", "placeholder", "label"}, a.Key):
			n.Attr[i].Val = veil.Hide(a.Val)
		}
	}
}

// timed is read until ctx ends.
type timed struct {
	ctx  context.Context
	from io.Reader
}

// Read implements [io.Reader].
func (t timed) Read(p []byte) (int, error) {
	if err := t.ctx.Err(); err != nil {
		return 0, err
	}
	return t.from.Read(p)
}

// bounded takes up to [maxWritten] bytes.
type bounded struct{ bytes.Buffer }

// Write implements [io.Writer].
func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxWritten {
		return 0, ErrNoPage
	}
	return b.Buffer.Write(p)
}
