package page

import (
	"errors"
	"io"

	"webchat/internal/card"
	"webchat/internal/event"
)

// window is what a model is assumed to hold where its size is unknown, in tokens.
const window = 128_000

// ErrNoOutput is returned for an output that the session never showed.
var ErrNoOutput = errors.New("page: no such output in this session")

// Pane writes an output as the Desk shows it: head, frame and foot. Its rows come
// by /api/outputs. The error is one of w, or [ErrNoOutput].
func (p *Pages) Pane(w io.Writer, pr *Projector, target string) error {
	pr.mu.Lock()
	defer pr.mu.Unlock()
	c := pr.fold.shownAs(target)
	if c == nil || c.Gone { // of the latter only the name is known here
		return ErrNoOutput
	}
	return p.write(w, "pane", c.Pane())
}

// Look writes the pane of a preview, which is in no log: of the entries that it would
// have there.
func (p *Pages) Look(w io.Writer, sessionID, target string, entries ...event.Entry) error {
	pr := p.Projector(sessionID)
	pr.Load(entries...)
	c := pr.fold.shownAs(target)
	if c == nil {
		return ErrNoOutput
	}
	v := c.Pane()
	v.Look = true
	return p.write(w, "pane", v)
}

// shownAs finds a call by what target returns.
func (f *fold) shownAs(target string) *card.Call {
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

// gave counts what a prompt lets the agent read of what was shown.
func (f *fold) gave(list []event.Attachment) {
	for _, a := range list {
		if a.OutputID == "" {
			continue
		}
		c := f.shownAs(a.OutputID)
		if c == nil {
			continue
		}
		c.Give(a.Lines)
		if n := f.nodes["c-"+c.ID]; n != nil {
			c.Rev = f.seq
			f.callChanged(n)
		}
	}
}
