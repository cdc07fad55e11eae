package page

import (
	"fmt"
	"testing"
)

func TestDiffer(t *testing.T) {
	for _, c := range []struct {
		old, fresh []uint16
		want       string
		gone       int
	}{
		{nil, nil, "", 0}, {[]uint16{1, 2, 3}, []uint16{1, 2, 3}, "", 0}, {[]uint16{1, 2, 3}, []uint16{1, 9, 3}, "11", 1},
		{[]uint16{1, 2, 3}, []uint16{1, 2, 7, 8, 3}, "12-13", 0}, {[]uint16{1, 2, 3}, []uint16{3}, "", 2},
		{[]uint16{1, 2, 3, 4, 5}, []uint16{9, 2, 3, 8, 5, 6}, "10 13 15", 2}, {nil, []uint16{4, 4}, "10-11", 0},
		{[]uint16{1, 1, 1}, []uint16{1, 1}, "", 1},
	} {
		changed, gone := diffLines(c.old, c.fresh)
		if got := ranges(changed, 10); got != c.want || gone != c.gone {
			t.Errorf("%v to %v: %q changed and %d gone, want %q and %d", c.old, c.fresh, got, gone, c.want, c.gone)
		}
	}
}

// What comes out is always what the new one has besides the common part.
func TestDifferCounts(t *testing.T) {
	old, fresh := make([]uint16, 0, 1000), make([]uint16, 0, 1000)
	for i := range 1000 {
		old = append(old, uint16(i*7%31))
		fresh = append(fresh, uint16(i*11%29))
	}
	changed, gone := diffLines(old, fresh)
	if common := len(fresh) - len(changed); common != len(old)-gone || common < 200 {
		t.Errorf("%s", fmt.Sprint(common, len(old)-gone))
	}
}
