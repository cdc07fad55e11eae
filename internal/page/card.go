package page

import (
	"html"
	"html/template"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"webchat/internal/displays"
	"webchat/internal/event"
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
	Readable        bool // the agent can be given it
	Wrap            bool
	Changed         string // numbers of lines that differ from the last time: "3-5 9"
}

// view is a way to show an output.
type view struct {
	Name, Label string
	On          bool
}

// life is what is left of an output's.
type life struct {
	Text, Title, Dash string
	Soon              bool
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

// fillFailed makes the card of a display that showed nothing.
func (v *card) fillFailed() {
	v.State, v.Classes, v.Icon, v.Meta = "failed", "err", "alert", v.Is().Never
	switch v.Fault.Kind {
	case event.KindOutside, event.KindSensitive:
		v.Icon = "lock"
	case event.KindAborted:
		v.Classes, v.Icon = "", "stop"
	}
	bold, rest, more := strings.Cut(v.Line, ". ")
	if more {
		bold += "."
	}
	v.Say = &say{Bold: bold, Text: rest}
	if len(v.Fault.Nearest) > 0 && !v.Is().Plain {
		v.Say.Text = strings.TrimSpace(rest + " The nearest are:")
		for _, name := range v.Fault.Nearest {
			show := action{Act: "show", Label: wording.Plain(name), Icon: kindIcon(v.Kind, name), Data: name}
			v.Say.Actions = append(v.Say.Actions, show)
		}
	}
	if v.Fault.Code != "denied" && v.Fault.Code != "rejected" && !lasting(v.Fault.Kind) {
		again := action{Act: "again", Label: "Try again", Icon: "again", Quiet: len(v.Say.Actions) > 0}
		v.Say.Actions = append(v.Say.Actions, again)
	}
}

// lasting reports whether the same call fails again, whenever it is tried.
func lasting(kind event.ErrorKind) bool {
	switch kind {
	case event.KindOutside, event.KindBadArguments, event.KindUnknownTool, event.KindNotImage,
		event.KindNotRegular, event.KindTooLarge:
		return true
	}
	return false
}

// fillExpired makes the card of an output whose life is over, from the log alone.
func (v *card) fillExpired() {
	v.State, v.Classes, v.Icon = "expired", "gone", "gone"
	t := v.Telemetry
	var parts []string
	if v.Kind == displays.File {
		parts = append(parts, code.Language(v.Base, nil))
	}
	if t.ExitCode != nil {
		parts = append(parts, "exit "+strconv.Itoa(*t.ExitCode))
	}
	if t.Lines > 0 && v.Is().Lines {
		parts = append(parts, wording.Plural(t.Lines, "line"))
	}
	if t.Bytes > 0 {
		parts = append(parts, wording.Size(t.Bytes))
	}
	v.Meta = join(append(parts, "shown "+v.In.clock(v.StartedAt))...)
	v.sayExpired()
}

// sayExpired says why an output is no longer there, and what showing it again does.
func (v *card) sayExpired() {
	again := action{Act: "again", Label: v.Is().Again, Icon: "again"}
	s := &say{
		Bold: "Deleted " + wording.Span(v.In.OutputTTL) + " after it was shown.",
		Text: v.Is().Later,
	}
	if toolOf(v.Tool).Logged {
		again.Label, s.Text = "Show again", "Showing it again reads it from the log."
	}
	also := action{Act: "compare", Label: again.Label + " and compare", Icon: "diff", Quiet: true}
	switch {
	case !v.DeletedAt.IsZero():
		s.Bold, s.Icon = "Deleted by you.", "trash"
	case v.In.lost(v.EndedAt):
		s.Bold, s.Text = "Deleted when webchat restarted.", "Outputs are kept in memory only."
	case !v.In.evictedAt(v.Call.Output).IsZero():
		// pinned it stays
		also = action{Act: "again-pin", Label: again.Label + " and pin", Icon: "pin", Quiet: true}
		s.Bold, s.Icon, s.Text = "Deleted early, to make room.", "trash",
			"Of those not pinned, this one had not been looked at for the longest time."
		if v.In.Budget > 0 {
			s.Text = "All outputs together may take " + wording.Limit(v.In.Budget) + ". " + s.Text
		}
	}
	if _, own := displays.ToolOf(v.Tool); !own { // nothing shows it again but another call
		s.Text = "What it showed is not kept."
		v.Say = s
		return
	}
	s.Actions = []action{again}
	if v.Is().Lines || also.Act == "again-pin" {
		s.Actions = append(s.Actions, also)
	}
	v.Say = s
}

// Was is how much a command printed whose output is gone; empty for others, and if it printed
// nothing.
func (v *card) Was() string {
	if v.State != "expired" || !v.Is().Plain || v.Telemetry.Lines == 0 {
		return ""
	}
	was := wording.Plural(v.Telemetry.Lines, "line")
	if n := v.Telemetry.TokensShown; n > 0 {
		was += " · " + wording.Plural(n, "token")
	}
	return was
}

// evictedAt is when an output had to make room for others; zero if it did not, or that is
// not known.
func (s *scope) evictedAt(id string) time.Time {
	out, _ := s.Outputs.Output(id)
	return out.EvictedAt
}

// lost reports whether an output of then was there still when webchat ended, which keeps outputs in
// memory only.
func (s *scope) lost(made time.Time) bool {
	return made.Before(s.started) && made.Add(s.OutputTTL).After(s.started)
}

// Deleted is when its life was over, as a clock shows it; empty where it was deleted at
// a moment that is not known.
func (c *Call) Deleted() string {
	at := c.DeletedAt
	if at.IsZero() {
		at = c.In.evictedAt(c.Output)
	}
	if at.IsZero() {
		if c.In.lost(c.EndedAt) {
			return ""
		}
		at = c.EndedAt.Add(c.In.OutputTTL)
	}
	return c.In.clock(at)
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

// chooseView shows a table, a tree, cells or Markdown as that, not as its lines; it reports whether
// the file is any of them. What is saved holds lines.
func (v *card) chooseView() bool {
	if v.Kind == displays.Terminal || v.In.lines > 0 {
		return false
	}
	best, rows, total := v.Out.Content.Seen(seenRows)
	if best == "" {
		return false
	}
	v.View, v.Rows, v.Wrap = best, rows, false
	if best == views.Table {
		v.Count = wording.Plural(total, "row")
	}
	switch {
	case total <= seenRows || best == views.Tree: // which is read on in its place
	case best == views.Table:
		v.Fold = "Show all " + wording.Plural(total, "row")
	default:
		v.Fold = "Show all of it"
	}
	return true
}

// offerViews lets the reader of a card choose between the views it has.
func (v *card) offerViews() {
	if v.Kind != displays.File || v.In.lines > 0 {
		return
	}
	on := v.View
	if on == "" {
		on = views.Source
	}
	for _, name := range v.Out.Content.Views() {
		if known := views.Of(name); known.Card {
			v.Views = append(v.Views, view{name, known.Label, name == on})
		}
	}
	if len(v.Views) == 1 {
		v.Views = nil
	}
	if v.Views != nil && v.View == "" {
		v.Count = linesOf(v.Out)
	}
}

// Prose reports whether the card's content is read like an answer.
func (v *card) Prose() bool { return views.Of(v.View).Class == "said" }

// chooseClasses says which width the lines and their numbers need.
func (v *card) chooseClasses() {
	var classes []string
	if v.Kind == displays.Terminal {
		classes = append(classes, "term")
	}
	if wide(v.Rows) {
		classes = append(classes, "wide")
	}
	_, last, _ := strings.Cut(v.Shown, "-")
	switch digits := len(last); {
	case digits > 6:
		classes = append(classes, "n7")
	case digits > 4:
		classes = append(classes, "n5")
	}
	v.Classes = strings.Join(classes, " ")
}

var (
	rowText = regexp.MustCompile(`(?s)<code class="cl">(.*?)</code>`)
	markup  = regexp.MustCompile(`<[^>]*>`)
)

// wide reports whether one of the rows is longer than a card is at its normal
// width. It reads no more than the rows the page holds anyway.
func wide(rows template.HTML) bool {
	for _, m := range rowText.FindAllStringSubmatch(string(rows), -1) {
		columns := 0
		for _, r := range html.UnescapeString(markup.ReplaceAllString(m[1], "")) {
			if columns++; r == '\t' {
				columns += (tabColumns - columns%tabColumns) % tabColumns
			}
		}
		if columns > wideColumns {
			return true
		}
	}
	return false
}

// chooseLines chooses the lines the page holds: a file's first, a command's last, or
// those about the first failure.
func (v *card) chooseLines() {
	total := v.Last - v.First + 1
	from, to, head := v.First, v.Last, headLines
	if v.In.lines > 0 {
		head = v.In.lines
	}
	if total <= 0 {
		return
	}
	switch {
	case total <= head+2: // a fold must hide more than it takes
	case v.Kind == displays.Terminal && v.aroundFailure(&from, &to):
		v.Fold = "Show all " + wording.Plural(total, "line")
	case v.Kind == displays.Terminal:
		from, v.FoldAbove = v.Last-head+1, true
		v.Fold = "Show " + wording.Plural(total-head, "line") + " above"
	default:
		to = v.First + head - 1
		v.Fold = "Show all " + wording.Plural(total, "line")
	}
	rows, err := v.Out.Content.Rows(from, to)
	for err == nil && len(rows) > maxHead && from < to {
		if n := (to - from + 1) / 2; v.FoldAbove {
			from = to - n + 1
			v.Fold = "Show " + wording.Plural(total-n, "line") + " above"
		} else {
			to = from + n - 1
			v.Fold = "Show all " + wording.Plural(total, "line")
		}
		rows, err = v.Out.Content.Rows(from, to)
	}
	if err != nil { // it ended between two looks; the script finds out when it asks
		return
	}
	if v.In.lines > 0 && v.Fold != "" {
		v.Fold = wording.Plural(total-(to-from+1), "line") + " of " + wording.Count(total) + " left out"
	}
	rows = render.CutRow(rows, maxHead)
	if v.In.lines > 0 {
		rows = render.Fixed(rows)
	}
	v.Rows, v.Shown = rows, strconv.Itoa(from)+"-"+strconv.Itoa(to)
}

// aroundFailure puts the lines about the first failure into from and to; it reports
// whether a command failed and says where.
func (v *card) aroundFailure(from, to *int) bool {
	if v.ExitClass != "no" || v.In.lines > 0 {
		return false
	}
	first, last := v.Out.Content.Failure()
	if first == 0 {
		return false
	}
	*from = max(v.First, min(first-max(0, failureLines-(last-first+1))/2, v.Last-failureLines+1))
	*to = *from + failureLines - 1
	return true
}

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

// Lined reports whether the card's content has numbered lines.
func (v *card) Lined() bool { return v.Kind != "image" && v.Kind != "hex" && v.View == "" }

// lifeOf is what is left of a life, as text and as a part of a ring.
func lifeOf(left, whole time.Duration) *life {
	minutes := int((left + time.Minute - 1) / time.Minute)
	in := strconv.Itoa(max(0, minutes)) + " min"
	if minutes >= 120 {
		in = strconv.Itoa(minutes/60) + " h"
	}
	part := min(100, max(0, int(100*left/whole)))
	return &life{
		Text:  in + " left",
		Dash:  strconv.Itoa(part) + " 100",
		Soon:  minutes < 4,
		Title: "Gone in " + in,
	}
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
