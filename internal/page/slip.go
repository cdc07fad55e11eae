package page

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"webchat/internal/event"
	"webchat/internal/views"
	"webchat/internal/wording"
)

// slip is what the conversation says of a display: the literal line that the model
// read, and its price. It leads to the output on the Desk.
type slip struct {
	Target string // behind #out/ in the address
	Icon   string // empty while it runs
	Class  string
	Line   string
	Paid   string // tokens that the model read; empty: none
	Of     string // tokens of the whole; empty: unknown
	Right  string // in place of the price
	Also   string // below it
}

// maxLine is how many characters of what the model read the foot holds.
const maxLine = 400

// Ran is what stands above the line that the model read: a command, or the tool of an MCP server.
func (c *card) Ran() string {
	if c.Is().Plain {
		return c.Base
	}
	server, _, _ := strings.Cut(c.Out.Path, "/") // as the gateway names what a server returned
	if tool, ok := strings.CutPrefix(c.Tool, server+"-"); ok && server != "" {
		return wording.Plain(server + " · " + tool)
	}
	return ""
}

// Slip is the foot of the card, and all there is of it beside the Desk.
func (c *card) Slip() *slip {
	s := &slip{Target: c.Target(), Icon: c.Icon, Line: c.Call.Line}
	if toolOf(c.Tool).Kind == "" { // of a tool of the agent's the model reads more than that
		s.Line = cmp.Or(c.Telemetry.got(), wording.FirstLine(s.Line, maxLine))
	}
	switch c.State {
	case "running", "starting":
		s.Icon, s.Class, s.Line, s.Right = "", "is-live", c.Dir+c.Base, "nothing sent yet"
		if c.State == "running" {
			s.Right = c.Elapsed() + " · " + s.Right
		}
		return s
	case "failed":
		s.Class = "is-bad"
	case "expired":
		s.Class = "is-off"
	}
	if c.ExitClass == "no" {
		s.Class = "is-bad"
	}
	line := c.Tokens
	if c.By == event.ByUser { // then the model has not read it
		line = 0
	}
	if s.Also = c.Given.text(line); s.Also != "" {
		s.Class, s.Icon = "is-cost", "read"
	}
	if c.By == event.ByUser {
		const own = "Opened by you"
		if s.Class += " is-own"; c.State == "failed" {
			s.Right = own
		} else if s.Line = own; s.Also == "" { // no model was sent a line
			s.Icon = "eye"
		}
		return s
	}
	if c.Tokens > 0 {
		s.Paid = wording.Count(c.Tokens + c.Given.tokens)
	}
	// What costs more than the whole is not offered.
	if shown := c.Telemetry.TokensShown; shown >= c.Tokens+c.Given.tokens && shown > 0 &&
		c.Output != "" {
		if s.Of = wording.Count(shown); shown > c.In.Window {
			s.Of = ">" + wording.Short(c.In.Window)
		}
	}
	return s
}

// Words are the slip for screen readers.
func (s *slip) Words() string {
	words := strings.TrimSuffix(s.Line, ".") + ". "
	switch {
	case s.Icon == "": // its time goes on
		words += "Running. "
	case s.Right != "":
		words += s.Right + ". "
	case s.Paid != "" && s.Of != "":
		words += "The model read " + s.Paid + " of " + s.Of + " tokens. "
	case s.Paid != "":
		words += "The model read " + s.Paid + " tokens. "
	}
	return words + "Open on the Desk"
}

// Target names the call in addresses: by its output, or by itself if it has none.
func (c *Call) Target() string { return cmp.Or(c.Output, c.Element) }

// given is what of an output the user let the agent read.
type given struct {
	tokens int64
	lines  []string // "" is all of it
}

// add counts lines of an output; empty means all of it.
func (g *given) add(lines string, of Telemetry) {
	g.tokens += of.cost(lines)
	g.lines = append(g.lines, spans(lines))
}

// spans are lines as a reader knows them: "3, 7–9" for "3-3,7-9".
func spans(lines string) string {
	given, err := wording.Ranges(lines)
	if err != nil {
		return lines
	}
	all := make([]string, len(given))
	for i, r := range given {
		switch all[i] = strconv.Itoa(r[0]); r[1] {
		case r[0]:
		case 0:
			all[i] += "–"
		default:
			all[i] += "–" + strconv.Itoa(r[1])
		}
	}
	return strings.Join(all, ", ")
}

// cost is what some lines of an output cost, "3,7-9": by their part of the whole.
func (t Telemetry) cost(lines string) int64 {
	all, total := t.TokensShown, t.Lines
	if lines == "" || total <= 0 {
		return all
	}
	var n int64
	given, _ := wording.Ranges(lines) // what is not a range costs the least
	for _, r := range given {
		n += int64(max(0, r[1]-r[0]+1))
	}
	return min(all, max(1, all*n/total))
}

// got says which lines of a large result the model got; empty: it is not known that some are
// missing.
func (t Telemetry) got() string {
	left, err := wording.Ranges(t.LeftOut)
	if err != nil || len(left) != 1 || t.Lines < int64(left[0][1]) {
		return ""
	}
	var ends []string
	if from := left[0][0]; from > 1 {
		ends = append(ends, "1–"+wording.Count(from-1))
	}
	if to := int64(left[0][1]); to < t.Lines {
		ends = append(ends, wording.Count(to+1)+"–"+wording.Count(t.Lines))
	}
	if len(ends) == 0 {
		return ""
	}
	return "Lines " + strings.Join(ends, ", ") + " of " + wording.Count(t.Lines) +
		". The user sees all"
}

// text says what the agent read beside the line, of so many tokens; 0: it did not read that.
func (g given) text(line int64) string {
	if g.tokens == 0 {
		return ""
	}
	what := "all of it"
	if !slices.Contains(g.lines, "") {
		what = "lines " + strings.Join(g.lines, ", ")
	}
	text := "about " + wording.Count(g.tokens) + " for " + what + ", which you let it read"
	if line > 0 {
		text = wording.Count(line) + " for the line, " + text
	}
	return text
}

// Head is what a pane without content says first.
func (s *say) Head() string { return strings.TrimSuffix(cmp.Or(s.Bold, s.Text), ".") }

// shelf is the row of the call's output in the right column.
func (c *Call) shelf() outputRow {
	row := outputRow{Call: c, Output: c.Output, Name: wording.Plain(c.Title()), State: "running"}
	row.Icon = kindIcon(c.Kind, row.Name)
	_, row.Base = splitPath(row.Name)
	if c.Is().Plain {
		row.Base = row.Name
	}
	o, ok := c.In.Outputs.Output(c.Output)
	switch {
	case !c.Done():
	case ok && c.DeletedAt.IsZero():
		if o.Folder {
			row.Icon, row.Base = "folder", c.In.folderBase(row.Base)
		}
		if o.App != "" {
			row.Icon = "app"
		}
		row.At = o.CreatedAt
		row.Out, row.State, row.Life = o, "done", lifeOf(o.ExpiresAt.Sub(c.In.Now()), c.In.OutputTTL)
		if o.ExitCode != nil && *o.ExitCode != 0 {
			row.Exit = "exit " + strconv.Itoa(*o.ExitCode)
		}
	case c.Rereadable():
		row.State, row.At, row.Ended = "done", c.StartedAt, true
	default:
		row.State, row.Icon = "gone", "gone"
	}
	if c.Rereadable() {
		row.Life = nil // a file has no clock
	}
	return row
}

// outputRow is one output on the shelf.
type outputRow struct {
	*Call
	Out                             views.Output // zero: it cannot be read, or not yet
	Output, Name, Base, Icon, State string
	Exit                            string // how a command ended, unless well
	At                              time.Time
	Life                            *life
	Ended                           bool // the output; it is read again
}
