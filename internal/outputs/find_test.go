package outputs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"webchat/internal/grep"
)

// expressions are of all kinds that are looked for in different ways.
var expressions = []string{"ERROR", "(?i)error", "e", "(?i)x", "a.c", "ERROR|WARN", "(?i)warn|fail",
	"^$", "^a", "c$", `\d+ms`, "(foo|bar)+baz?", "(?:ab){2,}",
	"(?i)task", "(?i)\u212aelvin", "é", "", "\tx", `a\nb`, "[^a]", "nothing at all", `(?i)straße`}

// randomLines are lines that expressions match now and then.
func randomLines(r *rand.Rand, n int) []string {
	words := []string{"ERROR", "error", "Warn", "WARN", "abc", "aXc", "12ms", "foobarba", "ababab",
		"TASK", "tas\u212a", "\u212aelvin", "kelvin", "é", "\tx", "\xff", "ErRor", "fail", "x", "straße",
		"STRASSE", ""}
	lines := make([]string, n)
	for i := range lines {
		for range r.IntN(4) {
			lines[i] += words[r.IntN(len(words))] + strings.Repeat(" ", r.IntN(2))
		}
		if r.IntN(10) == 0 {
			lines[i] += "\r"
		}
		if i == 500 {
			lines[i] += strings.Repeat("long line ", 27_000) + "ERROR"
		}
	}
	return lines
}

// wanted are the lines that match by trying each.
func wanted(re string, lines []string, first int, terminal bool) (list []int) {
	x := regexp.MustCompile(re)
	for i, l := range lines {
		b := []byte(strings.TrimSuffix(l[:min(len(l), grep.MaxLine)], "\r"))
		if terminal {
			b = stripControls(nil, b)
		}
		if x.Match(b) {
			list = append(list, i+first)
		}
	}
	return list
}

// Whatever an expression is made of, the lines that are found are those it matches, in what is
// stored at once and in what grows.
func TestFind(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		typ   Type
		lines int
		grow  bool
	}{{File, 0, false}, {File, 1, false}, {File, 400, false}, {Terminal, 400, false},
		{File, 1000, true}, {Terminal, 400, true}} {
		lines := randomLines(r, c.lines)
		if c.typ == Terminal && c.lines > 10 {
			lines[7] = "\x1b[31mERR\x1b[0mOR \x07abc"
		}
		text := strings.Join(lines, "\n") // the last one does not end
		s := newStore(t, 64<<20)
		var o *Output
		if c.grow {
			w := create(t, s, Meta{Type: c.typ, StartLine: 5}, Limits{})
			o = w.Output()
			for rest := text; rest != ""; {
				k := min(len(rest), 1+r.IntN(400_000))
				w.Write([]byte(rest[:k]))
				rest = rest[k:]
				e, _ := grep.Parse("ERROR")
				if _, err := o.Find(t.Context(), e, time.Minute); err != nil {
					t.Fatal(err)
				}
			}
			w.Complete(nil)
		} else {
			o = put(t, s, Meta{Type: c.typ, StartLine: 5}, text)
		}
		if n := len(lines); n == 0 || lines[n-1] == "" {
			lines = lines[:max(0, n-1)] // what ends with a line end has no line behind it
		}
		for _, re := range expressions {
			e, err := grep.Parse(re)
			if err != nil {
				t.Fatal(err)
			}
			hits, err := o.Find(t.Context(), e, time.Minute)
			want := wanted(re, lines, 5, c.typ == Terminal)
			if err != nil || !hits.Complete || !slices.Equal(hits.Lines, want) {
				t.Errorf("%s, %d lines, growing %v: %q: %d hits, want %d, %v", c.typ, c.lines, c.grow, re,
					len(hits.Lines), len(want), err)
			}
		}
	}
}

// A line of what grows is found once it has ended, wherever the writing stopped.
func TestFindWhileItGrows(t *testing.T) {
	s := newStore(t, 64<<20)
	w := create(t, s, Meta{Type: File}, Limits{})
	o := w.Output()
	e, err := grep.Parse("ab+c$")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("abc\n"+strings.Repeat("x", 5000)+"abbc\nabcd\n", 30)
	ended := 0
	for i := 0; i < len(text); i += 701 {
		w.Write([]byte(text[i:min(len(text), i+701)]))
		ended = strings.Count(text[:min(len(text), i+701)], "bc\n")
		hits, err := o.Find(t.Context(), e, time.Minute)
		if err != nil || len(hits.Lines) != ended {
			t.Fatalf("after %d bytes: %d hits, want %d, %v", i, len(hits.Lines), ended, err)
		}
	}
	w.Write([]byte("abc"))
	w.Complete(nil)
	if hits, err := o.Find(t.Context(), e, time.Minute); err != nil || len(hits.Lines) != 61 ||
		hits.Lines[60] != 91 {
		t.Errorf("%d hits, %v", len(hits.Lines), err)
	}
}

// A search that has no time says so and goes on when asked again; one that is not waited for ends.
func TestFindGoesOn(t *testing.T) {
	s := newStore(t, 64<<20)
	o := put(t, s, Meta{Type: File}, strings.Repeat("abc\n", 1<<18))
	e, err := grep.Parse("b")
	if err != nil {
		t.Fatal(err)
	}
	hits, err := o.Find(t.Context(), e, 0)
	if err != nil || hits.Complete || hits.Next > 1<<18 {
		t.Errorf("without time: %d hits, complete %v, %v", len(hits.Lines), hits.Complete, err)
	}
	for rounds := 0; !hits.Complete; rounds++ {
		if hits, err = o.Find(t.Context(), e, 0); err != nil || rounds > 4 { // chunks
			t.Fatalf("%v after %d rounds", err, rounds)
		}
	}
	if len(hits.Lines) != 1<<18 {
		t.Errorf("%d hits", len(hits.Lines))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if e, err = grep.Parse("c"); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Find(ctx, e, time.Minute); err == nil {
		t.Error("it searched for somebody who left")
	}
}

// Searches are forgotten before they take much; a large one is kept all the same.
func TestFindsAreForgotten(t *testing.T) {
	s := newStore(t, 64<<20)
	s.finds = newFinds(3000)
	o := put(t, s, Meta{Type: File}, strings.Repeat("a\n", 4000))
	for i := range 3 * maxFinds {
		e, err := grep.Parse(fmt.Sprintf("a|%d", i))
		if err != nil {
			t.Fatal(err)
		}
		within := time.Minute
		if i > 2 {
			within = 0
		}
		if _, err := o.Find(t.Context(), e, within); err != nil {
			t.Fatal(err)
		}
		if i == 2 && (!s.finds.Has(findKey{o.id, "a|2", false}) ||
			s.finds.Has(findKey{o.id, "a|0", false})) {
			t.Error("three large searches, of which not the latest are kept")
		}
	}
	if n := s.finds.Len(); n > maxFinds {
		t.Errorf("%d searches", n)
	}
}

func FuzzFind(f *testing.F) {
	for _, re := range expressions {
		f.Add(re, "abc\nERROR x\n\xffabbc", true)
	}
	f.Fuzz(func(t *testing.T, re, text string, terminal bool) {
		e, err := grep.Parse(re)
		if err != nil || len(re) > 100 {
			return
		}
		s := newStore(t, 1<<20)
		m := Meta{Type: File}
		if terminal {
			m.Type = Terminal
		}
		lines := strings.Split(text, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		hits, err := put(t, s, m, text).Find(t.Context(), e, time.Minute)
		if want := wanted(re, lines, 1, terminal); err != nil || !slices.Equal(hits.Lines, want) {
			t.Errorf("%q in %q: %v, want %v, %v", re, text, hits.Lines, want, err)
		}
	})
}
