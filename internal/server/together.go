package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"webchat/internal/event"
	"webchat/internal/guard"
	"webchat/internal/sse"
)

const (
	mostTogether = 100                    // sessions on one stream
	partAgain    = 500 * time.Millisecond // after which to ask for a part again that was cut
)

// One stream serves a whole browser: what changes in the list of sessions, and each session that it
// names. A session's part is what its own address answers, another replica's included, so access is
// decided there, and a part that ends or is refused ends alone.

// partRoutes names the row of the table that answers a session's part, by ?view=.
var partRoutes = map[string]string{"": "/api/sessions/{id}/events", "page": "/sessions/{id}/stream"}

// together serves several sessions by one stream.
type together struct {
	streams *streams
	parts   map[string]http.Handler // by pattern: what [Server.router] made of those rows
	logger  *slog.Logger
}

// serve serves GET /api/stream.
func (t *together) serve(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if !q.Has("sessions") {
		return t.streams.changes(w, r)
	}
	places := sse.ParsePlaces(q.Get("sessions"))
	if len(places) > mostTogether {
		return invalid("too_many_sessions", "Ask for at most %d sessions on one stream.", mostTogether)
	}
	for _, was := range sse.ParsePlaces(r.Header.Get("Last-Event-ID")) {
		for i := range places {
			if places[i].Name == was.Name {
				places[i] = was
			}
		}
	}
	pattern := partRoutes[q.Get("view")]
	serve := t.parts[pattern]
	if serve == nil {
		return invalid("bad_query",
			"Leave view out for the events of sessions, or give page for what changes on their pages.")
	}
	if err := guard.Streaming(r, 1+len(places)); err != nil {
		return err
	}
	m := sse.Merge(w, r, places)
	if r.Method == http.MethodHead {
		m.Begin()
		return nil
	}
	ctx, end := context.WithCancel(r.Context())
	defer end()
	r = r.WithContext(ctx)
	var parts sync.WaitGroup
	defer parts.Wait()
	defer end()
	for _, place := range places {
		parts.Go(func() {
			p := m.Part(place.Name)
			defer t.end(ctx, p, end)
			serve.ServeHTTP(p, partRequest(r, pattern, place))
		})
	}
	return t.streams.changes(m.Part(""), r)
}

// oneStream notes that a request has become a stream.
func oneStream(r *http.Request) error { return guard.Streaming(r, 1) }

// partRequest asks for a session's part, by whom r is from.
func partRequest(r *http.Request, pattern string, place sse.Place) *http.Request {
	route := chi.NewRouteContext()
	route.RoutePatterns = []string{pattern}
	route.URLParams.Add("id", place.Name)
	out := r.Clone(context.WithValue(r.Context(), chi.RouteCtxKey, route))
	out.URL = &url.URL{Path: strings.Replace(pattern, "{id}", place.Name, 1)}
	if place.After != "" {
		out.URL.RawQuery = "after=" + place.After
	}
	out.RequestURI = out.URL.RequestURI()
	out.Header.Set("Accept", "text/event-stream")
	out.Header.Del("Last-Event-ID")
	return out
}

// end says on the stream that a part has ended: for good if there is no such session for the
// reader. A fault ends the stream, whose reader comes back.
func (t *together) end(ctx context.Context, p *sse.Part, end func()) {
	if fault := recover(); fault != nil {
		if err, ok := fault.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
			t.logger.Error("panic", "in", "a part of a stream", "type", fmt.Sprintf("%T", fault), "stack",
				string(debug.Stack()))
		}
		end()
		return
	}
	last := event.StreamClosing{
		Reason:  "the stream of this session ended",
		RetryMs: partAgain.Milliseconds(),
	}
	if p.Status() == http.StatusNotFound {
		last = event.StreamClosing{Reason: "there is no such session"}
	}
	if ctx.Err() == nil && p.Send(frameFrom(last)) != nil {
		end()
	}
}
