package page

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/render"
	"webchat/internal/wording"
	"webchat/web"
)

// heading is an export's title, and about what the file says of itself.
func heading(x eventlog.Summary) string { return cmp.Or(x.Title, "Untitled session") }

func (p *Pages) about(x eventlog.Summary) string {
	moment := func(t time.Time) string { return t.In(p.Location).Format("2 January 2006 15:04") }
	parts := []string{p.answers(x.Backend, x.Model), "started " + moment(x.CreatedAt), "saved " +
		moment(p.Now()), "session " + string(x.ID)}
	if c := cost(x); c != "" {
		parts = append(parts, c+" tokens")
	}
	return strings.Join(parts, " · ")
}

// ForExport returns a projector that keeps all turns, with the outputs that still
// exist shown far more than a page does. It is fed and given to
// [Pages.Export].
func (p *Pages) ForExport(sessionID string) *Projector { return p.file.ProjectorFrom(sessionID, 1) }

// Export writes the session as one HTML page that loads nothing and needs no script: styles and
// pictures are in it, as are outputs whose life is not over. A script in it steps through the
// session by its film m, which write, which writes the page, no longer needs.
func (p *Pages) Export(x eventlog.Summary, m *Film,
	pr *Projector) (write func(io.Writer) error, err error) {
	style, err := stylesheet()
	if err != nil {
		return nil, err
	}
	script, err := render.Script(web.FS, "static/js/film.js", "static/js/saved.js")
	if err != nil {
		return nil, err
	}
	pr.mu.Lock()
	defer pr.mu.Unlock()
	hash := sha256.Sum256([]byte(script))
	e := exported{
		Title:      heading(x),
		About:      p.about(x),
		Style:      style,
		Script:     script,
		Turns:      pr.fold.Turns(),
		Costs:      wordsOf(x),
		ScriptHash: codes{"sha256-" + base64.StdEncoding.EncodeToString(hash[:])},
	}
	if m.Last() >= leastSteps {
		e.Film, e.Born = e.Costs.at(p.draw(m, m.Last(), "")),
			codes{strings.Join(born(nil, pr.fold.Turns()), " ")}
	}
	return func(w io.Writer) error {
		pr.mu.Lock()
		defer pr.mu.Unlock()
		return p.file.write(w, "export", e)
	}, nil
}

type exported struct {
	Title, About string
	Style        template.CSS
	Script       template.JS
	ScriptHash   codes // as the page's policy names it
	Film         *drawnFilm
	Costs        costWords
	Born         codes // "id:event" of each node that its script shows from that event on
	Turns        []*node
}

// born are the ids of nodes with the events from which on they are there: a call is when it is
// over.
func born(to []string, nodes []*node) []string {
	for _, n := range nodes {
		switch {
		case n.Block != nil, n.Run != nil, n.Piece != nil:
			continue
		case n.Steps == nil && n.Did == nil:
			seq := n.seq
			if n.Call != nil {
				seq = max(seq, n.Call.endSeq)
			}
			to = append(to, n.ID+":"+strconv.FormatInt(seq, 10))
		}
		to = born(to, n.Kids)
	}
	return to
}

// stylesheet is all of the page's styles in their order, and what a file changes.
func stylesheet() (template.CSS, error) {
	var b bytes.Buffer
	for _, name := range slices.Concat(web.First, web.Later, []string{"replay", "export"}) {
		css, err := web.FS.ReadFile("static/css/" + name + ".css")
		if err != nil {
			return "", err
		}
		b.Write(css)
	}
	return template.CSS(b.String()), nil
}

// Markdown writes a session as Markdown while it is read: prompts as quotations above what their
// turns did, answers as they are, and one line for each thing that was shown or done. What looks
// like a secret is dots. End closes it.
type Markdown struct {
	w     io.Writer
	err   error
	hide  func(string) string
	calls map[string]string // of running tools, what they do

	waiting []prompt // prompts that no turn has taken yet, in the order they were written
	left    []eventlog.Stretch
}

// prompt is what the user wrote, at its place in the log.
type prompt struct {
	seq int64
	event.UserMessage
}

// Markdown begins the file.
func (p *Pages) Markdown(w io.Writer, x eventlog.Summary) *Markdown {
	m := &Markdown{w: w, hide: p.hide, calls: map[string]string{}, left: x.Open.Left}
	m.write("# "+wording.FirstLine(heading(x), 200), "", "*"+p.about(x)+"*")
	return m
}

// Take writes what events say; it returns the first error of the writer.
func (m *Markdown) Take(entries ...event.Entry) error {
	for _, e := range entries {
		m.event(e)
	}
	return m.err
}

// End writes the prompts that are still queued; it returns the first error of the writer.
func (m *Markdown) End() error {
	for len(m.waiting) > 0 {
		m.prompt(m.waiting[0].MessageID, "*Not sent:*")
	}
	return m.err
}

// prompt writes a prompt that was queued, below a remark.
func (m *Markdown) prompt(id, remark string) {
	i := slices.IndexFunc(m.waiting, func(p prompt) bool { return p.MessageID == id })
	if i < 0 {
		return
	}
	p := m.waiting[i]
	m.waiting = slices.Delete(m.waiting, i, i+1)
	m.write("", "---", "")
	if eventlog.IsLeft(m.left, p.seq) {
		m.write("*Left behind: the agent was made to forget this prompt and its answer.*", "")
	}
	if remark != "" {
		m.write(remark, "")
	}
	m.write(quote(p.Content))
	for _, a := range p.Attachments {
		m.write("> ", "> Attached: "+verbatim(cmp.Or(a.Name, a.Path, a.OutputID)))
	}
}

func (m *Markdown) event(e event.Entry) {
	switch d := e.Event.Data.(type) {
	case event.UserMessageWithdrawn:
		m.prompt(d.MessageID, "*Taken back before it was sent:*")
	case event.TurnStart:
		m.prompt(d.MessageID, "")
	case event.UserMessage:
		m.waiting = append(m.waiting, prompt{e.Seq, d})
	case event.AssistantMessage:
		m.write("", d.Content)
		if d.Partial {
			m.write("", "*(it was cut off here)*")
		}
	case event.ToolExecutionStart:
		c := Call{Tool: d.ToolName, Args: d.Arguments}
		m.calls[d.ToolCallID] = c.Name()
		m.write("", "- **"+wording.Plain(d.ToolName)+"** "+verbatim(c.Name()))
	case event.ToolExecutionComplete:
		what := m.calls[d.ToolCallID]
		delete(m.calls, d.ToolCallID)
		switch {
		case d.Error != nil:
			m.write("  - failed: " + wording.FirstLine(d.Error.Message, 300))
		case d.Result != nil && d.OutputID != "":
			m.write("  - " + wording.FirstLine(d.Result.Content, 300))
		case d.Result != nil && what == "":
			m.write("  - " + wording.FirstLine(d.Result.Content, 300))
		}
	case event.PermissionCompleted:
		m.write("  - " + map[event.Decision]string{event.Allow: "allowed",
			event.Deny: "denied"}[d.Decision] + " by " + string(d.By))
	case event.UserInputRequested:
		m.write("", "*Asked:* "+d.Question)
		if d.Detail != "" {
			m.write("", quote(d.Detail))
		}
	case event.UserInputCompleted:
		m.write("", quote(d.Answer))
	case event.SessionDamaged:
		m.write("", "*"+Damaged(1, d.Copy)+".*")
	case event.SessionError:
		m.write("", "*"+wording.FirstLine(d.Message, 500)+"*")
	case event.TurnEnd:
		if d.Outcome != event.Completed {
			m.write("", "*The turn ended: "+string(d.Outcome)+".*")
		}
		for _, id := range d.Steered {
			m.prompt(id, "*Joined the turn above while it ran:*")
		}
	}
}

func (m *Markdown) write(lines ...string) {
	if m.err == nil {
		_, m.err = io.WriteString(m.w, m.hide(strings.Join(lines, "\n"))+"\n")
	}
}

func quote(text string) string { return "> " + strings.ReplaceAll(text, "\n", "\n> ") }

// verbatim is a name as Markdown shows it unread; a fence longer than any in it.
func verbatim(text string) string {
	text = wording.FirstLine(wording.Plain(text), 300)
	if text == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
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
