package looking

import (
	"encoding/json"
	"time"
)

// copilotLine is an event of the Copilot CLI, as it writes it to session-state/SESSION/events.jsonl
// in its version 1 of that file. What a call took comes before its message, as
// session.usage_record. An event of a helper names it.
type copilotLine struct {
	Type, ID, AgentID string
	Timestamp         time.Time
	Data              struct {
		SessionID, ToolCallID, ToolName, Content, Model string
		Version                                         *int
		Success                                         bool
		Arguments                                       json.RawMessage
		Usage                                           *copilotUsage
		Compaction                                      *copilotUsage `json:"compactionTokensUsed"`
		ToolRequests                                    []struct {
			ToolCallID, Name string
			Arguments        json.RawMessage
		}
		Result struct{ Content string }
		Error  struct{ Message string }
	}
}

type copilotUsage struct {
	Model, APICallID                                             string
	InputTokens, OutputTokens, CacheReadTokens, CacheWriteTokens int64
	Accounting                                                   struct {
		SourceSessionID string
		Sequence        int64
	}
}

func (u copilotUsage) usage() usage {
	return codexUsage{u.InputTokens, u.CacheReadTokens, u.CacheWriteTokens, u.OutputTokens}.usage()
}

func takeCopilot(r *reading) func([]byte, int64) error {
	return func(text []byte, cut int64) error {
		var l copilotLine
		if err := json.Unmarshal(text, &l); err != nil {
			return err
		}
		return r.copilot(l, cut)
	}
}

func (r *reading) copilot(l copilotLine, cut int64) error {
	d := l.Data
	if r.version == "" {
		if l.Type != "session.start" || d.Version == nil {
			return unknown("they begin as those of no known version")
		}
		if *d.Version != 1 {
			return strange(number(*d.Version))
		}
		r.version, r.ID = "1", d.SessionID
	}
	r.at(l.Timestamp)
	t := r.talk(l.AgentID)
	switch l.Type {
	case "session.usage_record":
		if u := d.Usage; u != nil {
			c := t.begin("", u.Model)
			c.usage, c.used = u.usage(), true
			id := l.ID
			if u.Accounting.SourceSessionID != "" {
				id = u.Accounting.SourceSessionID + " " + number(int(u.Accounting.Sequence))
			}
			c.copied = r.billedElsewhere(id)
		}
	case "assistant.message":
		c := t.now
		if c == nil || len(c.prose) > 0 || c.acts {
			c = t.begin("", d.Model)
		}
		c.prose = append(c.prose, d.Content)
		for _, q := range d.ToolRequests {
			path, all := arguments(q.Arguments)
			t.requested(q.ToolCallID, q.Name, path, all)
		}
	case "tool.execution_complete":
		text := d.Result.Content + d.Error.Message
		if len(text) < mostOfString/2 {
			cut = 0
		}
		t.result(d.ToolCallID, text, cut, 0)
	case "user.message":
		t.prompt()
		if l.AgentID == "" {
			r.titled(d.Content)
		}
	case "session.compaction_complete":
		if u := d.Compaction; u != nil && d.Success {
			c := t.begin("", u.Model)
			c.usage, c.used = u.usage(), true
		}
		if d.Success {
			t.compacted()
		}
	case "session.truncation", "session.snapshot_rewind":
		t.compacted()
	}
	return nil
}
