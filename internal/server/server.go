// Package server is webchat over HTTP: the routes on one screen, one file per resource, one table
// from errors to statuses.
//
// The handlers of a resource are a type of their own, with what it needs of the Config; wire.go
// makes them all. A handler reads its request, calls one method of a room and renders the result;
// what it returns as an error becomes the answer in [answers.fail]. Nothing is decided by a path:
// every row of the table in routes.go gives its route a guard.Class, and a row without one keeps
// the server from being made.
//
// # Guarantees
//
//   - JSON is read strictly: unknown, repeated or differently cased fields, wrong types, anything
//     after the object and text that is not UTF-8 are refused with a sentence that names the field.
//   - A stream of events is the log from the place asked for, then what is in flight, then what
//     comes, each event once and in order. All readers of a session share one subscription, and a
//     slow one is cut by package sse.
//   - An unforeseen error is answered with a request id and nothing else; its text goes to the log,
//     once.
//   - The log names routes, never paths, queries, headers or bodies.
//
// # Concurrency
//
// A Server may be used from any number of goroutines. What it starts for streams ends with them;
// [Server.Close] waits.
//
// # Usage
//
//	s, err := server.New(server.Config{Sessions: m, Outputs: store, Hub: hub, Guard: g, …})
//	go http.Serve(listener, s.Handler())
//	…
//	s.Close()
package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/go-chi/chi/v5"

	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/guard"
	"webchat/internal/outputs"
	"webchat/internal/policy"
	"webchat/internal/session"
	"webchat/internal/sessions"
	"webchat/internal/sse"
	"webchat/internal/worktree"
)

// Config is what a Server shows. Sessions, Outputs, Hub and Guard are needed.
type Config struct {
	Sessions    *sessions.Manager
	Outputs     *outputs.Store
	Hub         *sse.Hub
	Guard       *guard.Guard
	Pages       *Pages       // nil: no pages, only the API
	Metrics     http.Handler // nil: no /metrics
	MCP         http.Handler // nil: no /mcp
	UserServers UserServers  // nil: there are none
	// Looks returns what a text asks to see of a workspace and nothing else; nil means no text does.
	Looks     func(ctx context.Context, workspace, text string) ([]Look, error)
	Public    http.RoundTripper // reaches public hosts only, for pictures of other sites, or nil
	Home      string            // the user's home folder, where folders are completed; empty: nowhere
	Version   string
	Stored    func() (int64, error) // how many bytes the sessions take; nil: unknown
	Notice    string                // what pages say about the saved sessions; usually empty
	Consent   Consent
	Sandboxes Sandboxes
	// Stopping is closed when the server begins to end; nil means it is not known.
	Stopping <-chan struct{}
	// Snapshots keep what workspaces were before turns acted; nil: none are kept.
	Snapshots *files.Snapshots
	Worktrees *worktree.Trees // those that sessions work in; nil: there are none
	Grants    *policy.Kept    // nil: nothing is allowed for a workspace
	// Peers are the replicas that share the sessions; nil means there are no others.
	Peers Peers
	// MCPSession returns whose agent has the key for MCP of a name, empty for a client's; nil if there
	// are no agents' keys.
	MCPSession func(key string) eventlog.ID
	// Forwarded counts what was passed on to other replicas, by status; nil means it is not counted.
	Forwarded func(to string, code int)
	Logger    *slog.Logger // nil: nothing is logged
}

// Server answers HTTP requests.
type Server struct {
	handler http.Handler
	guard   *guard.Guard
	answers *answers
	forward *forwarder
	changes *changes
	pumps   *topicPumps
	parts   map[string]http.Handler // of [together.serve], by pattern
}

// New makes a Server. It starts nothing.
func New(c Config) (*Server, error) {
	if c.Sessions == nil || c.Outputs == nil || c.Hub == nil || c.Guard == nil {
		return nil, errors.New("server: sessions, outputs, hub and guard are needed")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if c.Pages != nil {
		c.Pages.places.sessions = c.Sessions
	}
	pumps := newPumps(c.Logger)
	p, a := wire(c, pumps), &answers{c.Logger, c.Pages}
	s := &Server{
		guard:   c.Guard,
		answers: a,
		forward: newForwarder(c, a),
		changes: p.changes,
		pumps:   pumps,
		parts:   p.together.parts,
	}
	routes := p.routes()
	p.description.text = sync.OnceValues(func() ([]byte, error) { return describe(routes, c.Version) })
	router, err := s.router(routes)
	if err != nil {
		return nil, err
	}
	s.handler = s.forward.named(c.Guard.Handler(a.observe(router)))
	return s, nil
}

// Handler returns the whole server, guard included.
func (s *Server) Handler() http.Handler { return s.handler }

// Close ends what feeds streams and waits for it. Close the hub and the HTTP server before.
func (s *Server) Close() {
	s.pumps.Close()
	s.forward.transport.CloseIdleConnections()
}

// ChangesOf is where the changes of a session are found.
func (s *Server) ChangesOf(sess *session.Session) (files.ChangeSource, error) {
	return s.changes.of(sess)
}

// router makes chi's router of the table. GET answers HEAD too.
func (s *Server) router(routes []route) (*chi.Mux, error) {
	mux := chi.NewRouter()
	for _, r := range routes {
		if !r.class.Valid() {
			return nil, fmt.Errorf("server: the route %s %s has no class", r.method, r.pattern)
		}
		h := s.forward.forwarded(r, s.answers.adapt(r))
		if r.method == http.MethodGet && (r.pattern == partRoutes[""] ||
			r.pattern == partRoutes["page"]) {
			s.parts[r.pattern] = h
		}
		if r.class != guard.Output || s.guard.Shared() { // else the id is all that counts
			h = asVisitor(h)
		}
		h = s.guard.Class(r.class)(h)
		mux.Method(r.method, r.pattern, h)
		if r.method == http.MethodGet {
			mux.Method(http.MethodHead, r.pattern, h)
		}
	}
	mux.NotFound(func(w http.ResponseWriter, r *http.Request) {
		s.answers.fail(w, r, fmt.Errorf("%w: there is no such address; GET /api/openapi.json lists them",
			eventlog.ErrNotFound))
	})
	mux.MethodNotAllowed(func(w http.ResponseWriter, r *http.Request) {
		var allow []string
		for _, m := range []string{get, http.MethodHead, post, patch, del} {
			if mux.Match(chi.NewRouteContext(), m, r.URL.Path) {
				allow = append(allow, m)
			}
		}
		w.Header().Set("Allow", strings.Join(allow, ", "))
		_ = reply(w, http.StatusMethodNotAllowed, refusalBody{"This address takes " +
			strings.Join(allow, ", ") + ".", "method_not_allowed"})
	})
	return mux, nil
}

// asVisitor has a handler see what the request's user may see.
func asVisitor(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, _ := guard.Visitor(r); user != "" {
			r = r.WithContext(sessions.As(r.Context(), user))
		}
		next.ServeHTTP(w, r)
	})
}

// handler answers a request, or returns why it did not write anything.
type handler func(w http.ResponseWriter, r *http.Request) error

func (a *answers) adapt(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := rt.serve(w, r); err != nil {
			a.refuse(rt, w, r, err)
		}
	})
}

// refuse answers a person with a page, and a program.
func (a *answers) refuse(rt route, w http.ResponseWriter, r *http.Request, err error) {
	if rt.class == guard.Page || rt.class == guard.Door {
		a.failPage(w, r, err)
		return
	}
	a.fail(w, r, err)
}
