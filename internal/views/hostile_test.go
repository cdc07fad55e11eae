package views

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"webchat/internal/e2e/hostile"
	"webchat/internal/outputs"
)

// everywhere finds every file.
type everywhere struct{}

func (everywhere) Place(_ context.Context, _, _, name string) (string, bool) { return name, true }

// allowed is all that a view may hold: element, attribute, and what its value may be.
var allowed = map[string]map[string]string{
	"div": {"class": names, "data-line": digits, "data-lines": lines, "data-change": digits,
		"data-cell": digits, "tabindex": `^0$`}, "span": {"class": names, "role": `^button$`,
		"tabindex": `^0$`, "aria-label": `^Hidden: [a-zA-Z .:]+$`, "data-to": printed,
		"data-picture": `^image/(png|jpeg|gif|webp)$`, "data-bytes": `^[A-Za-z0-9+/=]+$`,
		"data-open": `^\d+ (key|item)s?$`}, "code": {"class": names}, "pre": {"class": names,
		"tabindex": `^0$`},
	"a": {"class": `^(ln|at-src)$`, "href": `^(#L\d+|#src|#[!-~]*|https?://[^\s"]+|mailto:[^\s"]+)$`,
		"rel": `^noopener noreferrer$`, "target": `^_blank$`,
		"aria-label": `^(Line \d+|Back to the text)$`,
		"data-path":  ``, "data-line": digits, "data-to": printed},
	"button": {"class": names, "type": `^button$`, "data-html": `^cell=\d+&output=\d+$`,
		"data-diagram": `^$`},
	"bdi": {"class": `^err$`, "title": `^U\+[0-9A-F]+$`}, "i": nil, "b": nil, "p": {"class": names},
	"br": nil, "hr": nil, "em": nil, "strong": nil, "del": nil, "h4": {"id": anchors},
	"h5": {"id": anchors}, "h6": {"id": anchors}, "sup": {"class": names, "id": anchors},
	"details": {"class": names, "data-line": digits, "open": ``}, "summary": nil, "blockquote": nil,
	"ul": {"data-at": digits, "data-close": `^[\]}]$`, "role": `^group$`},
	"ol": {"start": digits, "class": names},
	"li": {"class": names, "id": anchors, "role": `^treeitem$`, "aria-expanded": `^(true|false)$`,
		"data-at": digits, "data-step": ``, "data-lines": lines, "data-from": digits},
	"table": {"class": names}, "thead": nil, "tbody": nil, "tr": nil,
	"td": {"class": names, "colspan": digits}, "th": {"class": names, "data-col": digits,
		"aria-sort": `^(ascending|descending)$`},
}

const (
	names   = `^[a-z0-9 -]+$`
	digits  = `^\d+$`
	printed = `^[!-~]+$`
	anchors = `^user-content-[\p{L}\p{Mn}\p{Nd}:_-]*$`
	lines   = `^\d+-\d+$`
)

// checkHarmless fails on anything beyond what is allowed, on tags that do not nest, and on
// characters that hide or turn what is around them.
func checkHarmless(t *testing.T, what string, h []byte) {
	t.Helper()
	z := html.NewTokenizer(bytes.NewReader(h))
	var open []string
	for {
		switch z.Next() {
		case html.ErrorToken:
			if len(open) > 0 {
				t.Fatalf("%s: left open %v in %.300q", what, open, h)
			}
			return
		case html.TextToken:
			if bytes.ContainsAny(z.Text(), "\x1b\x00\x07\x08\u009b") {
				t.Fatalf("%s: a control character in %.300q", what, h)
			}
		case html.CommentToken, html.DoctypeToken:
			t.Fatalf("%s: a comment in %.300q", what, h)
		case html.EndTagToken:
			token := z.Token()
			if len(open) == 0 || open[len(open)-1] != token.Data {
				t.Fatalf("%s: </%s> closes %v in %.300q", what, token.Data, open, h)
			}
			open = open[:len(open)-1]
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			attributes, ok := allowed[token.Data]
			if !ok {
				t.Fatalf("%s: <%s> in %.300q", what, token.Data, h)
			}
			for _, a := range token.Attr {
				pattern, ok := attributes[a.Key]
				if !ok || !regexp.MustCompile(pattern).MatchString(a.Val) ||
					strings.ContainsAny(a.Val, "\u202e\u2066\x1b\x00") {
					t.Fatalf("%s: %s=%q on <%s>", what, a.Key, a.Val, token.Data)
				}
			}
			if token.Data != "br" && token.Data != "hr" {
				open = append(open, token.Data)
			}
		}
	}
}

// wrapped are texts in which what an attacker wrote is a part of something that has more views.
func wrapped(body string) map[string]string {
	quoted := fmt.Sprintf("%q", body)
	cell := `"` + strings.ReplaceAll(body, `"`, `""`) + `"`
	return map[string]string{
		"a.txt": body, "a.md": body, "a.html": body, "a.json": body, "a.csv": body, "a.yaml": body,
		"a.toml": body,
		"b.json": `{"` + strings.ReplaceAll(quoted[1:len(quoted)-1], `\x`, `\u00`) + `":[` +
			strings.ReplaceAll(quoted, `\x`, `\u00`) + `,{"k":"` +
			strings.ReplaceAll(quoted[1:len(quoted)-1], `\x`, `\u00`) + `"}]}`,
		"c.json": `[{"a":1,"<b>":"` + strings.ReplaceAll(quoted[1:len(quoted)-1], `\x`, `\u00`) +
			`"},{"a":2}]`,
		"b.csv":   "a,b," + cell + "\n1,2," + cell + "\n3,4," + cell + "\n" + cell + ",5,6\n",
		"b.yaml":  "k: " + quoted + "\n? " + quoted + "\n: [1, *" + "a]\n",
		"c.yaml":  quoted + ": {x: " + quoted + "}\n",
		"b.toml":  quoted + " = " + quoted + "\n",
		"folders": body,
	}
}

// Whatever is shown, in any view, holds classes, numbers and text and nothing else.
func TestHostileContentInEveryView(t *testing.T) {
	h := New(outputsOf(t, 64<<20), everywhere{})
	shown := map[string]int{}
	try := func(what string, o *outputs.Output) {
		for _, view := range append(slices.Clone(h.Of(o)), Failure) {
			if rows := view == Source || view == Diff; rows && shown[view] > 100 &&
				!strings.HasSuffix(what, "a.html") {
				continue // what is highlighted is slow, and is the same in all of them
			}
			a := outputs.Ask{View: view, From: 1, Rows: 200, With: o}
			if view == Picture || view == Failure && h.Of(o)[0] != Terminal {
				continue
			}
			for _, filter := range []string{"", "o"} {
				if a.Filter = nil; filter != "" {
					a.Filter = []string{filter}
				}
				if filter != "" && view != Table && view != Terminal {
					continue
				}
				w, err := h.View(t.Context(), o, a)
				if err != nil {
					t.Fatalf("%s as %s: %v", what, view, err)
				}
				checkHarmless(t, what+" as "+view, w.HTML)
				for _, name := range []string{"First", "Failure", "Added", "Broken"} {
					if v := w.Header[name]; !regexp.MustCompile(`^[\d-]*$`).MatchString(v) {
						t.Fatalf("%s as %s: %s is %q", what, view, name, v)
					}
				}
				shown[view]++
			}
		}
	}
	for _, c := range hostile.Corpus("http://127.0.0.1:9") {
		body := string(c.Body)
		switch c.Kind {
		case hostile.Terminal:
			try(c.Name, put(t, h, outputs.Meta{Type: outputs.Terminal, Command: body}, body+
				"\nx.go:1: error: "+body+"\n"))
		case hostile.Picture:
			try(c.Name, put(t, h, outputs.Meta{Type: outputs.Image, MimeType: "image/svg+xml"}, body))
		default:
			if len(body) > 4000 {
				body = body[:4000]
			}
			for name, text := range wrapped(body) {
				m := outputs.Meta{Type: outputs.File, Path: c.Name + name, Highlight: highlightOf(name)}
				if name == "folders" {
					m.MimeType = "inode/directory"
				}
				try(c.Name+" in "+name, put(t, h, m, text))
			}
			try(c.Name, put(t, h, outputs.Meta{Type: outputs.File, Binary: true}, body))
		}
	}
	for _, view := range []string{Source, Preview, Table, Tree, Diff, Hex, List, Terminal, Failure} {
		if shown[view] < 10 {
			t.Errorf("%s was shown %d times", view, shown[view])
		}
	}
}

// A text cannot look like rows of its own: there are as many as lines, with their numbers.
func TestNoForgedRows(t *testing.T) {
	h := New(testStore(t), everywhere{})
	const forged = "</code></div>\n<div class=\"line\"><a class=\"ln\" href=\"#L7\" " +
		"aria-label=\"Line 7\">7</a><code class=\"cl\">x\n</td></tr><tr><td class=\"rn\">9</td>\n"
	o := file(t, h, "a.txt", forged)
	if got := numbersIn(ask(t, h, o, outputs.Ask{
		View: Source,
		Rows: 99,
	}).HTML); fmt.Sprint(got) != "[1 2 3]" {
		t.Errorf("source: %v", got)
	}
	term := put(t, h, outputs.Meta{Type: outputs.Terminal}, forged)
	if got := numbersIn(ask(t, h, term, outputs.Ask{
		View: Terminal,
		Rows: 99,
	}).HTML); fmt.Sprint(got) != "[1 2 3]" {
		t.Errorf("terminal: %v", got)
	}
	table := file(t, h, "a.csv", "a,b\n\"</td></tr><tr><td class=\"\"rn\"\">9</td>\",2\n3,4\n")
	if got := rowsOf(ask(t, h, table, outputs.Ask{View: Table, Rows: 99}).HTML); len(got) != 2 {
		t.Errorf("table: %q", got)
	}
	if got := diffOf(ask(t, h, o, outputs.Ask{
		View: Diff,
		Rows: 99,
		With: file(t, h, "b.txt", ""),
	}).HTML); len(got) != 3 {
		t.Errorf("diff: %q", got)
	}
	list := put(t, h, outputs.Meta{Type: outputs.File, MimeType: "inode/directory"},
		"a\u202eb/\n</code></div><div class=\"line entry\">\n")
	if got := strings.Count(string(ask(t, h, list, outputs.Ask{View: List, Rows: 99}).HTML),
		"<div"); got != 2 {
		t.Errorf("list: %d", got)
	}
}

// bomb is YAML in which each name holds the one before it ten times.
func bomb(names int) (text string) {
	for i := range names {
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1,
			strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	return text
}

// What would be quadratic, or deeper than a stack, is neither: each of these is answered within the
// time of any test.
func TestExpensiveContent(t *testing.T) {
	h := New(outputsOf(t, 64<<20), everywhere{})
	r := rand.New(rand.NewPCG(9, 10))
	noise := make([]byte, 40_000)
	for i := range noise {
		noise[i] = " \n\t,;|\"\\{}[]:#-*&>`ab1"[r.IntN(22)]
	}
	for name, text := range map[string]string{
		"quotes.csv": strings.Repeat("\"", 100_000), "commas.csv": strings.Repeat(",", 100_000),
		"open.csv":    "a,b\n" + strings.Repeat("\"x,\n", 50_000),
		"columns.csv": strings.Repeat("a,", 1_000_000), "lines.csv": "a,b\n\"" +
			strings.Repeat("x,\n", 100_000), "nul.csv": strings.Repeat("a\x00,b\n", 1000),
		"numbers.json": `{"a":` + strings.Repeat("9", 200_000) + `,"a":1e999999999}`,
		"nul.json":     "{\"a\":\"\x00\"}", "cut.jsonl": strings.Repeat("{\"a\":\n", 50_000),
		"twice.json": "[{" + strings.Repeat(`"a":1,`, 10_000) + `"a":2}]`,
		"bomb.yaml":  "a0: &a0 [x, x]\n" + bomb(40),
		"deep.json":  strings.Repeat("[", 100_000), "deepobj.json": strings.Repeat(`{"a":`, 30_000),
		"string.json": `["` + strings.Repeat(`\`, 100_001),
		"keys.json":   "{" + strings.Repeat(`"a":{"b":[`, 200) + strings.Repeat(`1,`, 50_000),
		"deep.yaml":   strings.Repeat("- ", 100_000), "flow.yaml": strings.Repeat("{a: ", 100_000),
		"flat.yaml":    "a: " + strings.Repeat("[1, ", 400) + strings.Repeat("]", 400),
		"anchors.yaml": "a: &a [x, x]\n" + strings.Repeat("b: &b [*a, *a]\n", 5000),
		"merge.yaml":   strings.Repeat("? ", 50_000),
		"deep.toml":    "a = " + strings.Repeat("[", 100_000),
		"dots.toml":    strings.Repeat("a.", 100_000) + "b = 1\n",
		"long.toml":    strings.Repeat("[[a]]\nb = 1\n", 20_000),
		"same.txt":     strings.Repeat("same\n", 100_000), "links.txt": strings.Repeat("a.go:1 ", 50_000),
		"noise.csv": string(noise), "noise.json": "[" + string(noise),
		"noise.yaml": string(noise), "noise.toml": string(noise), "noise.md": string(noise),
		"deep.md": strings.Repeat("> ", 50_000) + strings.Repeat("- ", 50_000),
		"md.md":   strings.Repeat("[", 50_000) + strings.Repeat("*a_", 50_000),
	} {
		o := file(t, h, name, text)
		other := file(t, h, name, text[len(text)/2:]+text[:len(text)/3])
		for _, view := range h.Of(o) {
			for _, a := range []outputs.Ask{{}, {From: 500}, {Sort: "1"}, {Filter: []string{"x"}}} {
				if plain := view == Source || view == Diff; plain &&
					(a.From > 0 || a.Sort != "" || a.Filter != nil || !strings.HasSuffix(name, ".txt")) {
					continue // each may cost the limit of highlighting
				}
				a.View, a.From, a.Rows, a.With = view, max(a.From, 1), 500, other
				if _, err := h.View(t.Context(), o, a); err != nil &&
					!strings.Contains(err.Error(), "column") && view != Tree {
					t.Errorf("%s as %s: %v", name, view, err)
				}
			}
		}
		term := put(t, h, outputs.Meta{Type: outputs.Terminal}, text)
		ask(t, h, term, outputs.Ask{View: Terminal, Rows: 500})
	}
}

// Whatever a text holds, each row by itself is the row that it is among all, and each
// value has a place in the text.
func FuzzTablesAndTrees(f *testing.F) {
	for _, text := range []string{"{\"0\"{", "a,b\n1,\"x\n\"\n\"3,4\n\n5\" y,6\n",
		"{\"a\":1}\n{\"a\":\n{\"b\":[{}]}\n", "[{\"a\":1},\n{\"b\":{\"c\":[1,2]}},3]",
		"a: [1, {b: c}]\n- x\n", "[[a]]\nb.c = {d = [1]}\n"} {
		f.Add(text)
	}
	h := New(outputsOf(f, 64<<20), nil)
	f.Fuzz(func(t *testing.T, text string) {
		o := file(t, h, "a.txt", text)
		defer h.store.DeleteSession("")
		for _, k := range []*kind{{format: csv, comma: ','}, {format: jsonLines}, {format: jsonValue}} {
			if k.format == jsonValue && !strings.HasPrefix(text, "[") {
				continue
			}
			all, err := h.table(t.Context(), o, k, outputs.Ask{From: 1, Rows: 50})
			if err != nil {
				t.Fatal(err)
			}
			for i, row := range rowsOf(all.HTML) {
				w, err := h.table(t.Context(), o, k, outputs.Ask{From: i + 1, Rows: 1})
				if err != nil {
					t.Fatal(err)
				}
				checkRows(t, w, row)
			}
			o.Attach(forget)
		}
		for _, format := range []format{jsonLines, yaml, toml} {
			if format == jsonLines && text == "" {
				continue
			}
			if w, err := h.tree(o, &kind{format: format}, outputs.Ask{From: 1, Rows: 50}); err == nil {
				for _, x := range itemsOf(w.HTML) {
					if x.at != "" {
						if _, err := h.tree(o, &kind{format: format},
							outputs.Ask{From: 1, Rows: 50, At: x.at}); err != nil {
							t.Fatal(err)
						}
					}
				}
				checkHarmless(t, text, w.HTML)
			}
			o.Attach(forget)
		}
	})
}
