package views

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"webchat/internal/outputs"
)

// A page is HTML that a file or a cell of a notebook holds, for a frame that runs nothing, sends
// nothing and loads nothing: the headers of its route see to that. What would still have a browser
// look up a name or open a connection is taken out here, and links lead to places in it only.
var dropped = map[string]bool{"script": true, "link": true, "meta": true, "base": true, "iframe": true, "frame": true, "frameset": true,
	"object": true, "embed": true, "portal": true, "applet": true, "noscript": true, "template": true}

// maxPage is how large HTML may be that is shown as a page, in bytes.
const maxPage = 4 << 20

// ErrNoPage is the error for an output without such a page.
var ErrNoPage = errors.New("this output has no page")

// Page returns an HTML file, or what a cell of a notebook wrote as HTML (both count from 1), as a
// page that loads nothing. [ErrNoPage] if there is none.
func (h *Views) Page(o *outputs.Output, cell, output int) ([]byte, error) {
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
	return still(text)
}

// still parses HTML and writes it without what is [dropped].
func still(text []byte) ([]byte, error) {
	doc, err := html.Parse(bytes.NewReader(text))
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
					return a.Key == "ping" || a.Key == "target" || a.Key == "href" && !strings.HasPrefix(a.Val, "#")
				})
				next = append(next, c)
			}
			c = after
		}
	}
	var out bytes.Buffer
	if err := html.Render(&out, doc); err != nil && err != io.EOF {
		return nil, ErrNoPage
	}
	return out.Bytes(), nil
}
