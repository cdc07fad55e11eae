package page_test

import (
	"html/template"
	"strings"
	"testing"
	"time"

	"webchat/internal/page"
	"webchat/internal/views"
)

// shownAs is the transcript of one file that was shown.
func shownAs(t *testing.T, o views.Output) string {
	t.Helper()
	o.ExpiresAt = start.Add(20 * time.Minute)
	p, err := page.New(page.Config{
		Outputs:  shelf{"out_1": o},
		Location: time.UTC,
		Now:      func() time.Time { return start },
	})
	if err != nil {
		t.Fatal(err)
	}
	pr := p.Projector("s1")
	pr.Feed(newLog().add(join(opening(), show("c1", "render_file_contents", `{"path":"x"}`, "out_1",
		`{"tokensShown":4474}`))...).entries...)
	return pr.Transcript()
}

func TestLongLinesMakeACardWide(t *testing.T) {
	for text, want := range map[string]bool{
		strings.Repeat("x", 92): false,
		strings.Repeat("x", 93): true,
		strings.Repeat("é", 92): false,
		strings.Repeat("&amp;", 60) + `<span class="a-class-that-is-long">` + strings.Repeat("x", 32) +
			"</span>": false,
		strings.Repeat("&amp;", 93):                         true,
		strings.Repeat("\t", 23):                            false,
		strings.Repeat("\t", 23) + "x":                      true,
		strings.Repeat("x\t", 12) + strings.Repeat("x", 44): false,
		strings.Repeat("x\t", 12) + strings.Repeat("x", 45): true,
	} {
		got := shownAs(t, views.Output{
			TotalLines: 2,
			Content: content{rows: func(int, int) (template.HTML, error) {
				return template.HTML(
					`<div class="line"><a class="ln" href="#L1">1</a><code class="cl">short</code></div>` + "\n" +
						`<div class="line"><a class="ln" href="#L2">2</a><code class="cl">` + text +
						"</code></div>\n"), nil
			}},
		})
		if strings.Contains(got, `class="card wide"`) != want {
			t.Errorf("%q: wide is not %t", text, want)
		}
	}
}

// Lines may be very long, and the cards of a page many: each holds few of them, the beginning of
// one at least.
func TestCardsOfHugeLinesAreSmall(t *testing.T) {
	for _, c := range []struct {
		text  string
		shown string
	}{
		{strings.Repeat("x", 10_000), "1-6"},
		{strings.Repeat("&amp;", 100_000), "1-1"},
		{`<span class="k">` + strings.Repeat(`<span class="veil" role="button">•</span>`, 10_000) +
			"</span>", "1-1"},
	} {
		got := shownAs(t, views.Output{
			TotalLines: 12,
			Content: content{rows: func(from, to int) (template.HTML, error) {
				return template.HTML(
					strings.Repeat(`<div class="line"><a class="ln" href="#L1">1</a><code class="cl">`+c.text+
						"</code></div>\n", to-from+1)), nil
			}},
		})
		_, rows, _ := strings.Cut(got, `<code class="cl">`)
		rows, _, _ = strings.Cut(rows, "</code>")
		if len(got) > 80_000 || !strings.Contains(got, `data-shown="`+c.shown+`"`) ||
			!strings.Contains(got, "Show all 12 lines") ||
			strings.Count(rows, "<span ") != strings.Count(rows, "</span>") ||
			strings.Count(rows, "&") != strings.Count(rows, ";") {
			t.Errorf("%d bytes, with %.40s…%s", len(got), rows, rows[max(0, len(rows)-80):])
		}
	}
}

func TestFilesThatAreNotText(t *testing.T) {
	elf := "\x7fELF" + strings.Repeat("\x00", 1000)
	got := shownAs(t, views.Output{
		Binary:     true,
		Bytes:      2_100_000,
		TotalLines: 900,
		Content:    content{rows: rows, bytes: elf},
	})
	for _, want := range []string{"<b>Not text:</b> 2.1 MB of ELF. First 256 bytes below.",
		`href="/api/outputs/out_1" download data-act="download"`, "000000f0", `data-kind="hex"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	for _, not := range []string{"00000100", `data-act="wrap"`, `data-act="fold"`, `data-act="find"`,
		"data-shown", "line 1<", `data-act="read"`} {
		if strings.Contains(got, not) {
			t.Errorf("%s in %s", not, got)
		}
	}
	if got := shownAs(t, views.Output{
		Binary:  true,
		Bytes:   3,
		Content: content{bytes: "\x00\x01\x02"},
	}); !strings.Contains(got, "<b>Not text:</b> 3 bytes.</p>") {
		t.Errorf("all of it is below: %s", got)
	}
}

// What has a view is shown by it on its card, and named in its head; what no model can read is not
// offered to it.
func TestCardsShowViews(t *testing.T) {
	const table = `<table class="records"></table>`
	db := content{
		bytes: "SQLite format 3\x00" + strings.Repeat("\x00", 100),
		view:  views.Table,
		seen:  table,
		total: 1200,
	}
	book := content{rows: rows, view: views.Notebook, seen: `<div class="cell"></div>`, total: 3}
	for _, c := range []struct {
		o         views.Output
		want, not string
	}{
		{views.Output{Path: "x.db", Binary: true, Bytes: 8192, Content: db},
			`data-shows="table" |` + table + `|>SQLite · 8.2 kB<|data-act="alone"|Show all 1,200 rows`,
			`Not text|data-act="read"|data-act="find"|data-act="fold"`},
		{views.Output{Path: "x.ipynb", Language: "JSON", TotalLines: 900, Bytes: 8192, Content: book},
			`class="other said" data-shows="notebook"|class="cell"|data-act="read"`,
			`Show all|class="cl"|data-act="wrap"`},
	} {
		got := shownAs(t, c.o)
		for want := range strings.SplitSeq(c.want, "|") {
			if !strings.Contains(got, want) {
				t.Errorf("no %s in %s", want, got)
			}
		}
		for not := range strings.SplitSeq(c.not, "|") {
			if strings.Contains(got, not) {
				t.Errorf("%s in %s", not, got)
			}
		}
	}
}

// The numbers of lines are those of the file, of which fewer may be shown.
func TestLinesOfAFile(t *testing.T) {
	for want, o := range map[string]views.Output{
		"lines 120–122 of 1,497": {StartLine: 120, EndLine: 122, TotalLines: 3, FileLines: 1497},
		"lines 1–2 of 3":         {StartLine: 1, EndLine: 2, TotalLines: 2, FileLines: 3},
		"3 lines":                {StartLine: 1, EndLine: 3, TotalLines: 3, FileLines: 3},
	} {
		o.Content = content{rows: rows}
		if got := shownAs(t, o); !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

// The slip of what a server's tool returned names both, above what the model read.
func TestSlipsNameServerAndTool(t *testing.T) {
	for tool, want := range map[string]string{
		"acme-search_issues": `<span class="ran"><code>acme · search_issues</code></span>`,
		"read_output":        "",
	} {
		p, err := page.New(page.Config{
			Outputs: shelf{"out_1": {Path: "acme/search_issues.json", TotalLines: 3,
				ExpiresAt: start.Add(20 * time.Minute), Content: content{rows: rows}}},
			Location: time.UTC,
			Now:      func() time.Time { return start },
		})
		if err != nil {
			t.Fatal(err)
		}
		pr := p.Projector("s1")
		pr.Feed(newLog().add(join(opening(), show("c1", tool, `{"query":"pump"}`, "out_1",
			`{"tokensShown":4474,"outputType":"file"}`))...).entries...)
		_, slip, _ := strings.Cut(pr.Transcript(), `<footer class="slip`)
		slip, _, _ = strings.Cut(slip, "</footer>")
		if slip == "" || !strings.Contains(slip, want) || strings.Contains(slip, `class="ran"`) != (want != "") {
			t.Errorf("%s: %s", tool, slip)
		}
	}
}
