package page

import (
	"encoding/base64"
	"html/template"
	"strings"
	"time"

	"webchat/internal/render"
	"webchat/internal/views"
	"webchat/internal/wording"
)

// Config is what cards need to know.
type CardConfig struct {
	Outputs   Outputs
	OutputTTL time.Duration
	Budget    int64 // bytes that all outputs together may take; 0: not said
	Location  *time.Location
	Now       func() time.Time
	Started   time.Time // of what holds the outputs
	Whole     bool      // outputs are shown as far as a file holds them
}

// Outputs is what a page needs of the stored outputs. It is called often, and
// concurrently.
type Outputs interface {
	// Output returns what is stored under an id; false when its life is over or
	// it never was. If it had to make room, EvictedAt says when.
	Output(id string) (views.Output, bool)
}

// Session is what the cards of one session have in common.
type CardSession struct {
	*CardConfig
	ID     string
	Cwd    string // the workspace
	Window int64  // tokens that the model holds at most, or is assumed to
}

// Action is a button that is the way out.
type Action struct {
	Act, Label, Icon, Data string
	Href                   string // of what is saved when it is pressed; then it works without scripts, too
	Quiet                  bool   // not the first choice
}

// Rewrite is what a hook put in the place of something else.
type Rewrite struct {
	Command  string // of the hook
	Was, Now template.HTML
}

// NewRewrite returns one, with nothing hidden in either.
func NewRewrite(command, was, now string) Rewrite {
	return Rewrite{Command: wording.Plain(command), Was: render.Visible(cut(was)), Now: render.Visible(cut(now))}
}

// How much of an output an export holds.
const (
	exportLines = 5000
	exportImage = 8 << 20 // bytes of a picture
)

// Inline is a picture as an address that holds it.
func (c *card) Inline() template.URL {
	out, ok := c.In.Outputs.Output(c.Output)
	if !ok || !strings.HasPrefix(out.MimeType, "image/") {
		return ""
	}
	b, err := out.Content.Read(exportImage)
	if err != nil {
		return ""
	}
	return template.URL("data:" + out.MimeType + ";base64," + base64.StdEncoding.EncodeToString(b))
}
