package autohand

import (
	"regexp"
	"strings"

	"webchat/internal/agent/convo"
)

// escapes are what terminals take for commands: the CLI colours what it returns.
var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|\x1b.")

// clean is a text of the CLI without commands for terminals, valid UTF-8.
func clean(text string) string {
	return strings.ToValidUTF8(escapes.ReplaceAllString(text, ""), "\uFFFD")
}

// plain is a text for a sentence: one line.
func plain(text string) string {
	return strings.TrimRight(strings.Join(strings.Fields(clean(text)), " "), ".")
}

// diff is what changes in a file from one text to another.
func diff(name, from, to string) string {
	if from == to {
		return ""
	}
	return clean(convo.Diff(name, from, to))
}
