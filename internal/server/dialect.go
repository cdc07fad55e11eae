package server

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"webchat/internal/event"
	"webchat/internal/session"
	"webchat/internal/sse"
)

// dialectOf reports whether a reader wants the events in another contract's words.
func dialectOf(r *http.Request) (named bool, err error) {
	switch name := r.URL.Query().Get("dialect"); name {
	case "":
		return false, nil
	case "autohand":
		return true, nil
	default:
		return false, invalid("unknown_dialect",
			"There is no dialect %q. Give dialect as autohand, or leave it out for webchat's own events.",
			name)
	}
}

// translation is a session's events in a dialect, for one reader. A dialect's frames depend on the
// whole log, so each reader has a fold of its own.
type translation struct {
	*autohandDialect
	after int64 // the place in the log up to which the reader has them
}

func (t translation) translate(entries []event.Entry, send func(dialectFrame) error) error {
	for _, e := range entries {
		for _, f := range t.Project(e) {
			if e.Seq <= t.after && event.Logged(e.Event.Data) {
				continue
			}
			if err := send(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// translated answers with a page of the log in a dialect. The cursor counts the log's own events,
// so that it fits both forms.
func (s *streams) translated(w http.ResponseWriter, r *http.Request, sess *session.Session,
	after int64, limit int) error {
	list := eventList{Events: []json.RawMessage{}}
	last, t := min(sess.Summary().LastSeq, after+int64(limit)),
		translation{newAutohandDialect(), after}
	list.Cursor = max(last, after)
	err := eachPage(r.Context(), sess, 0, last, func(entries []event.Entry) error {
		return t.translate(entries, func(f dialectFrame) error {
			list.Events = append(list.Events, f.JSON)
			return nil
		})
	})
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, list)
}

// followTranslated streams the events in a dialect: the log after the place, then what happens.
func (s *streams) followTranslated(w http.ResponseWriter, r *http.Request, sess *session.Session,
	place place) error {
	live := sess.Subscribe()
	defer live.Close()
	t := translation{newAutohandDialect(), place.after}
	var from int64 // the position of the past
	return s.hub.Stream(w, r, func(ctx context.Context, send func(sse.Frame) error) (int64, error) {
		sendFrame := func(f dialectFrame) error { return send(sse.Frame{ID: f.Seq, Data: f.JSON}) }
		now, err := sess.Join(ctx)
		if err != nil {
			return 0, err
		}
		from = now.Pos
		if t.after, err = place.resume(now, send); err != nil {
			return 0, err
		}
		err = eachPage(ctx, sess, 0, now.LastSeq, func(entries []event.Entry) error {
			return t.translate(entries, sendFrame)
		})
		if err != nil {
			return 0, err
		}
		return 0, t.translate(now.InFlight, sendFrame)
	}, func(ctx context.Context, publish func(...sse.Frame)) error {
		for {
			entries, err := live.Next(ctx)
			if err != nil {
				return err
			}
			entries = slices.DeleteFunc(entries, func(e event.Entry) bool { return e.Pos <= from })
			err = t.translate(entries, func(f dialectFrame) error {
				publish(sse.Frame{ID: f.Seq, Data: f.JSON})
				return nil
			})
			if err != nil {
				return err
			}
		}
	})
}
