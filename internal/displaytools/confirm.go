package displaytools

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"webchat/internal/agent"
	"webchat/internal/outputs"
	"webchat/internal/tokens"
	"webchat/internal/wording"
)

// confirmationTokens is what a confirmation may cost a model. Only a number of
// lines with eight digits and more, or a name of a script the tokenizer hardly
// knows, exceed it, by less than as much again.
const confirmationTokens = 12

// confirm is a sentence with the name of a file in it, shortened until the
// sentence costs no more than it may. format has one %s.
func confirm(format, file string) string {
	name := wording.Name(path.Base(filepath.ToSlash(file)))
	length := utf8.RuneCountInString(name)
	if length > 255 { // no file system has such a name, and counting it would take long
		length = tryLength
	}
	for ; ; length = min(length-1, tryLength) {
		text := fmt.Sprintf(format, shorten(name, length))
		if n, _ := tokens.Count(text); n <= confirmationTokens || length < 0 {
			return text
		}
	}
}

// tryLength is the longest shortened name that is tried, in characters.
const tryLength = 40

// shorten keeps length characters of a name and its extension; less than 0,
// nothing of it.
func shorten(name string, length int) string {
	r := []rune(name)
	if length >= len(r) {
		return name
	}
	if length < 0 {
		return "…"
	}
	ext := path.Ext(name)
	if len(ext) > 6 || len(ext) == len(name) {
		ext = ""
	}
	return string(r[:length]) + "…" + strings.TrimPrefix(ext, ".")
}

// called is the last name of a path as messages have it.
func called(file string) string {
	return shorten(wording.Name(filepath.Base(file)), tryLength)
}

func lines(n int64) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

// telemetry is the small numbers that go with a text for the model.
func telemetry(o *outputs.Output, t outputs.Type, lines int64,
	confirmation string) *agent.Telemetry {
	sent, _ := tokens.Count(confirmation)
	tel := &agent.Telemetry{
		OutputID:   string(o.ID()),
		OutputType: string(t),
		Bytes:      o.Size(),
		Lines:      lines,
		TokensSent: int64(sent),
	}
	text := o.Text().Reader()
	if shown, exact, err := tokens.CountReaderAt(text, text.Size()); err == nil {
		tel.TokensShown, tel.TokensEstimated = int64(shown), !exact
	}
	tel.Fingerprint = fingerprint(o.Reader())
	return tel
}
