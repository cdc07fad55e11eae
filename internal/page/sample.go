package page

import (
	"bytes"
	"context"
	"html/template"
	"strings"

	"webchat/internal/render"
	"webchat/internal/tokens"
)

// sampleLines is how many lines of a file an empty page shows.
const sampleLines = 7

// NewSample shows a file as its two readers get it. It must be text; what it would
// cost a model is counted, so it should be small. Nil: it would cost no more than the
// line about it.
func NewSample(name string, content []byte) *Sample {
	lines := text(bytes.SplitAfter(bytes.TrimSuffix(content, []byte("\n")), []byte("\n")))
	code := render.NewCode(render.Language(name, content), lines, render.RowOptions{})
	rows, err := code.Rows(context.Background(), 1, sampleLines)
	if err != nil { // its source has none
		return nil
	}
	var shown []string
	for row := range strings.SplitSeq(string(rows.HTML), "</code>") {
		if _, line, ok := strings.Cut(row, `<code class="cl">`); ok {
			shown = append(shown, line)
		}
	}
	sent := "Displayed " + plain(name) + " to user (" + some(len(lines), "line") + ")"
	whole, _ := tokens.Count(string(content))
	said, _ := tokens.Count(sent)
	if whole <= said {
		return nil
	}
	return &Sample{Shown: template.HTML(strings.Join(shown, "\n")), Sent: sent, ShownTokens: some(whole, "token"), SentTokens: some(said, "token")}
}

// text is lines as package render reads them.
type text [][]byte

// Total implements render.Source.
func (t text) Total() int { return len(t) }

// Lines implements render.Source.
func (t text) Lines(_ context.Context, from, to int) ([]byte, error) {
	return bytes.Join(t[from-1:to], nil), nil
}
