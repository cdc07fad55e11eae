package code

import (
	"fmt"
	"html/template"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"webchat/internal/render"
	"webchat/internal/render/rendertest"

	"github.com/alecthomas/chroma/v2"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	matchTimeout = time.Second
	// The expression engine's clock stops by itself a second after its last use.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"))
}

// languages are all names that [Language] may return.
func languages() []string { return slices.Sorted(maps.Keys(grammars())) }

// unhurried opens a document whose colours do not depend on how busy the machine is.
func unhurried(language string, src Source, first int) *Document {
	c := New(language, src, first)
	c.limit = time.Hour
	return c
}

// whole is the reference: chroma's own walk over the whole text, cut into lines. The rules are
// those of our copy, since chroma's give up after 250 ms on the clock, which a busy machine takes
// now and then.
func whole(t testing.TB, language, src string) []string {
	t.Helper()
	g := grammars()[language]
	if err := g.err(); err != nil {
		t.Fatal(err)
	}
	it, err := g.lexer.Tokenise(nil, src)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, line := range chroma.SplitTokensIntoLines(it.Tokens()) {
		var b strings.Builder
		open := ""
		for _, token := range line {
			text := strings.TrimSuffix(token.Value, "\n")
			class := tokenClass(token.Type)
			if text == "" {
				continue
			}
			if class != open {
				if open != "" {
					b.WriteString("</span>")
				}
				if class != "" {
					b.WriteString(`<span class="` + class + `">`)
				}
				open = class
			}
			b.WriteString(template.HTMLEscapeString(text))
		}
		if open != "" {
			b.WriteString("</span>")
		}
		rows = append(rows, b.String())
	}
	return rows
}

// corpus returns each file of testdata by language, repeated to about n lines.
func corpus(t testing.TB, n int) map[string]string {
	t.Helper()
	names, err := filepath.Glob("testdata/*")
	if err != nil || len(names) < 9 {
		t.Fatalf("testdata has %d files, %v", len(names), err)
	}
	all := map[string]string{}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		src := string(b)
		if lines := strings.Count(src, "\n"); n > lines {
			src = strings.Repeat(src, n/lines+1)
		}
		all[Language(filepath.Base(name), b)] = src
	}
	return all
}

// Any window, asked in any order, equals the same lines of the whole file highlighted at once.
func TestWindowsEqualWhole(t *testing.T) {
	for language, src := range corpus(t, 200) {
		t.Run(language, func(t *testing.T) {
			if known(language) == "" {
				t.Fatalf("language %q is unknown", language)
			}
			want := whole(t, language, src)
			r := rand.New(rand.NewPCG(1, 2))
			fresh := unhurried(language, newText(src), 1)
			total := newText(src).Total()
			for range 8 {
				from := 1 + r.IntN(total)
				to := min(total, from+r.IntN(80))
				for name, doc := range map[string]*Document{"as asked": fresh} {
					rows, err := doc.Rows(t.Context(), from, to)
					if err != nil {
						t.Fatal(err)
					}
					if !rows.Exact || rows.From != from || rows.To != to {
						t.Fatalf("%s %d-%d: %+v", name, from, to, rows)
					}
					for i, got := range rendertest.Rows(rows.HTML) {
						if got != want[from-1+i] {
							t.Fatalf("%s, line %d of window %d-%d:\n got %s\nwant %s", name, from+i, from, to, got,
								want[from-1+i])
						}
					}
				}
			}
		})
	}
}

// A window far below anything seen is a guess, says so, and still holds exactly the text.
func TestGuess(t *testing.T) {
	src := corpus(t, 9000)["Go"]
	doc := unhurried("Go", newText(src), 1)
	rows, err := doc.Rows(t.Context(), 8000, 8100)
	if err != nil || rows.Exact {
		t.Fatalf("exact %v, %v", rows.Exact, err)
	}
	if !strings.Contains(string(rows.HTML), `class="k`) {
		t.Error("a guess is not highlighted")
	}
	checkText(t, src, rows)
	if rows, err = doc.Rows(t.Context(), 1, 500); err != nil || !rows.Exact {
		t.Errorf("the beginning: exact %v, %v", rows.Exact, err)
	}
	if rows, err = doc.Rows(t.Context(), 501, 900); err != nil || !rows.Exact {
		t.Errorf("below what was shown: exact %v, %v", rows.Exact, err)
	}
}

// checkText compares the rows' textContent with the source.
func checkText(t testing.TB, src string, rows render.Rows) {
	t.Helper()
	lines := strings.Split(src, "\n")
	got := rendertest.Rows(rows.HTML)
	if len(got) != rows.To-rows.From+1 {
		t.Fatalf("%d rows for lines %d to %d", len(got), rows.From, rows.To)
	}
	for i, row := range got {
		want := strings.TrimSuffix(lines[rows.From-1+i], "\r")
		want = string([]rune(want))
		want = strings.Map(func(r rune) rune {
			switch {
			case r == 0x7f:
				return 0x2421
			case r < ' ' && r != '\t':
				return 0x2400 + r
			case 0x80 <= r && r < 0xa0:
				return 0xfffd
			}
			return r
		}, want)
		if text := rendertest.Text(t, row); text != want {
			t.Fatalf("line %d: text %.200q, want %.200q", rows.From+i, text, want)
		}
	}
}

func TestRowMarkup(t *testing.T) {
	doc := unhurried("Go", newText("package a\n\nvar s = \"<b>\"\r\n// \u202e x\x1b[31m \xff"), 10)
	rows, err := doc.Rows(t.Context(), 0, 99)
	if err != nil || rows.From != 1 || rows.To != 4 {
		t.Fatal(rows, err)
	}
	want := `<div class="line"><a class="ln" href="#L10" aria-label="Line 10">10</a><code class="cl"><span class="kn">package</span> a</code></div>
<div class="line"><a class="ln" href="#L11" aria-label="Line 11">11</a><code class="cl"></code></div>
<div class="line"><a class="ln" href="#L12" aria-label="Line 12">12</a><code class="cl"><span class="kd">var</span> s <span class="p">=</span> <span class="s">&#34;&lt;b&gt;&#34;</span></code></div>
<div class="line"><a class="ln" href="#L13" aria-label="Line 13">13</a><code class="cl"><span class="c1">// <bdi class="err" title="U+202E">` + "\u202e" + `</bdi> x␛[31m ` + "\uFFFD" + `</span></code></div>
`
	if string(rows.HTML) != want {
		t.Errorf("got\n%s\nwant\n%s", rows.HTML, want)
	}
	empty, err := New("", newText(""), 1).Rows(t.Context(), 1, 10)
	if err != nil || empty.HTML != "" || empty.To >= empty.From {
		t.Errorf("empty text: %+v, %v", empty, err)
	}
	plain, err := New("no such", newText("a <b>"), 1).Rows(t.Context(), 1, 1)
	if err != nil ||
		plain.HTML != `<div class="line"><a class="ln" href="#L1" aria-label="Line 1">1</a><code class="cl">a &lt;b&gt;</code></div>`+"\n" {
		t.Errorf("plain text: %+v, %v", plain, err)
	}
}

// pathological texts are those known to make expressions quadratic or worse.
func pathological() map[string][2]string {
	return map[string][2]string{
		"one long Java line":  {"Java", "class A { int " + strings.Repeat("a.b(c(", 64<<10/6) + "\n"},
		"comment openers":     {"Java", strings.Repeat("/* ", 16<<10) + "\n"},
		"openers by line":     {"Java", strings.Repeat(strings.Repeat("/* ", 1000)+"\n", 16)},
		"long JSON string":    {"JSON", `{"a":"` + strings.Repeat("x", 20000) + "\"}\n"},
		"JSON string by line": {"JSON", strings.Repeat(`{"a":"`+strings.Repeat("x", 3900)+"\n", 20)},
		"JSON brackets":       {"JSON", strings.Repeat(strings.Repeat("[", 3999)+"\n", 20)},
		"open script":         {"HTML", "<script>" + strings.Repeat("a<b;\n", 5000)},
		"open tags":           {"HTML", strings.Repeat(strings.Repeat("<a ", 1300)+"\n", 20)},
		"stars":               {"markdown", strings.Repeat(" *a _b **c __d\n", 2000)},
		"fences":              {"markdown", strings.Repeat("```go\n", 2000)},
		"here documents":      {"Bash", strings.Repeat("cat <<A <<B $(($(( ${a\n", 1500)},
		"C macros":            {"C", strings.Repeat("#define a(b) \\\n", 2000)},
	}
}

// What is asserted is that all text arrives; the benchmark measures how fast.
func TestPathologicalCode(t *testing.T) {
	for name, p := range pathological() {
		doc := New(p[0], newText(p[1]), 1)
		doc.grammar.err()
		rows, err := doc.Rows(t.Context(), 1, 500)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checkText(t, p[1], rows)
	}
}

// A window of very long lines is bounded: the first have what one by itself has, all have a
// beginning.
func TestWindowOfHugeLines(t *testing.T) {
	const lines, size = 100, shownLine + 100
	d := New("", newText(strings.Repeat(strings.Repeat("x", size)+"\n", lines)), 1)
	rows, err := d.Rows(t.Context(), 1, lines)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(string(rows.HTML), "\n")
	for n, shown := range map[int]int{0: shownLine, 50: render.LongLine, lines - 1: render.LongLine} {
		if want := fmt.Sprintf("x … %d more bytes",
			size-shown); !strings.Contains(strings.ReplaceAll(all[n], `<span class="c">`, ""), want) {
			t.Errorf("line %d does not end with %q", n+1, want)
		}
	}
	if most := shownWindow + lines*(render.LongLine+200); len(rows.HTML) > most {
		t.Errorf("%d bytes, more than %d", len(rows.HTML), most)
	}
}

func TestStatesAreBounded(t *testing.T) {
	src := strings.Repeat("var a = 1\n", 700_000)
	doc := New("Go", newText(src), 1)
	for line := 2; line < 700_000; line++ {
		doc.save(line, rootState)
	}
	if n := len(doc.states); n > maxStates || n < 2 {
		t.Errorf("%d states remembered", n)
	}
	for i := 1; i < len(doc.states); i++ {
		if doc.states[i].line <= doc.states[i-1].line {
			t.Fatal("states out of order")
		}
	}
}

func TestClosedList(t *testing.T) {
	all := languages()
	if len(all) < 200 {
		t.Fatalf("%d languages", len(all))
	}
	for name, want := range map[string]string{
		"go.mod": "Go module", "a/b.go": "Go", `c:\x\main.rs`: "Rust", "x.html": "HTML",
		"README.md": "markdown", "a.json": "JSON", "Makefile": "Makefile",
		"Dockerfile": "Docker", "a.py": "Python", "a.ts": "TypeScript", "a.tsx": "TypeScript",
		"a.yml": "YAML", "a.sql": "SQL", "x.txt": "", "x.log": "", "a.h": "C", "a.php": "PHP",
		"a.css": "CSS", "a.sh": "Bash",
	} {
		got := Language(name, nil)
		if got != want || got != "" && known(got) == "" {
			t.Errorf("Language(%q) = %q, want %q", name, got, want)
		}
	}
	for head, want := range map[string]string{"#!/usr/bin/env -S python3 -u\n": "Python",
		"#!/bin/sh\n": "Bash", `{"a": 1}`: "JSON", "hello world\n": "", "": "", "\x00\x01\x02": ""} {
		if got := Language("noext", []byte(head)); got != want {
			t.Errorf("Language by content %q = %q, want %q", head, got, want)
		}
	}
	for name, want := range map[string]string{"golang": "Go", "sh": "Bash", "js": "JavaScript",
		"html": "HTML", "GO": "Go", "rs": "Rust", "\"><script>": "", "": "", "nope": "", "text": ""} {
		if got := LanguageNamed(name); got != want {
			t.Errorf("LanguageNamed(%q) = %q, want %q", name, got, want)
		}
	}
	if Label("Go module") != "Go module" || Label("") != "Plain text" ||
		Label("markdown") != "Markdown" {
		t.Error("labels")
	}
	for name, lang := range byExtension {
		if lang != "" && known(lang) == "" {
			t.Errorf("%s is %q, which is not in the list", name, lang)
		}
	}
	for name, lang := range interpreters {
		if known(lang) == "" {
			t.Errorf("%s is %q, which is not in the list", name, lang)
		}
	}
	for name, lang := range byName {
		if lang != "" && known(lang) == "" {
			t.Errorf("%s is %q, which is not in the list", name, lang)
		}
	}
}

// Every grammar must load, resume and keep the text.
func TestEveryGrammar(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles 280 grammars")
	}
	src := strings.Repeat(
		"begin \"x\" 'y' `z` /* c */ // d\n# e\n<a b=\"c\">{% f %}</a>\n\tif (1 + 2.5) { return; }\n\n",
		5)
	for _, name := range languages() {
		doc := New(name, newText(src), 1)
		if err := doc.grammar.err(); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, w := range [][2]int{{1, 5}, {16, 22}} {
			rows, err := doc.Rows(t.Context(), w[0], w[1])
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			checkText(t, src, rows)
		}
	}
}

func FuzzCode(f *testing.F) {
	for language, src := range corpus(f, 0) {
		f.Add(language, src, 3, 40)
	}
	f.Add("HTML", "<script>\r\n\xff\x00\u202e</scr", 1, 2)
	f.Fuzz(func(t *testing.T, language, src string, from, to int) {
		if len(src) > 20000 {
			return
		}
		rows, err := New(language, newText(src), 1).Rows(t.Context(), from, to)
		if err != nil {
			t.Fatal(err)
		}
		if rows.To >= rows.From {
			checkText(t, src, rows)
		}
		rendertest.Safe(t, string(rows.HTML))
	})
}
