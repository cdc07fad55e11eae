package mcp

import (
	"cmp"
	"fmt"
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

	mu   sync.Mutex // guards what follows
	id   string     // of its session; empty: none yet
	told bool       // where its user sees what it shows
}

// mostGuests is how many clients may use one key in one workspace within [silence].
const mostGuests = 32

var errGuests = fmt.Errorf("%d clients used this key within %v, which is the most; use a key of its own for each, see \"webchat mcp install\"", mostGuests, silence)

// guestOf returns the client's guest, a new one after [silence].
func (s *Server) guestOf(p *peer, client string) (*guest, error) {
	key := guestKey{p.visitor, client}
	now := s.cfg.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	others := 0
	for k, g := range s.guests {
		if peer := s.byPeer[k.visitor]; (peer == nil || !peer.lasting) && now.Sub(g.last) > silence {
			delete(s.guests, k)
		} else if k.visitor == p.visitor {
			others++
		}
	}
	g := s.guests[key]
	if g == nil && others >= mostGuests {
		return nil, errGuests
	}
	if g == nil {
		g = &guest{key: key}
		s.guests[key] = g
	}
	g.last = now
	return g, nil
}

// touch says that a guest was not silent.
func (s *Server) touch(g *guest) {
	now := s.cfg.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	g.last = now
}

// drop forgets a guest whose session is gone.
func (s *Server) drop(g *guest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.guests[g.key] == g {
		delete(s.guests, g.key)
	}
}

// first reports whether it is called for the first time.
func (g *guest) first() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	was := g.told
	g.told = true
	return !was
}

// mostName is how many characters of a client's name are shown.
const mostName = 40

// known are the names of programs that give themselves no title, as recorded.
var known = map[string]string{
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
	name := strings.Map(printable, strings.ToValidUTF8(cmp.Or(c.Title, known[c.Name], c.Name), ""))
	name = strings.Join(strings.Fields(name), " ")
	return cmp.Or(wording.Cut(name, mostName), "An MCP client")
}

// printable keeps a character that shows what it is, and makes others a space.
func printable(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.IsSpace(r) {
		return ' '
	}
	return r
}
