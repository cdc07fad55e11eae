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
	silent, unseen := req.Params.GetProgressToken() == nil, 0
	err := s.sign(ctx, req, c)
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(sign)
		defer tick.Stop()
		for err == nil {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			asking := c.asking.Load()
			if unseen++; asking == nil || asking.here.Load() || s.cfg.Watched() {
				unseen = 0
			}
			c.unread.Store(c.unread.Load() || asking != nil && silent)
			if unseen == patience || unseen > 0 && silent {
				c.stop(errUnseen)
				return
			}
			err = s.sign(ctx, req, c)
		}
	})
	return func() { cancel(); wg.Wait() }
}

// sign sends a progress message, if the client takes them.
func (s *Server) sign(ctx context.Context, req *mcp.CallToolRequest, c *running) error {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	c.signing.Lock()
	defer c.signing.Unlock()
	c.signed++
	return req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: token,
		Progress:      float64(c.signed),
		Message:       s.progress(ctx, c),
	})
}

// progress is how far a call is, in words. No client shows them to its model.
func (s *Server) progress(ctx context.Context, c *running) string {
	session, asking := c.session.Load(), c.asking.Load()
	switch {
	case asking != nil:
		return asking.words + unasked + s.where(asking)
	case c.signed == 1:
		return "Started"
	case session == nil:
		return "Waiting for its turn"
	}
	if n := s.cfg.Sessions.Printed(ctx, *session, c.id); n > 0 {
		return fmt.Sprintf("Running: %s so far", wording.Size(n))
	}
	return "Running"
}

// where says where a question is answered. An address ends it, so that no full stop becomes part of
// a link.
func (s *Server) where(a *asking) string {
	base, _ := s.cfg.Base()
	switch {
	case base == "":
		return "Answer in the page"
	case a.link != "":
		return "Answer at " + a.link
	case s.cfg.Watched():
		return "Answer at " + base
	}
	return "Answer in the page: \"webchat url\" prints a link that signs you in at " + base
}

// unasked is the other way out of a question, for clients that ask nothing themselves. It stands in
// progress notices, which people read, and in no result: a model could take it for advice.
const unasked = ". A webchat started with --permissions allow does not ask. "

// unseen says what to do about a question that no page shows.
func (s *Server) unseen() string {
	at, _ := s.cfg.Base()
	if at != "" {
		at = " at " + at
	}
	return "Nothing was done: the user has to allow it, and no page of webchat is open to ask them. " +
		"Tell them to open it" + at +
		" (\"webchat url\" in a terminal prints a link that signs them in), then call again."
}
