package grep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	st, err := f.Stat()
	return f, st, err
}

// folder makes a folder of files by their texts.
func folder(t testing.TB, files map[string]string) Folder {
	t.Helper()
	dir := t.TempDir()
	d := Folder{Open: open}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d.Names = append(d.Names, name)
	}
	slices.Sort(d.Names)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	d.Root = root
	return d
}

// search returns what is found: "file:line:text" of lines that match, "file-line-text" of those
// about them.
func search(t testing.TB, d Folder, q Query) (lines []string, found Found) {
	t.Helper()
	e, err := q.Parse()
	if err != nil {
		t.Fatal(err)
	}
	found, err = d.Search(t.Context(), e, func(f File) error {
		if f.Closed {
			lines = append(lines, f.Path)
		}
		for _, l := range f.Lines {
			mark := "-"
			if len(l.Ranges) > 0 {
				mark = ":"
			}
			lines = append(lines, fmt.Sprint(f.Path, mark, l.Line, mark, l.Text))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines, found
}

func TestQuery(t *testing.T) {
	d := folder(t,
		map[string]string{"a": "Patience\r\npatience\nimpatience\nbuf.Patience()\na.c\nabc\n"})
	for _, tt := range []struct {
		q    Query
		want string
	}{
		{Query{Text: "patience"}, "1 2 3 4"},
		{Query{Text: "patience", Case: true}, "2 3"},
		{Query{Text: "patience", Word: true}, "1 2 4"},
		{Query{Text: "Patience()", Word: true, Case: true}, "4"},
		{Query{Text: "a.c"}, "5"},
		{Query{Text: "a.c", Expression: true}, "5 6"},
		{Query{Text: "e$", Expression: true}, "1 2 3"},
		{Query{Text: "pat|abc", Expression: true, Word: true}, "6"},
	} {
		lines, found := search(t, d, tt.q)
		var got []string
		for _, l := range lines {
			if p := strings.SplitN(l, ":", 3); len(p) == 3 {
				got = append(got, p[1])
			}
		}
		if s := strings.Join(got, " "); s != tt.want || found.Hits != len(got) || found.In != 1 {
			t.Errorf("%+v: lines %s (%+v), not %s", tt.q, s, found, tt.want)
		}
	}
	if _, err := (Query{Text: "(", Expression: true}).Parse(); err == nil {
		t.Error("a bad expression was taken")
	}
}

// Three lines stand around a hit, and those of near ones once.
func TestLinesAround(t *testing.T) {
	text := ""
	for i := 1; i <= 30; i++ {
		text += fmt.Sprint("n", i, map[bool]string{true: " hit"}[i == 1 || i == 6 || i == 20 || i == 30],
			"\n")
	}
	lines, _ := search(t, folder(t, map[string]string{"a": text}), Query{Text: "hit"})
	want := "a:1:n1 hit|a-2-n2|a-3-n3|a-4-n4|a-5-n5|a:6:n6 hit|a-7-n7|a-8-n8|a-9-n9|" +
		"a-17-n17|a-18-n18|a-19-n19|a:20:n20 " +
		"hit|a-21-n21|a-22-n22|a-23-n23|a-27-n27|a-28-n28|a-29-n29|a:30:n30 hit"
	if got := strings.Join(lines, "|"); got != want {
		t.Errorf("got %s\nnot %s", got, want)
	}
}

// What a folder may hold to make a search hang, leave it, or fill the memory.
func TestHostileFolder(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("hit"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := folder(t, map[string]string{
		"binary":   "hit\x00hit\n",
		"late":     strings.Repeat("a\n", 40_000) + "hit\x00\n",
		"long":     strings.Repeat("é", 5000) + "hit" + strings.Repeat("x", 5000),
		"beyond":   strings.Repeat("y", MaxLine) + "hit\n",
		"empty":    "",
		"sub/a":    "hit",
		".env":     "hit",
		"hit/.env": "",
		"mine":     "hit",
	})
	link := func(to, name string) {
		if err := os.Symlink(to, filepath.Join(d.Root.Name(), name)); err != nil {
			t.Skip(err)
		}
	}
	link(outside, "link")
	link("..", "sub/up")
	sparse, err := d.Root.Create("sparse")
	if err == nil {
		err = errors.Join(sparse.Truncate(1<<40), sparse.Close())
	}
	if err != nil {
		t.Log(err)
	}
	d.Names = append(d.Names, "link", "sub/up", "sub/up/mine", "sub", "sparse", "missing", "missing/a",
		"../outside", "/etc/passwd")
	d.Closed = func(name string) bool { return strings.HasSuffix(name, ".env") }
	d.Shown = func(_ fs.FileInfo, name string) Shown {
		if name == "mine" || strings.HasPrefix(name, "sub/up") {
			return Nothing
		}
		return Whole
	}
	lines, found := search(t, d, Query{Text: "hit"})
	for i, l := range lines {
		if len(l) > 80 {
			lines[i] = fmt.Sprint(len(l) < 700, " ", strings.Contains(l, "hit"), l[:6])
		}
	}
	want := []string{"hit/.env", "late-39998-a", "late-39999-a", "late-40000-a", "late:40001:hit\x00",
		"true truelong:1", "sub/a:1:hit"}
	if !slices.Equal(lines, want) || found.Closed != 2 || found.Hits != 3 || found.In != 3 {
		t.Errorf("found %q, %+v", lines, found)
	}
}

// More hits than a person reads are not looked for, and those that are there keep their order.
func TestMostHits(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("%03d/a", i)] = strings.Repeat("hit\n", 400)
	}
	d := folder(t, files)
	at := 0
	e, _ := Query{Text: "hit"}.Parse()
	found, err := d.Search(t.Context(), e, func(f File) error {
		if f.Path != d.Names[at] {
			t.Fatalf("%s stands where %s belongs", f.Path, d.Names[at])
		}
		at++
		return nil
	})
	if err != nil || !found.More || found.Hits != Most || at != Most/400 {
		t.Errorf("%d files, %+v, %v", at, found, err)
	}
}

// Neither does an expression take minutes for one line, nor does a search wait for the end of it.
func TestThreat107ExpressionsEnd(t *testing.T) {
	for _, text := range []string{"(?:" + strings.Repeat(".?", 300) + "){300}x",
		strings.Repeat("a{1000}", 3)} {
		if _, err := (Query{Text: text, Expression: true}).Parse(); !errors.Is(err, errSteps) {
			t.Errorf("%.20s… is taken: %v", text, err)
		}
	}
	line := []byte("x" + strings.Repeat("a", MaxLine))
	e, err := Query{Text: "a(?:" + strings.Repeat(".?", 100) + "){9}x", Expression: true}.Parse()
	if err != nil {
		t.Fatal(err)
	}
	looks := 0
	stop := func() bool { looks++; return looks > 1 }
	if hits := e.Lines(line, 1, nil, stop); len(hits) > 0 || looks == 0 || looks > 5 {
		t.Errorf("found %d lines, and looked %d times whether to go on", len(hits), looks)
	}
	for name, f := range map[string]func(*Expression) bool{
		"matched": func(e *Expression) bool { return e.Match(line) },
		"found":   func(e *Expression) bool { return e.Find(line, 1) != nil },
	} {
		if looks = 0; f(e.Until(stop)) || looks == 0 || looks > 5 {
			t.Errorf("%s, and looked %d times whether to go on", name, looks)
		}
	}
	e, _ = Parse("a.*b|a") // each match is looked for to the end of the line
	if at := e.Find(line, MaxRanges); len(at) != MaxRanges || at[99][0] != 100 {
		t.Errorf("marked %v", at)
	}
	if at := e.Find(line[:MaxLine/2], 1); len(at) != 1 {
		t.Errorf("marked %v, not one", at)
	}
}

func TestSearchEnds(t *testing.T) {
	d := folder(t, map[string]string{"a": "hit", "b": "hit"})
	e, _ := Query{Text: "hit"}.Parse()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Search(ctx, e, func(File) error {
		t.Error("reported")
		return nil
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	full := errors.New("no reader")
	if _, err := d.Search(t.Context(), e, func(File) error { return full }); !errors.Is(err, full) {
		t.Errorf("ended with %v", err)
	}
}

// What is covered is not searched: whatever else an expression matches, hits do not tell what it
// is.
func TestCoveredIsNotSearched(t *testing.T) {
	d := folder(t, map[string]string{"a": "KEY=abc\nlast abc\n", "b": "abc\n"})
	d.Cover = func(_ string, text []byte) {
		if value := []byte("KEY=abc"); bytes.HasPrefix(text, value) {
			copy(text, "KEY=***")
		}
	}
	for expr, want := range map[string]int{"abc": 2, "KEY=abc": 0, "KEY=abc|last": 1,
		"KEY=[a-z]|^KEY=.": 1, "KEY=a|KEY=[^a-z]": 1, "KEY=x|KEY=[^a-z]": 1, `\*`: 1} {
		if _, found := search(t, d, Query{Text: expr, Expression: true}); found.Hits != want {
			t.Errorf("%s: %d hits, not %d", expr, found.Hits, want)
		}
	}
}
