package views

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"webchat/internal/outputs"
)

func testStore(t *testing.T) *outputs.Store {
	t.Helper()
	s, err := outputs.New(outputs.Config{TTL: time.Minute, Budget: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var rowNumber = regexp.MustCompile(`aria-label="Line (\d+)"`)

func numbersIn(html []byte) (list []int) {
	for _, m := range rowNumber.FindAllSubmatch(html, -1) {
		n, _ := strconv.Atoi(string(m[1]))
		list = append(list, n)
	}
	return list
}

// Rows have the numbers of the lines, before and after what was left out.
func TestRowsAroundTheGap(t *testing.T) {
	for _, c := range []struct {
		kind outputs.Type
		over bool
	}{{outputs.Terminal, true}, {outputs.File, true}, {outputs.Terminal, false}} {
		kind := c.kind
		store := testStore(t)
		w, err := store.Create(outputs.Meta{Type: kind, StartLine: 1},
			outputs.Limits{Head: 8 << 10, Tail: 16 << 10})
		if err != nil {
			t.Fatal(err)
		}
		const total = 20_000
		for i := 1; i <= total; i++ {
			if _, err := fmt.Fprintf(w, "this is line %d\n", i); err != nil {
				t.Fatal(err)
			}
		}
		if c.over {
			w.Complete(nil)
		}
		o, h := w.Output(), New(store, nil)
		gap := o.Meta().Gap
		if gap == nil {
			t.Fatal("nothing was left out")
		}
		last, next := gap.AfterLine, gap.AfterLine+int(gap.Lines)+1
		if !c.over {
			next = behind(o, *gap)
		}
		view := ask(t, h, o, outputs.Ask{View: h.Of(o)[0]})
		if got := view.Header["Gap"]; got != fmt.Sprintf("%d-%d", last, next) {
			t.Errorf("%s: the lines beside the gap are %s, want %d-%d", kind, got, last, next)
		}
		for _, c := range []struct {
			from, to int
			cut      bool
		}{{1, 3, false}, {last - 1, last, false}, {last - 1, next + 2, true}, {last + 5, next - 5, true},
			{next + 3, next + 6, false}, {total - 2, total, false}} {
			html, err := h.HTML(t.Context(), o, c.from, c.to)
			if err != nil {
				t.Fatalf("%s %d-%d: %v", kind, c.from, c.to, err)
			}
			if got := bytes.Contains(html, []byte("lines) left out")); got != c.cut {
				t.Errorf("%s %d-%d: says that something was left out: %v", kind, c.from, c.to, got)
			}
			var want []int
			for n := c.from; n <= c.to; n++ {
				if n <= last || n >= next {
					want = append(want, n)
				}
			}
			if got := numbersIn(html); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s %d-%d: rows %v, want %v", kind, c.from, c.to, got, want)
			}
			for _, n := range want {
				// Beside the gap a line may be a part of one.
				if n != last && n != next && !strings.Contains(string(html),
					fmt.Sprintf("this is line %d<", n)) {
					t.Errorf("%s %d-%d: row %d has another text", kind, c.from, c.to, n)
				}
			}
		}
	}
}

// A terminal that grows is shown as far as it is, also after its middle is gone.
func TestRowsOfAGrowingTerminal(t *testing.T) {
	store := testStore(t)
	w, err := store.Create(outputs.Meta{Type: outputs.Terminal},
		outputs.Limits{Head: 8 << 10, Tail: 16 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Complete(nil)
	h := New(store, nil)
	for i := 1; i <= 5000; i++ {
		if _, err := fmt.Fprintf(w, "\x1b[31mred\x1b[0m %d\n", i); err != nil {
			t.Fatal(err)
		}
		if i%250 != 0 {
			continue
		}
		html, err := h.HTML(t.Context(), w.Output(), i-2, i)
		if err != nil {
			t.Fatal(err)
		}
		if got := numbersIn(html); fmt.Sprint(got) != fmt.Sprint([]int{i - 2, i - 1, i}) ||
			!bytes.Contains(html, fmt.Appendf(nil, "</span> %d<", i)) {
			t.Fatalf("at line %d: %s", i, html)
		}
		if bytes.ContainsAny(html, "\x1b") {
			t.Fatal("an escape came through")
		}
	}
}

// A program that writes over what it has written has fewer rows than lines: the end of them is what
// a card shows, and who follows gets the last ones.
func TestRowsWrittenOver(t *testing.T) {
	store := testStore(t)
	w, err := store.Create(outputs.Meta{Type: outputs.Terminal, StartLine: 1}, outputs.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	write := func(s string) {
		if _, err := w.Write([]byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	o, h := w.Output(), New(store, nil)
	write("start\n")
	for i := range 200 {
		write(fmt.Sprintf("a %d\nb %d\n\x1b[2A", i, i))
	}
	html, err := h.HTML(t.Context(), o, o.TotalLines()-1, o.TotalLines())
	if err != nil || !slices.Equal(numbersIn(html), []int{2, 3}) ||
		!bytes.Contains(html, []byte("b 199")) {
		t.Errorf("following: %s, %v", html, err)
	}
	write("\n\nend\n")
	w.Complete(nil)
	if last := h.last(t.Context(), o); last != 4 {
		t.Errorf("the last row is %d", last)
	}
	if html, err := h.HTML(t.Context(), o, 4, 9); err != nil ||
		!bytes.Contains(html, []byte("end</code>")) || len(numbersIn(html)) != 1 {
		t.Errorf("at the end: %s, %v", html, err)
	}
}
