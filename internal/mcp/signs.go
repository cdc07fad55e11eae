package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/wording"
)

// sign is how often a client hears that its call goes on.
const sign = 10 * time.Second

// errUnseen is why a call is stopped whose question no page shows.
var errUnseen = errors.New("no page shows the question")

// patience is how many signs long a question waits for a page that shows it, if the client hears in
// the first where that is.
const patience = 3

// signs sends a progress message at once and from then on every [sign], if the client takes them,
// until the returned function is called. It stops a call that waits for the user while no page is
// open: without progress at the first sign, since nothing else says where to go.
func (s *Server) signs(ctx context.Context, req *mcp.CallToolRequest, c *running) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	token, unseen := req.Params.GetProgressToken(), 0
	send := func(n int, message string) error {
		if token == nil {
			return nil
		}
		return req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(n), Message: message})
	}
	err := send(1, "Started")
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(sign)
		defer tick.Stop()
		for n := 2; err == nil; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			session, stage := c.stage(ctx, s)
			if unseen++; !stage.Asked || s.cfg.Watched() {
				unseen = 0
			}
			c.unread.Store(c.unread.Load() || stage.Asked && token == nil)
			if unseen == patience || unseen > 0 && token == nil {
				c.stop(errUnseen)
				return
			}
			err = send(n, s.progress(session, stage, unseen > 0))
		}
	})
	return func() { cancel(); wg.Wait() }
}

// progress is how far a call is, in words. No client shows them to its model.
func (s *Server) progress(session string, stage Stage, unseen bool) string {
	switch base, _ := s.cfg.Base(); {
	case session == "":
		return "Waiting for its turn"
	case stage.Asked && base == "":
		return "Waiting for you in the page" + unasked
	case stage.Asked && unseen:
		return "Waiting for you at " + base + "; \"webchat url\" prints a link that signs you in" + unasked
	case stage.Asked:
		return "Waiting for you at " + base + unasked
	case stage.Bytes > 0:
		return fmt.Sprintf("Running: %s so far", wording.Size(stage.Bytes))
	}
	return "Running"
}

// unasked is the other way out of a question, for clients that ask nothing themselves. It stands in
// progress notices, which people read, and in no result: a model could take it for advice.
const unasked = ". A webchat started with --permissions allow does not ask"

// unseen says what to do about a question that no page shows.
func (s *Server) unseen() string {
	at, _ := s.cfg.Base()
	if at != "" {
		at = " at " + at
	}
	return "Nothing was done: the user has to allow it, and no page of webchat is open to ask them. Tell them to open it" + at +
		" (\"webchat url\" in a terminal prints a link that signs them in), then call again."
}
