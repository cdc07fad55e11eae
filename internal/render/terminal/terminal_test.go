package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	return doc, window1(t, doc, 1, doc.Total())
}

func window1(t testing.TB, doc *Document, from, to int) []string {
	t.Helper()
	var all []string
	for ; from <= to; from += render.MaxRows {
		rows, err := doc.Rows(t.Context(), from, min(to, from+render.MaxRows-1))
		if err != nil {
			t.Fatalf("rows from %d: %v", from, err)
		}
		all = append(all, rendertest.Rows(rows.HTML)...)
	}
	return all
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
		"a/b 'c' \"d\" &nbsp;":                                                  {"a/b &#39;c&#39; &#34;d&#34; &amp;nbsp;"},
		"bad \xff\xc3 \xe2\x82":                                                 {"bad \uFFFD\uFFFD"},
		"tab\there\n\nend":                                                      {"tab\there", "", "end"},
		"\u202eabc":                                                             {`<bdi class="err" title="U+202E">` + "\u202e" + `</bdi>abc`},
		"":                                                                      nil,
		"line\x1b[2K\rnew":                                                      {"new"},
		"abcdef\x1b[3D\x1b[K":                                                   {"abc"},
		"\x1b[s12\x1b[uX":                                                       {"X2"},
		strings.Repeat("w", 1200) + "\nend":                                     {strings.Repeat("w", 1200), "end"},
	} {
		if _, got := rowsOf(t, []byte(in)); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("%q:\n got %q\nwant %q", in, got, want)
		}
	}
	if got := Rows([]byte("x"), 1); got != `<div class="line"><a class="ln" href="#L1" aria-label="Line 1">1</a><code class="cl">x</code></div>`+"\n" {
		t.Errorf("Rows: %s", got)
	}
}

var session = []string{"text", " and more words ", "\n", "\n", "\n", "\r\n", "line\n", "\r", "\b", "\t", "\x1b[A", "\x1b[3A", "\x1b[B", "\x1b[12C", "\x1b[D", "\x1b[K", "\x1b[1K", "\x1b[2J", "\x1b[J", "\x1b[H", "\x1b[G",
	"\x1b[31m", "\x1b[0m", "\x1b[1;38;5;99m", "\x1b[7m", "\x1b7", "\x1b8", "\x1b[s", "\x1b[u", "\v", "\x1bM", "\x1b[?25l", "\x1b]0;t\x07", "界é", "\u009b", "\xff", "<b>&", "\x1b[99999A", "\x1b[", "\x1b", strings.Repeat("long ", 60)}

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

// Any window of a text equals the same rows of the whole, also of one that is too large to be drawn.
func TestTerminalWindowsEqualWhole(t *testing.T) {
	for _, pieces := range []int{3000, 600_000} {
		r := rand.New(rand.NewPCG(uint64(pieces), 3))
		doc, all := rowsOf(t, program(r, pieces))
		if drawn := doc.drawn != nil; drawn != (pieces == 3000) {
			t.Fatalf("%d pieces are drawn: %v", pieces, drawn)
		}
		for range 20 {
			from := 1 + r.IntN(len(all))
			to := min(len(all), from+r.IntN(300))
			if got := window1(t, doc, from, to); !slices.Equal(got, all[from-1:to]) {
				t.Fatalf("rows %d to %d are\n%q, not\n%q", from, to, got, all[from-1:to])
			}
		}
	}
}

// What is too large to be drawn are its lines, each with its own colours and nothing left out.
func TestLinesBeyondTheScreen(t *testing.T) {
	long := strings.Repeat("w", shownLine+5)
	text := "\x1b[31mred\x1b[0m\r\n10%\r100%\n\n" + long + "\nup\x1b[1Adown\x1b[2Bend\n" + strings.Repeat("plain\n", maxDrawn/6) + "last"
	doc, _ := rowsOf(t, []byte(text), 100, maxDrawn)
	want := []string{`<span class="a1">red</span>`, "100%", "", long[:shownLine] + `<span class="c"> … 5 more bytes</span>`}
	if got := window1(t, doc, 1, 4); !slices.Equal(got, want) {
		t.Errorf("%.300q", got)
	}
	if got := window1(t, doc, 5, 5); !strings.Contains(got[0], "down") || !strings.Contains(got[0], "end") {
		t.Errorf("of a line that moves down is left %q", got)
	}
	n := doc.Total()
	if got := window1(t, doc, n-1, n); n != 5+maxDrawn/6+1 || !slices.Equal(got, []string{"plain", "last"}) {
		t.Errorf("the last of %d rows are %q", n, got)
	}
}

// However the bytes are cut, the rows are the same, also of rows that were shown before.
func TestThreat35TerminalSplitInvariant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := func(doc *Document, from int) (rows []string) {
			for to := doc.Total(); from <= to; from += render.MaxRows {
				window, err := doc.Rows(context.Background(), from, to)
				if err != nil {
					t.Fatal(err)
				}
				rows = append(rows, rendertest.Rows(window.HTML)...)
			}
			return rows
		}
		p := program(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 4)), rapid.IntRange(0, 1500).Draw(t, "pieces"))
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
			if got, want := strings.Join(all(live, 1), "\n"), strings.Join(all(fresh, 1), "\n"); got != want {
				t.Fatalf("after %d bytes, by pieces:\n%.2000q\nat once:\n%.2000q", at, got, want)
			}
		}
		if err := live.Advance(context.Background(), int64(len(p))+9); !errors.Is(err, io.ErrUnexpectedEOF) {
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
			rows, err := doc.Rows(t.Context(), from, from+99)
			if err != nil {
				t.Fatal(err)
			}
			checkTerminal(t, string(rows.HTML))
		}
		t.Logf("%-13s %7d rows, parsed in %v, with windows %v", name, doc.Total(), parsed.Round(time.Millisecond), time.Since(start).Round(time.Millisecond))
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
		checkTerminal(t, string(Rows(p, 1)))
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
	lines := bytes.Repeat([]byte("2026-11-21T21:57:31Z INFO pump-7 accepted sink=1234 region=eu-west\n"), 16<<20/67)
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
			if _, err := doc.Rows(b.Context(), 9000, 9499); err != nil {
				b.Fatal(err)
			}
		}
	})
}
