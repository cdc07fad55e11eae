package views

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"webchat/internal/outputs"
)

// Whatever changes are undone: the text shows which, or at least as many that make the same text;
// taking back none brings all back, and a text that is anything else is refused.
func TestUndoneIsToldFromTheText(t *testing.T) {
	h := New(testStore(t), nil)
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string { // few different lines, so that places are ambiguous
		var lines []string
		for range r.IntN(25) {
			lines = append(lines, fmt.Sprint("line ", r.IntN(4)))
		}
		return strings.Join(lines, "\n") + strings.Repeat("\n", r.IntN(2))
	}
	undo := func(o, with *outputs.Output, undone []int) string {
		t.Helper()
		b, err := h.Undo(t.Context(), o, with, undone)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for range 300 {
		was, now := text(), text()
		with, o := file(t, h, "a.txt", was), file(t, h, "a.txt", now)
		hunks, err := h.Hunks(t.Context(), o, with)
		if err != nil {
			t.Fatal(err)
		}
		var undone, all []int
		for _, hunk := range hunks {
			if all = append(all, hunk.N); r.IntN(2) == 0 {
				undone = append(undone, hunk.N)
			}
		}
		if got := undo(o, with, all); strings.TrimSuffix(got, "\n") != strings.TrimSuffix(was, "\n") {
			t.Fatalf("all of %q taken back is %q, want %q", now, got, was)
		}
		half := undo(o, with, undone)
		got, ok, err := h.Undone(t.Context(), o, with, []byte(half))
		if err != nil || !ok || undo(o, with, got) != half {
			t.Fatalf("%q, from %q to %q, has %v undone, not %v: %v %v", half, was, now, got, undone, ok, err)
		}
		if _, ok, _ := h.Undone(t.Context(), o, with, []byte(half+"\nsomebody else's\n")); ok {
			t.Fatalf("%q and more is taken for %q", half, half)
		}
	}
}

func TestHunks(t *testing.T) {
	h := New(testStore(t), nil)
	was := "package a\n\nfunc Old() {\n\tone()\n\ttwo()\n\tthree()\n\tfour()\n}\n"
	now := "package a\n\nfunc Old() {\n\t1()\n\ttwo()\n\tfour()\n}\n\nfunc New() {}\n"
	hunks, err := h.Hunks(t.Context(), file(t, h, "a.go", now), file(t, h, "a.go", was))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	rows := 0
	for _, x := range hunks {
		got = append(got, fmt.Sprintf("%d-%d +%d -%d %s", x.First, x.Last, x.Added, x.Removed, x.In))
		rows += len(diffOf([]byte(x.Rows)))
	}
	if want := []string{"4-4 +1 -1 Old", "6-5 +0 -1 Old", "8-9 +2 -0 "}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if rows != 11 {
		t.Errorf("%d rows: those around a change are drawn once", rows)
	}
	if _, err := h.Undo(t.Context(), file(t, h, "a.go", now), file(t, h, "a.go", was),
		[]int{4}); err == nil {
		t.Error("a change that is not there is undone")
	}
}
