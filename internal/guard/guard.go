// Package guard decides who may come in: it is the outermost handler of the server and one
// middleware per class of route.
//
// # Guarantees
//
// Checks run in this order, and nothing behind a failed one is reached:
//
//  1. CONNECT is refused, since webchat is not a proxy (405).
//  2. Host: exactly localhost, 127.0.0.1 or [::1], with any port, or exactly the name of the public
//     URL, and then no other (403). A page that rebinds its own name to this machine sends its own
//     name. The port is not compared: a container or a tunnel may publish another one, and it
//     protects nothing. Names below .localhost are refused: resolvers ask the network for them.
//     Only /healthz and /readyz answer whatever the Host: they say one word, and what watches a
//     server knows it by its address. Behind a public URL a program with a token for MCP, which no
//     page has, may call /mcp under a loopback name all the same: an agent of this server, whose way
//     by the public URL may lead through a proxy that asks people who they are.
//  3. [http.CrossOriginProtection], and an Origin, if there is one, that is this server's own,
//     scheme and port included (403). "null" is refused, so a page uses fetch in its default mode.
//  4. The number of requests at work (503), see below.
//  5. By class: Sec-Fetch-Site of reads, writes and outputs (403), credentials (401), content
//     coding and media type (415), size of the body (413).
//
// Every reply carries headers under which nothing it holds runs, loads, is framed or is read by
// another origin. No reply has a CORS header.
//
// A class belongs to a matched route, so no trick with a path changes it. The zero Class refuses,
// so a route that was given none is closed.
//
// # Strangers
//
// A request without credentials may have a body of 1 KiB, which has to come within 5 s, and takes
// no place before it has come. Strangers share a quarter of the requests and three quarters of the
// connections, see [Connections]: however many of them are idle or incomplete, users who are
// signed in are served, and so is anyone who signs in.
//
// # Users
//
// A user has half of the requests at work, and half of the streams, among which counts what waits
// for something to happen, see [Streaming]. A body that comes too slowly ends, and connections that
// are not used make room. So one user does not keep others out.
//
// # Credentials
//
// The API token lives in a file that only its owner reads; tokens for MCP alone follow from it. Of
// the tokens that users have a sum is kept. A launch secret signs one browser in, once, within ten
// minutes; it travels in a URL's fragment. The browser then holds a cookie, which reads, and a
// second secret, which writes: cookies are shared with every other port of the host, so a
// neighbour's server receives ours, and may look but not act. Of the cookie a SHA-256 sum is kept
// on disk, for 12 hours after the last use, less 10 minutes at most, and 7 days in all, through
// restarts; it holds for the port, or the public URL, it was made for. The secret follows from the
// API token and a number of this start, so it ends with it: whatever listens on the port next can
// read what a page stored there. A browser that signed in with a key gets another one, see
// [Guard.Renew].
//
// A service worker that another program left at the port is removed when the browser asks for its
// script.
//
// # Concurrency
//
// All methods may be called at the same time from any goroutine.
//
// # Usage
//
//	g, err := guard.New(guard.Config{Dir: dataDir})
//	…
//	router.With(g.Class(guard.Read)).Get("/api/sessions", list)
//	server := &http.Server{Handler: g.Handler(router), DisableGeneralOptionsHandler: true}
//	link := g.Link("http://localhost:24287")
package guard

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"webchat/internal/document"
)

// Config is what a Guard needs; only Dir is required.
type Config struct {
	// Dir is the data folder: it holds the API token, unless TokenFile says otherwise.
	Dir       string
	Documents document.Store // of sign-ins and links; nil: Dir
	// Start is a text that servers which share the token and the documents have in common: a browser
	// that signed in at one of them is signed in at all. Empty: another one at each start.
	Start string
	// TokenFile holds the API token. A missing file is made.
	TokenFile string
	// PublicURL is the one URL the server is reached by, behind a proxy; see [ParsePublicURL].
	// Empty: loopback names only.
	PublicURL string
	// Users says who people are that sign in; nil means a sign-in is of who runs the server.
	Users Users
	// NoAuth lets everybody in whom the Host and origin checks let in. The caller has made sure
	// that only this machine can connect.
	NoAuth bool
	// MaxRequests and MaxStreams bound the requests at work at the same time, and what [Streaming]
	// takes from these. A user has half of each, strangers have a quarter. Default 1024.
	MaxRequests, MaxStreams int
	// Refuse answers a person whom a page is refused; it must write status. The default answers as
	// to a program.
	Refuse func(w http.ResponseWriter, r *http.Request, status int, code, sentence string)
	// Logger receives what an operator should know. Default: nothing.
	Logger *slog.Logger
	// Now is the clock. Default: time.Now.
	Now func() time.Time
}

// Guard decides who may use one server.
type Guard struct {
	address
	secrets
	config            Config
	csrf              *http.CrossOriginProtection
	requests, streams *room
	signins           *document.Value[[]signin]
	launches          *document.Value[[]launched] // the oldest first
	tokens            *document.Value[[]personal]
	warned            atomic.Int64 // when a refused program was logged last, in seconds
}

// New reads or makes the API token. Its errors name the file and what to do.
func New(c Config) (*Guard, error) {
	if c.Dir == "" {
		return nil, errors.New("guard: no data folder")
	}
	c.TokenFile = cmp.Or(c.TokenFile, filepath.Join(c.Dir, "token"))
	c.Documents = cmp.Or[document.Store](c.Documents, document.Folder(c.Dir))
	c.MaxRequests, c.MaxStreams = cmp.Or(max(c.MaxRequests, 0), 1024),
		cmp.Or(max(c.MaxStreams, 0), 1024)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Refuse == nil {
		c.Refuse = func(w http.ResponseWriter, _ *http.Request, status int, code, sentence string) {
			refuse(w, status, code, sentence)
		}
	}
	g := &Guard{
		config:   c,
		csrf:     http.NewCrossOriginProtection(),
		requests: newRoom(c.MaxRequests),
		streams:  newRoom(c.MaxStreams),
		secrets:  secrets{start: cmp.Or(c.Start, rand.Text())},
	}
	var err error
	if c.PublicURL != "" {
		if c.NoAuth {
			return nil, errors.New("a server with a public URL needs its sign-in: do not switch it off")
		}
		if g.public, err = ParsePublicURL(c.PublicURL); err == nil {
			err = g.csrf.AddTrustedOrigin(g.origin())
		}
		if err != nil {
			return nil, err
		}
	}
	if g.token, err = secretFile(c.TokenFile, "API token", c.Logger); err != nil {
		return nil, err
	}
	g.signins = document.Open[[]signin](c.Documents, "signins", c.Logger)
	g.launches = document.Open[[]launched](c.Documents, "links", c.Logger)
	g.tokens = document.Open[[]personal](c.Documents, "user-tokens", c.Logger)
	return g, nil
}

// ParsePublicURL returns what may be a public URL: http or https, a name, perhaps a port, and
// perhaps the path below which a proxy shows the server, of plain characters and without a slash at
// its end.
func ParsePublicURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil,
		u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.Hostname() == "":
		return nil, fmt.Errorf("public URL %q: it must look like https://chat.example", text)
	case u.RawQuery != "", u.Fragment != "", u.User != nil:
		return nil,
			fmt.Errorf(
				"public URL %q: it must have a scheme, a name, perhaps a port and a path, and nothing else",
				text)
	}
	if _, _, ok := splitHost(u.Host); !ok {
		return nil, fmt.Errorf("public URL %q: its port must be a number from 1 to 65535", text)
	}
	base := strings.TrimRight(u.Path, "/")
	if base != "" && (!plainPath.MatchString(base) || path.Clean(base) != base) {
		return nil,
			fmt.Errorf("public URL %q: its path may have letters, digits, - and _, such as /webchat", text)
	}
	return &url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host), Path: base}, nil
}

// plainPath needs no escaping anywhere: in headers, cookies, templates or scripts.
var plainPath = regexp.MustCompile(`^(/[A-Za-z0-9_-]+)+$`)

// Handler is the outermost handler: it admits what may reach next.
func (g *Guard) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		placeOf(r.Context()).answers()
		setHeaders(w.Header(), dataHeaders)
		if g.Secure() {
			w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		}
		v := g.visitor(r)
		r = timed(w, r, v.known)
		if r.Method == http.MethodConnect {
			refuse(w, http.StatusMethodNotAllowed, "not_a_proxy",
				"webchat is not a proxy. Open its address in a browser, and take it out of your proxy "+
					"settings.")
			return
		}
		r = g.withoutBase(r)
		if !g.hostAllowed(r.Host) && !probes[r.URL.Path] && !g.callsHere(r) {
			refuse(w, http.StatusForbidden, "host_refused", g.hostHint())
			return
		}
		if asksForWorker(r) {
			endWorker(w)
			return
		}
		if g.csrf.Check(r) != nil || !g.originAllowed(r) {
			refuse(w, http.StatusForbidden, "cross_origin",
				"Requests made by pages of another origin are refused.")
			return
		}
		if !v.known {
			r = receive(w, r)
		}
		if r != nil {
			g.atWork(w, r, v, next)
		}
	})
}

// visitor returns whose share a request takes. An agent with a key for MCP has one of its own.
func (g *Guard) visitor(r *http.Request) (v visitor) {
	switch name := g.KeyName(r); {
	case g.config.NoAuth, name == "api":
		v.known = true
	case name != "":
		v = visitor{user: name, known: true}
	default: // this may ask a database
		v.user, v.known = g.mayRead(r)
	}
	return v
}

// probes are the paths that answer whatever the Host.
var probes = map[string]bool{"/healthz": true, "/readyz": true}
