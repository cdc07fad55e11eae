package views

import (
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"webchat/internal/outputs"
)

// aNotebook has a cell of every kind, and writes in every form.
func aNotebook() string {
	var dot strings.Builder
	_ = png.Encode(&dot, image.NewGray(image.Rect(0, 0, 3, 2)))
	picture := base64.StdEncoding.EncodeToString([]byte(dot.String()))
	return `{"nbformat":4,"nbformat_minor":5,"metadata":{"language_info":{"name":"python"}},"cells":[
		{"cell_type":"markdown","source":["# Title\n","\n","Some *text*."]},
		{"cell_type":"code","execution_count":7,"source":"def f():\n    return 1","outputs":[
			{"output_type":"stream","name":"stdout","text":["one\n","\u001b[31mtwo\u001b[0m\n"]},
			{"output_type":"display_data","data":{"image/png":"` + picture[:10] + `\n` + picture[10:] + `","text/plain":"<Figure>"}},
			{"output_type":"execute_result","data":{"text/html":["<b onclick=x>","table</b>"],"text/plain":["plain words"]}},
			{"output_type":"display_data","data":{"image/png":"bm90IGEgcGljdHVyZQ==","text/plain":"instead"}},
			{"output_type":"display_data","data":{"application/json":{"a":[1]}}},
			{"output_type":"error","ename":"E","evalue":"v","traceback":["\u001b[0;31mE\u001b[0m: v"]}]},
		{"cell_type":"raw","source":"<script>raw</script>"}]}`
}

// A notebook is cells with what they wrote: text, Markdown, coloured code, pictures that are
// pictures; HTML only as a page of its own.
func TestNotebookCells(t *testing.T) {
	h := New(outputsOf(t, 1<<30), nil)
	o := file(t, h, "a.ipynb", aNotebook())
	if got := fmt.Sprint(h.Of(o)); got != "[notebook source tree diff]" {
		t.Errorf("views %s", got)
	}
	w, err := h.View(context.Background(), o, outputs.Ask{View: Notebook, From: 1, Rows: 100})
	if err != nil {
		t.Fatal(err)
	}
	checkHarmless(t, "a notebook", w.HTML)
	for _, want := range []string{`>Title</h4>`, "<em>text</em>", `<span class="cell-n">[7]</span>`,
		`<span class="k">def</span>`, `data-picture="image/png"`, "Picture of 3 × 2",
		"plain words", `data-html="cell=2&amp;output=3"`, "instead", "has no form that is shown",
		"&lt;script&gt;raw"} {
		if !strings.Contains(string(w.HTML), want) {
			t.Errorf("no %q in\n%s", want, w.HTML)
		}
	}
	for _, not := range []string{"onclick", "bm90IGE", "&lt;Figure"} {
		if strings.Contains(string(w.HTML), not) {
			t.Errorf("%q in\n%s", not, w.HTML)
		}
	}
	if page, err := h.Page(t.Context(), o, 2, 3); err != nil ||
		!strings.Contains(string(page), "table</b>") {
		t.Errorf("its page is %q, %v", page, err)
	}
	for _, at := range [][2]int{{0, 0}, {1, 1}, {2, 1}, {2, 99}, {99, 1}, {-1, -1}} {
		if _, err := h.Page(t.Context(), o, at[0], at[1]); err != ErrNoPage {
			t.Errorf("a page at %v: %v", at, err)
		}
	}
}

// What is no notebook, or more of one than is drawn, is lines with a sentence that says why.
func TestHostileNotebooks(t *testing.T) {
	h := New(outputsOf(t, 1<<30), nil)
	cell := `{"cell_type":"code","source":"x","outputs":[]}`
	for name, c := range map[string]struct{ text, why string }{
		"cut":        {aNotebook()[:300], "damaged"},
		"a list":     {`[]`, "damaged"},
		"no cells":   {`{"nbformat":4}`, "damaged"},
		"null cells": {`{"nbformat":4,"cells":[null]}`, "damaged"},
		"format 3":   {`{"nbformat":3,"cells":[],"worksheets":[]}`, "format 3"},
		"deep":       {`{"nbformat":4,"cells":` + strings.Repeat("[", 1<<20), "damaged"},
		"deep data": {`{"nbformat":4,"cells":[{"cell_type":"code","outputs":[{"data":{"a":` +
			strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + `}}]}]}`, "damaged"},
		"many cells": {`{"nbformat":4,"cells":[` + strings.Repeat(cell+",", 20_000) + cell + `]}`,
			"10,000"},
		"100 MB": {`{"nbformat":4,"cells":[{"cell_type":"code","source":"` +
			strings.Repeat("x", 100<<20) + `"}]}`, "up to 16"},
	} {
		t.Run(name, func(t *testing.T) {
			o := file(t, h, "x.ipynb", c.text)
			if views := h.Of(o); views[0] != Source {
				t.Fatalf("it is shown as %v", views)
			}
			w, err := h.View(context.Background(), o, outputs.Ask{View: Source, From: 1, Rows: 10})
			if err != nil || !strings.Contains(w.Header["Note"], c.why) ||
				!strings.Contains(w.Header["Note"], "lines") {
				t.Errorf("the note is %q, %v", w.Header["Note"], err)
			}
		})
	}
	slow := file(t, h, "z.ipynb", `{"nbformat":4,"cells":[`+cell+","+cell+`]}`)
	over, end := context.WithCancel(t.Context())
	end()
	if w, err := h.View(over, slow, outputs.Ask{View: h.Of(slow)[0], From: 1, Rows: 10}); err != nil ||
		w.To != 1 || w.Total != 2 {
		t.Errorf("a request whose time is up has rows to %d of %d, %v", w.To, w.Total, err)
	}
	o := file(t, h, "y.ipynb",
		`{"nbformat":4,"cells":[{"cell_type":7},{"cell_type":"markdown","source":{"a":1}},{"cell_type":"code","outputs":[null,{"output_type":"stream","text":"`+strings.Repeat(`\u001b[1mxx\n`, 60_000)+`"}]}]}`)
	if w, err := h.View(context.Background(), o, outputs.Ask{
		View: h.Of(o)[0],
		From: 1,
		Rows: 10,
	}); err == nil {
		checkHarmless(t, "odd cells", w.HTML)
		if len(w.HTML) > 4<<20 {
			t.Errorf("%d bytes", len(w.HTML))
		}
	}
}

// A page has nothing left that would have a browser ask anybody for anything by itself.
func TestPageIsStill(t *testing.T) {
	h := New(outputsOf(t, 1<<30), nil)
	o := put(t, h, outputs.Meta{Type: outputs.File, Path: "a.html", Highlight: "HTML"},
		`<!doctype html><html><head><meta http-equiv=refresh content="0;url=http://a"><link rel=preconnect href=http://a><base href=http://a><script>x</script><style>p{color:red}</style></head>
		<body><p>Words<!-- c --><iframe src=http://a></iframe><svg><script>y</script></svg><a href=http://a ping=http://a>away</a><a href=#x>in</a><object data=http://a></object><template><script>z</script></template>`)
	page, err := h.Page(t.Context(), o, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(page); !strings.Contains(got, "<p>Words") ||
		!strings.Contains(got, "color:red") || !strings.Contains(got, `<a href="#x">in</a>`) ||
		strings.Contains(got, "http:") || strings.Contains(got, "script") ||
		strings.Contains(got, "<!-- c") {
		t.Errorf("it is %s", got)
	}
	deep := put(t, h, outputs.Meta{Type: outputs.File, Path: "b.html", Highlight: "HTML"},
		strings.Repeat("<div>", 100_000))
	if _, err := h.Page(t.Context(), deep, 0, 0); err != nil && err != ErrNoPage {
		t.Error(err)
	}
	if _, err := h.Page(t.Context(), file(t, h, "c.txt", "<p>x"), 0, 0); err != ErrNoPage {
		t.Errorf("a text has a page: %v", err)
	}
}

// HTML that would take minutes to parse is no page, and none takes the next one's place.
func TestPageIsBounded(t *testing.T) {
	h := New(outputsOf(t, 1<<30), nil)
	page := func(text string) error {
		_, err := h.Page(t.Context(), put(t, h, outputs.Meta{
			Type:      outputs.File,
			Path:      "a.html",
			Highlight: "HTML",
		}, "<!doctype html>"+text), 0, 0)
		return err
	}
	attributes := func(tag string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "<%s a%d>", tag, i)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"attributes": attributes("html", 300_000), // each is compared with all before it
		"formatting": attributes("b", 400) + strings.Repeat("<p>x", 900_000),
		"growth":     "<b><i><u><b><i><u><b><i><u>" + strings.Repeat("<p>x", 400_000),
	} {
		// What takes minutes is refused; the others are where the machine is slow.
		if err := page(text); err != ErrNoPage && (err != nil || name == "attributes") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := page("<p>x"); err != nil {
		t.Errorf("the next one: %v", err)
	}
}
