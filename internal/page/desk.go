package page

import (
	"errors"
	"io"

	"webchat/internal/event"
)

// window is what a model is assumed to hold where its size is unknown, in tokens.
const window = 128_000

// ErrNoOutput is returned for an output that the session never showed.
var ErrNoOutput = errors.New("page: no such output in this session")

// Pane writes an output as the Desk shows it: head, frame and foot. Its rows come
// by /api/outputs. The error is one of w, or [ErrNoOutput].
func (p *Projector) Pane(w io.Writer, target string) error { return p.pane(w, target, false) }

// Preview writes the same of an output that was not opened.
func (p *Projector) Preview(w io.Writer, target string) error { return p.pane(w, target, true) }

func (p *Projector) pane(w io.Writer, target string, look bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.fold.shownAs(target)
	if c == nil || c.Gone { // of the latter only the name is known here
		return ErrNoOutput
	}
	v := c.Pane()
	v.Look = look
	return p.cfg.Write(w, "pane", v)
}

// shownAs finds a call by what target returns.
func (f *State) shownAs(target string) *Call {
	for i := len(f.outputs) - 1; i >= 0; i-- {
		if f.outputs[i].Output == target {
			return f.outputs[i]
		}
	}
	for _, n := range f.nodes {
		if n.Call != nil && n.Call.Kind != "" && n.Call.Target() == target {
			return n.Call
		}
	}
	return nil
}

// outputDeleted takes what the user deleted off the shelf and out of its card.
func (f *State) outputDeleted(d event.OutputDeleted) {
	c := f.shownAs(d.OutputID)
	if c == nil {
		return
	}
	c.DeletedAt = f.now
	f.ledgerChanged()
	if n := f.nodes["c-"+c.ID]; n != nil {
		c.Rev = f.Seq
		f.callChanged(n)
	}
}

// attached counts what a prompt lets the agent read of what was shown.
func (f *State) attached(list []event.Attachment) {
	for _, a := range list {
		if a.OutputID == "" || a.Mention {
			continue
		}
		c := f.shownAs(a.OutputID)
		if c == nil {
			continue
		}
		c.CountGiven(a.Lines)
		if n := f.nodes["c-"+c.ID]; n != nil {
			c.Rev = f.Seq
			f.callChanged(n)
		}
	}
}
