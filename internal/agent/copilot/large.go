// What the CLI makes of the result of a tool that is too large for its model: it saves the
// result in a file and lets the model read where that is, the beginning, and the advice to
// use its tool view; or, of a search, an excerpt that says how much it omits, while only its
// telemetry names the file.

package copilot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"webchat/internal/wording"
)

// maxWhole is how many bytes of a result are taken; a larger one stays in its file.
const maxWhole = 32 << 20

// cutNote is how the text for the model begins that stands for a large result. Behind it
// come the first 500 characters and how a command ended.
var cutNote = regexp.MustCompile(`^Output too large to read at once \(([^)\n]*)\)\. Saved to: ([^\n]+)\n[^\n]*\n`)

// cutResult is the result of a tool of which the model is to read the beginning.
type cutResult struct {
	ExitCode *int // of a command that ended

	file   string
	fields map[string]json.RawMessage // of the result
	size   string
	rest   string // of the text, behind the note
}

// cutOf returns what the CLI cut of a result; false where it cut nothing. Only a file
// that lies directly in dir is believed to hold it: any command can print a note.
func cutOf(result json.RawMessage, dir string) (*cutResult, bool) {
	c := &cutResult{}
	var known struct {
		Text     string `json:"textResultForLlm"`
		Contents []struct{ ExitCode *int }
		Of       struct {
			Private struct {
				File string `json:"large_output_file"`
			} `json:"restrictedProperties"`
			Metrics struct {
				Size float64 `json:"result_length_original"`
			}
		} `json:"toolTelemetry"`
	}
	if json.Unmarshal(result, &known) != nil || json.Unmarshal(result, &c.fields) != nil {
		return nil, false
	}
	if m := cutNote.FindStringSubmatch(known.Text); m != nil {
		c.size, c.file, c.rest = m[1], m[2], strings.TrimLeft(known.Text[len(m[0]):], "\n")
	} else {
		c.size, c.file, c.rest = wording.Size(int64(known.Of.Metrics.Size)), known.Of.Private.File, known.Text
	}
	if filepath.Dir(c.file) != filepath.Clean(dir) {
		return nil, false
	}
	for _, part := range known.Contents {
		if part.ExitCode != nil {
			c.ExitCode = part.ExitCode
		}
	}
	return c, true
}

// Read returns the whole result.
func (c *cutResult) Read() ([]byte, error) {
	at, err := os.Lstat(c.file)
	switch {
	case err != nil:
		return nil, err
	case !at.Mode().IsRegular():
		return nil, errors.New("the file that holds the result is not a regular file")
	case at.Size() > maxWhole:
		return nil, fmt.Errorf("the result has %d bytes", at.Size())
	}
	f, err := os.Open(c.file)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was read only
	if is, err := f.Stat(); err != nil || !os.SameFile(is, at) {
		return nil, errors.New("the file that holds the result was replaced")
	}
	return io.ReadAll(io.LimitReader(f, maxWhole))
}

// Kept is the result as the model is to read it once the user has the whole; the file
// goes. readers are the tools it can read more with; empty: there are none.
func (c *cutResult) Kept(whole []byte, readers string) map[string]json.RawMessage {
	_ = os.Remove(c.file) // else it ends with what the CLI keeps of the session
	lines := bytes.Count(whole, []byte{'\n'})
	if len(whole) > 0 && !bytes.HasSuffix(whole, []byte{'\n'}) {
		lines++
	}
	said := fmt.Sprintf("Too large to read at once: %s, %s. The user sees all of it.", wording.Plural(lines, "line"), wording.Size(int64(len(whole))))
	if readers != "" {
		said += " Read what you need of it with " + readers + "."
	}
	return c.saying(said)
}

// Left is the result as the model is to read it while the whole is in its file.
func (c *cutResult) Left() map[string]json.RawMessage {
	return c.saying(fmt.Sprintf("Too large to read at once: %s. It is in %s: search it with grep, or read parts of it with head, tail or sed.", c.size, c.file))
}

func (c *cutResult) saying(what string) map[string]json.RawMessage {
	out := maps.Clone(c.fields)
	text, err := json.Marshal(what + "\n\n" + c.rest)
	if err != nil {
		return out
	}
	out["textResultForLlm"] = text
	if out["sessionLog"] != nil { // the same words, for the user
		out["sessionLog"] = text
	}
	return out
}
