package released

import (
	"errors"
	"slices"
	"testing"

	"webchat/internal/eventlog"
)

// An attachment names lines by ranges that ascend, so that nothing is read twice.
func TestLinesOfAnAttachment(t *testing.T) {
	for text, want := range map[string][][2]int{
		"":         {{0, 0}},
		"7":        {{7, 7}},
		"62-72":    {{62, 72}},
		"1,15,34":  {{1, 1}, {15, 15}, {34, 34}},
		"3,7-9,11": {{3, 3}, {7, 9}, {11, 11}},
	} {
		if got, err := parseLines(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"0", "-3", "9-7", "7,", ",7", "7,7", "5-9,8", "9,3", "a", "1-2-3",
		"5-"} {
		if got, err := parseLines(text); !errors.Is(err, eventlog.ErrInvalid) {
			t.Errorf("%q was taken for %v, %v", text, got, err)
		}
	}
}

// Lines an output does not have are refused rather than attached as nothing.
func TestAttachedLinesAreThere(t *testing.T) {
	for _, c := range []struct {
		lines        string
		first, count int
		ok           bool
	}{
		{"", 1, 0, true}, {"", 1, 21, true}, {"1-21", 1, 21, true}, {"21", 1, 21, true},
		{"100-120", 100, 21, true},
		{"40-60", 1, 21, false}, {"20-22", 1, 21, false}, {"3,22", 1, 21, false}, {"1", 1, 0, false},
		{"1-10", 100, 21, false}, {"120-121", 100, 21, false},
	} {
		ranges, err := parseLines(c.lines)
		if err != nil {
			t.Fatal(err)
		}
		if err := lastLine(ranges, c.first, c.count); (err == nil) != c.ok || err != nil &&
			!errors.Is(err, eventlog.ErrInvalid) {
			t.Errorf("lines %q of %d from %d: %v", c.lines, c.count, c.first, err)
		}
	}
}
