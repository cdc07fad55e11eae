package markdown

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"strconv"
	"strings"

	"webchat/internal/render"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

var errDeep = errors.New("it nests too deep")

// codeNode is code that is HTML already.
type codeNode struct {
	ast.BaseBlock
	html string
}

var kindCode = ast.NewNodeKind("ColouredCode")

// Kind implements ast.Node.
func (*codeNode) Kind() ast.NodeKind { return kindCode }

// Dump implements ast.Node.
func (n *codeNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// proseRenderer shows what goldmark's own renderer would show otherwise.
type proseRenderer struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (proseRenderer) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(kindCode, once(func(w util.BufWriter, _ []byte, n ast.Node) {
		put(w, n.(*codeNode).html)
	}))
	r.Register(ast.KindHeading, around(func(n ast.Node) (string, string) {
		h := "h" + string('0'+rune(min(6, n.(*ast.Heading).Level+3)))
		open := "<" + h + ">"
		if id, ok := n.AttributeString("id"); ok {
			open = "<" + h + ` id="` + id.(string) + `">`
		}
		return open, "</" + h + ">\n"
	}))
	r.Register(ast.KindListItem, around(func(n ast.Node) (string, string) {
		open := "<li>"
		if c := n.FirstChild(); c != nil && c.FirstChild() != nil &&
			c.FirstChild().Kind() == east.KindTaskCheckBox {
			open = `<li class="task">`
		}
		return open, "</li>\n"
	}))
	r.Register(east.KindTaskCheckBox, once(func(w util.BufWriter, _ []byte, n ast.Node) {
		box := "☐"
		if n.(*east.TaskCheckBox).IsChecked {
			box = "☑"
		}
		put(w, `<span class="box">`+box+`</span> `)
	}))
	r.Register(east.KindTable, around(func(ast.Node) (string, string) {
		return `<div class="table" tabindex="0"><table>`, "</table></div>\n"
	}))
	r.Register(east.KindTableHeader, around(func(n ast.Node) (string, string) {
		after := "</tr></thead>"
		if n.NextSibling() != nil {
			after += "<tbody>"
		}
		return "<thead><tr>", after
	}))
	r.Register(east.KindTableRow, around(func(n ast.Node) (string, string) {
		if n.NextSibling() == nil {
			return "<tr>", "</tr></tbody>"
		}
		return "<tr>", "</tr>"
	}))
	r.Register(east.KindTableCell, around(tableCell))
	r.Register(ast.KindAutoLink, once(autoLink))
	r.Register(ast.KindLink, link)
	r.Register(ast.KindImage, once(image))
	r.Register(kindFormula, once(func(w util.BufWriter, _ []byte, n ast.Node) {
		put(w, n.(*formulaNode).html())
	}))
	r.Register(kindNoteRef, once(func(w util.BufWriter, _ []byte, n ast.Node) {
		number := strconv.Itoa(n.(*noteRef).number)
		put(w, `<sup class="note-ref" id="`+anchorPrefix+"fnref:"+number+`"><a href="#fn:`+number+`">`+
			number+"</a></sup>")
	}))
}

// mark marks for the renderer what is of a document: a heading with an id, links and pictures that
// may name files beside it.
func (b *Block) mark(doc ast.Node) {
	if first := doc.FirstChild(); b.anchor != "" && first != nil && first.Kind() == ast.KindHeading {
		first.SetAttributeString("id", b.anchor)
	}
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // never fails
		if entering && (n.Kind() == ast.KindLink || n.Kind() == ast.KindImage) {
			n.SetAttributeString("document", true)
			if i, ok := n.(*ast.Image); ok {
				b.doc.far(i)
			}
		}
		return ast.WalkContinue, nil
	})
}

// around writes what stands before and after a node's children.
func around(tags func(ast.Node) (before, after string)) renderer.NodeRendererFunc {
	return func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		before, after := tags(n)
		if entering {
			put(w, before)
		} else {
			put(w, after)
		}
		return ast.WalkContinue, nil
	}
}

// once writes a node without its children.
func once(write func(util.BufWriter, []byte, ast.Node)) renderer.NodeRendererFunc {
	return func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			write(w, source, n)
		}
		return ast.WalkSkipChildren, nil
	}
}

// put writes to a buffer in memory, which keeps any error for its end.
func put(w util.BufWriter, s string) { _, _ = w.WriteString(s) }

func tableCell(n ast.Node) (before, after string) {
	tag, class := "td", ""
	if n.Parent().Kind() == east.KindTableHeader {
		tag = "th"
	}
	switch n.(*east.TableCell).Alignment {
	case east.AlignRight:
		class = ` class="right"`
	case east.AlignCenter:
		class = ` class="center"`
	}
	return "<" + tag + class + ">", "</" + tag + ">"
}

func autoLink(w util.BufWriter, source []byte, n ast.Node) {
	a := n.(*ast.AutoLink)
	address, label := string(a.URL(source)), string(a.Label(source))
	if a.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(address), "mailto:") {
		address = "mailto:" + address
	}
	if address, ok := safeAddress(address); ok {
		put(w, render.OpenLink(address)+render.EscapeText(label)+"</a>")
		return
	}
	put(w, render.EscapeText(label))
}

func link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	destination := string(n.(*ast.Link).Destination)
	address, ok := safeAddress(destination)
	inside := ""
	if _, in := n.AttributeString("document"); in && !ok {
		if to, ok := beside(destination); ok && to[0] == '#' {
			inside = `<a href="` + render.EscapeText(to) + `">`
		} else if ok {
			inside = `<a href="#src" data-to="` + render.EscapeText(to) + `">`
		}
	}
	switch {
	case inside != "" && entering:
		put(w, inside)
	case inside != "":
		put(w, "</a>")
	case entering && ok:
		put(w, render.OpenLink(address))
	case entering:
	case ok:
		put(w, "</a>")
	}
	return ast.WalkContinue, nil
}

// image shows a picture's description: nothing is loaded, but of a document beside which it is.
func image(w util.BufWriter, source []byte, n ast.Node) {
	alt := render.EscapeText(cmp.Or(plainText(n, source), "picture"))
	_, in := n.AttributeString("document")
	if to, ok := beside(string(n.(*ast.Image).Destination)); in && ok {
		put(w, `<span class="pic-ref" data-to="`+render.EscapeText(to)+`">`+alt+"</span>")
		return
	}
	far := ""
	if name, ok := n.AttributeString("far"); ok {
		host, _ := n.AttributeString("host")
		far = ` data-far="` + name.(string) + `" data-host="` + render.EscapeText(host.(string)) + `"`
	}
	put(w, `<span class="pic-ref"`+far+`>`+alt+"</span>")
}

// far has the renderer name a picture of another site that can be fetched: by https.
func (d *Document) far(n *ast.Image) {
	address, ok := safeAddress(string(n.Destination))
	u, err := url.Parse(address)
	if !ok || err != nil || u.Scheme != "https" || u.User != nil || len(d.pictures) == maxPictures {
		return
	}
	sum := sha256.Sum256([]byte(address))
	name := hex.EncodeToString(sum[:8])
	if d.pictures == nil {
		d.pictures = map[string]string{}
	}
	d.pictures[name] = address
	n.SetAttributeString("far", name)
	n.SetAttributeString("host", u.Hostname())
}

// Picture is the address of a picture of another site among what was drawn so far, by the name that
// its data-far has.
func (d *Document) Picture(name string) (address string, ok bool) {
	address, ok = d.pictures[name]
	return address, ok
}

// safeAddress returns an address as it may be followed, in plain ASCII.
func safeAddress(address string) (string, bool) {
	return render.SafeAddress(string(util.URLEscape([]byte(address), true)))
}

// plainText is the text of a node without its marks.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	// never fails: it only reads
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch t := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(t.Value(source))
			}
		case *ast.String:
			if entering {
				b.Write(t.Value)
			}
		case *ast.AutoLink:
			if entering {
				b.Write(t.Label(source))
			}
		case *formulaNode:
			if entering {
				b.WriteString(t.tex)
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
