package grep

import "testing"

// What is looked for in every large output is looked for by its texts.
func TestDensityIsLookedForByTexts(t *testing.T) {
	for _, text := range []string{ErrorLines, WarningLines} {
		if e, err := Parse(text); err != nil || len(e.needles) == 0 {
			t.Errorf("%s: %v", text, err)
		}
	}
}
