// Package outcome says what became of a call or a turn, as a log keeps it.
//
//	s.events.Append(outcome.Completion(call.ID, call.at, time.Now(), result))
package outcome

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"webchat/internal/agent"
	"webchat/internal/contain"
	"webchat/internal/event"
	"webchat/internal/tokens"
	"webchat/internal/wording"
)

// Why a context of a session ended; see [context.Cause].
var (
	ErrAborted  = errors.New("stopped by the user")
	ErrShutdown = errors.New("the program ended")
	ErrTurnOver = errors.New("the turn ended")
)

// ErrHook is why something was not done that a hook refused.
var ErrHook = errors.New("a hook refused")

// Unasked ends a turn whose agent went over to a mode that is not allowed.
type Unasked struct{ Agent, Mode string }

func (e Unasked) Error() string {
	return fmt.Sprintf("%s went over to the mode %s, in which it acts without asking you, so it was stopped. It works in the mode before again from your next prompt on", e.Agent, e.Mode)
}

// Error is what a log says about an error that ended a turn.
func Error(err error) event.SessionError {
	d := event.SessionError{Message: cmp.Or(wording.Capital(err.Error()), "It failed, and nothing says why."), ErrorType: "backend", Kind: event.KindProvider}
	switch {
	case errors.Is(err, agent.ErrUnavailable):
		d.ErrorType = event.ErrorUnavailable
	case errors.Is(err, agent.ErrDied):
		d.ErrorType, d.Kind = "died", event.KindAgentDied
	case errors.As(err, new(Unasked)):
		d.ErrorType, d.Kind = "mode", event.KindDenied
	case errors.Is(err, ErrHook):
		d.ErrorType, d.Kind = event.ErrorHook, event.KindDenied
	case errors.Is(err, contain.ErrPanic):
		d.ErrorType, d.Kind = "panic", event.KindInternal
	}
	return d
}

// Completion is a result as it is logged, of a call that began at a time.
func Completion(toolCallID string, at, now time.Time, res agent.Result) event.ToolExecutionComplete {
	d := event.ToolExecutionComplete{ToolCallID: toolCallID, ResultTokens: count(res.TextForModel), DurationMs: max(0, now.Sub(at).Milliseconds())}
	if res.Telemetry != nil {
		d.OutputID, d.Fingerprint = res.Telemetry.OutputID, res.Telemetry.Fingerprint
		if b, err := json.Marshal(res.Telemetry); err == nil {
			d.ToolTelemetry = b
		}
	}
	if res.Type == agent.Success {
		d.Success = true
		d.Result = &event.ToolResult{Content: res.TextForModel, DetailedContent: res.SessionLog}
		return d
	}
	d.Error = &event.ToolError{Message: cmp.Or(res.Error, res.TextForModel), Code: res.Code(), Kind: cmp.Or(res.Kind, event.KindOfCode(res.Code())),
		Nearest: res.Nearest, By: res.By, Limit: res.Limit}
	return d
}

// count is how many tokens of a model a text costs.
func count(text string) int64 {
	n, _ := tokens.Count(text)
	return int64(n)
}

// ResultTokens is what the model read of an agent's own call.
func ResultTokens(d event.ToolExecutionComplete) int64 {
	switch {
	case d.Success && d.Result != nil:
		return count(d.Result.Content)
	case !d.Success && d.Error != nil:
		return count(d.Error.Message)
	}
	return 0
}

// Usage is one call of a model, as sums hold it.
func Usage(d event.AssistantUsage) event.Usage {
	return event.Usage{InputTokens: d.InputTokens, OutputTokens: d.OutputTokens,
		CacheReadTokens: d.CacheReadTokens, Cost: d.Cost, Calls: 1, DefinitionTokens: d.DefinitionTokens}
}

// Denied is the result of a call that was refused.
func Denied(reason string, by event.Decider) agent.Result {
	return agent.Result{TextForModel: reason, Error: reason, Type: agent.Denied, Kind: event.KindDenied, By: by}
}

// Stopped is the result of a call that was stopped before it did anything.
func Stopped(ctx context.Context) agent.Result {
	res := agent.Failure(event.KindAborted, "%s", StopReason(ctx))
	res.By = StoppedBy(ctx)
	return res
}

// StoppedBy is who stopped a call; empty: not by a stop.
func StoppedBy(ctx context.Context) event.Decider {
	if errors.Is(context.Cause(ctx), ErrAborted) {
		return event.DecidedByUser
	}
	return ""
}

// StopReason says why a call was stopped.
func StopReason(ctx context.Context) string {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, ErrAborted):
		return "The user stopped it."
	case errors.Is(cause, ErrShutdown):
		return "The program ended before this did."
	case errors.Is(cause, ErrTurnOver):
		return "The turn ended before this did."
	default:
		return "It was stopped."
	}
}
