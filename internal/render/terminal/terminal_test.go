package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"webchat/internal/render"
	"webchat/internal/render/rendertest"

	"pgregory.net/rapid"
)

// rowsOf renders everything, cut into the given pieces.
func rowsOf(t testing.TB, p []byte, cuts ...int) (*Document, []string) {
	t.Helper()
	doc := New(bytes.NewReader(p), 1)
	for _, cut := range append(cuts, len(p)) {
		if err := doc.Advance(t.Context(), int64(cut)); err != nil {
			t.Fatal(err)
		}
	}
	all := rowsNow(doc, p)
	if all == "" {
		return doc, nil
	}
	return doc, rendertest.Rows(all)
}

// rowsNow are all rows of a document that has taken in p.
func rowsNow(doc *Document, p []byte) (all template.HTML) {
	if !doc.Drawn() {
		return linesOf(p)
	}
	for from := 1; from <= doc.Total(); from += render.MaxRows {
		all += doc.Rows(from, doc.Total())
	}
	return all
}

// linesOf are lines, each drawn by itself.
func linesOf(p []byte) template.HTML {
	html, err := Lines(func(yield func(Line, error) bool) {
		n := 0
		for text := range bytes.Lines(p) {
			if n++; !yield(Line{Number: n, Text: bytes.TrimSuffix(text, []byte("\n"))}, nil) {
				return
			}
		}
	})
	if err != nil { // there is none
		panic(err)
	}
	return html
}

// THREATS 35: what is left of a command's bytes are rows with classes; titles,
// clipboards, links, pictures and questions to the terminal are gone.
func TestThreat35TerminalRows(t *testing.T) {
	for in, want := range map[string][]string{
		"plain\ntext\n":                          {"plain", "text"},
		"a\r\nb":                                 {"a", "b"},
		"10%\r20%\r100%\n":                       {"100%"},
		"abc\b\bX\n":                             {"aXc"},
		"one\ntwo\x1b[1A\rONE\n":                 {"ONE", "two"},
		"\x1b[31mred\x1b[0m plain":               {`<span class="a1">red</span> plain`},
		"\x1b[1;91;4mx":                          {`<span class="a9 b un">x</span>`},
		"\x1b[2;3;9mx\x1b[22;23;29my":            {`<span class="f it st">x</span>y`},
		"\x1b[38;5;202mx":                        {`<span class="x202">x</span>`},
		"\x1b[38;2;255;95;0mx":                   {`<span class="x202">x</span>`},
		"\x1b[38:2::255:95:0mx":                  {`<span class="x202">x</span>`},
		"\x1b[38;2;128;128;128mx":                {`<span class="x244">x</span>`},
		"\x1b[38;5;3mx":                          {`<span class="a3">x</span>`},
		"\x1b[41;37mx":                           {`<span class="r1">x</span>`},
		"\x1b[40;32mx":                           {`<span class="a2">x</span>`},
		"\x1b[7mx\x1b[27my":                      {`<span class="rv">x</span>y`},
		"\x1b[31;7mx":                            {`<span class="r1">x</span>`},
		"\x1b[8mhidden\x1b[5mblink":              {"hiddenblink"},
		"\x1b]0;title\x07x\x1b]52;c;aGk=\x1b\\y": {"xy"},
		"\x1b]8;;http://sink.test/\x07link\x1b]8;;\x07 end":                     {"link end"},
		"\x1b]1337;File=name=YS5naWY=;inline=1:R0lGODlh\x07x":                   {"x"},
		"\x1b]1338;url=http://sink.test/a.png\x07x\x1b]1339;url=http://s/\x07y": {"xy"},
		"\x1b_bk;t=123\x07x\x1bPq#0\x1b\\y":                                     {"xy"},
		"\x1b(Bx\x1b[?25lx\x1b[6nx\x1b[>cx\x1b=x":                               {"xxxxx"},
		"<b>&amp;\x00\x07\x7f\u0085\u009b31mx":                                  {`&lt;b&gt;&amp;amp;<span class="a1">x</span>`},
		"a/b 'c' \"d\" " +
			"&nbsp;": {"a/b &#39;c&#39; &#34;d&#34; &amp;nbsp;"},
		"bad \xff\xc3 \xe2\x82": {"bad \uFFFD\uFFFD"},
		"tab\there\n\nend":      {"tab\there", "", "end"},
		"\u202eabc":             {`<bdi class="err" title="U+202E">` + "\u202e" + `</bdi>abc`},
		"":                      nil,
		"line\x1b[2K\rnew":      {"new"},
		"abcdef\x1b[3D\x1b[K":   {"abc"},
		"\x1b[s12\x1b[uX":       {"X2"},
		strings.Repeat("w", 1200) + "\nend": {strings.Repeat("w",
			1200), "end"},
	} {
		if _, got := rowsOf(t, []byte(in)); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("%q:\n got %q\nwant %q", in, got, want)
		}
	}
	if got := linesOf(
		[]byte("x")); got != `<div class="line"><a class="ln" href="#L1" aria-label="Line 1">1</a><code class="cl">x</code></div>`+"\n" {
		t.Errorf("a line: %s", got)
	}
}

var session = []string{"text", " and more words ", "\n", "\n", "\n", "\r\n", "line\n", "\r", "\b",
	"\t", "\x1b[A", "\x1b[3A", "\x1b[B", "\x1b[12C", "\x1b[D", "\x1b[K", "\x1b[1K", "\x1b[2J",
	"\x1b[J", "\x1b[H", "\x1b[G",
	"\x1b[31m", "\x1b[0m", "\x1b[1;38;5;99m", "\x1b[7m", "\x1b7", "\x1b8", "\x1b[s", "\x1b[u", "\v",
	"\x1bM", "\x1b[?25l", "\x1b]0;t\x07", "界é", "\u009b", "\xff", "<b>&", "\x1b[99999A", "\x1b[",
	"\x1b", strings.Repeat("long ", 60)}

// program writes n pieces as a command might, mostly forward.
func program(r *rand.Rand, n int) []byte {
	var b bytes.Buffer
	for range n {
		if r.IntN(3) > 0 {
			fmt.Fprintf(&b, "row %d\n", r.IntN(1000))
		} else {
			b.WriteString(session[r.IntN(len(session))])
		}
	}
	return b.Bytes()
}

// Any window of a text equals the same rows of the whole.
func TestTerminalWindowsEqualWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(3000, 3))
	doc, all := rowsOf(t, program(r, 3000))
	for range 20 {
		from := 1 + r.IntN(len(all))
		to := min(len(all), from+r.IntN(300))
		if got := rendertest.Rows(doc.Rows(from, to)); !slices.Equal(got, all[from-1:to]) {
			t.Fatalf("rows %d to %d are\n%q, not\n%q", from, to, got, all[from-1:to])
		}
	}
}

// Lines by themselves have their own colours, and nothing is left out.
func TestLinesBeyondTheScreen(t *testing.T) {
	long := strings.Repeat("w", shownLine+5)
	got := rendertest.Rows(linesOf([]byte("\x1b[31mred\x1b[0m\r\n10%\r100%\n\n" + long +
		"\nup\x1b[1Adown\x1b[2Bend\nlast")))
	want := []string{`<span class="a1">red</span>`, "100%", "", long[:shownLine] +
		`<span class="c"> … 5 more bytes</span>`}
	if len(got) != 6 || !slices.Equal(got[:4], want) || got[5] != "last" {
		t.Errorf("%.300q", got)
	}
	if !strings.Contains(got[4], "down") || !strings.Contains(got[4], "end") {
		t.Errorf("of a line that moves down is left %q", got[4])
	}
}

// However the bytes are cut, the rows are the same, also of rows that were shown before.
func TestThreat35TerminalSplitInvariant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := program(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 4)),
			rapid.IntRange(0, 1500).Draw(t, "pieces"))
		live := New(bytes.NewReader(p), 1)
		for at := 0; at < len(p); {
			at = min(len(p), at+rapid.IntRange(1, 1+len(p)/5).Draw(t, "cut"))
			if err := live.Advance(context.Background(), int64(at)); err != nil {
				t.Fatal(err)
			}
			fresh := New(bytes.NewReader(p), 1)
			if err := fresh.Advance(context.Background(), int64(at)); err != nil {
				t.Fatal(err)
			}
			if got, want := rowsNow(live, p[:at]), rowsNow(fresh, p[:at]); got != want {
				t.Fatalf("after %d bytes, by pieces:\n%.2000q\nat once:\n%.2000q", at, got, want)
			}
		}
		if err := live.Advance(context.Background(), int64(len(p))+9); !errors.Is(err,
			io.ErrUnexpectedEOF) {
			t.Errorf("a source shorter than announced: %v", err)
		}
	})
}

func hostileTerminal() map[string]string {
	const size = 1 << 18
	repeat := func(s string, size int) string { return strings.Repeat(s, size/len(s)) }
	return map[string]string{
		"openers":      repeat("\x1b[", size),
		"escapes":      repeat("\x1b", size),
		"long params":  "\x1b[" + repeat("1;", size) + "m",
		"huge moves":   repeat("\x1b[999999999B\x1b[999999999Cx", size),
		"homes":        repeat("\x1b[Hx", size),
		"open OSC":     "\x1b]8;;" + repeat("a", size),
		"open APC":     "\x1b_" + repeat("a", size),
		"clears":       repeat("\x1b[2Jx", size),
		"one line":     repeat("word ", size),
		"one row":      repeat("\r 12 % ", size),
		"line feeds":   repeat("\n", size),
		"colours":      repeat("\x1b[38;2;1;2;3mx\x1b[0m", size),
		"up and down":  repeat("a\n\x1b[A\nb\n", size),
		"reverse":      repeat("\x1bMx\n", size),
		"binary":       repeat("\x00\xff\x1b\x9b\u009b\x07", size),
		"many backs":   repeat("a\b", size),
		"wrapped rows": repeat(strings.Repeat("w", 2000)+"\n", size),
	}
}

func TestThreat35TerminalHostile(t *testing.T) {
	for name, s := range hostileTerminal() {
		start := time.Now()
		doc := New(strings.NewReader(s), 1)
		if err := doc.Advance(t.Context(), int64(len(s))); err != nil {
			t.Fatal(err)
		}
		parsed := time.Since(start)
		for _, from := range []int{1, doc.Total() / 2, doc.Total() - 100} {
			checkTerminal(t, string(doc.Rows(from, from+99)))
		}
		t.Logf("%-13s %7d rows, parsed in %v, with windows %v", name, doc.Total(),
			parsed.Round(time.Millisecond), time.Since(start).Round(time.Millisecond))
	}
}

func checkTerminal(t testing.TB, h string) {
	t.Helper()
	if at := rendertest.Unwanted.FindStringIndex(h); at != nil {
		t.Fatalf("control character at %d of %.300q", at[0], h)
	}
	if strings.Contains(h, "href=\"http") {
		t.Fatalf("a link in %.300q", h)
	}
	rendertest.Safe(t, h)
}

func FuzzTerminal(f *testing.F) {
	for name, s := range hostileTerminal() {
		f.Add([]byte(s[:min(len(s), 300)]), len(name))
	}
	for _, s := range session {
		f.Add([]byte("a"+s+"b\n"+s), 1)
	}
	f.Fuzz(func(t *testing.T, p []byte, cut int) {
		if len(p) > 1<<16 {
			return
		}
		_, want := rowsOf(t, p)
		_, got := rowsOf(t, p, min(max(cut, 0), len(p)))
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("cut at %d: %q, at once %q", cut, got, want)
		}
		checkTerminal(t, string(linesOf(p)))
	})
}

func BenchmarkTerminal(b *testing.B) {
	var plain bytes.Buffer
	for i := 0; plain.Len() < 1<<20; i++ {
		fmt.Fprintf(&plain, "\x1b[32mok\x1b[0m  package/number/%d  (cached) %d.%03ds\n", i, i%7, i%1000)
	}
	p := plain.Bytes()
	b.Run("Advance 1 MiB", func(b *testing.B) {
		b.SetBytes(int64(len(p)))
		for b.Loop() {
			if err := New(bytes.NewReader(p), 1).Advance(b.Context(), int64(len(p))); err != nil {
				b.Fatal(err)
			}
		}
	})
	lines := bytes.Repeat(
		[]byte("2026-11-21T21:57:31Z INFO pump-7 accepted sink=1234 region=eu-west\n"), 16<<20/67)
	b.Run("Advance 16 MiB of plain lines", func(b *testing.B) {
		b.SetBytes(int64(len(lines)))
		for b.Loop() {
			if err := New(bytes.NewReader(lines), 1).Advance(b.Context(), int64(len(lines))); err != nil {
				b.Fatal(err)
			}
		}
	})
	doc := New(bytes.NewReader(p), 1)
	if err := doc.Advance(b.Context(), int64(len(p))); err != nil {
		b.Fatal(err)
	}
	b.Run("window of 500", func(b *testing.B) {
		for b.Loop() {
			doc.Rows(9000, 9499)
		}
	})
}
