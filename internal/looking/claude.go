package looking

import (
	"encoding/json"
	"strings"
	"time"

	"webchat/internal/tokens"
)

// claudeLine is a line of a session of Claude Code, as versions 1 and 2 write it to
// projects/FOLDER/SESSION.jsonl: its messages, each with its author. A message of the model has
// as many lines as it has parts, each with its usage so far. Helpers have files of their own, or
// lines that are marked.
type claudeLine struct {
	Type, Subtype, Version, SessionID, AgentID, RequestID string
	Timestamp                                             time.Time
	IsSidechain, IsMeta, IsCompactSummary                 bool
	Message                                               *claudeMessage
}

type claudeMessage struct {
	ID, Model string
	Content   content
	Usage     *struct {
		Input   int64 `json:"input_tokens"`
		Cached  int64 `json:"cache_read_input_tokens"`
		Written int64 `json:"cache_creation_input_tokens"`
		Output  int64 `json:"output_tokens"`
		Lives   struct {
			Long int64 `json:"ephemeral_1h_input_tokens"`
		} `json:"cache_creation"`
	}
}

// content is a text, or parts of several kinds.
type content []block

type block struct {
	Type, Text, Thinking, ID, Name string
	Input                          json.RawMessage
	ToolUse                        string `json:"tool_use_id"`
	Content                        content
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *content) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*c = content{{Type: "text", Text: text}}
		return nil
	}
	var blocks []block
	if err := json.Unmarshal(b, &blocks); err != nil {
		return err
	}
	*c = blocks
	return nil
}

// read is the text, and what pictures in it take.
func (c content) read() (text string, pictures int64) {
	var parts []string
	for _, b := range c {
		switch {
		case b.Text != "":
			parts = append(parts, b.Text)
		case strings.Contains(b.Type, "image"):
			pictures += int64(tokens.Picture(0, 0))
		}
	}
	return strings.Join(parts, "\n"), pictures
}

func takeClaude(r *reading) func([]byte, int64) error {
	return func(text []byte, cut int64) error {
		var l claudeLine
		if err := json.Unmarshal(text, &l); err != nil {
			return err
		}
		return r.claude(l, cut)
	}
}

func (r *reading) claude(l claudeLine, cut int64) error {
	if l.Type != "user" && l.Type != "assistant" && l.Type != "system" {
		return nil
	}
	if l.Version != r.version && l.Version != "" {
		if !strings.HasPrefix(l.Version, "1.") && !strings.HasPrefix(l.Version, "2.") {
			return strange(l.Version)
		}
		r.version = l.Version
	}
	if l.SessionID != "" {
		r.ID = l.SessionID
	}
	r.at(l.Timestamp)
	helper := ""
	if l.IsSidechain {
		helper = "helper " + l.AgentID
	}
	t := r.talk(helper)
	m := l.Message
	switch {
	case l.Type == "system":
		if l.Subtype == "compact_boundary" || l.Subtype == "microcompact_boundary" {
			t.compacted()
		}
	case m == nil:
	case l.Type == "assistant" && m.Model == "<synthetic>": // an error, shown as an answer
	case l.Type == "assistant":
		r.claudeCall(t, l, m)
	default:
		r.claudeUser(t, l, m, cut)
	}
	return nil
}

func (r *reading) claudeCall(t *talk, l claudeLine, m *claudeMessage) {
	id := m.ID
	if id != "" {
		id += " " + l.RequestID
	}
	c := t.begin(id, m.Model)
	if u := m.Usage; u != nil {
		c.used = true
		c.usage = usage{fresh: amount(u.Input), cached: amount(u.Cached), written: amount(u.Written),
			output: max(c.usage.output, amount(u.Output))}
		c.usage.forLong = min(amount(u.Lives.Long), c.usage.written)
	}
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			c.prose = append(c.prose, b.Text)
		case "tool_use":
			path, all := arguments(b.Input)
			t.requested(b.ID, b.Name, path, all)
		}
	}
}

func (r *reading) claudeUser(t *talk, l claudeLine, m *claudeMessage, cut int64) {
	results := false
	for _, b := range m.Content {
		if b.Type == "tool_result" {
			text, pictures := b.Content.read()
			if len(text) < mostOfString/2 {
				cut = 0 // what was cut is not of this
			}
			t.result(b.ToolUse, text, cut, pictures)
			results = true
		}
	}
	text, _ := m.Content.read()
	if results || l.IsMeta || l.IsCompactSummary || strings.HasPrefix(text, "<local-command-") ||
		strings.HasPrefix(text, "<system-reminder>") {
		return
	}
	t.prompt()
	if !l.IsSidechain && !strings.HasPrefix(text, "<command-") &&
		!strings.HasPrefix(text, "<bash-") {
		r.titled(text)
	}
}

// strange is why a file of an unknown version is left out.
func strange(version string) error {
	return unknown("their version " + cutPlain(version) + " is not known")
}
