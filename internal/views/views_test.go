package views

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"webchat/internal/outputs"
)

func put(t testing.TB, h *Views, m outputs.Meta, text string) *outputs.Output {
	t.Helper()
	id, err := h.store.Put(m, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o, err := h.store.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func file(t testing.TB, h *Views, name, text string) *outputs.Output {
	t.Helper()
	return put(t, h, outputs.Meta{Type: outputs.File, Path: name, Highlight: highlightOf(name)}, text)
}

// highlightOf is the language that the tool which shows files would find.
func highlightOf(name string) string {
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "md":
		return "markdown"
	case "go":
		return "Go"
	case "yaml":
		return "YAML"
	case "toml":
		return "TOML"
	case "json":
		return "JSON"
	}
	return ""
}

func ask(t testing.TB, h *Views, o *outputs.Output, a outputs.Ask) outputs.Window {
	t.Helper()
	a.From, a.Rows = max(a.From, 1), max(a.Rows, 1)
	w, err := h.View(t.Context(), o, a)
	if err != nil {
		t.Fatalf("%+v: %v", a, err)
	}
	return w
}

var tags = regexp.MustCompile(`<[^>]*>`)

// textOf is what a reader sees of HTML, without line ends at the end.
func textOf(html []byte) string {
	return strings.TrimSpace(strings.NewReplacer("&lt;", "<", "&gt;", ">", "&#34;", `"`, "&#39;", "'",
		"&amp;", "&").Replace(tags.ReplaceAllString(string(html), "")))
}

// What an output is is decided by what it holds, a name only says what to try.
func TestKinds(t *testing.T) {
	h := New(testStore(t), nil)
	list := strings.Repeat("a,b,c\n1,2,3\n", 5)
	for _, c := range []struct{ name, text, want string }{
		{"a.go", "package a\n", "source diff"},
		{"empty", "", "source diff"},
		{"a.md", "# Hello\n", "preview source diff"},
		{"a.csv", list, "table source diff"},
		{"a.csv", "one\ntwo\nthree\n", "table source diff"},
		{"a.csv", "It was, so they say, a dark\nnight; not a, b,\nc\nand, and, and, and so on, but\n" +
			"not, a table\n", "source diff"},
		{"a.tsv", strings.ReplaceAll(list, ",", "\t"), "table source diff"},
		{"data", list, "source table diff"},
		{"notes.txt", "Dear all, hello\nfirst, second\n, third\n", "source diff"},
		{"a.json", `{"a":1}`, "tree source diff"},
		{"a.txt", `{"a":[1,2]}`, "tree source diff"},
		{"a.json", `[{"a":1},{"a":2}]`, "tree table source diff"},
		{"a.json", `[[1],[2]]`, "tree source diff"},
		{"app.log", "{\"a\":1}\n{\"a\":2}\n", "tree table source diff"},
		{"a.json", "{a:1}", "source diff"},
		{"a.json", "[section]\nx=1\n", "source diff"},
		{"a.yaml", "a: 1\nb: [1, 2]\n", "source tree diff"},
		{"a.yaml", "a: [1\n", "source diff"},
		{"a.yaml", "only prose\n", "source diff"},
		{"a.toml", "a = 1\n[b]\nc = 2\n", "source tree diff"},
		{"a.toml", "a = = 1\n", "source diff"},
	} {
		if got := strings.Join(h.Of(file(t, h, c.name, c.text)), " "); got != c.want {
			t.Errorf("%s %.20q: %s, want %s", c.name, c.text, got, c.want)
		}
	}
	for want, m := range map[string]outputs.Meta{
		"terminal diff":      {Type: outputs.Terminal},
		"picture hex":        {Type: outputs.Image, MimeType: "image/png"},
		"picture source hex": {Type: outputs.Image, MimeType: "image/svg+xml"},
		"hex":                {Type: outputs.File, Binary: true},
		"list":               {Type: outputs.File, MimeType: "inode/directory"},
		"source diff": {
			Type:       outputs.File,
			Path:       "a.json",
			StartLine:  3,
			EndLine:    4,
			TotalLines: 9,
		},
	} {
		if got := strings.Join(h.Of(put(t, h, m, `{"a":1}`)), " "); got != want {
			t.Errorf("%+v: %s, want %s", m, got, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	h := New(testStore(t), nil)
	text, table, tree := file(t, h, "a.go", "x\n"), file(t, h, "a.csv", "a,b\n1,2\n"),
		file(t, h, "a.json", `{"a":[1]}`)
	for _, c := range []struct {
		o    *outputs.Output
		ask  outputs.Ask
		code string
	}{
		{text, outputs.Ask{View: Table}, "no_view"}, {text, outputs.Ask{View: "x"}, "no_view"},
		{text, outputs.Ask{View: Failure}, "no_view"},
		{text, outputs.Ask{View: Diff}, "no_other"}, {text,
			outputs.Ask{View: Source, Filter: []string{"("}}, "bad_filter"},
		{text, outputs.Ask{View: Source, Filter: []string{"a", "b"}}, "bad_filter"},
		{table, outputs.Ask{View: Table, Filter: []string{"3:is:x"}}, "bad_filter"},
		{table, outputs.Ask{View: Table, Filter: []string{"1:like:x"}}, "bad_filter"},
		{table, outputs.Ask{View: Table, Sort: "3"}, "bad_sort"},
		{table, outputs.Ask{View: Table, Sort: "x"}, "bad_sort"},
		{tree, outputs.Ask{View: Tree, At: "x"}, "no_node"},
		{tree, outputs.Ask{View: Tree, At: "999"}, "no_node"},
		{tree, outputs.Ask{View: Tree, At: "2"}, "no_node"},
		{put(t, h, outputs.Meta{Type: outputs.Image}, "x"), outputs.Ask{View: Picture}, "no_html"},
	} {
		c.ask.From, c.ask.Rows = 1, 10
		_, err := h.View(t.Context(), c.o, c.ask)
		if no, ok := errors.AsType[*outputs.Refusal](err); !ok || no.Code != c.code {
			t.Errorf("%+v: %v, want %s", c.ask, err, c.code)
		}
	}
}

func TestOnlyTheseLines(t *testing.T) {
	h := New(testStore(t), nil)
	var b strings.Builder
	for i := 1; i <= 1000; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	o := put(t, h, outputs.Meta{Type: outputs.File, StartLine: 101}, b.String())
	w := ask(t, h, o, outputs.Ask{View: Source, Filter: []string{"7$"}, From: 2, Rows: 3})
	if got := numbersIn(w.HTML); fmt.Sprint(got) != "[117 127 137]" || w.From != 2 || w.To != 4 ||
		w.Total != 100 || w.Partial {
		t.Errorf("%v, %+v", got, w)
	}
	// Near the line that is looked at, whether it matches or not.
	w = ask(t, h, o, outputs.Ask{View: Source, Filter: []string{"7$"}, At: "L560", Rows: 4})
	if got := numbersIn(w.HTML); !slices.Contains(got, 557) || !slices.Contains(got, 567) {
		t.Errorf("%v", got)
	}
	if w = ask(t, h, o, outputs.Ask{
		View:   Source,
		Filter: []string{"nothing"},
		Rows:   4,
	}); w.Total != 0 || len(w.HTML) != 0 {
		t.Errorf("%+v", w)
	}
	if w = ask(t, h, o, outputs.Ask{
		View: Source,
		From: 1098,
		Rows: 50,
	}); fmt.Sprint(numbersIn(
		w.HTML)) != "[1098 1099 1100]" || w.Total != 1100 || w.Header["First"] != "101" {
		t.Errorf("%+v", w)
	}
}

func TestHex(t *testing.T) {
	h := New(testStore(t), nil)
	o := put(t, h, outputs.Meta{Type: outputs.File, Binary: true},
		strings.Repeat("0123456789abcdef", 9)+"end")
	w := ask(t, h, o, outputs.Ask{View: Hex, From: 9, Rows: 100})
	if got := textOf(w.HTML); !strings.HasPrefix(got, "00000080") ||
		!strings.Contains(got, "00000090") || !strings.HasSuffix(got, "end") || w.To != 10 ||
		w.Total != 10 {
		t.Errorf("%q, %+v", got, w)
	}
	if w = ask(t, h, put(t, h, outputs.Meta{Type: outputs.File, Binary: true}, ""),
		outputs.Ask{View: Hex}); w.Total != 0 || len(w.HTML) != 0 {
		t.Errorf("of nothing: %+v", w)
	}
	g, err := h.store.Create(outputs.Meta{Type: outputs.File, Binary: true},
		outputs.Limits{Head: 8 << 10, Tail: 16 << 10})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Write([]byte(strings.Repeat("\x00\x01\n", 100_000))); err != nil {
		t.Fatal(err)
	}
	g.Complete(nil)
	gap := g.Output().Meta().Gap
	w = ask(t, h, g.Output(), outputs.Ask{
		View: Hex,
		From: int(gap.Offset / 16),
		Rows: int(gap.Bytes/16) + 100,
	})
	if got := textOf(w.HTML); !strings.Contains(got, "279 kB left out") ||
		!strings.Contains(got, fmt.Sprintf("%08x", gap.Offset/16*16)) ||
		!strings.Contains(got, fmt.Sprintf("%08x", gap.Offset+gap.Bytes)) ||
		!strings.Contains(got, fmt.Sprintf("%08x", (gap.Offset+gap.Bytes)/16*16+16)) {
		t.Errorf("around the gap %+v: %.300q … %q", gap, got, got[len(got)-200:])
	}
}

func TestListAndPreview(t *testing.T) {
	h := New(testStore(t), nil)
	o := put(t, h, outputs.Meta{Type: outputs.File, MimeType: "inode/directory"},
		"internal/\nREADME.md\nlatest (link)\n")
	w := ask(t, h, o, outputs.Ask{View: List, Rows: 9})
	if got := string(w.HTML); !strings.Contains(got,
		`<div class="line entry dir"><span class="ln">1</span><code class="cl">internal/</code>`) ||
		!strings.Contains(got, `entry link"`) || strings.Contains(got, "(link)") || w.Total != 3 {
		t.Errorf("%s", got)
	}
	was := time.Date(2024, 3, 2, 10, 0, 0, 0, time.Local)
	about := []outputs.Entry{{Modified: was}, {Modified: was, Size: 4100},
		{Modified: was.AddDate(0, 1, 0), Size: 12}}
	dir := put(t, h, outputs.Meta{Type: outputs.File, MimeType: "inode/directory", Entries: about},
		"internal/\nREADME.md\nb.txt\n… more entries are left out\n")
	for sort, want := range map[string]string{
		"": "1internal/2 Mar 2024 2README.md4.1 kB2 Mar 2024 3b.txt12 bytes2 Apr 2024 4… more " +
			"entries are left out",
		"1": "1internal/2 Mar 2024 3b.txt12 bytes2 Apr 2024 2README.md4.1 kB2 Mar 2024 4… more " +
			"entries are left out",
		"-2": "1internal/2 Mar 2024 2README.md4.1 kB2 Mar 2024 3b.txt12 bytes2 Apr 2024 4… more " +
			"entries are left out",
		"-3": "1internal/2 Mar 2024 3b.txt12 bytes2 Apr 2024 2README.md4.1 kB2 Mar 2024 4… more " +
			"entries are left out",
	} {
		w := ask(t, h, dir, outputs.Ask{View: List, Rows: 9, Sort: sort})
		if got := strings.Join(strings.Fields(textOf(w.HTML)), " "); got != want ||
			strings.Count(string(w.HTML), "line entry") != 3 {
			t.Errorf("sorted by %q: %q, want %q", sort, got, want)
		}
	}
	if _, err := h.View(t.Context(), dir, outputs.Ask{
		View: List,
		From: 1,
		Rows: 9,
		Sort: "4",
	}); err == nil {
		t.Error("a folder is sorted by a column it does not have")
	}
	md := file(t, h, "a.md",
		"# Title\n\nA *word*.\n\n- one\n- two\n\n```go\nx := 1\n```\n\nend "+
			"![p](http://x.example/p.png)\n")
	w = ask(t, h, md, outputs.Ask{View: Preview, From: 2, Rows: 2})
	if got := string(w.HTML); w.Total != 5 || w.From != 2 || w.To != 3 ||
		!strings.HasPrefix(got, `<div class="block" data-line="3"><p>A <em>word</em>`) ||
		!strings.Contains(got, `data-line="5"><ul>`) {
		t.Errorf("%+v %s", w, got)
	}
	w = ask(t, h, md, outputs.Ask{View: Preview, Rows: 50})
	if got := string(w.HTML); strings.Contains(got, "<img") ||
		!strings.Contains(got, `data-line="12"`) || strings.Contains(got, "x.example") {
		t.Errorf("%s", got)
	}
}

func TestPrice(t *testing.T) {
	h := New(testStore(t), nil)
	o := file(t, h, "a.txt", strings.Repeat("Displayed package.json to user (50 lines)\n", 100))
	if n, exact, err := h.Price(t.Context(), o, [][2]int{{3, 3}, {7, 8}}, nil); n != 27 || !exact ||
		err != nil {
		t.Errorf("%d, %v, %v", n, exact, err)
	}
	big := file(t, h, "b.txt", strings.Repeat("Displayed package.json to user (50 lines)\n", 30_000))
	n, exact, err := h.Price(t.Context(), big, [][2]int{{}}, nil)
	if n < 266_000 || n > 274_000 || exact || err != nil {
		t.Errorf("%d, %v, %v", n, exact, err)
	}
}
