package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/wording"
)

// The tools that return what the user released.
const (
	readOutput   = "read_output"
	searchOutput = "search_output"
)

const (
	mostReleased = 20        // releases that are kept of a session; the oldest go first
	mostRead     = 100 << 10 // bytes that one call returns
	mostHits     = 200       // lines that one search returns
)

var readTools = []Tool{
	{Title: "Read an output", ReadOnly: true, ToolSpec: agent.ToolSpec{Name: readOutput,
		Description: "Read an output that was shown in webchat and that the user released to you. It returns nothing that they did not release.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"output":{"type":"string","description":"the number the user gave; without it, the latest"},` +
			`"lines":{"type":"string","description":"such as 1-200, counted in what was released"}}}`)}},
	{Title: "Search an output", ReadOnly: true, ToolSpec: agent.ToolSpec{Name: searchOutput,
		Description: "Search an output that the user released to you in webchat. You get the lines that match.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"output":{"type":"string","description":"the number the user gave; without it, the latest"},` +
			`"pattern":{"type":"string","description":"a regular expression (RE2)"}},"required":["pattern"]}`)}},
}

// released is something the user released: exactly these bytes.
type released struct {
	number int
	name   string
	data   []byte
}

// errNotReleased is what a model reads instead of anything else.
var errNotReleased = errors.New("not released by the user: they can release it with \"Let the agent read this\" in webchat")

// Prompt implements [agent.Conn]. A prompt's attachments are what the user releases;
// its text is not shown.
func (c *conn) Prompt(ctx context.Context, p agent.Prompt) error {
	if len(p.Attachments) == 0 {
		return errElsewhere
	}
	c.mu.Lock()
	client, reads := c.client, c.reads
	var lines []string
	for _, a := range p.Attachments {
		if reads && a.Data != nil {
			c.numbered++
			c.released = append(c.released, released{c.numbered, a.Name, a.Data})
			lines = append(lines, fmt.Sprintf("Use webchat's %s with output %q: %s", readOutput, strconv.Itoa(c.numbered), oneLine(a.Name)))
		}
	}
	c.released = c.released[max(0, len(c.released)-mostReleased):]
	c.mu.Unlock()
	text := fmt.Sprintf("Released. Paste this in %s:\n\n```\n%s\n```", client, strings.Join(lines, "\n"))
	switch {
	case !reads:
		text = client + " is connected without a workspace, so it cannot read what you release. Connect it with `webchat mcp install`."
	case len(lines) == 0:
		text = "Nothing was released: only outputs that were shown here can be."
	}
	return c.host.Report(ctx, event.AssistantMessage{MessageID: newID(), Content: text})
}

// oneLine is a name as it may be pasted into a prompt.
func oneLine(name string) string {
	name = strings.Join(strings.Fields(strings.Map(printable, strings.ReplaceAll(name, "`", "'"))), " ")
	if r := []rune(name); len(r) > mostName {
		name = string(r[:mostName-1]) + "…"
	}
	return name
}

// find returns what was released under a number, the latest for an empty one.
func (c *conn) find(number string) (released, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.released) - 1; i >= 0; i-- {
		if r := c.released[i]; number == "" || number == strconv.Itoa(r.number) {
			return r, nil
		}
	}
	return released{}, errNotReleased
}

// reading serves the calls of a tool of readTools for a peer.
func (s *Server) reading(p *peer, tool string) mcp.ToolHandler {
	return s.bounded(p, func(ctx context.Context, req *mcp.CallToolRequest, id string) *mcp.CallToolResult {
		defer s.signs(ctx, req, id, new(place))()
		var text string
		_, err := s.lend(ctx, p, clientName(req.ClientInfo()), func(c *conn) (err error) {
			text, err = c.read(ctx, id, tool, req.Params.Arguments)
			return err
		})
		if err != nil {
			return failure(strings.ToUpper(err.Error()[:1]) + err.Error()[1:] + ".")
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
	})
}

// read returns what a call asks for, and shows the call in the session, without what
// it returned.
func (c *conn) read(ctx context.Context, id, tool string, raw json.RawMessage) (text string, err error) {
	var args struct{ Output, Lines, Pattern string }
	if len(raw) > 0 && json.Unmarshal(raw, &args) != nil {
		return "", errors.New("the arguments have to be strings")
	}
	shown, err := json.Marshal(struct {
		Output  string `json:"output"`
		Lines   string `json:"lines,omitempty"`
		Pattern string `json:"pattern,omitempty"`
	}{cmp.Or(args.Output, "latest"), args.Lines, args.Pattern})
	if err != nil {
		return "", err
	}
	if err := c.host.Report(ctx, event.ToolExecutionStart{ToolCallID: id, ToolName: tool, Arguments: shown}); err != nil {
		return "", err
	}
	r, err := c.find(args.Output)
	switch {
	case err != nil:
	case tool == searchOutput:
		text, err = r.search(args.Pattern)
	default:
		text, err = r.lines(args.Lines)
	}
	end := event.ToolExecutionComplete{ToolCallID: id, Success: err == nil}
	if err == nil {
		end.Result = &event.ToolResult{Content: fmt.Sprintf("The agent read %s of %s.", wording.Size(int64(len(text))), oneLine(r.name))}
	} else {
		end.Error = &event.ToolError{Message: err.Error(), Code: "failure", Kind: event.KindBadArguments}
		if errors.Is(err, errNotReleased) {
			end.Error.Kind = event.KindDenied
		}
	}
	return text, errors.Join(err, c.host.Report(ctx, end))
}

// lines returns a range of lines, counted from 1, as "A-B", "A-" or "A"; all for "".
func (r released) lines(which string) (string, error) {
	all := bytes.SplitAfter(r.data, []byte{'\n'})
	if len(all[len(all)-1]) == 0 {
		all = all[:len(all)-1]
	}
	from, to := 1, len(all)
	if which != "" {
		a, b, ranged := strings.Cut(which, "-")
		var errA, errB error
		from, errA = strconv.Atoi(strings.TrimSpace(a))
		switch {
		case !ranged:
			to = from
		case strings.TrimSpace(b) != "":
			to, errB = strconv.Atoi(strings.TrimSpace(b))
		}
		if errA != nil || errB != nil || from < 1 || to < from {
			return "", fmt.Errorf("lines %q are not of the form 1-200", which)
		}
	}
	if len(all) == 0 {
		return "(it is empty)", nil
	}
	if from > len(all) {
		return "", fmt.Errorf("it has %d lines, so there is no line %d", len(all), from)
	}
	var out []byte
	for i := from; i <= min(to, len(all)); i++ {
		line := all[i-1]
		if len(out)+len(line) > mostRead {
			if len(out) == 0 {
				out = append(out, line[:mostRead]...)
				i++
			}
			return text(out) + fmt.Sprintf("\n… %d lines follow: ask for lines %d-%d\n", len(all)-i+1, i, len(all)), nil
		}
		out = append(out, line...)
	}
	return text(out), nil
}

// search returns the lines that match, each with its number.
func (r released) search(pattern string) (string, error) {
	re, err := regexp.Compile(pattern)
	if err != nil || pattern == "" {
		return "", errors.New("the pattern is not a regular expression of RE2")
	}
	var out []byte
	hits, number := 0, 0
	for line := range bytes.Lines(r.data) {
		if number++; !re.Match(bytes.TrimRight(line, "\r\n")) {
			continue
		}
		if hits++; hits > mostHits || len(out)+len(line) > mostRead {
			return text(out) + "… more lines match: ask more precisely\n", nil
		}
		out = fmt.Appendf(out, "%d:%s\n", number, bytes.TrimRight(line, "\r\n"))
	}
	if hits == 0 {
		return "No line matches.", nil
	}
	return text(out), nil
}

// text is bytes as a result can hold them.
func text(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}
