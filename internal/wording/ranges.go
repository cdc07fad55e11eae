package wording

import (
	"strconv"
	"strings"
)

// Ranges reads ranges of lines, as addresses, prompts and events have them: "3,7-9". Each is "A-B",
// "A-" (then B is 0) or "A", counting from 1 and with A not above B.
func Ranges(text string) (ranges [][2]int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		a, b, ranged := strings.Cut(strings.TrimSpace(part), "-")
		from, err := LineNumber(a)
		to := from
		switch {
		case err != nil:
		case ranged && b == "":
			to = 0
		case ranged:
			if to, err = LineNumber(b); err == nil && to < from {
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

// Range reads a single range that has an end, "A-B" or "A".
func Range(text string) (from, to int, err error) {
	all, err := Ranges(text)
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

// LineNumber reads a number from 1 on: digits only, no sign, no space.
func LineNumber(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err == nil && n == 0 {
		err = strconv.ErrRange
	}
	return int(n), err
}
