package outputs

import (
	"cmp"
	"mime"
	"strings"
	"unicode"
	"unicode/utf8"

	"webchat/internal/displays"
	"webchat/internal/kind"
)

const typeText = "text/plain; charset=utf-8"

// contentType chooses by what kind of output it is and by its first bytes: text, a picture that
// browsers show, or neither. Nothing that a file, a model or a description contains reaches the
// header.
func contentType(m *Meta, head []byte) string {
	if as := displays.KindOf(string(m.Type)).MIME; as != "" {
		return as
	}
	switch m.Type {
	case Image:
		return cmp.Or(kind.Picture(head), kind.Unknown)
	default:
		if m.Binary || kind.Binary(head) {
			return kind.Unknown
		}
		return typeText
	}
}

// disposition is the header that makes a browser save the bytes rather than open them in our origin
// (RFC 6266).
func disposition(m *Meta) string {
	return mime.FormatMediaType("attachment", map[string]string{"filename": fileName(m)})
}

func fileName(m *Meta) string {
	if as := displays.KindOf(string(m.Type)).Saved; as != "" {
		return as
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
