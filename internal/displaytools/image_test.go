package displaytools

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/outputs"
)

func u32(n int) string { return string(binary.BigEndian.AppendUint32(nil, uint32(n))) }
func u16(n int) string { return string(binary.BigEndian.AppendUint16(nil, uint16(n))) }
func l16(n int) string { return string(binary.LittleEndian.AppendUint16(nil, uint16(n))) }
func l24(n int) string { return string([]byte{byte(n), byte(n >> 8), byte(n >> 16)}) }

func png(w, h int) string {
	return "\x89PNG\r\n\x1a\n" + u32(13) + "IHDR" + u32(w) + u32(h) + "\x08\x06\x00\x00\x00\x00\x00\x00\x00"
}

func jpeg(w, h int) string {
	return "\xff\xd8\xff\xe0" + u16(4) + "ab" + "\xff\xff\xdb" + u16(3) + "x" + "\xff\xc2" + u16(17) + "\x08" + u16(h) + u16(w) + strings.Repeat("\x00", 10) + "\xff\xda"
}

func webp(chunk string) string {
	return "RIFF" + "\x00\x00\x00\x00" + "WEBP" + chunk + strings.Repeat("\x00", 20)
}

func mp4(kind, body string) string { return u32(8+len(body)) + kind + body }

// avif has a thumbnail before the primary item, as cameras write it.
func avif(w, h int) string {
	ispe := func(w, h int) string { return mp4("ispe", u32(0)+u32(w)+u32(h)) }
	ipco := mp4("ipco", ispe(99, 98)+mp4("pixi", u32(0))+ispe(w, h))
	ipma := mp4("ipma", u32(0)+u32(2)+u16(1)+"\x01\x01"+u16(2)+"\x02\x02\x83")
	return mp4("ftyp", "mif1"+u32(0)+"miafavif") + mp4("meta", u32(0)+mp4("hdlr", "x")+mp4("pitm", u32(0)+u16(2))+mp4("iprp", ipco+ipma))
}

func TestPictures(t *testing.T) {
	for name, test := range map[string]struct {
		data, mime string
		w, h       int
	}{
		"a.png":        {png(640, 480), "image/png", 640, 480},
		"jpeg.txt":     {jpeg(300, 200), "image/jpeg", 300, 200},
		"a.gif":        {"GIF89a" + l16(7) + l16(8) + "\x00\x00\x00", "image/gif", 7, 8},
		"lossy.webp":   {webp("VP8 " + l24(0) + "\x00" + "\x00\x00\x00\x9d\x01\x2a" + l16(0x4000|33) + l16(44)), "image/webp", 33, 44},
		"lossless":     {webp("VP8L" + l24(0) + "\x00" + "\x2f" + string(binary.LittleEndian.AppendUint32(nil, 54|65<<14))), "image/webp", 55, 66},
		"ext.webp":     {webp("VP8X" + l24(10) + "\x00" + "\x00\x00\x00\x00" + l24(76) + l24(87)), "image/webp", 77, 88},
		"a.avif":       {avif(4032, 3024), "image/avif", 4032, 3024},
		"a.svg":        {`<svg width="12" height="13px"/>`, "image/svg+xml", 12, 13},
		"declared.svg": {"\ufeff<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>\n<!-- x -->\n<!DOCTYPE svg PUBLIC \"a\" \"b\">\n<svg xmlns=\"x\" viewBox=\"0 0 200 100\" width=\"50%\">", "image/svg+xml", 300, 150},
		"inch.svg":     {`<svg width="1in" viewBox="0,0,2,1"/>`, "image/svg+xml", 96, 48},
		"prefixed.svg": {`<s:svg xmlns:s="http://www.w3.org/2000/svg" xmlns:i="i" i:width="9" width="3" height="4"/>`, "image/svg+xml", 3, 4},
		"bare.svg":     {`<svg/>`, "image/svg+xml", 300, 150},
	} {
		b := newBench(t, nil)
		b.write(name, test.data)
		res := b.call(DisplayImage, "path", name)
		if res.Type != agent.Success {
			t.Errorf("%s: %+v", name, res)
			continue
		}
		m := b.output(res).Meta()
		if m.Type != outputs.Image || m.Path != name || m.MimeType != test.mime || m.Width != test.w || m.Height != test.h {
			t.Errorf("%s: %+v", name, m)
		}
		if b.bytes(res) != test.data {
			t.Errorf("%s: other bytes", name)
		}
		if res.Telemetry.TokensShown < 255 || !res.Telemetry.TokensEstimated || res.TextForModel != "Displayed image "+name {
			t.Errorf("%s: %s %+v", name, res.TextForModel, res.Telemetry)
		}
	}
}

func TestNoPictures(t *testing.T) {
	b := newBench(t, nil)
	for name, test := range map[string]struct{ data, want string }{
		"logo.png":   {"<!DOCTYPE html><html>", "logo.png holds HTML, not a picture. Show it as a file instead."},
		"a.png":      {"just words", "a.png holds text, not a picture. Show it as a file instead."},
		"e.png":      {"", "e.png holds nothing, not a picture. Show it as a file instead."},
		"x.svg":      {"<?xml version='1.0'?><html/>", "x.svg holds XML, not a picture. Show it as a file instead."},
		"pdf.jpg":    {"%PDF-1.7\n", "pdf.jpg holds PDF, not a picture. Show it as a file instead."},
		"z.gif":      {"\x00\x01\x02", "z.gif holds unknown bytes, not a picture. Show it as a file instead."},
		"bomb.png":   {png(60000, 60000), "bomb.png has 60000 × 60000 pixels, over the limit of 200 megapixels for pictures. Nothing was shown."},
		"zero.png":   {png(0, 5), "zero.png is a damaged picture: it says it has no pixels. Nothing was shown."},
		"short.png":  {"\x89PNG\r\n\x1a\n", "short.png is a damaged picture: it is cut short. Nothing was shown."},
		"scan.jpg":   {"\xff\xd8\xff\xda\x00\x02", "scan.jpg is a damaged picture: it has no frame header. Nothing was shown."},
		"short.avif": {mp4("ftyp", "avif"+u32(0)), "short.avif is a damaged picture: it is cut short. Nothing was shown."},
	} {
		b.write(name, test.data)
		if got := b.refused(DisplayImage, "path", name); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, test.want)
		}
	}
	big := b.write("big.png", png(10, 10))
	if err := os.Truncate(big, 31<<20); err != nil {
		t.Fatal(err)
	}
	if got := b.refused(DisplayImage, "path", "big.png"); got != "big.png has 32.5 MB, and pictures are shown up to 21 MB. Make it smaller." {
		t.Error(got)
	}
	if n := b.store.Stats().Outputs; n != 0 {
		t.Errorf("%d outputs were stored", n)
	}
}

func TestPictureTokens(t *testing.T) {
	for _, test := range []struct {
		w, h int
		want int64
	}{{100, 100, 255}, {512, 512, 255}, {1024, 1024, 765}, {2048, 4096, 1105}, {4000, 1, 85 + 4*170}} {
		if got := (picture{width: test.w, height: test.h}).tokens(); got != test.want {
			t.Errorf("%d × %d: %d, want %d", test.w, test.h, got, test.want)
		}
	}
}

func FuzzPicture(f *testing.F) {
	for _, s := range []string{png(1, 2), jpeg(3, 4), avif(5, 6), "GIF87a\x01\x00\x01\x00", webp("VP8X"), `<svg width="1e999" viewBox="0 0 0 0"/>`, "<svg:svg/>"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := look(b)
		if (p.mime == "") != (pictureType(b) == "") {
			t.Errorf("%q is and is not a picture", p.mime)
		}
		if err == nil && p.mime != "" && (p.width <= 0 || p.height <= 0 || p.tokens() < 255) {
			t.Errorf("%+v", p)
		}
	})
}

func TestPropertiesOfWideIndices(t *testing.T) {
	ipma := "\x01\x00\x00\x01" + u32(1) + u32(70000) + "\x02" + u16(0x8000|300) + u16(5)
	if got := fmt.Sprint(propertiesOf([]byte(ipma), 70000)); got != "[300 5]" {
		t.Error(got)
	}
}
