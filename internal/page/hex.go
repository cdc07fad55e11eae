package page

import (
	"webchat/internal/kind"
	"webchat/internal/render"
	"webchat/internal/views"
	"webchat/internal/wording"
)

// hexBytes is how much of a file that is not text a card shows.
const hexBytes = 256

// fillHex makes the card of a file that is not text: it has no lines, so there is
// nothing to wrap, to find or to unfold.
func (v *card) fillHex(o views.Output) {
	v.Kind, v.Icon, v.Wrap = "hex", "hex", false
	v.Meta = wording.Size(o.Bytes)
	v.Say = &say{Bold: "Not text:", Text: wording.Size(o.Bytes)}
	head := o.Content.Head(hexBytes)
	v.Rows = render.Hex(head)
	if _, f := kind.Of(head); f != "" {
		v.Say.Text += " of " + f
	}
	if o.Bytes > int64(len(head)) {
		v.Say.Text += ". First " + wording.Plural(len(head), "byte") + " below"
	}
	v.Say.Text += "."
	v.Say.Actions = []action{{Act: "download", Label: "Download", Icon: "down", Href: "/api/outputs/" + v.Output}}
}

// Lined reports whether the card's content has numbered lines.
func (c *card) Lined() bool { return c.Kind != "image" && c.Kind != "hex" }
