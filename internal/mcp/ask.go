package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/wording"
)

// asking is an open question to the user about a call.
type asking struct {
	words string      // what is asked, in one line
	link  string      // signs the user in where it is answered; empty: this client may not have it
	here  atomic.Bool // the client asks it, too
}

// mostWords is how many characters of an act a progress message names.
const mostWords = 200

// asks has the user hear at once of each question about a call, until end is called: by the call's
// progress, and by the client itself if that can ask. Only a client over a connection, which its
// user started, gets a link that signs in and may bring an answer: the key of one over HTTP opens
// the tools and nothing more.
func (s *Server) asks(ctx context.Context, req *mcp.CallToolRequest, c *running,
	session string) (end func(), err error) {
	client := clientName(req.ClientInfo())
	return s.cfg.Sessions.Questions(ctx, session, c.id,
		func(open context.Context, q event.PermissionRequested) {
			a := &asking{words: client + " asks to " + q.Action + ": “" +
				wording.Cut(oneLine(q.Resource), mostWords) + "”"}
			if q.Secret != nil {
				a.words += ", and " + wording.Cut(oneLine(q.Secret.File), mostWords) + " " + q.Secret.Looks
			}
			if c.visitor.connection && s.cfg.Link != nil {
				a.link = s.cfg.Link(session)
			}
			c.asking.Store(a)
			defer c.asking.CompareAndSwap(a, nil)
			elicits := c.visitor.connection && askedAnywhere(q)
			a.here.Store(elicits)
			_ = s.sign(ctx, req, c) // a client that has gone ends the call by that
			if elicits {
				s.elicit(ctx, open, req.Session, client, session, q)
				a.here.Store(false)
			}
			<-open.Done()
		})
}

// mostAsked is how many bytes a command has at most about which a client may ask: its user has to
// see all of it.
const mostAsked = 1000

// askedAnywhere reports whether a question may be put outside the page: it is about one command,
// which is what it looks like, and about nothing that is sensitive.
func askedAnywhere(q event.PermissionRequested) bool {
	return q.Kind == string(agent.KindShell) && len(q.Resources) == 0 && !q.Sensitive &&
		q.Secret == nil &&
		len(q.Resource) <= mostAsked && !strings.ContainsFunc(q.Resource+q.Cwd, func(r rune) bool {
		return !unicode.IsPrint(r)
	})
}

// The two answers that a client offers.
const (
	allowOnce = "Allow once"
	deny      = "Deny"
)

// answers is the form of a question, which has one field.
var answers = json.RawMessage(
	fmt.Sprintf(
		`{"type":"object","properties":{"answer":{"type":"string","title":"Answer","enum":[%q,%q]}},"required":["answer"]}`, allowOnce, deny))

// elicit has a client ask its user, until open ends, and decides as they answer. A client that
// cannot ask, or whose user does not choose, leaves the question as it is.
func (s *Server) elicit(ctx, open context.Context, client *mcp.ServerSession, name, session string,
	q event.PermissionRequested) {
	text := fmt.Sprintf("%s asks to %s in %s:\n\n%s", name, q.Action, q.Cwd, q.Resource)
	if q.Why != "" {
		text += "\n\n" + oneLine(q.Why)
	}
	res, err := client.Elicit(open, &mcp.ElicitParams{Message: text, RequestedSchema: answers})
	if err != nil || res.Action != "accept" {
		return
	}
	decision, known := map[any]event.Decision{
		allowOnce: event.Allow,
		deny:      event.Deny,
	}[res.Content["answer"]]
	if !known {
		return
	}
	if err := s.cfg.Sessions.Decide(ctx, session, q.RequestID, decision); err != nil &&
		open.Err() == nil {
		s.cfg.Logger.Warn("an answer from an MCP client did not count", "session", session, "error", err)
	}
}
