package page

import (
	"bytes"

	"webchat/internal/render"
	"webchat/internal/views"
)

// hexBytes is how much of a file that is not text a card shows.
const hexBytes = 256

// hex makes the card of a file that is not text: it has no lines, so there is
// nothing to wrap, to find or to unfold.
func (v *card) hex(o views.Output) {
	v.Kind, v.Icon, v.Wrap = "hex", "hex", false
	v.Meta = size(o.Bytes)
	v.Say = &say{Bold: "Not text:", Text: size(o.Bytes)}
	head := o.Content.Head(hexBytes)
	v.Rows = render.Hex(head)
	if f := format(head); f != "" {
		v.Say.Text += " of " + f
	}
	if o.Bytes > int64(len(head)) {
		v.Say.Text += ". First " + some(len(head), "byte") + " below"
	}
	v.Say.Text += "."
	v.Say.Actions = []action{{Act: "download", Label: "Download", Icon: "down", Href: "/api/outputs/" + v.Output}}
}

// Lined reports whether the card's content has numbered lines.
func (c *card) Lined() bool { return c.Kind != "image" && c.Kind != "hex" }

// formats are files by their first bytes, as the specifications of each say.
var formats = []struct{ magic, name string }{
	{"\x7fELF", "ELF"},
	{"\x00asm", "WebAssembly"},
	{"\xcf\xfa\xed\xfe", "Mach-O"},
	{"\xce\xfa\xed\xfe", "Mach-O"},
	{"MZ", "PE"},
	{"!<arch>\n", "an ar archive"},
	{"PK\x03\x04", "ZIP"},
	{"\x1f\x8b", "gzip"},
	{"BZh", "bzip2"},
	{"\xfd7zXZ\x00", "xz"},
	{"\x28\xb5\x2f\xfd", "Zstandard"},
	{"%PDF-", "PDF"},
	{"SQLite format 3\x00", "SQLite"},
	{"\x89PNG\r\n\x1a\n", "PNG"},
	{"\xff\xd8\xff", "JPEG"},
	{"GIF8", "GIF"},
}

// format names what a file begins like; empty if nothing is known about it.
func format(head []byte) string {
	for _, f := range formats {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return f.name
		}
	}
	return ""
}
