package linediff

import "sort"

// Change is lines of one text that stand in place of lines of another: both ranges
// count from 0, and do not include their end.
type Change struct{ A, AEnd, B, BEnd int }

// differ compares two texts by the numbers of their lines, equal lines having equal
// numbers. Lines that occur once in both are matched first, then those around them
// (the patience method); what is left between is compared exactly while it is small.
// The work grows as the length does, times its logarithm.
type differ struct {
	a, b    []int32
	cells   int // of exact comparison that may still be worked out
	changes []Change
}

const (
	exactCells  = 8 << 20
	exactRegion = 1 << 20
	maxNesting  = 30
)

// Compare returns what differs between two texts, in order. Each is the numbers of its
// lines; equal lines have equal numbers.
func Compare(a, b []int32) []Change {
	d := &differ{a: a, b: b, cells: exactCells}
	d.region(0, len(a), 0, len(b), 0)
	return d.changes
}

// region compares a[a0:a1] with b[b0:b1].
func (d *differ) region(a0, a1, b0, b1, nested int) {
	for a0 < a1 && b0 < b1 && d.a[a0] == d.b[b0] {
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && d.a[a1-1] == d.b[b1-1] {
		a1, b1 = a1-1, b1-1
	}
	if a0 == a1 && b0 == b1 {
		return
	}
	if a0 == a1 || b0 == b1 {
		d.add(Change{a0, a1, b0, b1})
		return
	}
	anchors := d.anchors(a0, a1, b0, b1)
	if len(anchors) == 0 || nested == maxNesting {
		d.exact(a0, a1, b0, b1)
		return
	}
	for _, p := range anchors {
		d.region(a0, p[0], b0, p[1], nested+1)
		a0, b0 = p[0]+1, p[1]+1
	}
	d.region(a0, a1, b0, b1, nested+1)
}

func (d *differ) add(c Change) {
	if n := len(d.changes); n > 0 && d.changes[n-1].AEnd == c.A && d.changes[n-1].BEnd == c.B {
		d.changes[n-1].AEnd, d.changes[n-1].BEnd = c.AEnd, c.BEnd
		return
	}
	d.changes = append(d.changes, c)
}

// anchors are lines that occur once in both regions: the longest run of them that
// stands in the same order in both.
func (d *differ) anchors(a0, a1, b0, b1 int) [][2]int {
	type seen struct{ inA, inB, a, b int }
	lines := make(map[int32]*seen, a1-a0)
	for i := a0; i < a1; i++ {
		s := lines[d.a[i]]
		if s == nil {
			s = &seen{}
			lines[d.a[i]] = s
		}
		s.inA, s.a = s.inA+1, i
	}
	for i := b0; i < b1; i++ {
		if s := lines[d.b[i]]; s != nil {
			s.inB, s.b = s.inB+1, i
		}
	}
	var pairs [][2]int
	for i := a0; i < a1; i++ {
		if s := lines[d.a[i]]; s.inA == 1 && s.inB == 1 {
			pairs = append(pairs, [2]int{s.a, s.b})
		}
	}
	return rising(pairs)
}

// rising returns the longest part of pairs whose second numbers rise.
func rising(pairs [][2]int) [][2]int {
	var ends []int // of the best run of each length, the index of its last pair
	before := make([]int, len(pairs))
	for i, p := range pairs {
		n := sort.Search(len(ends), func(k int) bool { return pairs[ends[k]][1] >= p[1] })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	if len(ends) == 0 {
		return nil
	}
	run := make([][2]int, len(ends))
	for i, k := ends[len(ends)-1], len(ends)-1; k >= 0; i, k = before[i], k-1 {
		run[k] = pairs[i]
	}
	return run
}

// exact finds the longest common lines of a small region; a large one is one change.
func (d *differ) exact(a0, a1, b0, b1 int) {
	n, m := a1-a0, b1-b0
	if n > exactRegion || m > exactRegion || n*m > min(d.cells, exactRegion) {
		d.add(Change{a0, a1, b0, b1})
		return
	}
	d.cells -= n * m
	length := make([]int32, (n+1)*(m+1)) // of what is common below and behind
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			k := i*(m+1) + j
			if d.a[a0+i] == d.b[b0+j] {
				length[k] = length[k+m+2] + 1
			} else {
				length[k] = max(length[k+1], length[k+m+1])
			}
		}
	}
	i, j := 0, 0
	for i < n && j < m {
		k := i*(m+1) + j
		switch {
		case d.a[a0+i] == d.b[b0+j]:
			i, j = i+1, j+1
		case length[k+m+1] >= length[k+1]:
			d.add(Change{a0 + i, a0 + i + 1, b0 + j, b0 + j})
			i++
		default:
			d.add(Change{a0 + i, a0 + i, b0 + j, b0 + j + 1})
			j++
		}
	}
	if i < n || j < m {
		d.add(Change{a0 + i, a1, b0 + j, b1})
	}
}
