package server

import (
	"cmp"
	"context"
	"slices"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/outputs"
	"webchat/internal/page"
	"webchat/internal/session"
)

// past is what a projector is fed before it follows a session: the end of its log, as
// far back as a page shows.
type past struct {
	outputs   *outputs.Store
	session   *session.Session
	projector *page.Projector
}

// catchUp feeds all up to now, and says up to which Pos that is.
func (p past) catchUp(ctx context.Context) (pos int64, err error) {
	now, err := p.session.Join(ctx)
	if err != nil {
		return 0, err
	}
	cut := p.projector.Cut()
	now.Summary.IncludeOpen(cut)
	if err := p.load(ctx, cut, now.LastSeq, now.Summary); err != nil {
		return 0, err
	}
	inFlight(p.projector, now)
	return now.Pos, nil
}

func inFlight(p *page.Projector, now eventlog.Snapshot) {
	p.InFlight(now.Pos, slices.Concat(now.InFlight, now.Progress, now.Printed, now.Fill,
		now.Trouble)...)
}

// load feeds the log from a cut up to a sequence. sum is what the session has come to.
func (p past) load(ctx context.Context, cut *event.Cut, last int64, sum eventlog.Summary) error {
	entries, err := p.session.End(ctx, cut, last)
	if err != nil || len(entries) == 0 {
		return err
	}
	whole := page.Past{Summary: sum}
	if entries[0].Seq > 1 {
		if whole.Cwd, err = p.folder(ctx); err != nil {
			return err
		}
		whole.Readable = p.readable(entries[0])
	}
	p.projector.LoadEnd(whole, entries...)
	return nil
}

// folder is where the session works, as its first event says.
func (p past) folder(ctx context.Context) (string, error) {
	first, err := p.session.Events(ctx, 0, 1)
	if err != nil || len(first) == 0 {
		return "", err
	}
	d, _ := first[0].Event.Data.(event.SessionStart)
	return d.Context.Cwd, nil
}

// readable are the session's outputs from before an event.
func (p past) readable(first event.Entry) (list []page.Readable) {
	for _, o := range p.outputs.Session(string(p.session.ID())) {
		if o.CreatedAt.Before(first.Event.Timestamp) && !p.session.Looks(string(o.ID)) {
			list = append(list, page.Readable{
				Call:     o.Meta.ToolCallID,
				Output:   string(o.ID),
				Type:     string(o.Meta.Type),
				Name:     cmp.Or(o.Meta.Command, o.Meta.Path),
				Complete: o.Complete,
			})
		}
	}
	return list
}
