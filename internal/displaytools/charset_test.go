package displaytools

import (
	"strings"
	"testing"
)

// The bytes are kept as they are; how they are to be read is said beside them.
func TestCharset(t *testing.T) {
	b := newBench(t, nil)
	for text, want := range map[string]string{
		"plain\n":                           "utf-8",
		"":                                  "utf-8",
		"Grüße\n":                           "utf-8",
		"Gr\xfc\xdfe\n":                     "windows-1252",
		"\x93quoted\x94 \x80\n":             "windows-1252",
		"Grüße, größer \xfc\n":              "utf-8", // with a fault
		"\xff":                              "windows-1252",
		strings.Repeat("ü", readSize/2+10):  "utf-8",
		"a" + strings.Repeat("ü", readSize): "utf-8", // cut within a character
	} {
		b.write("f.txt", text)
		res := b.call(RenderFile, "path", "f.txt")
		if got := b.output(res).Meta().MimeType; got != "text/plain; charset="+want || b.bytes(res) != text {
			t.Errorf("%.20q: %s", text, got)
		}
	}
}
