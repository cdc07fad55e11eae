package session

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
	errAborted  = errors.New("stopped by the user")
	errShutdown = errors.New("the program ended")
	errTurnOver = errors.New("the turn ended")
)

// errHook is why something was not done that a hook refused.
var errHook = errors.New("a hook refused")

// unaskedMode ends a turn whose agent went over to a mode that is not allowed.
type unaskedMode struct{ Agent, Mode string }

func (e unaskedMode) Error() string {
	return fmt.Sprintf(
		"%s switched to the mode %s, in which it acts without asking you, so it was stopped. From your "+
			"next prompt on it is back in its former mode", e.Agent, e.Mode)
}

// sessionErrorOf is what a log says about an error that ended a turn.
func sessionErrorOf(err error) event.SessionError {
	d := event.SessionError{Message: cmp.Or(wording.Capital(err.Error()),
		"It failed, and nothing says why."), ErrorType: "backend", Kind: event.KindProvider}
	switch {
	case errors.Is(err, agent.ErrUnavailable):
		d.ErrorType = event.ErrorUnavailable
	case errors.Is(err, agent.ErrDied):
		d.ErrorType, d.Kind = "died", event.KindAgentDied
	case errors.As(err, new(unaskedMode)):
		d.ErrorType, d.Kind = "mode", event.KindDenied
	case errors.As(err, new(overBudget)):
		d.ErrorType, d.Kind = "budget", event.KindLimit
	case errors.Is(err, errHook):
		d.ErrorType, d.Kind = event.ErrorHook, event.KindDenied
	case errors.Is(err, contain.ErrPanic):
		d.ErrorType, d.Kind = "panic", event.KindInternal
	}
	return d
}

// completion is the result of a call as it is logged. No model reads that of a user's call, so it
// costs no tokens.
func (c *call) completion(now time.Time, res agent.Result) event.ToolExecutionComplete {
	took := now.Sub(c.at) - time.Duration(c.held.Load())
	d := event.ToolExecutionComplete{ToolCallID: c.ID, DurationMs: max(0, took.Milliseconds())}
	if c.by == event.ByAgent {
		d.ResultTokens = countTokens(res.TextForModel)
	}
	if res.Telemetry != nil {
		t := *res.Telemetry
		if c.by == event.ByUser {
			t.TokensSent = 0
		}
		d.OutputID, d.Fingerprint = t.OutputID, t.Fingerprint
		if b, err := json.Marshal(t); err == nil {
			d.ToolTelemetry = b
		}
	}
	if res.Type == agent.Success {
		d.Success = true
		d.Result = &event.ToolResult{Content: res.TextForModel, DetailedContent: res.SessionLog}
		return d
	}
	d.Error = &event.ToolError{
		Message: cmp.Or(res.Error, res.TextForModel),
		Code:    res.Code(),
		Kind:    cmp.Or(res.Kind, event.KindOfCode(res.Code())),
		Nearest: res.Nearest,
		By:      res.By,
		Limit:   res.Limit,
	}
	return d
}

// countTokens is how many tokens of a model a text costs.
func countTokens(text string) int64 {
	n, _ := tokens.Count(text)
	return int64(n)
}

// resultTokens is what the model read of an agent's own call.
func resultTokens(d event.ToolExecutionComplete) int64 {
	switch {
	case d.Success && d.Result != nil:
		return countTokens(d.Result.Content)
	case !d.Success && d.Error != nil:
		return countTokens(d.Error.Message)
	}
	return 0
}

// deniedResult is the result of a call that was refused.
func deniedResult(reason string, by event.Decider) agent.Result {
	return agent.Result{
		TextForModel: reason,
		Error:        reason,
		Type:         agent.Denied,
		Kind:         event.KindDenied,
		By:           by,
	}
}

// failedResult is the result of a call that failed, or was stopped.
func failedResult(ctx context.Context, err error, kind event.ErrorKind) agent.Result {
	if ctx.Err() != nil {
		return stoppedResult(ctx)
	}
	return agent.FailedBy(err, kind)
}

// stoppedResult is the result of a call that was stopped before it did anything.
func stoppedResult(ctx context.Context) agent.Result {
	res := agent.Failure(event.KindAborted, "%s", stopReason(ctx))
	res.By = stoppedBy(ctx)
	return res
}

// stoppedBy is who stopped a call; empty means not by a stop.
func stoppedBy(ctx context.Context) event.Decider {
	if errors.Is(context.Cause(ctx), errAborted) {
		return event.DecidedByUser
	}
	return ""
}

// stopReason says why a call was stopped.
func stopReason(ctx context.Context) string {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errAborted):
		return "The user stopped it."
	case errors.Is(cause, errShutdown):
		return "The program ended before this did."
	case errors.Is(cause, errTurnOver):
		return "The turn ended before this did."
	default:
		return "It was stopped."
	}
}
