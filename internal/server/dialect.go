package server

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"webchat/internal/event"
	"webchat/internal/session"
	"webchat/internal/sse"
)

// dialectOf says whether a reader wants the events in another contract's words.
func dialectOf(r *http.Request) (named bool, err error) {
	name := r.URL.Query().Get("dialect")
	switch {
	case name == "":
		return false, nil
	case !slices.Contains(dialectNames(), name):
		return false, invalid("unknown_dialect", "There is no dialect %q. Give dialect as %s, or leave it out for webchat's own events.",
			name, strings.Join(dialectNames(), " or "))
	}
	return true, nil
}

// translation is a session's events in a dialect, for one reader.
type translation struct {
	session *session.Session
	fold    *autohandDialect
}

// past folds the log up to last and hands on what it means after a place.
func (t translation) past(ctx context.Context, after, last int64, send func(dialectFrame) error) error {
	for seq := int64(0); seq < last; {
		entries, err := t.session.Events(ctx, seq, int(min(pageOfLog, last-seq)))
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			return gapAt(seq, last)
		}
		seq = entries[len(entries)-1].Seq
		if err := t.translate(entries, after, send); err != nil {
			return err
		}
	}
	return nil
}

func (t translation) translate(entries []event.Entry, after int64, send func(dialectFrame) error) error {
	for _, e := range entries {
		for _, f := range t.fold.Project(e) {
			if e.Seq <= after && event.Logged(e.Event.Data) {
				continue
			}
			if err := send(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// translated answers with a page of the log in a dialect. The cursor counts the
// log's own events, so that it fits both forms.
func (s *Server) translated(w http.ResponseWriter, r *http.Request, one *session.Session, after int64, limit int) error {
	events := []json.RawMessage{}
	last := min(one.Summary().LastSeq, after+int64(limit))
	t := translation{one, newAutohandDialect()}
	err := t.past(r.Context(), after, last, func(f dialectFrame) error {
		events = append(events, f.JSON)
		return nil
	})
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, struct {
		Events []json.RawMessage `json:"events"`
		Cursor int64             `json:"cursor"`
	}{events, max(last, after)})
}

// followTranslated streams the events in a dialect: the log after the place, then
// what happens. A dialect's frames depend on the whole log, so each reader has a
// fold of its own.
func (s *Server) followTranslated(w http.ResponseWriter, r *http.Request, one *session.Session, after int64, known bool) error {
	live := one.Subscribe()
	defer live.Close()
	t := translation{one, newAutohandDialect()}
	var from int64 // the position of the past
	return s.Hub.Stream(w, r, func(ctx context.Context, send func(sse.Frame) error) (int64, error) {
		tell := func(f dialectFrame) error { return send(sse.Frame{ID: f.Seq, Data: f.JSON}) }
		now, err := one.Join(ctx)
		if err != nil {
			return 0, err
		}
		if from = now.Pos; !known || after > now.LastSeq {
			after = 0
			if err := send(resync()); err != nil {
				return 0, err
			}
		}
		if err := t.past(ctx, after, now.LastSeq, tell); err != nil {
			return 0, err
		}
		return 0, t.translate(now.InFlight, after, tell)
	}, func(ctx context.Context, publish func(...sse.Frame)) error {
		tell := func(f dialectFrame) error { publish(sse.Frame{ID: f.Seq, Data: f.JSON}); return nil }
		for {
			entries, err := live.Next(ctx)
			if err != nil {
				return err
			}
			entries = slices.DeleteFunc(entries, func(e event.Entry) bool { return e.Pos <= from })
			if err := t.translate(entries, after, tell); err != nil {
				return err
			}
		}
	})
}
