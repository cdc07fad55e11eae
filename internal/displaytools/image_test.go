package displaytools

import (
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"os"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/outputs"
)

// picturePNG is a picture of one colour.
func picturePNG(w, h int) string {
	var b strings.Builder
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		panic(err)
	}
	return b.String()
}

// pngHead begins a PNG of 256 times so many pixels.
func pngHead(width, height byte) string {
	head := "IHDR\x00\x00" + string([]byte{width, 0, 0, 0, height, 0}) + "\x08\x06\x00\x00\x00"
	return "\x89PNG\r\n\x1a\n\x00\x00\x00\x0d" + head +
		string(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(head))))
}

func TestPictures(t *testing.T) {
	for name, test := range map[string]struct {
		data, mime string
		w, h       int
	}{
		"a.png":    {picturePNG(640, 480), "image/png", 640, 480},
		"text.txt": {picturePNG(3, 4), "image/png", 3, 4},
		"a.svg":    {`<svg width="12" height="13px"/>`, "image/svg+xml", 0, 0},
	} {
		b := newBench(t, nil)
		b.write(name, test.data)
		res := b.call(DisplayImage, "path", name)
		if res.Type != agent.Success {
			t.Errorf("%s: %+v", name, res)
			continue
		}
		m := b.output(res).Meta()
		if m.Type != outputs.Image || m.Path != name || m.MimeType != test.mime || m.Width != test.w ||
			m.Height != test.h {
			t.Errorf("%s: %+v", name, m)
		}
		if b.bytes(res) != test.data {
			t.Errorf("%s: other bytes", name)
		}
		if res.Telemetry.TokensShown < 255 || !res.Telemetry.TokensEstimated ||
			res.TextForModel != "Displayed image "+name {
			t.Errorf("%s: %s %+v", name, res.TextForModel, res.Telemetry)
		}
	}
}

func TestNoPictures(t *testing.T) {
	b := newBench(t, nil)
	huge, noPixels := pngHead(0xea, 0xea), pngHead(0, 5)
	for name, test := range map[string]struct{ data, want string }{
		"logo.png": {"<!DOCTYPE html><html>",
			"logo.png holds HTML, not a picture. Show it as a file instead."},
		"a.png": {"just words", "a.png holds text, not a picture. Show it as a file instead."},
		"e.png": {"", "e.png holds nothing, not a picture. Show it as a file instead."},
		"x.svg": {"<?xml version='1.0'?><html/>",
			"x.svg holds XML, not a picture. Show it as a file instead."},
		"pdf.jpg": {"%PDF-1.7\n", "pdf.jpg holds PDF, not a picture. Show it as a file instead."},
		"z.gif": {"\x00\x01\x02",
			"z.gif holds unknown bytes, not a picture. Show it as a file instead."},
		"bomb.png": {huge,
			"bomb.png has 59904 × 59904 pixels, over the limit of 200 megapixels for pictures. Nothing " +
				"was shown."},
		"zero.png":  {noPixels, "zero.png is a damaged picture. Nothing was shown."},
		"short.png": {"\x89PNG\r\n\x1a\n", "short.png is a damaged picture. Nothing was shown."},
		"scan.jpg":  {"\xff\xd8\xff\xda\x00\x02", "scan.jpg is a damaged picture. Nothing was shown."},
		"a.bmp": {"BM" + strings.Repeat("\x00", 12) + "\x28" + strings.Repeat("\x00", 60),
			"a.bmp is a BMP picture, which browsers may not show. Convert it to PNG first."},
		"lfs.png": {"version https://git-lfs.github.com/spec/v1\n",
			"lfs.png holds a Git LFS pointer (git lfs pull brings the picture), not a picture. Show it as " +
				"a file instead."},
	} {
		b.write(name, test.data)
		if got := b.refused(DisplayImage, "path", name); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, test.want)
		}
	}
	big := b.write("big.png", picturePNG(10, 10))
	if err := os.Truncate(big, 31<<20); err != nil {
		t.Fatal(err)
	}
	if got := b.refused(DisplayImage, "path",
		"big.png"); got != "big.png has 33 MB, and pictures are shown up to 20 MiB. Make it smaller." {
		t.Error(got)
	}
	if n := b.store.Stats().Outputs; n != 0 {
		t.Errorf("%d outputs were stored", n)
	}
}
