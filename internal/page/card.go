package page

import (
	"html/template"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"webchat/internal/displays"
	"webchat/internal/kind"
	"webchat/internal/render"
	"webchat/internal/render/code"
	"webchat/internal/views"
	"webchat/internal/wording"
)

const (
	// headLines is how many lines of an output the page holds; the rest comes by
	// /api/outputs when it is asked for. Of a command that failed it holds those about the
	// first failure.
	headLines    = 14
	failureLines = 7
	maxHead      = 64 << 10 // bytes of HTML of them: lines may be very long, and cards many
	hexBytes     = 256      // of a file that is not text
	seenRows     = 12       // of a view that is not lines, such as a table
	wideColumns  = 92       // the longest line a card shows at its normal width
	tabColumns   = 4        // how wide it shows a tab at most
)

// card is the output of a display tool as the template shows it.
type card struct {
	*Call
	Out             views.Output // zero: it has ended
	Kind, State     string
	Icon, Classes   string
	Dir, Base       string
	Meta            string
	Exit, ExitClass string
	First, Last     int
	Shown           string // "A-B": the lines in Rows
	Rows            template.HTML
	View            string // what Rows are of, such as a table; empty: lines, or bytes
	Views           []view // to choose from; empty where there is one
	Count           string // of what Rows are of: "1,203 rows"
	Fold            string
	FoldAbove       bool
	Life            *life
	Look            bool // it is a preview
	Say             *say
	Readable        bool        // the agent can be given it
	Begin           views.First // what comes with it on the Desk
	Wrap            bool
	Changed         string // numbers of lines that differ from the last time: "3-5 9"
}

// say is the text of a card that has no content to show.
type say struct {
	Bold, Text string
	Icon       string // in place of the card's, where nothing else is shown
	Actions    []action
}

// kindIcon is the mark of a kind of output, and of tables and trees by their names; what
// a foreign tool stored is a file.
func kindIcon(kind, name string) string {
	if icon := displays.KindOf(kind).Icon; icon != displays.KindOf(displays.File).Icon {
		return icon
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".csv", ".tsv":
		return "table"
	case ".json", ".jsonl", ".ndjson":
		return "tree"
	}
	return "file"
}

// Card is the call's output, or what stands in its place.
func (c *Call) Card() *card { return c.card(true) }

// card is the same; without rows where something else shows them.
func (c *Call) card(rows bool) *card {
	c = c.now()
	v := &card{Call: c, Kind: c.Kind, State: c.State, Wrap: c.Kind == displays.File}
	v.Base = wording.Plain(c.Title())
	if !c.Is().Plain {
		v.Dir, v.Base = splitPath(v.Base)
	}
	v.Icon = kindIcon(c.Kind, v.Base)
	out, ok := c.In.Outputs.Output(c.Output)
	switch {
	case !c.Done():
		v.Classes = "running"
		if c.Is().Plain {
			v.Classes = c.Is().Class + " running"
		}
	case c.Output == "":
		v.fillFailed()
	case !ok || !c.DeletedAt.IsZero():
		v.fillExpired()
	default:
		v.Readable = v.In.lines == 0 && v.Telemetry.TokensShown > 0 && (!out.Binary || !v.Is().Lines)
		v.Out = out
		v.fillDone(rows)
	}
	return v
}

// fillDone makes the card of an output that can be read.
func (v *card) fillDone(rows bool) {
	o := v.Out
	v.State, v.Life = "done", lifeOf(o.ExpiresAt.Sub(v.In.Now()), v.In.OutputTTL)
	if o.App != "" {
		v.Icon = "app"
	}
	if v.Name() == "" {
		v.Dir, v.Base = splitPath(wording.Plain(o.Path))
		if o.Command != "" {
			v.Dir, v.Base = "", wording.Plain(o.Command)
		}
	}
	switch {
	case v.Kind == displays.Image:
		v.Classes, v.Meta = v.Is().Class, join(pictureType(o.MimeType), size(o), wording.Size(o.Bytes))
		v.compareWithLast()
		return
	case o.Binary:
		v.fillHex()
		if rows && v.chooseView() {
			v.Say = nil
		}
		return
	case o.Folder:
		v.Icon, v.Base = "folder", v.In.folderBase(v.Base)
		v.Meta = join("Folder", wording.Plural(o.TotalLines, "name"))
	case v.Kind == displays.Terminal:
		v.fillExit()
		v.Meta = wording.Plural(o.TotalLines, "line")
		if v.Fault.Kind == "" { // else its sentence says after what time it ended
			v.Meta = join(wording.Took(v.Took), v.Meta)
		}
	default:
		v.Meta = join(v.label(), linesOf(o), wording.Size(o.Bytes))
	}
	v.First, v.Last = max(1, o.StartLine), o.EndLine
	if v.Last == 0 {
		v.Last = v.First + o.TotalLines - 1
	}
	if v.Kind == displays.Terminal {
		v.Last = o.Content.Last()
	}
	if v.Kind == displays.File && v.Call.State == "failed" { // it was seen while it was read
		v.Say = &say{Bold: "Only its beginning was read.", Text: v.Line}
	}
	v.compareWithLast()
	if rows && !v.chooseView() {
		v.chooseLines()
	}
	if rows {
		v.offerViews()
	}
	v.chooseClasses()
}

// label is what kind of text a file is.
func (v *card) label() string {
	if strings.EqualFold(path.Ext(v.Base), ".ipynb") {
		return "Notebook"
	}
	return code.Label(v.Out.Language)
}

var (
	rowText = regexp.MustCompile(`(?s)<code class="cl">(.*?)</code>`)
	markup  = regexp.MustCompile(`<[^>]*>`)
)

func (v *card) fillExit() {
	switch code := v.Out.ExitCode; {
	case v.Out.TimedOut || v.Fault.Code == "timeout":
		v.Exit, v.ExitClass = "timed out", "cut"
	case v.Fault.Code == "aborted":
		v.Exit, v.ExitClass = "stopped", "cut"
	case v.Fault.Code == "interrupted":
		v.Exit, v.ExitClass = "interrupted", "cut"
	case code != nil && *code == 0:
		v.Exit, v.ExitClass = "exit 0", "ok"
	case code != nil:
		v.Exit, v.ExitClass = "exit "+strconv.Itoa(*code), "no"
	}
}

// fillHex makes the card of a file that is not text: it has no lines, so there is
// nothing to wrap, to find or to unfold.
func (v *card) fillHex() {
	size, head := wording.Size(v.Out.Bytes), v.Out.Content.Head(hexBytes)
	// it has no rows to lift
	v.Kind, v.Icon, v.Wrap, v.Rows = "hex", "hex", false, render.Fixed(v.Out.Content.Hex(hexBytes))
	_, name := kind.Of(head)
	text := size
	if v.Meta = join(name, size); name != "" {
		text += " of " + name
	}
	if v.Out.Bytes > int64(len(head)) {
		text += ". First " + wording.Plural(len(head), "byte") + " below"
	}
	v.Say = &say{Bold: "Not text:", Text: text + ".", Actions: []action{
		{Act: "download", Label: "Download", Icon: "down", Href: "/api/outputs/" + v.Output}}}
}

// folderBase is how a folder is called by the last part of its path.
func (s *scope) folderBase(base string) string {
	if base == "." {
		base = path.Base(filepath.ToSlash(s.Cwd))
	}
	return strings.TrimSuffix(base, "/") + "/"
}

func linesOf(o views.Output) string {
	if o.EndLine > 0 && (o.StartLine > 1 || o.EndLine < o.FileLines) {
		return "lines " + wording.Count(max(1, o.StartLine)) + "–" + wording.Count(o.EndLine) + " of " +
			wording.Count(o.FileLines)
	}
	return wording.Plural(o.TotalLines, "line")
}

// size is a picture's, in pixels; empty means unknown.
func size(o views.Output) string {
	if o.Width == 0 || o.Height == 0 {
		return ""
	}
	return wording.Count(o.Width) + " × " + wording.Count(o.Height)
}

func pictureType(mime string) string {
	_, t, _ := strings.Cut(mime, "/")
	switch t, _, _ = strings.Cut(t, "+"); t {
	case "jpeg", "png", "gif", "svg", "avif":
		return strings.ToUpper(t)
	case "webp":
		return "WebP"
	}
	return mime
}

// join puts the parts that are not empty into one line.
func join(parts ...string) (line string) {
	for _, p := range parts {
		if line != "" && p != "" {
			line += " · "
		}
		line += p
	}
	return line
}

// splitPath parts a path for a card's head: the directory is quiet.
func splitPath(p string) (dir, base string) {
	if dir, base = path.Split(p); base == "" {
		return "", p
	}
	return dir, base
}
