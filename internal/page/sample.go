package page

import (
	"webchat/internal/tokens"
	"webchat/internal/views"
	"webchat/internal/wording"
)

// sampleLines is how many lines of a file an empty page shows.
const sampleLines = 7

// NewSample shows a file as its two readers get it. It must be text; what it would
// cost a model is counted, so it should be small. Nil: it would cost no more than the
// line about it.
func NewSample(name string, content []byte) *Sample {
	shown, total := views.Excerpt(name, content, sampleLines)
	sent := "Displayed " + wording.Plain(name) + " to user (" + wording.Plural(total, "line") + ")"
	whole, _ := tokens.Count(string(content))
	said, _ := tokens.Count(sent)
	if whole <= said {
		return nil
	}
	return &Sample{Shown: shown, Sent: sent, ShownTokens: wording.Plural(whole, "token"), SentTokens: wording.Plural(said, "token")}
}
