// The messages of the CLI's protocol, and the forms in which it has ids and arguments.

package copilot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
)

// userQuestion is the request userInput.request.
type userQuestion struct {
	Question      string   `json:"question"`
	Choices       []string `json:"choices"`
	AllowFreeform bool     `json:"allowFreeform"`
}

type userAnswer struct {
	Answer      string `json:"answer"`
	WasFreeform bool   `json:"wasFreeform"`
}

// planRequest is the request exitPlanMode.request: what the agent wants to carry out.
type planRequest struct {
	Summary     string   `json:"summary"`
	PlanContent string   `json:"planContent"` // Markdown; empty: it wrote none
	Actions     []string `json:"actions"`     // of interactive, autopilot, exit_only, autopilot_fleet
}

type planAnswer struct {
	Approved       bool   `json:"approved"`
	SelectedAction string `json:"selectedAction,omitempty"`
	Feedback       string `json:"feedback,omitempty"` // of a plan that is not approved
}

// hookRequest is the request hooks.invoke.
type hookRequest struct {
	HookType string `json:"hookType"`
	Input    struct {
		ToolName   string          `json:"toolName"`
		ToolArgs   json.RawMessage `json:"toolArgs"`
		ToolResult json.RawMessage `json:"toolResult"`
	} `json:"input"`
}

// hookOutput is what a hook answers; nil lets the CLI go on as it wanted. "allow" is never
// answered: it would keep the CLI from asking for permission.
type hookOutput struct {
	PermissionDecision       string `json:"permissionDecision,omitempty"`
	PermissionDecisionReason string `json:"permissionDecisionReason,omitempty"`
	ModifiedArgs             any    `json:"modifiedArgs,omitempty"`
	AdditionalContext        string `json:"additionalContext,omitempty"`
	ModifiedResult           any    `json:"modifiedResult,omitempty"`
}

type hookAnswer struct {
	Output *hookOutput `json:"output,omitempty"`
}

// toolDefinition is a tool as it is registered. skipPermission keeps the CLI from asking what the
// session asks itself.
type toolDefinition struct {
	Name           string          `json:"name"`
	Description    string          `json:"description"`
	Parameters     json.RawMessage `json:"parameters,omitempty"`
	SkipPermission bool            `json:"skipPermission"`

	server bool // of the user's
}

// sendRequest is the request session.send.
type sendRequest struct {
	SessionID     string           `json:"sessionId"`
	Prompt        string           `json:"prompt"`
	DisplayPrompt string           `json:"displayPrompt,omitempty"`
	Mode          string           `json:"mode,omitempty"`
	Attachments   []sentAttachment `json:"attachments,omitempty"`
}

type sentAttachment struct {
	Type        string `json:"type"` // file or blob
	Path        string `json:"path,omitempty"`
	Data        []byte `json:"data,omitempty"` // base64 on the wire
	MimeType    string `json:"mimeType,omitempty"`
	DisplayName string `json:"displayName,omitempty"`
}

// toolResult is a tool's result. What it says as toolTelemetry comes back and is stored by the CLI;
// online it may be uploaded: an id and numbers, no more.
type toolResult struct {
	Text      string `json:"textResultForLlm"`
	Type      string `json:"resultType"`
	Error     string `json:"error,omitempty"`
	Binary    any    `json:"binaryResultsForLlm,omitempty"`
	Telemetry any    `json:"toolTelemetry,omitempty"`
}

// permissionRequest is what the CLI wants to do.
type permissionRequest struct {
	Kind            string
	ToolCallID      string
	FullCommandText string // shell
	FileName        string // write
	Diff            string
	FileEdits       []struct{ Before, After struct{ Path string } } // write
	Path            string                                          // read
	URL             string                                          // url
	ServerName      string                                          // mcp
	ToolName        string                                          // mcp, custom-tool, hook
	ToolArgs        json.RawMessage                                 // hook
	Args            json.RawMessage                                 // mcp, custom-tool
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// nativeID is the CLI's name of a session: a UUID, ours if it is one. The same session has the same
// name in a later process.
func nativeID(sessionID string) string {
	if uuidForm.MatchString(sessionID) {
		return sessionID
	}
	sum := sha256.Sum256([]byte("webchat session " + sessionID))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // version 8: of our own making
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// asObject returns arguments as an object: those of apply_patch are a text, which is its input
// then, and asGiven brings what hooks made of the object into that form.
func asObject(arguments json.RawMessage) (object json.RawMessage,
	asGiven func(json.RawMessage) any) {
	same := func(object json.RawMessage) any { return object }
	var text string
	if len(arguments) == 0 {
		return json.RawMessage("{}"), same
	}
	if string(arguments) == "null" || json.Unmarshal(arguments, &text) != nil {
		return arguments, same
	}
	b, err := json.Marshal(map[string]string{"input": text})
	if err != nil {
		return json.RawMessage("{}"), same
	}
	return b, func(object json.RawMessage) any {
		var a map[string]json.RawMessage
		if json.Unmarshal(object, &a) == nil && len(a) == 1 && a["input"] != nil {
			return a["input"]
		}
		return object
	}
}

// requestDigest covers all of a request but what changes from one call to the next.
func requestDigest(raw json.RawMessage) string {
	var fields map[string]any
	if json.Unmarshal(raw, &fields) == nil {
		for _, k := range []string{"toolCallId", "intention", "canOfferSessionApproval"} {
			delete(fields, k)
		}
		if b, err := json.Marshal(fields); err == nil { // keys in order
			raw = b
		}
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// compactJSON is a value without white space.
func compactJSON(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
