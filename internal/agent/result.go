package agent

import (
	"bytes"
	"encoding/json"
	"fmt"

	"webchat/internal/event"
)

// ResultType is how a tool call ended.
type ResultType string

// The result types. A command that ran is a success whatever its exit code.
const (
	Success  ResultType = "success"
	Failed   ResultType = "failure"
	Rejected ResultType = "rejected"
	Denied   ResultType = "denied"
)

// Result is what a tool hands back. Only TextForModel and Binary ever reach a
// model.
type Result struct {
	TextForModel string         `json:"textResultForLlm"`
	Binary       []BinaryResult `json:"binaryResultsForLlm,omitempty"`
	Type         ResultType     `json:"resultType"`
	Error        string         `json:"error,omitempty"`      // for the user; empty: TextForModel serves
	SessionLog   string         `json:"sessionLog,omitempty"` // shown folded in the card
	Telemetry    *Telemetry     `json:"toolTelemetry,omitempty"`

	// ErrorCode refines a failure: "failure" (the zero value), "denied",
	// "rejected", "timeout" or "aborted".
	ErrorCode string `json:"-"`
}

// BinaryResult is a picture or other bytes for a model.
type BinaryResult struct {
	Data        string `json:"data"` // base64
	MimeType    string `json:"mimeType"`
	Type        string `json:"type"`
	Description string `json:"description,omitempty"`
}

// Telemetry travels beside a result, never to a model. It holds an output's id
// and small numbers, never content.
type Telemetry struct {
	OutputID string `json:"outputId,omitempty"`
	// OutputType is "file", "terminal" or "image".
	OutputType string `json:"outputType,omitempty"`
	Bytes      int64  `json:"bytes,omitempty"`
	Lines      int64  `json:"lines,omitempty"`
	// TokensShown is what the output would cost a model, TokensSent what the
	// confirmation costs instead. TokensEstimated marks TokensShown as sampled.
	TokensShown     int64 `json:"tokensShown,omitempty"`
	TokensSent      int64 `json:"tokensSent,omitempty"`
	TokensEstimated bool  `json:"tokensEstimated,omitempty"`
	// ExitCode is set for a command that ended by itself.
	ExitCode *int `json:"exitCode,omitempty"`
	// Fingerprint goes into the log beside the telemetry; nil for what is very long.
	Fingerprint *Fingerprint `json:"-"`
}

// Fingerprint is the language's own, so that tools need not know the language.
type Fingerprint = event.Fingerprint

// Failure returns a failed Result that tells model and user the same sentence.
func Failure(code, format string, args ...any) Result {
	s := fmt.Sprintf(format, args...)
	return Result{TextForModel: s, Error: s, Type: Failed, ErrorCode: code}
}

// UnmarshalJSON accepts a bare string, which is a success, or the object.
func (r *Result) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	if len(b) > 0 && b[0] == '"' {
		*r = Result{Type: Success}
		return json.Unmarshal(b, &r.TextForModel)
	}
	type plain Result
	if err := json.Unmarshal(b, (*plain)(r)); err != nil {
		return err
	}
	if r.Type == "" {
		r.Type = Success
	}
	return nil
}
