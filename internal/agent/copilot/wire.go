package copilot

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
)

// nativeQuestion is the request userInput.request.
type nativeQuestion struct {
	Question      string   `json:"question"`
	Choices       []string `json:"choices"`
	AllowFreeform bool     `json:"allowFreeform"`
}

type nativeAnswer struct {
	Answer      string `json:"answer"`
	WasFreeform bool   `json:"wasFreeform"`
}

// nativeHook is the request hooks.invoke.
type nativeHook struct {
	HookType string `json:"hookType"`
	Input    struct {
		ToolName   string          `json:"toolName"`
		ToolArgs   json.RawMessage `json:"toolArgs"`
		ToolResult json.RawMessage `json:"toolResult"`
		Error      string          `json:"error"`
	} `json:"input"`
}

// nativeTool is a tool as it is registered. skipPermission keeps the CLI from
// asking what the session asks itself.
type nativeTool struct {
	Name           string          `json:"name"`
	Description    string          `json:"description"`
	Parameters     json.RawMessage `json:"parameters,omitempty"`
	SkipPermission bool            `json:"skipPermission"`
}

// nativeSend is the request session.send.
type nativeSend struct {
	SessionID     string             `json:"sessionId"`
	Prompt        string             `json:"prompt"`
	DisplayPrompt string             `json:"displayPrompt,omitempty"`
	Mode          string             `json:"mode,omitempty"`
	Attachments   []nativeAttachment `json:"attachments,omitempty"`
}

type nativeAttachment struct {
	Type        string `json:"type"` // file or blob
	Path        string `json:"path,omitempty"`
	Data        []byte `json:"data,omitempty"` // base64 on the wire
	MimeType    string `json:"mimeType,omitempty"`
	DisplayName string `json:"displayName,omitempty"`
}

// nativeResult is a tool's result. What it says as toolTelemetry comes back and
// is stored by the CLI; online it may be uploaded: an id and numbers, no more.
type nativeResult struct {
	Text      string `json:"textResultForLlm"`
	Type      string `json:"resultType"`
	Error     string `json:"error,omitempty"`
	Binary    any    `json:"binaryResultsForLlm,omitempty"`
	Telemetry any    `json:"toolTelemetry,omitempty"`
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// nativeID is the CLI's name of a session: a UUID, ours if it is one. The same
// session has the same name in a later process.
func nativeID(sessionID string) string {
	if uuidForm.MatchString(sessionID) {
		return sessionID
	}
	sum := sha256.Sum256([]byte("webchat session " + sessionID))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // version 8: of our own making
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
