package autohand

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// turn is a running prompt.
type turn struct {
	ctx     context.Context
	tell    context.Context // what happens while it stops belongs to it still
	cancel  context.CancelFunc
	sign    chan struct{} // has room for one: a sign of life
	ended   chan struct{} // closed at the CLI's end of the turn
	work    sync.WaitGroup
	tools   sync.WaitGroup // calls of our tools; Add under conn.mu while ctx lasts
	running atomic.Int64   // calls that were begun and are not done
	waits   int            // questions, hooks and calls of our tools that run; guarded by conn.mu
	stalled bool           // guarded by conn.mu

	told    sync.Mutex // guards what follows; held while it is reported
	closing bool       // nothing is begun beside it any more
	over    bool       // nothing is told of it any more
	begun   bool       // the CLI's turn
	done    bool       // it has ended: what follows is of no turn
	step    int        // the model call that runs, from 1; 0: none
	saying  said       // the message in flight
	errors  []string   // what the provider said
	failed  *event.SessionError
	calls   map[string]*call
	order   []string // of calls
	batch   string   // the id of what is held back; empty: nothing is
	changes []change // held back
}

func newTurn(ctx context.Context) *turn {
	t := &turn{sign: make(chan struct{}, 1), ended: make(chan struct{}), calls: map[string]*call{}}
	t.ctx, t.cancel = context.WithCancel(ctx)
	t.tell = context.WithoutCancel(ctx)
	return t
}

// alive notes a sign of life.
func (t *turn) alive() {
	select {
	case t.sign <- struct{}{}:
	default:
	}
}

// failure is what went wrong in the turn; nil if it succeeded.
func (t *turn) failure() error {
	t.told.Lock()
	defer t.told.Unlock()
	if t.failed == nil {
		return nil
	}
	return errors.New(t.failed.Message)
}

// idle are notices that a CLI without a provider repeats for ever, so they are no
// sign of life.
var idle = map[string]bool{"ping": true, "hook.contextCompacted": true, "hook.contextWarning": true, "hook.contextCritical": true, "hook.contextOverflow": true}

// notified takes what the CLI tells, in order.
func (c *conn) notified(p *process, method string, params json.RawMessage) {
	method, found := strings.CutPrefix(method, "autohand.")
	if !found {
		return
	}
	if method == "agentStart" {
		var s started
		_ = json.Unmarshal(params, &s) // what it holds is not needed
		select {
		case p.ready <- s:
		default:
		}
		return
	}
	c.mu.Lock()
	t, current := c.turn, c.process == p
	c.mu.Unlock()
	if t == nil || !current {
		return
	}
	if !idle[method] {
		t.alive()
	}
	t.told.Lock()
	defer t.told.Unlock()
	if t.over || t.done || t.begun == (method == "turnStart") {
		return
	}
	c.tell(p, t, method, params)
}

// tell reports what a notice means; t.told is held.
func (c *conn) tell(p *process, t *turn, method string, params json.RawMessage) {
	switch method {
	case "turnStart":
		t.begun = true
		c.nextStep(t)
	case "turnEnd":
		c.endStep(t)
		t.done = true
		close(t.ended)
	case "messageUpdate":
		c.update(t, read[said](params))
	case "messageEnd":
		c.endMessage(t)
	case "toolStart":
		c.toolStart(t, read[toolNotice](params))
	case "toolEnd":
		c.toolEnd(t, read[toolNotice](params))
	case "stepEnd":
		c.stepEnd(p, t, read[step](params))
	case "permissionRequest":
		c.permission(p, t, read[permissionRequest](params))
	case "directoryAccessRequest":
		c.directory(p, t, read[permissionRequest](params))
	case "changesBatchStart", "changesBatchUpdate", "changesBatchEnd":
		c.held(p, t, method, read[batch](params))
	case "error", "hook.sessionError":
		c.failed(t, read[failure](params))
	}
}

// read decodes what a notice holds; what cannot be read is as if it were not there.
func read[T any](raw json.RawMessage) (v T) {
	_ = json.Unmarshal(raw, &v)
	return v
}

// nextStep begins a model call.
func (c *conn) nextStep(t *turn) {
	t.step++
	c.report(t.tell, event.AssistantTurnStart{TurnID: fmt.Sprint(t.step)})
}

func (c *conn) endStep(t *turn) {
	c.report(t.tell, event.AssistantTurnEnd{TurnID: fmt.Sprint(t.step)})
}

// update takes the text of a message: the CLI sends it whole, once. A failure of the
// provider is sent as such a text, too.
func (c *conn) update(t *turn, u said) {
	if thought := clean(u.Thought); thought != "" {
		c.report(t.tell, event.AssistantReasoning{ReasoningID: string(event.NewID()), Content: thought})
	}
	delta := clean(u.Delta)
	for _, e := range t.errors {
		if e != "" && strings.HasSuffix(strings.TrimSpace(delta), e) {
			return
		}
	}
	if delta == "" {
		return
	}
	if t.saying.MessageID == "" {
		t.saying.MessageID = string(event.NewID())
	}
	offset := int64(len(t.saying.Content))
	t.saying.Content += delta
	c.report(t.tell, event.AssistantMessageDelta{MessageID: t.saying.MessageID, Offset: offset, DeltaContent: delta})
}

// endMessage ends the message in flight.
func (c *conn) endMessage(t *turn) {
	if t.saying.MessageID != "" {
		c.report(t.tell, event.AssistantMessage{MessageID: t.saying.MessageID, Content: t.saying.Content})
	}
	t.saying = said{}
}

// failed takes a failure of the provider, which is told several times.
func (c *conn) failed(t *turn, f failure) {
	if f.Message == "" {
		t.errors = append(t.errors, strings.TrimSpace(clean(f.Error)))
		return
	}
	t.errors = append(t.errors, strings.TrimSpace(clean(f.Message)))
	if t.failed != nil {
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
	t.failed = &event.SessionError{Message: "The provider failed: " + wording.Cut(plain(f.Message), 400), ErrorType: kind, Kind: event.KindProvider, StatusCode: status, Context: context}
	c.report(t.tell, *t.failed)
}

// finish closes what the turn left open.
func (c *conn) finish(p *process, t *turn) {
	c.rescue(p, t)
	t.told.Lock()
	defer t.told.Unlock()
	t.over = true
	c.endMessage(t)
	for _, id := range t.order {
		k := t.calls[id]
		if k.begun && !k.done {
			e := &event.ToolError{Message: "The turn ended before this did.", Code: "aborted", Kind: event.KindAborted}
			c.complete(t, k, event.ToolExecutionComplete{Error: e})
		}
	}
	if len(t.changes) > 0 {
		c.lost(t, files(t.changes), "the turn ended before")
	}
}
