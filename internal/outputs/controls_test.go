package outputs

import "testing"

func TestStripControls(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                       "plain",
		"\x1b[31mred\x1b[m":           "red",
		"a\x1b":                       "a",
		"a\x1b[12;":                   "a",
		"a\x1b]8;;http://x\x1b\\b":    "ab",
		"a\x1b]0;t":                   "a",
		"a\x1bP1$r\x07b\x1bMc\x1b(Bd": "abcd",
		"\x00\x07\x08\x7f\tü世\u009b":  "\tü世\u009b",
		"\x1b\x1b[1mx":                "[1mx",
		"a\x1b]0;never \x1b":          "a",
	} {
		if got := string(stripControls(nil, []byte(in))); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzStripControls(f *testing.F) {
	f.Add([]byte("a\x1b[31mb"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, c := range stripControls(nil, b) {
			if c < 0x20 && c != '\t' || c == 0x7f {
				t.Fatalf("%q keeps %#x", b, c)
			}
		}
	})
}
