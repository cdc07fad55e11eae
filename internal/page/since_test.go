package page

import "testing"

func TestDiffer(t *testing.T) {
	for _, c := range []struct {
		old, fresh []rune
		want       string
		gone       int
	}{
		{nil, nil, "", 0}, {[]rune{1, 2, 3}, []rune{1, 2, 3}, "", 0},
		{[]rune{1, 2, 3}, []rune{1, 9, 3}, "11", 1},
		{[]rune{1, 2, 3}, []rune{1, 2, 7, 8, 3}, "12-13", 0}, {[]rune{1, 2, 3}, []rune{3}, "", 2},
		{[]rune{1, 2, 3, 4, 5}, []rune{9, 2, 3, 8, 5, 6}, "10 13 15", 2}, {nil, []rune{4, 4}, "10-11", 0},
		{[]rune{1, 1, 1}, []rune{1, 1}, "", 1},
	} {
		if got, _, gone := differ(c.old, c.fresh, 10); got != c.want || gone != c.gone {
			t.Errorf("%v to %v: %q changed and %d gone, want %q and %d", c.old, c.fresh, got, gone, c.want,
				c.gone)
		}
	}
}

func TestSpans(t *testing.T) {
	for lines, want := range map[string]string{"": "", "7-7": "7", "3-3,7-9": "3, 7–9", "12": "12"} {
		if got := spans(lines); got != want {
			t.Errorf("spans(%q) = %q, want %q", lines, got, want)
		}
	}
}
