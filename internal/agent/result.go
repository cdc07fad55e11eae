package agent

import (
	"errors"
	"fmt"
	"strings"

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

// Result is what a tool hands back. Only TextForModel and Binary ever reach a model.
type Result struct {
	TextForModel string         `json:"textResultForLlm"`
	Binary       []BinaryResult `json:"binaryResultsForLlm,omitempty"`
	Type         ResultType     `json:"resultType"`
	// for the user; empty: TextForModel serves
	Error      string     `json:"error,omitempty"`
	SessionLog string     `json:"sessionLog,omitempty"` // shown folded in the card
	Telemetry  *Telemetry `json:"toolTelemetry,omitempty"`

	// What programs need to know of a result that is not a success, as [event.ToolError] has it. An
	// empty Kind is filled in from Type.
	Kind    event.ErrorKind `json:"-"`
	Nearest []string        `json:"-"`
	By      event.Decider   `json:"-"`
	Limit   event.Limit     `json:"-"`

	// Refused is what the sandbox refused the call, without its id.
	Refused []event.SandboxRefused `json:"-"`
}

// Code is the code of a result that is not a success, as [event.ToolError] has it.
func (r Result) Code() string {
	switch {
	case r.Type == Denied || r.Type == Rejected:
		return string(r.Type)
	case r.Kind == event.KindTimeout, r.Kind == event.KindAborted, r.Kind == event.KindInterrupted:
		return string(r.Kind)
	}
	return string(Failed)
}

// BinaryResult is a picture or other bytes for a model.
type BinaryResult struct {
	Data        string `json:"data"` // base64
	MimeType    string `json:"mimeType"`
	Type        string `json:"type"`
	Description string `json:"description,omitempty"`
}

// Telemetry travels beside a result, never to a model. It holds an output's id and small numbers,
// never content.
type Telemetry struct {
	OutputID string `json:"outputId,omitempty"`
	// OutputType is "file", "terminal" or "image".
	OutputType string `json:"outputType,omitempty"`
	Bytes      int64  `json:"bytes,omitempty"`
	Lines      int64  `json:"lines,omitempty"`
	// TokensShown is what the output would cost a model, TokensSent what the confirmation costs
	// instead. TokensEstimated marks TokensShown as sampled.
	TokensShown     int64 `json:"tokensShown,omitempty"`
	TokensSent      int64 `json:"tokensSent,omitempty"`
	TokensEstimated bool  `json:"tokensEstimated,omitempty"`
	// LeftOut are the lines of a large result that its model did not get, as "A-B".
	LeftOut string `json:"leftOut,omitempty"`
	// ExitCode is set for a command that ended by itself.
	ExitCode *int `json:"exitCode,omitempty"`
	// Fingerprint goes into the log beside the telemetry; nil for what is very long.
	Fingerprint *Fingerprint `json:"-"`
}

// Fingerprint is the language's own, so that tools need not know the language.
type Fingerprint = event.Fingerprint

// Failure returns a failed Result that has the same sentence for model and user.
func Failure(kind event.ErrorKind, format string, args ...any) Result {
	s := fmt.Sprintf(format, args...)
	return Result{TextForModel: s, Error: s, Type: Failed, Kind: kind}
}

// Fault is an error of a tool, in a sentence for model and user and in what programs need to know
// of it.
type Fault struct {
	Kind    event.ErrorKind
	Text    string
	Nearest []string // paths like the one that was not found
	Limit   event.Limit
}

// Errorf returns a Fault with the sentence of a format.
func Errorf(kind event.ErrorKind, format string, args ...any) *Fault {
	return &Fault{Kind: kind, Text: fmt.Sprintf(format, args...)}
}

// Error is what the model reads: it needs the names in the sentence.
func (f *Fault) Error() string {
	if len(f.Nearest) == 0 {
		return f.Text
	}
	return f.Text + " The nearest are: " + strings.Join(f.Nearest, ", ")
}

// FailedBy returns the Result of a call that err ended. An error that is not a [Fault] is of the
// kind other.
func FailedBy(err error, other event.ErrorKind) Result {
	f, ok := errors.AsType[*Fault](err)
	if !ok {
		return Failure(other, "%s", err.Error())
	}
	return Result{
		TextForModel: err.Error(),
		Error:        f.Text,
		Type:         Failed,
		Kind:         f.Kind,
		Nearest:      f.Nearest,
		Limit:        f.Limit,
	}
}
