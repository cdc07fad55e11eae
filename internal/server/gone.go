package server

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"webchat/internal/calls"
	"webchat/internal/event"
	"webchat/internal/outputs"
	"webchat/internal/session"
)

const mostGone = 1000 // outputs that are gone in a list: those of the last calls

// goneBy is why an output is no longer there.
type goneBy string

// Why an output is gone: its life was over, others needed the room, webchat was started again and
// had it in memory only, or the user deleted it.
const (
	goneExpired goneBy = "expired"
	goneEvicted goneBy = "evicted"
	goneRestart goneBy = "restart"
	goneDeleted goneBy = "deleted"
)

// calledRow is an output with when the call that showed it began.
type calledRow struct {
	called time.Time
	outputRow
}

// gone are those of the session that are no longer there, as its log has them.
func (so *shownOutputs) gone(ctx context.Context, sess *session.Session,
	there map[outputs.ID]bool) (all []calledRow, err error) {
	var shown []calls.Output
	if err := sess.Index(ctx, func(x *calls.Index) { shown = x.Outputs() }); err != nil {
		return nil, err
	}
	shown = slices.DeleteFunc(shown, func(o calls.Output) bool {
		// it may be of the session that this one was branched from
		_, err := so.outputs.Get(outputs.ID(o.ID))
		return there[outputs.ID(o.ID)] || err == nil
	})
	slices.SortStableFunc(shown, func(a, b calls.Output) int { return a.Began.Compare(b.Began) })
	for _, o := range shown[max(0, len(shown)-mostGone):] {
		m := outputs.Meta{
			Type:       outputs.Type(o.Made.OutputType),
			Path:       o.Path,
			Command:    o.Command,
			TotalLines: int(o.Made.Lines),
			ExitCode:   o.Made.ExitCode,
		}
		if o.Long {
			if m.Path, m.Command, err = about(ctx, sess, o.Call); err != nil {
				return nil, err
			}
		}
		row := outputRow{
			ID:         outputs.ID(o.ID),
			ToolCallID: o.Call.ID,
			Type:       m.Type,
			Metadata:   m,
			Size:       o.Made.Bytes,
			Complete:   true,
			CreatedAt:  event.Time(o.At),
			Gone:       goneDeleted,
		}
		if !o.Deleted {
			row.Gone = so.whyGone(row.ID, o.At)
		}
		all = append(all, calledRow{o.Began, row})
	}
	return all, nil
}

// about reads what a call was about, which is too long for an index.
func about(ctx context.Context, sess *session.Session,
	c calls.Call) (path, command string, err error) {
	e, err := sess.At(ctx, c.Start)
	var args struct{ Path, Command string }
	if d, ok := e.Event.Data.(event.ToolExecutionStart); ok {
		_ = json.Unmarshal(d.Arguments, &args) // it was read before
	}
	return args.Path, args.Command, err
}

// whyGone is why an output that was not deleted is gone.
func (so *shownOutputs) whyGone(id outputs.ID, made time.Time) goneBy {
	switch {
	case !so.outputs.EvictedAt(id).IsZero():
		return goneEvicted
	case made.Before(so.started) && made.Add(so.outputs.TTL()).After(so.started):
		return goneRestart
	}
	return goneExpired
}
