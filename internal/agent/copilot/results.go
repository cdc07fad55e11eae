package copilot

import (
	"regexp"
	"slices"
	"webchat/internal/agent"
	"webchat/internal/event"
)

// shellEnd is how the CLI's shell ends what it returns; the exit code is elsewhere, too.
var shellEnd = regexp.MustCompile(`\n?<shellId: \S+ completed with exit code -?\d+>\s*$`)

// readableResult is a result without what is for the CLI only, and without its copy.
func readableResult(r *event.ToolResult) *event.ToolResult {
	out := *r
	out.Content = shellEnd.ReplaceAllString(r.Content, "")
	if out.DetailedContent = shellEnd.ReplaceAllString(r.DetailedContent, ""); out.DetailedContent == out.Content {
		out.DetailedContent = ""
	}
	return &out
}

// errorCode is one of the codes the language of events has.
func errorCode(theirs string) string {
	if slices.Contains([]string{"failure", "denied", "rejected", "timeout", "aborted", "interrupted"}, theirs) {
		return theirs
	}
	return "failure"
}

// nativeResult is a tool's result in the CLI's words. "denied" has the model read
// the text and go on; "rejected" also ends the turn.
func nativeResult(r agent.Result) toolResult {
	n := toolResult{Text: r.TextForModel, Type: string(r.Type), Error: r.Error}
	if len(r.Binary) > 0 {
		n.Binary = r.Binary
	}
	switch {
	case r.Type == "":
		n.Type = string(agent.Success)
	case r.Type == agent.Failed && r.Kind == event.KindTimeout:
		n.Type = "timeout"
	}
	if n.Error == "" && r.Type != agent.Success {
		n.Error = r.TextForModel
	}
	if t := r.Telemetry; t != nil {
		n.Telemetry = struct {
			OutputID string `json:"outputId,omitempty"`
			Bytes    int64  `json:"bytes,omitempty"`
			Lines    int64  `json:"lines,omitempty"`
			ExitCode *int   `json:"exitCode,omitempty"`
		}{t.OutputID, t.Bytes, t.Lines, t.ExitCode}
	}
	return n
}
