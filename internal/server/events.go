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
	"webchat/internal/sse"
)

// pageOfLog is how many entries are read from a log at once.
const pageOfLog = 500

type eventList struct {
	Events []anyJSON `json:"events"`
	Cursor int64     `json:"cursor"`
}

func (eventList) Streams() string {
	return "With Accept: text/event-stream, the log and then what happens."
}

func frameOf(e event.Entry) sse.Frame { return sse.Frame{ID: e.Seq, Pos: e.Pos, Data: e.JSON} }

// events answers with a page of the log, or with the stream.
func (s *Server) events(w http.ResponseWriter, r *http.Request) error {
	one, err := s.session(r)
	if err != nil {
		return err
	}
	translated, err := dialectOf(r)
	if err != nil {
		return err
	}
	after, ok, present := sse.ParseLastEventID(r)
	if acceptsStream(r) && translated {
		return s.followTranslated(w, r, one, after, ok || !present)
	}
	if acceptsStream(r) {
		return s.follow(w, r, one, replay{session: one, after: after, bad: present && !ok})
	}
	if !ok {
		return invalid("bad_query", "Give after as the number of an event, as a cursor says it.")
	}
	limit, err := number(r.URL.Query().Get("limit"), "limit", pageOfLog, 5000)
	if err != nil {
		return err
	}
	if translated {
		return s.translated(w, r, one, after, limit)
	}
	entries, err := one.Events(r.Context(), after, limit)
	if err != nil {
		return err
	}
	list, cursor := make([]json.RawMessage, 0, len(entries)), after
	for _, e := range entries {
		list, cursor = append(list, e.JSON), e.Seq
	}
	return reply(w, http.StatusOK, struct {
		Events []json.RawMessage `json:"events"`
		Cursor int64             `json:"cursor"`
	}{list, cursor})
}

// follow serves a session's topic. The pump subscribes before the topic is joined
// and the topic before the replay looks at the session, so nothing falls between.
func (s *Server) follow(w http.ResponseWriter, r *http.Request, one *session.Session, past replay) error {
	name := "session/" + string(one.ID())
	topic := s.Hub.Topic(name)
	ctx, _, release := s.pumps.Acquire(r.Context(), name, func() pumpSource {
		return &logSource{live: one.Subscribe(), topic: topic}
	})
	defer release()
	guard.Streaming(r)
	return topic.Serve(w, r.WithContext(ctx), past.send)
}

// logSource publishes a session's events as they are.
type logSource struct {
	live  *eventlog.Subscription
	topic *sse.Topic
}

// Run implements [pumpSource].
func (l *logSource) Run(ctx context.Context) {
	defer l.live.Close()
	for {
		entries, err := l.live.Next(ctx)
		if err != nil {
			return // no reader is left, or the readers have to come back
		}
		frames := make([]sse.Frame, len(entries))
		for i, e := range entries {
			frames[i] = frameOf(e)
		}
		l.topic.Publish(frames...)
	}
}

// replay is the past that a reader of a session lacks.
type replay struct {
	session *session.Session
	after   int64
	bad     bool // the reader asked for a place that is none
}

// send writes the log after the place, then what is in flight.
func (p replay) send(ctx context.Context, send func(sse.Frame) error) (pos int64, err error) {
	now, err := p.session.Join(ctx)
	if err != nil {
		return 0, err
	}
	if p.bad || p.after > now.LastSeq {
		p.after = 0
		if err := send(resync()); err != nil {
			return 0, err
		}
	}
	for seq := p.after; seq < now.LastSeq; {
		entries, err := p.session.Events(ctx, seq, int(min(pageOfLog, now.LastSeq-seq)))
		if err != nil {
			return 0, err
		}
		if len(entries) == 0 {
			return 0, gapAt(seq, now.LastSeq)
		}
		for _, e := range entries {
			if err := send(frameOf(e)); err != nil {
				return 0, err
			}
			seq = e.Seq
		}
	}
	for _, list := range [][]event.Entry{now.InFlight, now.Progress, now.Trouble} {
		for _, e := range list {
			if err := send(sse.Frame{ID: now.LastSeq, Data: e.JSON}); err != nil {
				return 0, err
			}
		}
	}
	return now.Pos, nil
}

func gapAt(seq, last int64) error {
	return fmt.Errorf("%w: it ends at %d and should hold %d", eventlog.ErrLog, seq, last)
}

// resync tells a reader to forget what it has. It has no id: the reader has no
// place yet.
func resync() sse.Frame {
	e := event.New(event.StreamResync{Reason: "the place asked for is not in this log"}, "", time.Now())
	return sse.Frame{Data: encode(e)}
}

// Closing makes the last frame of a stream, for sse.Config.Closing.
func Closing(retry time.Duration) sse.Frame {
	e := event.New(event.StreamClosing{Reason: "the server stops", RetryMs: retry.Milliseconds()}, "", time.Now())
	return sse.Frame{Data: encode(e)}
}

func encode(e event.Event) []byte {
	b, err := event.Marshal(e)
	if err != nil {
		panic(err) // a struct of numbers and strings of ours
	}
	return b
}
