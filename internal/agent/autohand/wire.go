package autohand

import (
	"encoding/json"
	"regexp"
	"strings"

	"webchat/internal/agent/convo"
)

type object = map[string]any

// server is the name the CLI knows the session's tools by, and ours how it calls them.
const (
	server     = "webchat"
	lentPrefix = "mcp__" + server + "__"
)

// What is read of the CLI's protocol. Fields that are not needed are left out.

type (
	// history is the answer to autohand.getHistory.
	history struct{ Sessions []struct{ SessionID string } }

	// accepted is the answer to most requests.
	accepted struct{ Success bool }

	// message is autohand.messageUpdate and messageEnd.
	message struct{ MessageID, Delta, Thought, Content string }

	// toolNotice is autohand.toolStart, toolEnd and hook.postTool.
	toolNotice struct {
		ToolID   string `json:"toolId"`
		ToolName string
		Args     map[string]json.RawMessage
		Success  bool
		Output   json.RawMessage // usually a text
		Error    string
	}

	// step is autohand.stepEnd.
	step struct {
		StepID string `json:"stepId"`
		Step   struct {
			StepNumber int
			Thought    string
			ToolCalls  []struct {
				ID, Tool string
				Args     map[string]json.RawMessage
			}
			ToolResults []struct {
				Tool    string
				Success bool
				Kind    string
				Output  json.RawMessage
				Error   string
			}
		}
	}

	// permissionRequest is autohand.permissionRequest and directoryAccessRequest.
	permissionRequest struct {
		RequestID   string `json:"requestId"`
		Tool        string
		Description string
		Context     struct{ Command, Path string }
		Path        string
		Reason      string
	}

	// batch is autohand.changesBatchStart, changesBatchUpdate and changesBatchEnd.
	batch struct {
		BatchID     string `json:"batchId"`
		ChangeCount int
		Change      change
	}

	change struct {
		ID, FilePath, ChangeType         string
		OriginalContent, ProposedContent string
	}

	// decided is the answer to autohand.changesDecision.
	decided struct {
		Success      bool
		AppliedCount int
		Errors       []struct{ ChangeID, Error string }
	}

	// failure is autohand.error and hook.sessionError.
	failure struct {
		Code        json.RawMessage
		Message     string
		ErrorType   string
		Recoverable *bool
		Error       string
	}

	// moment is what the CLI hands to a hook.
	moment struct {
		Event    string          `json:"hook_event_name"`
		Tool     string          `json:"tool_name"`
		Input    json.RawMessage `json:"tool_input"`
		CallID   string          `json:"tool_use_id"`
		Response json.RawMessage `json:"tool_response"`
		Success  *bool           `json:"tool_success"`
	}

	// answer is what a hook prints.
	answer struct {
		Decision     string          `json:"decision,omitempty"`
		Reason       string          `json:"reason,omitempty"`
		UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`
	}
)

// text is a value as a text: itself if it is one, else its JSON.
func text(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// escapes are what terminals take for commands: the CLI colours what it returns.
var escapes = regexp.MustCompile(
	"\x1b\\[[0-9;?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|\x1b.")

// clean is a text of the CLI without commands for terminals, valid UTF-8.
func clean(text string) string {
	return strings.ToValidUTF8(escapes.ReplaceAllString(text, ""), "\uFFFD")
}

// plain is a text for a sentence: one line.
func plain(text string) string {
	return strings.TrimRight(strings.Join(strings.Fields(clean(text)), " "), ".")
}

// diff is what changes in a file from one text to another.
func diff(name, from, to string) string {
	if from == to {
		return ""
	}
	return clean(convo.Diff(name, from, to))
}
