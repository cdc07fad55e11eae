package page

import (
	"strconv"
	"time"

	"webchat/internal/event"
)

// hook is a command of the user's that had a say.
type hook struct {
	ID, Event, Command string
	Done, Allow        bool
	Reason             string
	ExitCode           int
	At                 time.Time // when it began
	Took               time.Duration

	call *node // the call it was asked about, if that is known
}

// Verdict is what it decided, in words.
func (h *hook) Verdict() string {
	switch {
	case !h.Done:
		return ""
	case h.Allow:
		return "allowed this"
	case h.Reason != "":
		return "said no: " + strconv.Quote(h.Reason)
	}
	return "said no"
}

func (f *calls) hookStart(d event.HookStart) {
	if f.nodes["h-"+d.HookID] != nil {
		return
	}
	n := f.node(elementID("h-", d.HookID))
	n.Hook = &hook{ID: d.HookID, Event: d.Event, Command: d.Command, At: f.now, call: f.calledFor(d)}
	f.nodes["h-"+d.HookID] = n
	f.waits.began(n)
	f.addStep(f.container(""), n)
}

// calledFor is the call a hook is asked about: the one it names, or the only one
// that runs.
func (f *calls) calledFor(d event.HookStart) *node {
	if d.ToolCallID != "" {
		return f.nodes["c-"+d.ToolCallID]
	}
	var only *node
	if f.current == nil || d.Event != "before_tool" {
		return nil
	}
	for _, n := range f.current.calls(nil) {
		if n.Call.Done() {
			continue
		}
		if only != nil {
			return nil
		}
		only = n
	}
	return only
}

func (f *calls) hookEnd(d event.HookEnd) {
	n := f.nodes["h-"+d.HookID]
	if n == nil {
		return
	}
	h := n.Hook
	h.Done, h.Allow, h.Reason, h.ExitCode = true, d.Allow, d.Reason, d.ExitCode
	h.Took = time.Duration(d.DurationMs) * time.Millisecond
	if d.Allow {
		f.rewritten(h, d)
	}
	f.stepChanged(n, whole)
}

// rewritten shows what a hook changed, where that stands: at its call and the
// question about it, or at the prompt of the turn.
func (f *calls) rewritten(h *hook, d event.HookEnd) {
	if c := h.call; c != nil && len(d.Arguments) > 0 && c.Call.El() != "" {
		c.Call.Rewrites = append(c.Call.Rewrites, newRewrite(h.Command, readable(c.Call.CurrentArgs()),
			readable(d.Arguments)))
		c.Call.Rewritten = d.Arguments
		c.Call.Rev = f.Seq
		f.callChanged(c)
		f.questions.callChangedAt(c.Call.ID)
	}
	if t := f.current; t != nil && d.Prompt != "" {
		was := t.Turn.Prompt
		if n := len(t.Turn.Rewrites); n > 0 {
			was = t.Turn.now
		}
		t.Turn.now = d.Prompt
		t.Turn.Rewrites = append(t.Turn.Rewrites, newRewrite(h.Command, was, d.Prompt))
		f.show(t, own)
	}
}
