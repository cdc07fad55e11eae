package server

import (
	"context"
	"encoding/json"
	"slices"
	"time"

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

// shownBefore is what a log says of the outputs that it names.
type shownBefore struct {
	begun map[string]calledRow      // calls that have not ended
	rows  map[outputs.ID]*calledRow // of what a file shows now: one that was read again has one
}

// goneOutputs are those of the session that are no longer there, as its log has them.
func (s *Server) goneOutputs(ctx context.Context, one *session.Session, there map[outputs.ID]bool) ([]calledRow, error) {
	log := shownBefore{map[string]calledRow{}, map[outputs.ID]*calledRow{}}
	err := eachPage(ctx, one, 0, one.Summary().LastSeq, func(entries []event.Entry) error {
		for _, e := range entries {
			log.take(e.Event)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var all []calledRow
	for id, row := range log.rows {
		if there[id] {
			continue
		}
		if _, err := s.Outputs.Get(id); err == nil {
			continue // it is of the session that this one was branched from
		}
		if row.Gone == "" {
			row.Gone = s.whyGone(id, time.Time(row.CreatedAt))
		}
		all = append(all, *row)
	}
	slices.SortFunc(all, func(a, b calledRow) int { return a.called.Compare(b.called) })
	return all[max(0, len(all)-mostGone):], nil
}

// whyGone is why an output that was not deleted is gone.
func (s *Server) whyGone(id outputs.ID, made time.Time) goneBy {
	switch {
	case !s.Outputs.EvictedAt(id).IsZero():
		return goneEvicted
	case made.Before(s.started) && made.Add(s.Outputs.TTL()).After(s.started):
		return goneRestart
	}
	return goneExpired
}

func (b *shownBefore) take(e event.Event) {
	switch d := e.Data.(type) {
	case event.ToolExecutionStart:
		var args struct{ Path, Command string }
		_ = json.Unmarshal(d.Arguments, &args) // of other tools than those that show, nothing is known
		b.begun[d.ToolCallID] = calledRow{e.Timestamp, outputRow{ToolCallID: d.ToolCallID,
			Metadata: outputs.Meta{Path: args.Path, Command: args.Command}}}
	case event.ToolExecutionComplete:
		row := b.begun[d.ToolCallID]
		delete(b.begun, d.ToolCallID)
		if d.OutputID != "" && row.ToolCallID != "" {
			row.made(d.OutputID, d.ToolTelemetry, e.Timestamp)
			b.rows[row.ID] = &row
		}
	case event.OutputReread:
		if row := b.rows[outputs.ID(d.OutputID)]; row != nil {
			delete(b.rows, row.ID)
			row.made(d.NewOutputID, d.ToolTelemetry, e.Timestamp)
			b.rows[row.ID] = row
		}
	case event.OutputDeleted:
		if row := b.rows[outputs.ID(d.OutputID)]; row != nil {
			row.Gone = goneDeleted
		}
	}
}

// made takes in what is known of the output that a call made.
func (r *calledRow) made(id string, telemetry json.RawMessage, at time.Time) {
	var t struct {
		OutputType   outputs.Type
		Bytes, Lines int64
		ExitCode     *int
	}
	_ = json.Unmarshal(telemetry, &t) // what is none says nothing
	m := r.Metadata.(outputs.Meta)
	m.Type, m.TotalLines, m.ExitCode = t.OutputType, int(t.Lines), t.ExitCode
	r.ID, r.Type, r.Metadata, r.Size = outputs.ID(id), t.OutputType, m, t.Bytes
	r.Complete, r.CreatedAt, r.Gone = true, event.Time(at), ""
}
