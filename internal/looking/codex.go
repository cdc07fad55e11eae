package looking

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// codexLine is a line of a session of Codex 0, as it writes it to
// sessions/YEAR/MONTH/DAY/rollout-TIME-ID.jsonl since each line has a type: what was sent and
// answered as response items, and events between them. What a call took stands behind its items: as
// token_usage_record, or in older versions only as token_count, which comes again for the same
// call.
type codexLine struct {
	Type      string
	Timestamp time.Time
	Payload   codexPayload
}

type codexPayload struct {
	Type, ID, Role, Name, Model string
	Version                     string `json:"cli_version"`
	Forked                      string `json:"forked_from_id"`
	CallID                      string `json:"call_id"`
	Arguments, Input            string
	Action                      json.RawMessage
	Content                     content
	Output                      json.RawMessage
	Response                    string `json:"response_id"`
	Message                     json.RawMessage
	Usage                       *codexUsage
	Item                        struct {
		Type    string
		Content content
	}
	Info *struct {
		Total codexUsage `json:"total_token_usage"`
		Last  codexUsage `json:"last_token_usage"`
	}
}

type codexUsage struct {
	Input   int64 `json:"input_tokens"`
	Cached  int64 `json:"cached_input_tokens"`
	Written int64 `json:"cache_write_input_tokens"`
	Output  int64 `json:"output_tokens"`
}

func (u codexUsage) usage() usage {
	cached := min(amount(u.Cached), amount(u.Input))
	written := min(amount(u.Written), amount(u.Input)-cached)
	return usage{fresh: amount(u.Input) - cached - written, cached: cached, written: written,
		output: amount(u.Output)}
}

// codex follows a file of Codex.
type codex struct {
	*reading
	model   string
	forked  bool
	records bool       // it has records of usage
	total   codexUsage // as counted last
}

func takeCodex(r *reading) func([]byte, int64) error {
	x := &codex{reading: r}
	return func(text []byte, cut int64) error {
		var l codexLine
		if err := json.Unmarshal(text, &l); err != nil {
			return err
		}
		return x.take(l, cut)
	}
}

func (x *codex) take(l codexLine, cut int64) error {
	p := l.Payload
	if x.version == "" {
		if l.Type != "session_meta" {
			return unknown("they begin as those of no known version")
		}
		if !strings.HasPrefix(p.Version, "0.") {
			return strange(p.Version)
		}
		x.version, x.forked = p.Version, p.Forked != ""
		if p.ID != "" {
			x.ID = p.ID
		}
	}
	x.at(l.Timestamp)
	t := x.talk("")
	switch l.Type {
	case "turn_context":
		x.model = p.Model
	case "compacted":
		t.compacted()
	case "token_usage_record":
		if p.Usage != nil {
			x.records = true
			x.used(t, p.Response, *p.Usage)
		}
	case "event_msg":
		x.event(t, p)
	case "response_item":
		x.item(t, p, cut)
	}
	return nil
}

func (x *codex) event(t *talk, p codexPayload) {
	switch p.Type {
	case "user_message":
		var text string
		_ = json.Unmarshal(p.Message, &text) // it may be of another kind
		t.prompt()
		x.titled(text)
	case "item_completed":
		if p.Item.Type == "UserMessage" {
			text, _ := p.Item.Content.read()
			t.prompt()
			x.titled(text)
		}
	case "token_count":
		if p.Info == nil || p.Info.Total == x.total || x.records {
			return
		}
		x.total = p.Info.Total
		x.used(t, fmt.Sprint(*p.Info), p.Info.Last)
	}
}

// used takes what the call under way took, or one without any text.
func (x *codex) used(t *talk, id string, u codexUsage) {
	if t.now == nil || t.now.used {
		t.begin("", x.model)
	}
	c := t.now
	c.usage, c.used = u.usage(), true
	// a session that was forked begins with the calls of another one
	c.copied = x.billedElsewhere(id) && (x.records || x.forked)
}

func (x *codex) item(t *talk, p codexPayload, cut int64) {
	switch p.Type {
	case "message":
		if p.Role == "assistant" {
			text, _ := p.Content.read()
			c := x.more(t)
			c.prose = append(c.prose, text)
		}
	case "reasoning":
		x.more(t)
	case "function_call", "custom_tool_call", "local_shell_call":
		x.more(t)
		name := p.Name
		if p.Type == "local_shell_call" {
			name = "local_shell"
		}
		path, all := arguments([]byte(p.Arguments))
		_, also := arguments(p.Action)
		t.requested(p.CallID, name, path, append(append(all, also...), p.Input))
	case "function_call_output", "custom_tool_call_output":
		text, pictures := output(p.Output)
		if len(text) < mostOfString/2 {
			cut = 0
		}
		t.result(p.CallID, text, cut, pictures)
	}
}

// more is the call under way, or a new one behind what that is known to have taken or was given.
func (x *codex) more(t *talk) *call {
	if t.now == nil || t.now.used || len(t.arrived) > 0 {
		t.begin("", x.model)
	}
	return t.now
}

// output is the text of a result: as it is, in parts, or in an object of older versions.
func output(b json.RawMessage) (text string, pictures int64) {
	var parts content
	if parts.UnmarshalJSON(b) != nil {
		var o struct{ Content, Output content }
		_ = json.Unmarshal(b, &o) // else it has no text
		parts = append(o.Content, o.Output...)
	}
	return parts.read()
}
