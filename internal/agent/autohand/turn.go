package autohand

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"webchat/internal/agent/convo"
	"webchat/internal/event"
	"webchat/internal/wording"
)

// idle are notices that a CLI without a provider repeats for ever, so they are no sign of life.
var idle = map[string]bool{"ping": true, "hook.contextCompacted": true, "hook.contextWarning": true, "hook.contextCritical": true, "hook.contextOverflow": true}

// notified takes what the CLI reports. What comes before its turn, or after its end, is of none.
func (c *conn) notified(began chan<- struct{}, method string, params json.RawMessage) {
	method, found := strings.CutPrefix(method, "autohand.")
	if found && method == "agentStart" {
		select {
		case began <- struct{}{}:
		default:
		}
	}
	t := c.Turn()
	if t == nil || !found {
		return
	}
	if !idle[method] {
		t.Alive()
	}
	if c.run.begun != (method == "turnStart") {
		c.report(t, method, params)
	}
}

// report reports what a notice means.
func (c *conn) report(t *convo.Turn, method string, params json.RawMessage) {
	switch method {
	case "turnStart":
		c.run.begun = true
		t.NextStep("")
	case "turnEnd":
		for _, k := range c.run.All() { // all that the CLI wrote before was read
			c.endByHook(t, k)
		}
		t.EndStep()
		var err error
		if c.run.failed != nil {
			err = errors.New(c.run.failed.Message)
		}
		t.End(err)
	case "messageUpdate":
		c.update(t, read[message](params))
	case "messageEnd":
		t.Quiet()
	case "toolStart":
		c.toolStart(t, read[toolNotice](params))
	case "toolEnd":
		c.toolEnd(t, read[toolNotice](params))
	case "stepEnd":
		c.stepEnd(t, read[step](params))
	case "permissionRequest":
		c.permission(t, read[permissionRequest](params))
	case "directoryAccessRequest":
		c.directory(t, read[permissionRequest](params))
	case "changesBatchStart", "changesBatchUpdate", "changesBatchEnd":
		c.held(t, method, read[batch](params))
	case "error", "hook.sessionError":
		c.failed(read[failure](params))
	}
}

// read decodes what a notice holds; what cannot be read is as if it were not there.
func read[T any](raw json.RawMessage) (v T) {
	_ = json.Unmarshal(raw, &v)
	return v
}

// update takes the text of a message: the CLI sends it whole, once. A failure of the provider is
// sent as such a text, too.
func (c *conn) update(t *convo.Turn, u message) {
	if thought := clean(u.Thought); thought != "" {
		c.Report(event.AssistantReasoning{ReasoningID: string(event.NewID()), Content: thought})
	}
	delta := clean(u.Delta)
	if !slices.ContainsFunc(c.run.errors, func(e string) bool { return e != "" && strings.HasSuffix(strings.TrimSpace(delta), e) }) {
		t.Say(false, "", delta)
	}
}

// failed takes a failure of the provider, which the CLI reports several times.
func (c *conn) failed(f failure) {
	if f.Message == "" {
		c.run.errors = append(c.run.errors, strings.TrimSpace(clean(f.Error)))
		return
	}
	c.run.errors = append(c.run.errors, strings.TrimSpace(clean(f.Message)))
	if c.run.failed != nil {
		return
	}
	context := &event.ErrorContext{Recoverable: f.Recoverable}
	_ = json.Unmarshal(f.Code, &context.Code) // some codes are words
	status := context.Code
	if status < 100 || status > 599 {
		status = 0
	}
	kind := f.ErrorType
	if kind == "" || kind == "unknown" {
		kind = "provider"
	}
	c.run.failed = &event.SessionError{Message: "The provider failed: " + wording.Cut(plain(f.Message), 400), ErrorType: kind,
		Kind: event.KindProvider, StatusCode: status, Context: context}
	c.Report(*c.run.failed)
}
