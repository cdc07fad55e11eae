package wording

import (
	"strings"
	"testing"
)

func TestTitle(t *testing.T) {
	for in, want := range map[string]string{
		"show me go.mod":             "show me go.mod",
		"\n\n  first\tline \nsecond": "first line",
		"a\u202eb":                   "a b",
		strings.Repeat("x", 100):     strings.Repeat("x", 60) + "…",
		strings.Repeat("word ", 20):  strings.TrimSpace(strings.Repeat("word ", 12)) + "…",
		"\u200b":                     "",
		"Explain how the queue of prompts works in this program, please, in " +
			"detail": "Explain how the queue of prompts works in this program…",
	} {
		if got := Title(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
