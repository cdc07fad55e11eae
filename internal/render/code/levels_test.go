package code

import (
	"testing"

	"webchat/internal/render/rendertest"
)

// The lines of a log say by colour how bad they are; other text stays as it is.
func TestLevelsHaveColours(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-21T21:57:53.406Z ERROR " +
			"pump-2 cut": `<span class="f">2026-11-21T21:57:53.406Z</span> <span class="a1">ERROR</span> pump-2 cut`,
		"[2026-11-21 21:57:53] WARN " +
			"<slow>": `<span class="f">[2026-11-21 21:57:53]</span> <span class="a3">WARN</span> &lt;slow&gt;`,
		"DEBUG x ERROR y":        `<span class="f">DEBUG</span> x <span class="a1">ERROR</span> y`,
		"INFO one":               "INFO one",
		"an error, and MY_ERROR": "an error, and MY_ERROR",
		"bad \xff ERROR":         "bad \ufffd ERROR",
	} {
		rows, err := New("", newText(text), 1).Rows(t.Context(), 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := rendertest.Rows(rows.HTML); len(got) != 1 || got[0] != want {
			t.Errorf("%q is shown as\n%q, want\n%s", text, got, want)
		}
	}
}
