package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/guard"
	"webchat/internal/session"
	"webchat/internal/sessions"
	"webchat/internal/sse"
)

// pageOfLog is how many entries are read from a log at once.
const pageOfLog = 500

// eventList is a page of the log.
type eventList struct {
	Events []json.RawMessage `json:"events"`
	Cursor int64             `json:"cursor"`
}

func (eventList) Streams() string {
	return "With Accept: text/event-stream, the log and then what happens."
}

func frameOf(e event.Entry) sse.Frame { return sse.Frame{ID: e.Seq, Pos: e.Pos, Data: e.JSON} }

// streams serves the logs of sessions, and what comes.
type streams struct {
	sessions *sessions.Manager
	hub      *sse.Hub
	pumps    *topicPumps
}

// events answers with a page of the log, or with the stream.
func (s *streams) events(w http.ResponseWriter, r *http.Request, sess *session.Session) error {
	translated, err := dialectOf(r)
	if err != nil {
		return err
	}
	after, ok, present := sse.ParseLastEventID(r)
	from := place{after, present && !ok}
	switch {
	case acceptsStream(r) && translated:
		return s.followTranslated(w, r, sess, from)
	case acceptsStream(r):
		return s.follow(w, r, sess, from)
	case !ok:
		return invalid("bad_query", "Give after as the number of an event, as a cursor says it.")
	}
	limit, err := limitOf(r.URL.Query(), pageOfLog, 5000)
	if err != nil {
		return err
	}
	if translated {
		return s.translated(w, r, sess, after, limit)
	}
	entries, err := sess.Events(r.Context(), after, limit)
	if err != nil {
		return err
	}
	list := eventList{make([]json.RawMessage, 0, len(entries)), after}
	for _, e := range entries {
		list.Events, list.Cursor = append(list.Events, e.JSON), e.Seq
	}
	return reply(w, http.StatusOK, list)
}

// place is where in a log a reader goes on.
type place struct {
	after int64
	bad   bool // the reader asked for a place that is none
}

// resume returns after which event a reader goes on. One whose place is not in the log is sent
// stream.resync, which has it forget what it has and has no id: the reader has no place yet.
func (p place) resume(now eventlog.Snapshot, send func(sse.Frame) error) (int64, error) {
	if !p.bad && p.after <= now.LastSeq {
		return p.after, nil
	}
	return 0, send(frameFrom(event.StreamResync{Reason: "the place asked for is not in this log"}))
}

// follow serves a session's topic: the log after the place, what is in flight, then what comes.
func (s *streams) follow(w http.ResponseWriter, r *http.Request, sess *session.Session,
	from place) error {
	return s.stream(w, r, "session/"+string(sess.ID()), func() entries {
		return sess.Subscribe()
	}, func(ctx context.Context, send func(sse.Frame) error) (pos int64, err error) {
		now, err := sess.Join(ctx)
		if err != nil {
			return 0, err
		}
		after, err := from.resume(now, send)
		if err != nil {
			return 0, err
		}
		err = eachPage(ctx, sess, after, now.LastSeq, func(entries []event.Entry) error {
			for _, e := range entries {
				if err := send(frameOf(e)); err != nil {
					return err
				}
			}
			return nil
		})
		for _, list := range [][]event.Entry{now.InFlight, now.Progress, now.Trouble} {
			for _, e := range list {
				if err == nil {
					err = send(sse.Frame{ID: now.LastSeq, Data: e.JSON})
				}
			}
		}
		return now.Pos, err
	})
}

// changes streams session.changed of all sessions of a user. It has no past: who joins asks for the
// list afterwards.
func (s *streams) changes(w http.ResponseWriter, r *http.Request) error {
	user := sessions.UserOf(r.Context())
	return s.stream(w, r, "sessions of "+user, func() entries {
		return s.sessions.Watch(r.Context())
	}, nil)
}

// stream serves a topic. The pump subscribes before the topic is joined and the topic before the
// replay looks at the past, so nothing falls between.
func (s *streams) stream(w http.ResponseWriter, r *http.Request, name string,
	subscribe func() entries, past sse.Replay) error {
	topic := s.hub.Topic(name)
	ctx, _, release, err := s.pumps.Acquire(r.Context(), name, func() pumpSource {
		return &entrySource{subscribe(), topic}
	})
	if err != nil {
		return err
	}
	defer release()
	if err := guard.Streaming(r, 1); err != nil {
		return err
	}
	return topic.Serve(w, r.WithContext(ctx), past)
}

// entries are events as they come, until they are closed.
type entries interface {
	Next(ctx context.Context) ([]event.Entry, error)
	Close()
}

// entrySource publishes events as they are.
type entrySource struct {
	live  entries
	topic *sse.Topic
}

func (s *entrySource) Run(ctx context.Context) {
	defer s.live.Close()
	for {
		list, err := s.live.Next(ctx)
		if err != nil {
			return // no reader is left, or the readers have to come back
		}
		frames := make([]sse.Frame, len(list))
		for i, e := range list {
			frames[i] = frameOf(e)
		}
		s.topic.Publish(frames...)
	}
}

// eachPage calls f with the log between two places, in pages.
func eachPage(ctx context.Context, sess *session.Session, after, last int64,
	f func([]event.Entry) error) error {
	for after < last {
		entries, err := sess.Events(ctx, after, int(min(pageOfLog, last-after)))
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			return fmt.Errorf("%w: it ends at %d and should hold %d", eventlog.ErrLog, after, last)
		}
		after = entries[len(entries)-1].Seq
		if err := f(entries); err != nil {
			return err
		}
	}
	return nil
}

// Closing makes the last frame of a stream, for sse.Config.Closing.
func Closing(retry time.Duration) sse.Frame {
	return frameFrom(event.StreamClosing{Reason: "the server stops", RetryMs: retry.Milliseconds()})
}

// frameFrom is an event that is in no log.
func frameFrom(d event.Data) sse.Frame {
	b, err := event.Marshal(event.New(d, "", time.Now()))
	if err != nil {
		panic(err) // a struct of numbers and strings of ours
	}
	return sse.Frame{Data: b}
}
