package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/wording"
)

// guestKey is whose a session is.
type guestKey struct {
	visitor Visitor
	client  string
}

// guest is a client with the session it was given.
type guest struct {
	key  guestKey
	last time.Time // of its last call's begin or end; guarded by the Server's mu

	mu    sync.Mutex // guards what follows
	id    string     // of its session; empty: none yet
	knows bool       // where its user sees what it shows
}

// mostGuests is how many clients may use one key in one workspace within [silence].
const mostGuests = 32

var errGuests = fmt.Errorf(
	"%d clients used this key within %v, which is the most; use a key of its own for each, see "+
		"\"webchat mcp install\"", mostGuests, silence)

// guestOf returns the client's guest, a new one after [silence].
func (s *Server) guestOf(v Visitor, client string) (*guest, error) {
	key, now := guestKey{v, client}, s.cfg.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	others := 0
	for k, g := range s.guests {
		if !k.visitor.connection && now.Sub(g.last) > silence {
			delete(s.guests, k)
		} else if k.visitor == v {
			others++
		}
	}
	g := s.guests[key]
	switch {
	case g == nil && others >= mostGuests:
		return nil, errGuests
	case g == nil:
		g = &guest{key: key}
		s.guests[key] = g
	}
	g.last = now
	return g, nil
}

// touch notes that a guest was active; gone, that its session was deleted.
func (s *Server) touch(g *guest, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g.last = s.cfg.Now(); gone && s.guests[g.key] == g {
		delete(s.guests, g.key)
	}
}

// forget drops the guests of a visitor that has gone.
func (s *Server) forget(v Visitor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.guests, func(k guestKey, _ *guest) bool { return k.visitor == v })
}

// first reports whether it is called for the first time.
func (g *guest) first() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	knew := g.knows
	g.knows = true
	return !knew
}

// begun reports whether a client has a session. Without one nothing was shown to it, and so
// nothing can be released.
func (s *Server) begun(v Visitor, client string) bool {
	s.mu.Lock()
	g := s.guests[guestKey{v, client}]
	s.mu.Unlock()
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.id != ""
}

// lend calls use with a client's conversation, that of a new session if the user deleted it, within
// a turn of its own. A session that begins is named after the client and what its first call is
// about.
func (s *Server) lend(ctx context.Context, v Visitor, client, about string,
	use func(*conn) error) (*guest, error) {
	for again := false; ; again = true {
		g, err := s.guestOf(v, client)
		if err != nil {
			return nil, err
		}
		c, err := s.wake(ctx, g, about)
		if err == nil {
			c.introduce(client, v.Reads)
			err = c.use(ctx, client+" called a tool.", func() error { return use(c) })
		}
		gone := errors.Is(err, ErrGone) && !again
		s.touch(g, gone)
		if !gone {
			return g, err
		}
	}
}

// wake returns the open conversation of a guest's session, which is created with its first call.
func (s *Server) wake(ctx context.Context, g *guest, about string) (c *conn, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.id == "" {
		if g.id, err = s.cfg.Sessions.Begin(ctx, g.key.client, about,
			g.key.visitor.Workspace); err != nil {
			return nil, err
		}
	}
	if err := s.cfg.Sessions.Wake(ctx, g.id); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c = s.conns[g.id]; c == nil {
		return nil, fmt.Errorf("session %s has no conversation: %w", g.id, ErrGone)
	}
	return c, nil
}

// mostAbout is how many characters a title has of what a call is about.
const mostAbout = 60

// aboutOf is the path or the command of a call, on one line; empty if it has none.
func aboutOf(arguments json.RawMessage) string {
	var of struct{ Path, Command string }
	_ = json.Unmarshal(arguments, &of) // the tool refuses what cannot be read
	return wording.Cut(oneLine(cmp.Or(of.Path, of.Command)), mostAbout)
}

// mostName is how many characters of a client's name are shown.
const mostName = 40

// titles are those of programs that give themselves none, by their names as recorded.
var titles = map[string]string{
	"copilot-cli": "Copilot CLI", "gemini-cli-mcp-client": "Gemini CLI", "opencode": "OpenCode",
	"qwen-cli-mcp-client-webchat": "Qwen Code", "autohand": "Autohand CLI",
}

// keepsMeta reports whether a client keeps the _meta of a success from its model. Autohand CLI
// 0.8.2 hands its model the result whole, as JSON.
func keepsMeta(c *mcp.Implementation) bool { return c == nil || c.Name != "autohand" }

// clientName returns the name a client gives itself: one line, no control characters and none that
// hide or reorder what follows.
func clientName(c *mcp.Implementation) string {
	if c == nil {
		return "An MCP client"
	}
	return cmp.Or(wording.Cut(oneLine(cmp.Or(c.Title, titles[c.Name], c.Name)), mostName),
		"An MCP client")
}

// oneLine is a text with its characters that show what they are, and one space for each run of
// others.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	return strings.Join(strings.Fields(text), " ")
}
