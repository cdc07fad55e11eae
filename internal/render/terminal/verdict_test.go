package terminal

import (
	"testing"

	"webchat/internal/render/rendertest"
)

// What tests say without colours gets those that say the same; text that only looks
// similar, and what chose colours by itself, stays as it is.
func TestVerdictsHaveColours(t *testing.T) {
	for text, want := range map[string]string{
		"=== RUN   TestPump": `<span class="f">=== RUN</span>   TestPump`,
		"    --- PASS: TestPump/a " +
			"(0.01s)": `    <span class="a2">--- PASS:</span> TestPump/a <span class="f">(0.01s)</span>`,
		"--- FAIL: TestPump " +
			"(1.04s)": `<span class="a1">--- FAIL:</span> TestPump <span class="f">(1.04s)</span>`,
		"FAIL":                          `<span class="a1">FAIL</span>`,
		"FAIL\texample.com/relay\t1.3s": "<span class=\"a1\">FAIL</span>\texample.com/relay\t1.3s",
		"ok  \texample.com/relay\t(cached)": "<span class=\"a2\">ok</span>  " +
			"\texample.com/relay\t(cached)",
		"ok 2 - opens <a>":        `<span class="a2">ok</span> 2 - opens &lt;a&gt;`,
		"not ok 3 - closes":       `<span class="a1">not ok</span> 3 - closes`,
		"test frame::ends ... ok": `test frame::ends <span class="a2">... ok</span>`,
		"tests/test_a.py::test_b " +
			"FAILED": `tests/test_a.py::test_b <span class="a1">FAILED</span>`,
		"warning: unused": `<span class="a3">warning:</span> unused`,
		"error[E0308]: mismatched " +
			"types": `<span class="a1">error[E0308]:</span> mismatched types`,
		"ok then":                                 "ok then",
		"FAILURES are read":                       "FAILURES are read",
		"an error: said in the middle":            "an error: said in the middle",
		"\x1b[34mFAIL\x1b[0m is blue where it is": `<span class="a4">FAIL</span> is blue where it is`,
	} {
		got := rendertest.Rows(linesOf([]byte(text)))
		if len(got) != 1 || got[0] != want {
			t.Errorf("%q is shown as\n%q, want\n%s", text, got, want)
		}
	}
}
