package outputs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestLines compares every way to ask for lines with splitting the whole text.
func TestLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := New(Config{TTL: time.Hour, Budget: 16 << 20})
		if err != nil {
			t.Fatal(err)
		}
		units := []string{"\n", "x\n", "a\r\nb", "\xff\x00\n\n", "no end ", strings.Repeat("long", 300) +
			"\n", "ü\n"}
		unit := rapid.IntRange(0, len(units)-1)
		data := []byte(strings.Repeat(units[unit.Draw(t, "u1")], rapid.IntRange(0, 40).Draw(t, "n1")))
		u2 := units[unit.Draw(t, "u2")]
		data = append(data, strings.Repeat(u2, rapid.IntRange(0, 700_000).Draw(t, "n2")/len(u2))...)
		data = append(data, units[unit.Draw(t, "u3")]...)
		base := rapid.SampledFrom([]int{0, 1, 100}).Draw(t, "start")
		m := Meta{Type: File, StartLine: base}
		var o *Output
		if rapid.Bool().Draw(t, "grows") {
			w, err := s.Create(m, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			w.Write(data)
			if o = w.Output(); rapid.Bool().Draw(t, "complete") {
				w.Complete(nil)
			}
		} else {
			id, err := s.Put(m, bytes.Clone(data))
			if err != nil {
				t.Fatal(err)
			}
			if o, err = s.Get(id); err != nil {
				t.Fatal(err)
			}
		}
		base = max(base, 1)
		want := bytes.SplitAfter(data, []byte("\n"))
		if len(want[len(want)-1]) == 0 {
			want = want[:len(want)-1]
		}
		if o.TotalLines() != len(want) {
			t.Fatalf("%d lines, want %d", o.TotalLines(), len(want))
		}
		from := rapid.IntRange(0, base+len(want)+3).Draw(t, "from")
		to := rapid.IntRange(0, base+len(want)+3).Draw(t, "to")
		a, b := max(from, base)-base, len(want)
		if to > 0 {
			b = min(max(to+1-base, 0), len(want))
		}
		if a > b {
			a = b
		}
		want = want[a:b]
		var got bytes.Buffer
		if err := o.CopyLines(context.Background(), &got, from, to); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), bytes.Join(want, nil)) {
			t.Fatalf("lines %d-%d: %d bytes, want %d", from, to, got.Len(), len(bytes.Join(want, nil)))
		}
		i := 0
		for l, err := range o.Lines(context.Background(), from, to) {
			if err != nil || l.Gap != nil || l.Number != base+a+i ||
				!bytes.Equal(l.Text, bytes.TrimSuffix(want[i], []byte("\n"))) {
				t.Fatalf("line %d: %+v, %v", base+a+i, l, err)
			}
			i++
		}
		if i != len(want) {
			t.Fatalf("%d lines, want %d", i, len(want))
		}
	})
}

// TestLinesAroundTheGap: numbers after the gap are the true ones.
func TestLinesAroundTheGap(t *testing.T) {
	s := newStore(t, 4<<20)
	w := create(t, s, Meta{Type: Terminal}, Limits{Head: 8 << 10, Tail: 64 << 10})
	const n = 200_000
	for i := 1; i <= n; i++ {
		fmt.Fprintf(w, "line %d\n", i)
	}
	w.Complete(nil)
	o := w.Output()
	g := o.Meta().Gap
	first := g.AfterLine + int(g.Lines) + 1 // the first line after the gap
	collect := func(from, to int) (s string) {
		for l, err := range o.Lines(t.Context(), from, to) {
			switch {
			case err != nil:
				t.Fatal(err)
			case l.Gap != nil:
				s += fmt.Sprintf("gap %d;", l.Gap.Lines)
			case string(l.Text) != fmt.Sprintf("line %d", l.Number):
				t.Fatalf("%d is %q", l.Number, l.Text)
			default:
				s += fmt.Sprintf("%d;", l.Number)
			}
		}
		return s
	}
	gap := fmt.Sprintf("gap %d;", g.Lines)
	for _, tt := range []struct {
		from, to int
		want     string
	}{
		{1, 2, "1;2;"},
		{n, 0, "200000;"},
		{n + 1, n + 5, ""},
		{g.AfterLine, g.AfterLine, fmt.Sprintf("%d;", g.AfterLine)},
		{g.AfterLine, g.AfterLine + 1, fmt.Sprintf("%d;", g.AfterLine) + gap},
		{g.AfterLine + 1, first - 1, gap},
		{g.AfterLine + 50, g.AfterLine + 60, gap},
		{first - 1, first, gap + fmt.Sprintf("%d;", first)},
		{first, first + 1, fmt.Sprintf("%d;%d;", first, first+1)},
		{g.AfterLine, first, fmt.Sprintf("%d;%s%d;", g.AfterLine, gap, first)},
	} {
		if got := collect(tt.from, tt.to); got != tt.want {
			t.Errorf("lines %d-%d: %s want %s", tt.from, tt.to, got, tt.want)
		}
	}
	var b bytes.Buffer
	if err := o.CopyLines(t.Context(), &b, g.AfterLine, first); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("line %d\n%sline %d\n", g.AfterLine, g.notice(false), first)
	if b.String() != want || !strings.Contains(want, "… ") || !strings.Contains(want, "left out …\n") {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestOneLineWithAGap(t *testing.T) {
	s := newStore(t, 4<<20)
	w := create(t, s, Meta{Type: Terminal}, Limits{Head: 8 << 10, Tail: 64 << 10})
	w.Write(bytes.Repeat([]byte("x"), 1<<20))
	for range 2 { // growing, then complete
		var got []string
		for l, err := range w.Output().Lines(t.Context(), 1, 1) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(l.Number, len(l.Text) > 0, l.Gap != nil))
		}
		if fmt.Sprint(got) != "[1 true false 0 false true 1 true false]" {
			t.Fatal(got)
		}
		w.Complete(nil)
	}
}

func TestLongLinesAreCut(t *testing.T) {
	s := newStore(t, 64<<20)
	o := put(t, s, Meta{Type: File}, strings.Repeat("y", 5<<20)+"\nnext\n")
	var got []Line
	for l := range o.Lines(t.Context(), 0, 0) {
		got = append(got, l)
	}
	if len(got) != 2 || len(got[0].Text) != MaxLine || string(got[1].Text) != "next" {
		t.Fatalf("%d lines, %d bytes", len(got), len(got[0].Text))
	}
}

func TestLinesStop(t *testing.T) {
	s := newStore(t, 4<<20)
	o := put(t, s, Meta{Type: File}, strings.Repeat("a\n", 400_000))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n, last := 0, error(nil)
	for _, err := range o.Lines(ctx, 0, 0) {
		n, last = n+1, err
		cancel()
	}
	if !errors.Is(last, context.Canceled) || n > maxChunk {
		t.Fatalf("%d lines, %v", n, last)
	}
	for range o.Lines(t.Context(), 0, 0) {
		break
	}
	if err := o.CopyLines(ctx, &bytes.Buffer{}, 0, 0); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestNth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := bytes.Repeat([]byte(rapid.SampledFrom([]string{"\n", "ab\n", "a"}).Draw(t, "unit")),
			rapid.IntRange(0, 9000).Draw(t, "n"))
		n := rapid.Int64Range(1, 9001).Draw(t, "nth")
		want, seen := -1, int64(0)
		for i, c := range b {
			if c == '\n' {
				if seen++; seen == n {
					want = i
					break
				}
			}
		}
		if got := nth(b, n); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
	})
}
