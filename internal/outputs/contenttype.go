package outputs

import (
	"bytes"
	"mime"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The content types bytes are served with; there is no other. Nothing a file, a
// model or a description says gets into the header.
const (
	typeText   = "text/plain; charset=utf-8"
	typeBinary = "application/octet-stream"
	typeSVG    = "image/svg+xml"
)

// contentType chooses by what kind of output it is and by its first bytes.
func contentType(m *Meta, head []byte) string {
	switch m.Type {
	case Terminal:
		return typeText
	case Image:
		return imageType(head)
	default:
		if m.Binary || bytes.IndexByte(head[:min(len(head), 8000)], 0) >= 0 {
			return typeBinary
		}
		return typeText
	}
}

func imageType(b []byte) string {
	has := func(at int, magic string) bool {
		return len(b) >= at+len(magic) && string(b[at:at+len(magic)]) == magic
	}
	switch {
	case has(0, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case has(0, "\xff\xd8\xff"):
		return "image/jpeg"
	case has(0, "GIF87a"), has(0, "GIF89a"):
		return "image/gif"
	case has(0, "RIFF") && has(8, "WEBP"):
		return "image/webp"
	case has(4, "ftyp") && isAVIF(b):
		return "image/avif"
	case isSVG(b):
		return typeSVG
	}
	return typeBinary
}

// isAVIF looks for the brand in the ISO media file type box (ISO/IEC 14496-12
// §4.3): major brand at 8, compatible brands from 16.
func isAVIF(b []byte) bool {
	size := int(b[0])<<24 | int(b[1])<<16 | int(b[2])<<8 | int(b[3])
	for i := 8; i+4 <= min(len(b), size, 256); i += 4 {
		if brand := string(b[i : i+4]); i != 12 && (brand == "avif" || brand == "avis") {
			return true
		}
	}
	return false
}

// isSVG says whether the first element is svg, past what XML allows before it.
func isSVG(b []byte) bool {
	s := strings.TrimPrefix(string(b[:min(len(b), 64<<10)]), "\ufeff")
	for {
		s = strings.TrimLeft(s, " \t\r\n")
		end := ""
		switch {
		case strings.HasPrefix(s, "<?"):
			end = "?>"
		case strings.HasPrefix(s, "<!--"):
			end = "-->"
		case strings.HasPrefix(s, "<!DOCTYPE"):
			end = ">"
			if i := strings.IndexAny(s, "[>"); i >= 0 && s[i] == '[' {
				end = "]>"
			}
		default:
			rest, ok := strings.CutPrefix(s, "<svg")
			return ok && rest != "" && strings.ContainsRune(" \t\r\n/>", rune(rest[0]))
		}
		i := strings.Index(s, end)
		if i < 0 {
			return false
		}
		s = s[i+len(end):]
	}
}

// disposition is the header that makes a browser save the bytes rather than open
// them in our origin (RFC 6266).
func disposition(m *Meta) string {
	return mime.FormatMediaType("attachment", map[string]string{"filename": fileName(m)})
}

func fileName(m *Meta) string {
	if m.Type == Terminal {
		return "output.txt"
	}
	name := m.Path[strings.LastIndexAny(m.Path, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf) {
			return -1 // no control characters, and none that turn the reading direction
		}
		return r
	}, name)
	for len(name) > 200 {
		_, n := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-n]
	}
	if strings.Trim(name, ". ") == "" {
		return "output"
	}
	return name
}
