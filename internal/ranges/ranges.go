// Package ranges reads ranges of lines, as addresses, prompts and events have them: "3,7-9".
package ranges

import (
	"strconv"
	"strings"
)

// Parse reads ranges parted by commas, each as "A-B", "A-" (then B is 0) or "A", counting from 1
// and with A not above B.
func Parse(text string) (ranges [][2]int, err error) {
	for one := range strings.SplitSeq(text, ",") {
		a, b, ranged := strings.Cut(strings.TrimSpace(one), "-")
		from, err := Number(a)
		to := from
		switch {
		case err != nil:
		case ranged && b == "":
			to = 0
		case ranged:
			if to, err = Number(b); err == nil && to < from {
				err = strconv.ErrRange
			}
		}
		if err != nil {
			return nil, err
		}
		ranges = append(ranges, [2]int{from, to})
	}
	return ranges, nil
}

// One reads a single range that has an end, "A-B" or "A".
func One(text string) (from, to int, err error) {
	all, err := Parse(text)
	if err == nil && (len(all) != 1 || all[0][1] == 0) {
		err = strconv.ErrSyntax
	}
	if err != nil {
		return 0, 0, err
	}
	return all[0][0], all[0][1], nil
}

// Ascend reports whether ranges are in ascending order, do not overlap, and have ends.
func Ascend(ranges [][2]int) bool {
	last := 0
	for _, r := range ranges {
		if r[0] <= last || r[1] == 0 {
			return false
		}
		last = r[1]
	}
	return true
}

// Number reads a number from 1 on: digits only, no sign, no space.
func Number(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err == nil && n == 0 {
		err = strconv.ErrRange
	}
	return int(n), err
}
