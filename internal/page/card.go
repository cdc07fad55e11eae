package page

import (
	"html/template"
	"path"
	"path/filepath"
	"strings"
	"time"

	"webchat/internal/event"
	"webchat/internal/render/code"
	"webchat/internal/views"
	"webchat/internal/wording"
)

// headLines is how many lines of an output the page holds; the rest comes by
// /api/outputs when it is asked for. Of a command that failed it holds those about the
// first failure.
const (
	headLines    = 14
	failureLines = 7
)

// card is the output of a display tool as the template shows it.
type card struct {
	*Call
	Kind, State      string
	Icon, Classes    string
	Dir, Base        string
	Meta             string
	Exit, ExitClass  string
	First, Last      int
	Shown            string // "A-B": the lines in Rows
	Rows             template.HTML
	Fold             string
	FoldAbove        bool
	Life             *life
	Pinned           bool // by the user
	Look             bool // it is a preview
	Folder           bool // it holds the names in a folder
	Say              *say
	Readable         bool // the agent can be given it
	MayCompare, Wrap bool
	TTL              int64
	Expires          string
	Alt              string
	Was              string // the output that holds what the file was; empty: none
	Changed          string // numbers of lines that differ from the last time: "3-5 9"
	Width, Height    int    // of a picture, in pixels; 0: unknown

	bare bool // without rows
}

// kindIcon is the mark of a kind of output, and of tables and trees by their names; what
// a foreign tool stored is a file.
func kindIcon(kind, name string) string {
	switch kind {
	case "terminal":
		return "term"
	case "image":
		return "image"
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".csv", ".tsv":
		return "table"
	case ".json", ".jsonl", ".ndjson":
		return "tree"
	}
	return "file"
}

// folderBase is how a folder is called by the last part of its path.
func (c *Call) folderBase(base string) string {
	if base == "." {
		base = path.Base(filepath.ToSlash(c.In.Cwd))
	}
	return strings.TrimSuffix(base, "/") + "/"
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
	Early      bool   // it was evicted
	Actions    []action
}

// CopyLabel names what a click on copy takes.
func (c *card) CopyLabel() string {
	if c.Kind == "image" {
		return "Copy picture (c)"
	}
	return "Copy all (c)"
}

// Card is the call's output, or what stands in its place.
func (c *Call) Card() *card { return c.card(true) }

// card is the same; without rows where something else shows them.
func (c *Call) card(rows bool) *card {
	v := &card{bare: !rows, Call: c, Kind: c.Kind, State: c.State, Wrap: c.Kind == "file"}
	v.Base = wording.Plain(c.Name())
	if c.Kind != "terminal" {
		v.Dir, v.Base = splitPath(v.Base)
	}
	v.Icon = kindIcon(c.Kind, v.Base)
	v.TTL = c.In.OutputTTL.Milliseconds()
	if !c.Done() {
		v.Classes = classes("term", c.Kind == "terminal", "running", true)
		return v
	}
	if c.Output == "" {
		v.fillFailed()
		return v
	}
	out, ok := c.In.Outputs.Output(c.Output)
	if !ok || !c.DeletedAt.IsZero() {
		v.fillExpired()
		return v
	}
	v.Readable = v.readable()
	v.fillDone(out)
	return v
}

// readable reports whether the agent can be given what was shown.
func (v *card) readable() bool { return v.Telemetry.TokensShown > 0 && v.Output != "" }

// ReadTitle is what giving all of it to the agent costs.
func (v *card) ReadTitle() string {
	return "Adds " + wording.Plural(v.Telemetry.TokensShown, "token") + " to your next prompt"
}

// fillFailed makes the card of a display that showed nothing.
func (v *card) fillFailed() {
	v.State, v.Classes, v.Icon = "failed", "err", "alert"
	v.Meta = "not shown"
	if v.Kind == "terminal" {
		v.Meta = "not run"
	}
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
	v.offerNearest()
	if v.Fault.Code != "denied" && v.Fault.Code != "rejected" && !lasting(v.Fault.Kind) {
		v.Say.Actions = append(v.Say.Actions, action{Act: "again", Label: "Try again", Icon: "again", Quiet: len(v.Say.Actions) > 0})
	}
}

// lasting reports whether the same call fails again, whenever it is tried.
func lasting(kind event.ErrorKind) bool {
	switch kind {
	case event.KindOutside, event.KindBadArguments, event.KindUnknownTool, event.KindNotImage, event.KindNotRegular, event.KindTooLarge:
		return true
	}
	return false
}

// offerNearest makes buttons of the files that are named like one that is not there.
func (v *card) offerNearest() {
	if len(v.Fault.Nearest) == 0 || v.Kind == "terminal" {
		return
	}
	v.Say.Text = strings.TrimSpace(v.Say.Text + " The nearest are:")
	for _, name := range v.Fault.Nearest {
		v.Say.Actions = append(v.Say.Actions, action{Act: "show", Label: wording.Plain(name), Icon: kindIcon(v.Kind, name), Data: name})
	}
}

// fillExpired makes the card of an output whose life is over, from the log alone.
func (v *card) fillExpired() {
	v.State, v.Classes, v.Icon = "expired", "gone", "gone"
	t := v.Telemetry
	var parts []string
	if v.Kind == "file" {
		if l := code.Language(v.Base, nil); l != "" {
			parts = append(parts, l)
		}
	}
	if t.ExitCode != nil {
		parts = append(parts, "exit "+itoa(int64(*t.ExitCode)))
	}
	if t.Lines > 0 && v.Kind != "image" {
		parts = append(parts, wording.Plural(t.Lines, "line"))
	}
	if t.Bytes > 0 {
		parts = append(parts, wording.Size(t.Bytes))
	}
	parts = append(parts, "shown "+v.StartedAt.In(v.In.Location).Format("15:04"))
	v.Meta = strings.Join(parts, " · ")
	v.Say = v.whyExpired()
	v.Say.Actions = []action{{Act: "again", Label: "Show again", Icon: "again"}}
	if v.Kind == "terminal" {
		v.Say.Actions[0].Label = "Run again"
	}
	if v.Say.Early { // pinned it stays
		v.Say.Actions = append(v.Say.Actions, action{Act: "again-pin", Label: v.Say.Actions[0].Label + " and pin", Icon: "pin", Quiet: true})
	} else if v.Kind != "image" {
		v.Say.Actions = append(v.Say.Actions, action{Act: "compare", Label: v.Say.Actions[0].Label + " and compare", Icon: "diff", Quiet: true})
	}
}

// evictedAt is when the output had to make room for others; zero: it did not, or that is
// not known.
func (c *Call) evictedAt() time.Time {
	out, _ := c.In.Outputs.Output(c.Output)
	return out.EvictedAt
}

// lostAtStart reports whether the output was there still when webchat ended, which keeps
// outputs in memory only.
func (c *Call) lostAtStart() bool {
	return c.EndedAt.Before(c.In.started) && c.EndedAt.Add(c.In.OutputTTL).After(c.In.started)
}

// deletedAt is when its life was over, as a clock shows it; empty where it was deleted at
// a moment that is not known.
func (c *Call) deletedAt() string {
	at := c.DeletedAt
	if at.IsZero() {
		at = c.evictedAt()
	}
	if at.IsZero() {
		if c.lostAtStart() {
			return ""
		}
		at = c.EndedAt.Add(c.In.OutputTTL)
	}
	return at.In(c.In.Location).Format("15:04")
}

// Deleted is the same for a card that is not there any more; empty for another.
func (c *card) Deleted() string {
	if c.State != "expired" {
		return ""
	}
	return c.deletedAt()
}

// whyExpired says why an output is no longer there, and what showing it again does.
func (v *card) whyExpired() *say {
	life, cfg := v.In.OutputTTL, v.In
	s := &say{Bold: "Deleted " + wording.Span(life) + " after it was shown.", Text: "Showing it again reads the file as it is now."}
	if v.Kind == "terminal" {
		s.Text = "The command is not run again by itself. Running it again shows what it prints now."
	}
	switch {
	case !v.DeletedAt.IsZero():
		s.Bold, s.Icon = "Deleted by you.", "trash"
	case v.lostAtStart():
		return &say{Bold: "Deleted when webchat restarted.", Text: "Outputs are kept in memory only."}
	case !v.evictedAt().IsZero():
		most := ""
		if cfg.Budget > 0 {
			most = "All outputs together may take " + wording.Size(cfg.Budget) + ". "
		}
		return &say{Bold: "Deleted early, to make room.", Icon: "trash", Early: true, Text: most + "Of those not pinned, this one had not been looked at for the longest time."}
	}
	return s
}

// fillDone makes the card of an output that can be read.
func (v *card) fillDone(o views.Output) {
	v.State, v.Was = "done", o.Was
	v.Expires = event.Time(o.ExpiresAt).String()
	v.Life, v.Pinned = lifeOf(o.ExpiresAt.Sub(v.In.Now()), v.In.OutputTTL), o.Pinned
	if v.Base == "" {
		v.Dir, v.Base = splitPath(wording.Plain(o.Path))
		if o.Command != "" {
			v.Dir, v.Base = "", wording.Plain(o.Command)
		}
	}
	switch {
	case v.Kind == "image":
		v.Meta = join(pictureType(o.MimeType), dims(o), wording.Size(o.Bytes))
		v.Alt, v.Width, v.Height = v.Base, o.Width, o.Height
		v.Classes = "pict"
		v.compareWithLast()
		return
	case o.Binary:
		v.fillHex(o)
		return
	case o.Folder:
		v.Folder, v.Icon, v.Base = true, "folder", v.folderBase(v.Base)
		v.Meta = join("Folder", wording.Plural(o.TotalLines, "name"))
	case v.Kind == "terminal":
		v.fillExit(o)
		v.Meta = join(wording.Took(v.Took), wording.Plural(o.TotalLines, "line"))
	default:
		v.Meta = join(code.Label(o.Language), linesOf(o), wording.Size(o.Bytes))
	}
	v.First, v.Last = max(1, o.StartLine), o.EndLine
	if v.Last == 0 {
		v.Last = v.First + o.TotalLines - 1
	}
	if v.Kind == "terminal" {
		v.Last = o.Content.Last()
	}
	v.compareWithLast()
	if !v.bare {
		v.chooseLines(o)
	}
	v.Classes = classes("term", v.Kind == "terminal", "wide", wide(v.Rows),
		"n5", v.Last > 9999 && v.Last < 1_000_000, "n7", v.Last > 999_999)
}

// chooseLines chooses the lines the page holds: a file's first, a command's last, or
// those about the first failure.
func (v *card) chooseLines(o views.Output) {
	total := v.Last - v.First + 1
	from, to, head := v.First, v.Last, headLines
	if v.In.whole {
		head = exportLines
	}
	switch {
	case total <= head+2: // a fold must hide more than it takes
	case v.Kind == "terminal" && v.aroundFailure(o, &from, &to):
		v.Fold = "Show all " + wording.Plural(total, "line")
	case v.Kind == "terminal":
		from = v.Last - head + 1
		v.FoldAbove = true
		v.Fold = "Show " + wording.Plural(total-head, "line") + " above"
	default:
		to = v.First + head - 1
		v.Fold = "Show all " + wording.Plural(total, "line")
	}
	if v.In.whole && v.Fold != "" {
		v.Fold = wording.Plural(total-head, "line") + " of " + wording.Count(total) + " left out"
	}
	if total <= 0 {
		return
	}
	rows, err := o.Content.Rows(from, to)
	if err != nil { // it ended between two looks; the script finds out when it asks
		return
	}
	v.Rows, v.Shown = rows, itoa(int64(from))+"-"+itoa(int64(to))
}

// aroundFailure puts the lines about the first failure into from and to; it answers
// whether a command failed and says where.
func (v *card) aroundFailure(o views.Output, from, to *int) bool {
	if v.ExitClass != "no" || v.In.whole {
		return false
	}
	first, last := o.Content.Failure()
	if first == 0 {
		return false
	}
	*from = max(v.First, min(first-max(0, failureLines-(last-first+1))/2, v.Last-failureLines+1))
	*to = *from + failureLines - 1
	return true
}

func (v *card) fillExit(o views.Output) {
	switch {
	case o.TimedOut || v.Fault.Code == "timeout":
		v.Exit, v.ExitClass = "timed out", "cut"
	case v.Fault.Code == "aborted":
		v.Exit, v.ExitClass = "stopped", "cut"
	case v.Fault.Code == "interrupted":
		v.Exit, v.ExitClass = "interrupted", "cut"
	case o.ExitCode != nil && *o.ExitCode == 0:
		v.Exit, v.ExitClass = "exit 0", "ok"
	case o.ExitCode != nil:
		v.Exit, v.ExitClass = "exit "+itoa(int64(*o.ExitCode)), "no"
	}
}

// lifeOf is what is left of a life, as text and as a part of a ring.
func lifeOf(left, whole time.Duration) *life {
	minutes := int64((left + time.Minute - 1) / time.Minute)
	pct := int64(100)
	if whole > 0 {
		pct = min(100, max(0, int64(100*left/whole)))
	}
	in := itoa(max(0, minutes)) + " min"
	if minutes >= 120 {
		in = itoa(minutes/60) + " h"
	}
	l := &life{Text: in + " left", Dash: itoa(pct) + " 100", Soon: minutes < 4, Title: "Gone in " + in}
	return l
}

func linesOf(o views.Output) string {
	if o.EndLine > 0 && (o.StartLine > 1 || o.EndLine < o.TotalLines) {
		return "lines " + wording.Count(max(1, o.StartLine)) + "–" + wording.Count(o.EndLine) + " of " + wording.Count(o.TotalLines)
	}
	return wording.Plural(o.TotalLines, "line")
}

func dims(o views.Output) string {
	if o.Width == 0 || o.Height == 0 {
		return ""
	}
	return wording.Count(o.Width) + " × " + wording.Count(o.Height)
}

func pictureType(mime string) string {
	_, t, _ := strings.Cut(mime, "/")
	t, _, _ = strings.Cut(t, "+")
	if t == "jpeg" || t == "png" || t == "gif" || t == "svg" || t == "avif" {
		return strings.ToUpper(t)
	}
	if t == "webp" {
		return "WebP"
	}
	return mime
}

// join puts the parts that are not empty into one line of meta.
func join(parts ...string) string {
	var keep []string
	for _, p := range parts {
		if p != "" {
			keep = append(keep, p)
		}
	}
	return strings.Join(keep, " · ")
}

// classes joins names whose condition holds: name, condition, name, condition.
func classes(pairs ...any) string {
	var keep []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1].(bool) {
			keep = append(keep, pairs[i].(string))
		}
	}
	return strings.Join(keep, " ")
}

// splitPath parts a path for a card's head: the directory is quiet.
func splitPath(p string) (dir, base string) {
	dir, base = path.Split(p)
	if base == "" {
		return "", p
	}
	return dir, base
}
