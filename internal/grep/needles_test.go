package grep

import (
	"slices"
	"strings"
	"testing"
)

// What is looked for in every large output is looked for by its texts.
func TestDensityIsLookedForByTexts(t *testing.T) {
	for _, text := range []string{ErrorLines, WarningLines} {
		if e, err := Parse(text); err != nil || len(e.needles) == 0 {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Whatever lines are passed over by, those that match are found.
func TestLinesAsTheExpressionAloneFindsThem(t *testing.T) {
	text := "one\n\nTwo 22\nthree\r\nf\xffour ü4\n4\n\nK kelvin \u212a\nSTRASSE straße ſ\n" +
		strings.Repeat("z", 300) + "9\nlast"
	for _, expr := range []string{
		"o", "(?i)T", "[0-9]", "[a-z]+[0-9]{2}", `\d+$`, "^$", "^.{2}$", "[^a-z]$", `[ü-ÿ]\d`,
		`\xff|four`, "(?i)k", "(?i)kelvin", "(?i)ſ", "(?i)strasse",
		"[A-Z]{5}", "(a|e)+", "x*", "[9Z]", "[[:upper:]]\\w+ [[:digit:]]", `\x{FFFD}`, "(?:22|4)+",
		"[^\\n]*st", "()", "z{300}9", "[\u00e0-\u00ff]", "(?s:.)4",
	} {
		e, err := Parse(expr)
		if err != nil {
			t.Fatal(err)
		}
		var want []int
		for i, line := range strings.Split(text, "\n") {
			if e.re.MatchString(strings.TrimSuffix(line, "\r")) {
				want = append(want, i+1)
			}
		}
		if got := e.Lines([]byte(text), 1, nil, func() bool { return false }); !slices.Equal(got, want) {
			t.Errorf("%s: lines %v, not %v", expr, got, want)
		}
	}
}

// Where every line matches, none is looked through to the end of the text: that would take minutes
// here.
func TestLinesThatAllMatch(t *testing.T) {
	e, err := Query{Text: "frame"}.Parse()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("2026-11-20 pump frame=1 queue=2 ok, and more of it to be read\n", 200_000)
	if got := e.Lines([]byte(text), 1, nil, func() bool { return false }); len(got) != 200_000 {
		t.Errorf("%d lines", len(got))
	}
}
