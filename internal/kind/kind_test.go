package kind

import (
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"
)

func u32(n int) string { return string(binary.BigEndian.AppendUint32(nil, uint32(n))) }
func u16(n int) string { return string(binary.BigEndian.AppendUint16(nil, uint16(n))) }
func l32(n int) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }
func l16(n int) string { return string(binary.LittleEndian.AppendUint16(nil, uint16(n))) }
func l24(n int) string { return string([]byte{byte(n), byte(n >> 8), byte(n >> 16)}) }

func pngOf(w, h int) string {
	head := "IHDR" + u32(w) + u32(h) + "\x08\x06\x00\x00\x00"
	return "\x89PNG\r\n\x1a\n" + u32(13) + head + u32(int(crc32.ChecksumIEEE([]byte(head))))
}

func jpegOf(w, h int) string {
	components := "\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01"
	return "\xff\xd8\xff\xe0" + u16(4) + "ab" + "\xff\xff\xfe" + u16(3) + "x" + "\xff\xc2" + u16(17) +
		"\x08" + u16(h) + u16(w) + components + "\xff\xda\x00\x08"
}

func webpOf(name, chunk string) string {
	return "RIFF" + l32(12+len(chunk)) + "WEBP" + name + l32(len(chunk)) + chunk
}

func mp4(kind, body string) string { return u32(8+len(body)) + kind + body }

// avif names its brand behind another one, as cameras write it.
var avif = mp4("ftyp", "mif1"+u32(0)+"miafavif") + mp4("meta", u32(0))

func TestPictures(t *testing.T) {
	for name, test := range map[string]struct {
		data, mime string
		w, h       int
	}{
		"a.png":    {pngOf(640, 480), "image/png", 640, 480},
		"jpeg.txt": {jpegOf(300, 200), "image/jpeg", 300, 200},
		"a.gif":    {"GIF89a" + l16(7) + l16(8) + "\x00\x00\x00", "image/gif", 7, 8},
		"lossy.webp": {webpOf("VP8 ", "\x10\x00\x00\x9d\x01\x2a"+l16(0x4000|33)+l16(44)+zeros),
			"image/webp", 33, 44},
		"lossless": {webpOf("VP8L", "\x2f"+l32(54|65<<14)), "image/webp", 55, 66},
		"ext.webp": {webpOf("VP8X", "\x02\x00\x00\x00"+l24(76)+l24(87)), "image/webp", 77, 88},
		"a.avif":   {avif, "image/avif", 0, 0},
		"a.svg":    {`<svg width="12" height="13px"/>`, "image/svg+xml", 0, 0},
		"declared.svg": {"\ufeff<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>\n<!-- x -->\n<!DOCTYPE " +
			"svg PUBLIC \"a\" \"b\">\n<svg xmlns=\"x\" viewBox=\"0 0 200 100\" " +
			"width=\"50%\">", "image/svg+xml", 0, 0},
		"inch.svg":     {`<svg width="1in" viewBox="0,0,2,1"/>`, "image/svg+xml", 0, 0},
		"prefixed.svg": {`<s:svg xmlns:s="http://www.w3.org/2000/svg" xmlns:i="i" i:width="9" width="3" height="4"/>`, "image/svg+xml", 0, 0},
		"bare.svg":     {`<svg/>`, "image/svg+xml", 0, 0},
		"moved.png": {pngOf(8, 9)[:33] + u32(8) + "acTL" + u32(1) + u32(0) + u32(0), "image/png", 8,
			9},
	} {
		if got := Picture([]byte(test.data)); got != test.mime {
			t.Errorf("%s: it is %q", name, got)
		}
		if w, h, err := Size([]byte(test.data)); err != nil || w != test.w || h != test.h {
			t.Errorf("%s: %d × %d, %v", name, w, h, err)
		}
	}
}

func TestDamagedPictures(t *testing.T) {
	for name, data := range map[string]string{
		"no pixels":  pngOf(0, 5),
		"short":      "\x89PNG\r\n\x1a\n",
		"checksum":   pngOf(3, 3)[:32] + "x",
		"no frame":   "\xff\xd8\xff\xda\x00\x02",
		"short gif":  "GIF89a" + l16(7),
		"short webp": webpOf("VP8 ", zeros)[:22],
		"svg in svg": "<svgx/>",
	} {
		if w, h, err := Size([]byte(data)); err == nil {
			t.Errorf("%s: %d × %d", name, w, h)
		}
	}
}

// Files that are not pictures, whatever they are called, and what people call it.
func TestNames(t *testing.T) {
	for data, want := range map[string]string{
		"<!DOCTYPE html><html><svg>":   "HTML",
		"<?xml version='1.0'?><html/>": "XML",
		"just words":                   "text",
		`{"a": 1}`:                     "text",
		"%PDF-1.7\n":                   "PDF",
		"\x7fELF\x02\x01\x01" + zeros:  "ELF",
		"PK\x03\x04" + zeros:           "ZIP",
		"\x1f\x8b\x08" + zeros:         "gzip",
		"BM" + strings.Repeat("\x00", 12) + "\x28" + zeros: "BMP",
		"II*\x00" + zeros:                  "TIFF",
		"SQLite format 3\x00" + zeros:      "SQLite",
		"\x28\xb5\x2f\xfd" + zeros:         "Zstandard",
		"\x00asm\x01\x00\x00\x00":          "WebAssembly",
		"\x00\x01\x02":                     "",
		"":                                 "text",
		pngOf(1, 1):                        "PNG",
		avif:                               "AVIF",
		"\ufeff<!-- x --><svg width='1'/>": "SVG",
		"<!-- never closed <svg>":          "HTML",
	} {
		if _, got := Of([]byte(data)); got != want {
			t.Errorf("%.40q is %q, not %q", data, got, want)
		}
	}
}

var zeros = strings.Repeat("\x00", 64)

func TestBinary(t *testing.T) {
	for data, want := range map[string]bool{"": false, "text": false, "a\x00b": true,
		strings.Repeat("a", head) + "\x00": false} {
		if Binary([]byte(data)) != want {
			t.Errorf("%.20q: not %t", data, want)
		}
	}
}

// FuzzKind: no bytes make another picture than the six that browsers show, and those
// whose sizes are known have pixels.
func FuzzKind(f *testing.F) {
	for _, s := range []string{pngOf(1, 2), jpegOf(3, 4), avif, "GIF87a\x01\x00\x01\x00",
		webpOf("VP8X", ""), `<svg width="1e999" viewBox="0 0 0 0"/>`, "<svg:svg/>",
		"<?xml ?><!DOCTYPE svg [ ]><svg>"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		mediaType := Picture(b)
		switch mediaType {
		case "", "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", SVG:
		default:
			t.Errorf("a picture of type %q", mediaType)
		}
		w, h, err := Size(b)
		sized := mediaType != "" && (mediaType == "image/avif" || mediaType == SVG || w > 0 && h > 0)
		if (err == nil) != sized {
			t.Errorf("%s: %d × %d, %v", mediaType, w, h, err)
		}
	})
}
