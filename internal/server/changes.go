package server

import (
	"context"
	"net/http"

	"webchat/internal/guard"
	"webchat/internal/sessions"
	"webchat/internal/sse"
)

// changes streams session.changed of all sessions. It has no past: who joins asks
// for the list afterwards.
func (s *Server) changes(w http.ResponseWriter, r *http.Request) error {
	const name = "sessions"
	topic := s.Hub.Topic(name)
	ctx, _, release := s.pumps.Acquire(r.Context(), name, func() pumpSource {
		return &changeSource{watch: s.Sessions.Watch(), topic: topic}
	})
	defer release()
	guard.Streaming(r)
	return topic.Serve(w, r.WithContext(ctx), nil)
}

type changeSource struct {
	watch *sessions.Watch
	topic *sse.Topic
}

// Run implements [pumpSource].
func (c *changeSource) Run(ctx context.Context) {
	defer c.watch.Close()
	for {
		entries, err := c.watch.Next(ctx)
		if err != nil {
			return
		}
		for _, e := range entries {
			c.topic.Publish(sse.Frame{Data: e.JSON})
		}
	}
}
