package session

import (
	"encoding/json"
	"maps"
	"regexp"
	"strconv"

	"webchat/internal/event"
)

// refused is what one turn was refused, by kind and name: each thing is logged once.
type refused map[string]bool

func refusedKey(r event.SandboxRefused) string { return string(r.Kind) + r.What }

// knows has a turn, if there is one, not log a refusal.
func (t *turn) knows(r event.SandboxRefused) {
	if t == nil {
		return
	}
	if t.refused == nil {
		t.refused = refused{}
	}
	t.refused[refusedKey(r)] = true
}

// endLocked logs the end of a call of a turn, if it is of one, and behind it what the call was
// refused that the turn does not know.
func (s *toolCalls) endLocked(t *turn, d event.ToolExecutionComplete,
	all []event.SandboxRefused) error {
	data, seen := []event.Data{d}, refused{}
	if t != nil {
		maps.Copy(seen, t.refused)
	}
	for _, refusal := range all {
		if key := refusedKey(refusal); !seen[key] {
			seen[key], refusal.ToolCallID = true, d.ToolCallID
			data = append(data, refusal)
		}
	}
	err := s.events.Append(data...)
	if err == nil && t != nil {
		t.refused = seen
	}
	return err
}

// refusedOwn is what an agent's own command says that the sandbox refused it. It is called without
// a lock, since files are looked at.
func (s *toolCalls) refusedOwn(d event.ToolExecutionComplete) []event.SandboxRefused {
	if s.cfg.Refused == nil {
		return nil
	}
	s.mu.Lock()
	begun := s.events.Open().Tool(d.ToolCallID)
	own := begun == nil || s.calls[d.ToolCallID] != nil || begun.Start.By != event.ByAgent
	var arguments json.RawMessage
	if !own {
		arguments = begun.Start.Arguments
	}
	s.mu.Unlock()
	command, ok := commandOf(arguments)
	if own || !ok {
		return nil
	}
	exit, text := outcomeOf(d)
	return s.cfg.Refused(command, exit, text)
}

// commandOf is the command in the arguments of an agent's own tool, if they have one; empty where
// it is not a line of a shell.
func commandOf(arguments json.RawMessage) (line string, ok bool) {
	var args struct{ Command, Cmd json.RawMessage }
	if json.Unmarshal(arguments, &args) != nil || len(args.Command)+len(args.Cmd) == 0 {
		return "", false
	}
	for _, b := range []json.RawMessage{args.Command, args.Cmd} {
		var words []string // of bash -lc LINE
		if json.Unmarshal(b, &line) == nil && line != "" {
			return line, true
		}
		if json.Unmarshal(b, &words) == nil && len(words) == 3 {
			return words[2], true
		}
	}
	return "", true
}

// exitLine is how the end of an agent's command is written below what it printed.
var exitLine = regexp.MustCompile(`\(exit (-?\d+)\)\s*$`)

// outcomeOf is the exit code of an agent's command, and what it printed.
func outcomeOf(d event.ToolExecutionComplete) (exit int, text string) {
	if !d.Success {
		if d.Error == nil {
			return 1, ""
		}
		return 1, d.Error.Message
	}
	var t struct{ ExitCode int }
	_ = json.Unmarshal(d.ToolTelemetry, &t) // an agent's may have any shape
	if d.Result == nil {
		return t.ExitCode, ""
	}
	text = d.Result.Content + "\n" + d.Result.DetailedContent
	if m := exitLine.FindStringSubmatch(d.Result.Content); m != nil && t.ExitCode == 0 {
		t.ExitCode, _ = strconv.Atoi(m[1])
	}
	return t.ExitCode, text
}
