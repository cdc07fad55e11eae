package autohand

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"webchat/internal/agent/convo"
	"webchat/internal/event"
	"webchat/internal/wording"
)

// idle are notices that a CLI without a provider repeats for ever, so they are not a sign of life.
var idle = map[string]bool{"ping": true, "hook.contextCompacted": true, "hook.contextWarning": true,
	"hook.contextCritical": true, "hook.contextOverflow": true}

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
	if take := notices[method]; take != nil && c.run.begun != (method == "turnStart") {
		take(c, t, params)
	}
}

// notices are what the CLI reports of a turn; all others are dropped.
var notices = map[string]func(c *conn, t *convo.Turn, params json.RawMessage){
	"turnStart":              (*conn).begins,
	"turnEnd":                (*conn).ends,
	"messageUpdate":          on((*conn).update),
	"messageEnd":             func(_ *conn, t *convo.Turn, _ json.RawMessage) { t.Quiet() },
	"toolStart":              on((*conn).toolStart),
	"toolEnd":                on((*conn).toolEnd),
	"stepEnd":                on((*conn).stepEnd),
	"permissionRequest":      on((*conn).permission),
	"directoryAccessRequest": on((*conn).directory),
	"changesBatchStart": on(func(c *conn, _ *convo.Turn, b batch) {
		c.held.batch = cmp.Or(b.BatchID, c.held.batch)
	}),
	"changesBatchUpdate": on(func(c *conn, _ *convo.Turn, b batch) { c.held.take(b, c.wrote) }),
	"changesBatchEnd":    on((*conn).batchEnds),
	"error":              on((*conn).failed),
	"hook.sessionError":  on((*conn).failed),
}

// on decodes what a notice holds; what cannot be read is as if it were not there.
func on[T any](f func(*conn, *convo.Turn, T)) func(*conn, *convo.Turn, json.RawMessage) {
	return func(c *conn, t *convo.Turn, raw json.RawMessage) {
		var v T
		_ = json.Unmarshal(raw, &v)
		f(c, t, v)
	}
}

func (c *conn) begins(t *convo.Turn, _ json.RawMessage) {
	c.run.begun = true
	t.NextStep("")
}

func (c *conn) ends(t *convo.Turn, _ json.RawMessage) {
	for _, k := range c.run.All() { // all that the CLI wrote before was read
		c.endByHook(t, k)
	}
	t.EndStep()
	var err error
	if c.run.failed != nil {
		err = errors.New(c.run.failed.Message)
	}
	t.End(err)
}

func (c *conn) batchEnds(t *convo.Turn, b batch) {
	if c.held.take(b, nil) {
		p := t.Program()
		t.Spawn(func() { c.held.accept(p) })
	}
}

// update takes the text of a message: the CLI sends it whole, once. A failure of the provider is
// sent as such a text, too.
func (c *conn) update(t *convo.Turn, u message) {
	if thought := clean(u.Thought); thought != "" {
		c.Report(event.AssistantReasoning{ReasoningID: string(event.NewID()), Content: thought})
	}
	delta := clean(u.Delta)
	if !slices.ContainsFunc(c.run.errors, func(e string) bool {
		return e != "" && strings.HasSuffix(strings.TrimSpace(delta), e)
	}) {
		t.Say(convo.Answer, "", delta)
	}
}

// failed takes a failure of the provider, which the CLI reports several times.
func (c *conn) failed(_ *convo.Turn, f failure) {
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
	c.run.failed = &event.SessionError{Message: "The provider failed: " +
		wording.Cut(plain(f.Message), 400), ErrorType: kind,
		Kind: event.KindProvider, StatusCode: status, Context: context}
	c.Report(*c.run.failed)
}
