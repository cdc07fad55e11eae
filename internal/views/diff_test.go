package views

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"webchat/internal/outputs"
)

var diffRE = regexp.MustCompile(
	`(?s)<div class="line( del| add)?"(?: data-change="(\d+)")?><span class="ln">(\d*)</span><span class="ln">(\d*)</span><span class="sg">(.)</span><code class="cl">(.*?)</code></div>|<div class="foldline" data-lines="([\d-]+)">`)

// diffOf is a comparison in short: "-3 text", "+4 text", "=3 4 text", "… 5-9".
func diffOf(html []byte) (rows []string) {
	for _, m := range diffRE.FindAllStringSubmatch(string(html), -1) {
		text := textOf([]byte(m[6]))
		switch {
		case m[7] != "":
			rows = append(rows, "… "+m[7])
		case m[1] == " del":
			rows = append(rows, "-"+m[3]+" "+text)
		case m[1] == " add":
			rows = append(rows, "+"+m[4]+" "+text)
		default:
			rows = append(rows, "="+m[3]+" "+m[4]+" "+text)
		}
	}
	return rows
}

func TestDiff(t *testing.T) {
	h := New(testStore(t), nil)
	var lines []string
	for i := 1; i <= 40; i++ {
		lines = append(lines, fmt.Sprintf("var line%d = %d", i, i))
	}
	old := file(t, h, "a.go", strings.Join(lines, "\n")+"\n")
	lines[19] = "var line20 = 21 // now"
	lines = slices.Insert(lines, 35, "var added = 1")
	now := file(t, h, "a.go", strings.Join(lines, "\n")+"\n")
	w := ask(t, h, now, outputs.Ask{View: Diff, With: old, Rows: 100})
	want := []string{"… 1-16", "=17 17 var line17 = 17", "=18 18 var line18 = 18",
		"=19 19 var line19 = 19", "-20 var line20 = 20", "+20 var line20 = 21 // now",
		"=21 21 var line21 = 21", "=22 22 var line22 = 22", "=23 23 var line23 = 23", "… 24-32",
		"=33 33 var line33 = 33", "=34 34 var line34 = 34", "=35 35 var line35 = 35",
		"+36 var added = 1", "=36 37 var line36 = 36", "=37 38 var line37 = 37", "=38 39 var line38 = 38",
		"… 40-41"}
	if got := diffOf(w.HTML); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if fmt.Sprint(w.Header) != "map[Added:2 Changes:2 Removed:1]" || w.Total != len(want) {
		t.Errorf("%v, %d rows", w.Header, w.Total)
	}
	if html := string(w.HTML); !strings.Contains(html, "<i>") ||
		!strings.Contains(html, `<span class="kd">var</span>`) || strings.Contains(html, "<i></i>") {
		t.Errorf("%s", html)
	}
	if got := diffOf(ask(t, h, now, outputs.Ask{
		View: Diff,
		With: old,
		Rows: 5,
		At:   "C2",
	}).HTML); !slices.Contains(got, "+36 var added = 1") {
		t.Errorf("%q", got)
	}
	if w := ask(t, h, now, outputs.Ask{
		View: Diff,
		With: file(t, h, "a.go", strings.Join(lines, "\n")),
		Rows: 9,
	}); w.Header["Changes"] != "0" {
		t.Errorf("the same: %v", w.Header)
	}
	empty := file(t, h, "e.go", "")
	if w := ask(t, h, empty, outputs.Ask{
		View: Diff,
		With: old,
		Rows: 100,
	}); w.Header["Removed"] != "40" || len(diffOf(w.HTML)) != 40 {
		t.Errorf("emptied: %v", w.Header)
	}
}

// files is a workspace of these paths.
type files []string

func (f files) Place(_ context.Context, _, cwd, name string) (string, bool) {
	for _, try := range []string{cwd + "/" + name, name} {
		if slices.Contains(f, try) {
			return try, true
		}
	}
	return "", false
}

func TestFirstFailure(t *testing.T) {
	h := New(testStore(t), files{"pump/pump_test.go", "src/main.rs", "a b.py", "x.c"})
	for _, c := range []struct{ text, lines, want string }{
		{"ok\nall fine\n", "", ""},
		{"=== RUN   TestA\n=== RUN   TestA/b\n    pump_test.go:88: sink 2 still attached\n--- FAIL: " +
			"TestA (1.04s)\n    --- PASS: TestA/c (0.01s)\n    --- FAIL: TestA/b (1.02s)\nFAIL\n",
			"3-6", "First failure at line 4TestA/bpump_test.go:88: sink 2 still attached"},
		{"--- FAIL: TestB (0.00s)\n    \x1b[31mpump_test.go:7\x1b[0m: no\n--- FAIL: TestC (0.00s)\n    " +
			"pump_test.go:9: other\n", "1-2", "First failure at line 1TestBpump_test.go:7: no"},
		{"error[E0308]: mismatched types\n  --> src/main.rs:3:5\n", "1-2",
			"First failure at line 1error[E0308]: mismatched types--> src/main.rs:3:5"},
		{"x\nx.c:3:1: error: expected ';'\n", "2-2",
			"First failure at line 2x.c:3:1: error: expected ';'"},
		{"Traceback (most recent call last):\n  File \"a b.py\", line 4, in <module>\nValueError: x\n",
			"1-2", "First failure at line 1Traceback (most recent call last):File \"a b.py\", line 4, in " +
				"<module>"},
	} {
		o := put(t, h, outputs.Meta{Type: outputs.Terminal, Cwd: "pump", Command: "go test"}, c.text)
		w := ask(t, h, o, outputs.Ask{View: Failure})
		if got := textOf(w.HTML); got != c.want || w.Header["Failure"] != c.lines {
			t.Errorf("%q: %q %v", c.text, got, w.Header)
		}
		if rows := ask(t, h, o, outputs.Ask{
			View: Terminal,
			Rows: 100,
		}); rows.Header["Failure"] != c.lines {
			t.Errorf("%q: %v", c.text, rows.Header)
		}
	}
}

// What a failure stands behind may be long: it is looked for in pieces.
func TestFirstFailureBehindMuch(t *testing.T) {
	usual := failureTime
	t.Cleanup(func() { failureTime = usual })
	failureTime = 0
	h := New(testStore(t), nil)
	o := put(t, h, outputs.Meta{Type: outputs.Terminal},
		strings.Repeat("all fine here, and nothing else to say\n", 8_000)+"fatal error: no more\n")
	rounds := 0
	w := ask(t, h, o, outputs.Ask{View: Failure})
	for ; w.Partial && rounds < 10_000; rounds++ {
		w = ask(t, h, o, outputs.Ask{View: Failure})
	}
	if got := w.Header["Failure"]; got != "8001-8001" || rounds == 0 {
		t.Errorf("found at %q after %d rounds", got, rounds)
	}
}

func TestPlaces(t *testing.T) {
	h := New(testStore(t), files{"pump/pump_test.go", "go.mod", "a&b.go"})
	o := put(t, h, outputs.Meta{Type: outputs.Terminal, Cwd: "pump"},
		"\tpump_test.go:88: x go.mod:3 none.go:4 a&b.go:5\nsee https://example.com/a?b=1&c=2. or "+
			"javascript:alert(1)\n")
	got := string(ask(t, h, o, outputs.Ask{View: Terminal, Rows: 9}).HTML)
	for _, want := range []string{`<a class="at-src" href="#src" data-path="pump/pump_test.go" data-line="88">pump_test.go:88</a>`,
		`<a class="at-src" href="#src" data-path="go.mod" data-line="3">go.mod:3</a> none.go:4`,
		`<a href="https://example.com/a?b=1&amp;c=2" rel="noopener noreferrer" target="_blank">https://example.com/a?b=1&amp;c=2</a>. or javascript:alert(1)`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}
