package displaytools

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// picture is what the header of a picture says. Nothing here decodes one: a file
// of 33 bytes can claim to be 13 GiB of pixels.
type picture struct {
	mime          string // empty: no picture
	width, height int    // pixels
}

func (p picture) pixels() float64 { return float64(p.width) * float64(p.height) }

// tokens is what models that read pictures in tiles of 512 pixels charge: it is
// scaled to fit 2048 × 2048, then its shorter side to 768; 85 and 170 for each
// tile.
func (p picture) tokens() int64 {
	w, h := float64(p.width), float64(p.height)
	if m := max(w, h); m > 2048 {
		w, h = w*2048/m, h*2048/m
	}
	if m := min(w, h); m > 768 {
		w, h = w*768/m, h*768/m
	}
	tiles := func(side float64) int64 { return max(1, (int64(side)+511)/512) }
	return 85 + 170*tiles(w)*tiles(h)
}

var errCutShort = errors.New("it is cut short")

// formats are the pictures browsers show, by their first bytes.
var formats = []struct {
	mime string
	is   func(b []byte) bool
	size func(b []byte) (width, height int, err error)
}{
	{"image/png", magic("\x89PNG\r\n\x1a\n"), pngSize},
	{"image/jpeg", magic("\xff\xd8\xff"), jpegSize},
	{"image/gif", func(b []byte) bool { return magic("GIF87a")(b) || magic("GIF89a")(b) }, gifSize},
	{"image/webp", func(b []byte) bool { return magic("RIFF")(b) && len(b) >= 12 && string(b[8:12]) == "WEBP" }, webpSize},
	{"image/avif", isAVIF, avifSize},
	{"image/svg+xml", func(b []byte) bool { _, ok := svgRoot(b); return ok }, svgSize},
}

func magic(s string) func([]byte) bool {
	return func(b []byte) bool { return bytes.HasPrefix(b, []byte(s)) }
}

// pictureType is the media type of a picture by its first bytes, or empty.
func pictureType(b []byte) string {
	for _, f := range formats {
		if f.is(b) {
			return f.mime
		}
	}
	return ""
}

// look reads the header of b. It is no error if b is no picture.
func look(b []byte) (p picture, err error) {
	for _, f := range formats {
		if !f.is(b) {
			continue
		}
		p.mime = f.mime
		p.width, p.height, err = f.size(b)
		if err == nil && (p.width <= 0 || p.height <= 0) {
			err = errors.New("it says it has no pixels")
		}
		return p, err
	}
	return picture{}, nil
}

// pngSize reads the IHDR chunk, which comes first (PNG 3rd edition §11.2.1).
func pngSize(b []byte) (int, int, error) {
	if len(b) < 33 || string(b[12:16]) != "IHDR" {
		return 0, 0, errCutShort
	}
	return be32(b[16:]), be32(b[20:]), nil
}

// gifSize reads the logical screen (GIF89a §18).
func gifSize(b []byte) (int, int, error) {
	if len(b) < 10 {
		return 0, 0, errCutShort
	}
	return int(binary.LittleEndian.Uint16(b[6:])), int(binary.LittleEndian.Uint16(b[8:])), nil
}

// jpegSize reads the frame header, the first of the markers SOF0 to SOF15 (ITU
// T.81 §B.2.2).
func jpegSize(b []byte) (int, int, error) {
	for i := 2; i+4 <= len(b); {
		if b[i] != 0xff {
			return 0, 0, errors.New("a marker is missing")
		}
		m := b[i+1]
		switch {
		case m == 0xff: // fill
			i++
			continue
		case m == 0x01 || 0xd0 <= m && m <= 0xd8: // no length
			i += 2
			continue
		case m == 0xd9 || m == 0xda:
			return 0, 0, errors.New("it has no frame header")
		}
		n := be16(b[i+2:])
		if n < 2 {
			return 0, 0, errors.New("a segment has no length")
		}
		if 0xc0 <= m && m <= 0xcf && m != 0xc4 && m != 0xc8 && m != 0xcc {
			if n < 8 || i+9 > len(b) {
				return 0, 0, errCutShort
			}
			return be16(b[i+7:]), be16(b[i+5:]), nil
		}
		i += 2 + n
	}
	return 0, 0, errCutShort
}

// webpSize reads the first chunk, of one of three kinds (RFC 9649).
func webpSize(b []byte) (int, int, error) {
	if len(b) < 30 {
		return 0, 0, errCutShort
	}
	switch string(b[12:16]) {
	case "VP8X":
		return 1 + le24(b[24:]), 1 + le24(b[27:]), nil
	case "VP8L":
		if b[20] != 0x2f {
			return 0, 0, errors.New("its first chunk is not what it says")
		}
		bits := binary.LittleEndian.Uint32(b[21:])
		return 1 + int(bits&0x3fff), 1 + int(bits>>14&0x3fff), nil
	case "VP8 ":
		if string(b[23:26]) != "\x9d\x01\x2a" {
			return 0, 0, errors.New("it does not begin with a key frame")
		}
		return int(binary.LittleEndian.Uint16(b[26:]) & 0x3fff), int(binary.LittleEndian.Uint16(b[28:]) & 0x3fff), nil
	}
	return 0, 0, errors.New("its first chunk is unknown")
}

func be16(b []byte) int { return int(binary.BigEndian.Uint16(b)) }
func be32(b []byte) int { return int(binary.BigEndian.Uint32(b)) }
func le24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
