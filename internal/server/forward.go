package server

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"webchat/internal/eventlog"
	"webchat/internal/guard"
	"webchat/internal/outputs"
	"webchat/internal/sessions"
	"webchat/internal/sse"
	"webchat/web"
)

// Where several replicas share the sessions, a request about what another one has is passed on to
// it as it came, and that one decides about it again: it has the same guard. Nothing that a request
// says of itself is believed. What was passed on once is not passed on again. A dead replica's
// address may be another program's by now: what answers there proves who it is before it is sent
// anything, and each answer names the replica that gave it.

// Peers says which replicas share the sessions.
type Peers interface {
	Self() sessions.Peer    // whose Version is the program's, a + and that of its static files
	Peers() []sessions.Peer // the living others
}

// destination is what decides which replica answers the requests of a route.
type destination string

// The destinations.
const (
	here      destination = ""        // whichever a request came to
	ofSession destination = "session" // the one that has the session of the path, or of ?session=
	ofOutput  destination = "output"  // the one that made the output, while it lives
	ofKey     destination = "mcp"     // one for each key
	ofVersion destination = "static"  // one that has the static files of that version
)

func destinationOf(rt route) destination {
	switch {
	case strings.Contains(rt.pattern, "/sessions/{id}"),
		slices.Contains(strings.Fields(rt.query), "session"):
		return ofSession
	case strings.HasPrefix(rt.pattern, "/api/outputs/{id}"):
		return ofOutput
	case rt.class == guard.MCP:
		return ofKey
	case rt.class == guard.Static:
		return ofVersion
	}
	return here
}

const (
	// hopHeader ends a chain: a request that has it was passed on. An answer that has it says that the
	// request would have had to be passed on again, and that nothing was done.
	hopHeader = "Webchat-Hop"
	// ReplicaHeader has the number of the replica that answers /readyz, or what was passed on to it.
	ReplicaHeader = "Webchat-Replica"
	// proofHeader answers a hopHeader with a text of its own: see [guard.Guard.ReplicaProof].
	proofHeader = "Webchat-Proof"
	passedOn    = "1" // what a hopHeader has otherwise
)

const (
	dialTime = 2 * time.Second  // for a connection to another replica
	takeTime = 10 * time.Second // for a reader to take a part of an answer
	lookTime = time.Second      // between two looks at whether the other replica lives
	mostHeld = 64 << 10         // bytes of a body that is kept, so that it can be passed on once more
	mostSaid = 8 << 10          // bytes of an answer that proves something
)

var (
	errPeerGone  = errors.New("the other replica is not among the living any longer")
	errOtherPeer = errors.New("what answers at its address is not the replica that was asked")
	errStopping  = fmt.Errorf("passing on: %w", sse.ErrClosed)
)

// awayError says that the replica which has what is asked for does not answer.
type awayError struct {
	until time.Time // when another may take it; zero: within the lease
	moved bool      // it answers, and has it no longer
}

func (e *awayError) Error() string {
	when := "within a minute"
	if !e.until.IsZero() {
		when = "at " + e.until.UTC().Format("15:04:05") + " UTC"
	}
	return "The webchat that has this does not answer. If it does not come back, another one takes " +
		"over " + when + "."
}

// errCut is the answer to what another replica may have done, since it ended before it answered.
var errCut = errors.New(
	"the webchat that has this ended before it answered: look whether it was done before you send " +
		"it again")

// forwarder passes requests on.
type forwarder struct {
	peers      Peers // nil: there are no others
	guard      *guard.Guard
	sessions   *sessions.Manager
	mcpSession func(key string) eventlog.ID // nil: there are no agents' keys
	answers    *answers
	transport  *http.Transport
	errors     *slog.Logger
	count      func(to string, code int)

	mu     sync.Mutex // guards what follows
	closed bool
	ended  chan struct{} // closed with it
	open   map[*passage]struct{}
}

func newForwarder(c Config, a *answers) *forwarder {
	f := &forwarder{
		peers:      c.Peers,
		guard:      c.Guard,
		sessions:   c.Sessions,
		mcpSession: c.MCPSession,
		answers:    a,
		errors:     c.Logger,
		count:      c.Forwarded,
		ended:      make(chan struct{}),
		open:       map[*passage]struct{}{},
	}
	if f.count == nil {
		f.count = func(string, int) {}
	}
	plain := &net.Dialer{Timeout: dialTime}
	f.transport = &http.Transport{ // of no proxy: it would see what is secret
		DialContext:        f.proved(plain.DialContext),
		DialTLSContext:     f.proved((&tls.Dialer{NetDialer: plain}).DialContext),
		DisableCompression: true, MaxIdleConnsPerHost: 64, IdleConnTimeout: 30 * time.Second,
		MaxResponseHeaderBytes: 1 << 20}
	return f
}

type peerKey struct{} // of the number of the replica that a request is passed on to

type dialing = func(ctx context.Context, network, address string) (net.Conn, error)

// proved makes connections over which the replica of the context's number has proved who it is.
func (f *forwarder) proved(dial dialing) dialing {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		number, _ := ctx.Value(peerKey{}).(int64)
		err = conn.SetDeadline(time.Now().Add(takeTime))
		if err == nil {
			err = f.prove(conn, number)
		}
		if err == nil {
			err = conn.SetDeadline(time.Time{})
		}
		if err != nil {
			_ = conn.Close() // nothing was sent
			return nil, &net.OpError{Op: "dial", Net: network, Addr: conn.RemoteAddr(), Err: err}
		}
		return conn, nil
	}
}

// prove asks what is at the other end of a connection whether it is a replica.
func (f *forwarder) prove(conn net.Conn, number int64) error {
	asked := rand.Text()
	if _, err := fmt.Fprintf(conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n%s: %s\r\n\r\n",
		hopHeader, asked); err != nil {
		return err
	}
	reader := bufio.NewReader(io.LimitReader(conn, mostSaid))
	res, err := http.ReadResponse(reader, nil)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	proof := []byte(f.guard.ReplicaProof(number, asked))
	if subtle.ConstantTimeCompare([]byte(res.Header.Get(proofHeader)), proof) != 1 || res.Close ||
		reader.Buffered() > 0 {
		return errOtherPeer
	}
	return nil
}

// named has all answers to what was passed on to this replica name it, also those of its guard.
func (f *forwarder) named(next http.Handler) http.Handler {
	if f.peers == nil {
		return next
	}
	number := f.peers.Self().Number
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hop := r.Header.Get(hopHeader)
		if hop != "" {
			w.Header().Set(ReplicaHeader, strconv.FormatInt(number, 10))
		}
		if hop != "" && hop != passedOn {
			w.Header().Set(proofHeader, f.guard.ReplicaProof(number, hop))
		}
		next.ServeHTTP(w, r)
	})
}

// ask has a replica of a number answer. Anybody else's answer is an error, and none of it is used.
func (f *forwarder) ask(r *http.Request, number int64) (*http.Response, error) {
	res, err := f.transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if res.Header.Get(ReplicaHeader) != strconv.FormatInt(number, 10) {
		_ = res.Body.Close() // it is not read
		return nil, errOtherPeer
	}
	res.Header.Del(ReplicaHeader)
	return res, nil
}

// roundTripper is a function that is an [http.RoundTripper].
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// living returns the living other replica of a number.
func (f *forwarder) living(number int64) (sessions.Peer, bool) {
	all := f.peers.Peers()
	i := slices.IndexFunc(all, func(p sessions.Peer) bool { return p.Number == number })
	if i < 0 {
		return sessions.Peer{}, false
	}
	return all[i], true
}

// elsewhere returns the other replica that a request is for, if there is one.
func (f *forwarder) elsewhere(to destination,
	r *http.Request) (peer sessions.Peer, until time.Time, found bool) {
	switch to {
	case ofSession:
		return f.ownerOf(r.Context(), cmp.Or(idOf(r), eventlog.ID(r.URL.Query().Get("session"))))
	case ofOutput:
		if maker := outputs.Maker(outputs.ID(chi.URLParam(r, "id"))); maker != 0 &&
			maker != f.peers.Self().Number {
			peer, found = f.living(maker)
		}
	case ofKey:
		session, key := eventlog.ID(""), f.guard.KeyName(r)
		if f.mcpSession != nil {
			session = f.mcpSession(key)
		}
		if session != "" {
			return f.ownerOf(r.Context(), session)
		}
		self := f.peers.Self()
		// a command has none
		reached := slices.DeleteFunc(slices.Clone(f.peers.Peers()), func(p sessions.Peer) bool {
			return p.URL == ""
		})
		peer = slices.MaxFunc(append(reached, self), func(a, b sessions.Peer) int {
			return cmp.Compare(weight(key, a.Number), weight(key, b.Number))
		})
		found = peer.Number != self.Number
	case ofVersion:
		version, _, _ := strings.Cut(chi.URLParam(r, "*"), "/")
		if all := f.peers.Peers(); version != "" && version != web.Version() {
			if i := slices.IndexFunc(all, func(p sessions.Peer) bool {
				return strings.HasSuffix(p.Version, "+"+version)
			}); i >= 0 {
				return all[i], until, true
			}
		}
	}
	return peer, until, found
}

// weight is how much a key belongs to a replica: it is the one's for which this is highest, so that
// few keys move when a replica comes or goes.
func weight(key string, number int64) string {
	sum := sha256.Sum256([]byte(strconv.FormatInt(number, 10) + " " + key))
	return string(sum[:])
}

// ownerOf returns the other replica that has a session. Asking takes a session that no living one
// has, as opening it would. Whatever else is wrong with it the handler says.
func (f *forwarder) ownerOf(ctx context.Context,
	id eventlog.ID) (peer sessions.Peer, until time.Time, found bool) {
	if id == "" {
		return peer, until, false
	}
	_, err := f.sessions.Get(ctx, id)
	away, found := errors.AsType[*sessions.ElsewhereError](err)
	if !found {
		return peer, until, false
	}
	return away.Peer, away.Until, true
}

// forwarded is a row of the table where there are other replicas: it answers what this one has.
func (f *forwarder) forwarded(rt route, own http.Handler) http.Handler {
	to := destinationOf(rt)
	if f.peers == nil || to == here {
		return own
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		peer, until, found := f.elsewhere(to, r)
		switch lone := to == ofOutput || to == ofVersion; { // what can be answered here if need be
		case !found, lone && r.Header.Get(hopHeader) != "":
			own.ServeHTTP(w, r)
		case r.Header.Get(hopHeader) != "":
			w.Header().Set(hopHeader, "1")
			f.answers.refuse(rt, w, r, &awayError{until: until})
		default:
			pass := func() error {
				return f.passOn(&passage{to: to, peer: peer, until: until, safe: r.Method == http.MethodGet ||
					r.Method == http.MethodHead}, w, r)
			}
			again, err := hold(r)
			if err == nil {
				err = pass()
			}
			away, _ := errors.AsType[*awayError](err)
			// it was handed over since this replica asked who has it
			if away != nil && away.moved && again != nil {
				again()
				if peer, until, found = f.elsewhere(to, r); !found {
					own.ServeHTTP(w, r)
					return
				}
				err = pass()
			}
			switch {
			case err == nil:
			case away != nil && lone:
				own.ServeHTTP(w, r)
			default:
				f.answers.refuse(rt, w, r, err)
			}
		}
	})
}
