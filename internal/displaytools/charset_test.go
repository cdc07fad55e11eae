package displaytools

import (
	"strings"
	"testing"
	"unicode/utf16"
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
		"\xff\xfea\x00\n\x00":               "utf-16le",
		"\xfe\xff\x00a\x00\n":               "utf-16be",
		"a" + strings.Repeat("ü", readSize): "utf-8", // cut within a character
	} {
		b.write("f.txt", text)
		res := b.call(RenderFile, "path", "f.txt")
		if got := b.output(res).Meta().MimeType; got != "text/plain; charset="+want ||
			b.bytes(res) != text {
			t.Errorf("%.20q: %s", text, got)
		}
	}
}

func wideText(s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

// A text in UTF-16 has the lines of its characters, not of its bytes.
func TestLinesOfWideText(t *testing.T) {
	b := newBench(t, nil)
	text := "one Ċ\ntwo 𝄞\n" + strings.Repeat("Ċ𝄞x\n", readSize/4) + "last"
	b.write("w.txt", wideText(text))
	res := b.call(RenderFile, "path", "w.txt")
	m := b.output(res).Meta()
	if want := readSize/4 + 3; m.TotalLines != want || m.EndLine != want || m.Binary ||
		b.bytes(res) != wideText(text) || b.output(res).Text().TotalLines() != want {
		t.Errorf("%+v", m)
	}
	res = b.call(RenderFile, "path", "w.txt", "startLine", 2, "endLine", 3)
	if got := b.bytes(res); got != "two 𝄞\nĊ𝄞x\n" ||
		b.output(res).Meta().MimeType != "text/plain; charset=utf-8" {
		t.Errorf("%q %+v", got, b.output(res).Meta())
	}
	for _, binary := range []string{"\xff\xfe\x00\x00a\x00\x00\x00", "\x00\x01\x02\x03",
		"a\x00\x01\x00", "\xff\xfe\x00\x00", "\x7fELF\x02\x01\x01\x00"} {
		b.write("b.bin", binary)
		if m := b.output(b.call(RenderFile, "path", "b.bin")).Meta(); !m.Binary {
			t.Errorf("%q is a text in %s", binary, m.MimeType)
		}
	}
}
