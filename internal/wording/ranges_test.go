package wording

import (
	"fmt"
	"testing"
)

func TestRanges(t *testing.T) {
	for text, want := range map[string]string{
		"3": "[[3 3]] true", "3-9": "[[3 9]] true", "3-": "[[3 0]] false", "1-2, 7": "[[1 2] [7 7]] true",
		"5,4": "[[5 5] [4 4]] false", "1-3,3": "[[1 3] [3 3]] false",
		"": "no", "0": "no", "4-3": "no", "-3": "no", "+1": "no", "1-2-3": "no", "a": "no", "1,": "no",
		"99999999999": "no",
	} {
		got := "no"
		if all, err := Ranges(text); err == nil {
			got = fmt.Sprint(all, Ascend(all))
		}
		if got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string][3]int{"3": {3, 3, 1}, "3-9": {3, 9, 1}, "3-": {}, "1,2": {},
		"": {}} {
		from, to, err := Range(text)
		if (err == nil) != (want[2] == 1) || from != want[0] || to != want[1] {
			t.Errorf("%q is %d to %d, %v", text, from, to, err)
		}
	}
}
