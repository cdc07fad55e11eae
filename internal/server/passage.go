package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"webchat/internal/guard"
	"webchat/internal/sessions"
	"webchat/internal/sse"
)

// passage is a request that is being passed on.
type passage struct {
	to     destination
	peer   sessions.Peer
	until  time.Time
	safe   bool // asked twice it does no harm
	stream bool // guarded by the forwarder's mu
	cancel context.CancelCauseFunc
}

// enter notes what is passed on, until leave.
func (f *forwarder) enter(p *passage) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return errStopping
	}
	f.open[p] = struct{}{}
	return nil
}

func (f *forwarder) leave(p *passage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, p)
}

// streaming notes that the answer to r is a stream, of which there may be only so many.
func (f *forwarder) streaming(p *passage, r *http.Request) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return errStopping
	}
	p.stream = true
	return guard.Streaming(r, 1)
}

// cut ends what is passed on but for what must not be done twice, and lets nothing more through.
func (f *forwarder) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.closed = true
		close(f.ended)
	}
	for p := range f.open {
		if p.stream || p.safe {
			p.cancel(errStopping)
		}
	}
}

// CutForwarded ends the streams that other replicas feed, and has what comes from now on about what
// others have answered by [sse.ErrClosed]. Their readers come back, to another replica. It is
// called when the server begins to end, before the hub is closed.
func (s *Server) CutForwarded() { s.forward.cut() }

// hold reads a body that is short, and returns what gives the request its body again; nil if it
// cannot have it twice.
func hold(r *http.Request) (again func(), err error) {
	if r.Body == nil || r.Body == http.NoBody {
		return func() {}, nil
	}
	if r.ContentLength < 0 || r.ContentLength > mostHeld {
		return nil, nil
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, unsent(err)
	}
	again = func() { r.Body = io.NopCloser(bytes.NewReader(b)) }
	again()
	return again, nil
}

// unsent is what to answer when the sender of a body did not send all of it.
func unsent(err error) error {
	if _, known := status(err); !known {
		panic(http.ErrAbortHandler) // its sender has gone
	}
	return err
}

// passOn has another replica answer. If that returns an error, nothing was written.
func (f *forwarder) passOn(p *passage, w http.ResponseWriter, r *http.Request) (failed error) {
	at, err := p.address(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(context.WithValue(r.Context(), peerKey{}, p.peer.Number))
	var attending sync.WaitGroup
	defer attending.Wait()
	defer cancel(nil)
	p.cancel = cancel
	if err := f.enter(p); err != nil {
		return err
	}
	defer f.leave(p)
	if p.to == ofKey { // it answers by a stream more often than not
		if err := f.streaming(p, r); err != nil {
			return err
		}
	}
	attending.Go(func() { f.attend(ctx, p) })
	out := r.WithContext(ctx)
	body := &sentBody{ReadCloser: r.Body}
	if r.Body != nil && r.Body != http.NoBody {
		out.Body = body
	}
	reader := &punctual{ResponseWriter: w, control: http.NewResponseController(w)}
	defer reader.done()
	(&httputil.ReverseProxy{
		Transport: roundTripper(func(out *http.Request) (*http.Response, error) {
			return f.ask(out.WithContext(ctx), p.peer.Number) // by ctx no answer but the last is passed on
		}),
		ErrorLog:       slog.NewLogLogger(f.errors.Handler(), slog.LevelDebug),
		Rewrite:        func(pr *httputil.ProxyRequest) { rewrite(pr, at) },
		ModifyResponse: func(res *http.Response) error { return f.relay(p, res, w, r) },
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) {
			failed = p.failure(ctx, r, body, err)
			x, _ := status(failed)
			f.count(string(p.to), x.status)
		},
	}).ServeHTTP(reader, out)
	return failed
}

// address is where the other replica is asked: as the request came, since the guard may have
// shortened its path.
func (p *passage) address(r *http.Request) (*url.URL, error) {
	at, err := url.Parse(p.peer.URL)
	if err == nil {
		var asked *url.URL
		if asked, err = url.ParseRequestURI(r.RequestURI); err == nil {
			asked.Scheme, asked.Host = at.Scheme, at.Host
			at = asked
		}
	}
	if err != nil || at.Host == "" {
		return nil, &awayError{until: p.until}
	}
	return at, nil
}

// rewrite makes the request that is sent to the other replica.
func rewrite(pr *httputil.ProxyRequest, at *url.URL) {
	pr.Out.URL, pr.Out.Host = at, pr.In.Host
	for name, values := range pr.In.Header { // which it would leave out
		if strings.HasPrefix(name, "X-Forwarded-") || name == "Forwarded" {
			pr.Out.Header[name] = values
		}
	}
	pr.Out.Header.Set(hopHeader, passedOn)
	pr.Out.Header.Del("Expect") // it was answered here
}

// relay readies what the other replica answers to be written.
func (f *forwarder) relay(p *passage, res *http.Response, w http.ResponseWriter,
	r *http.Request) error {
	if res.Header.Get(hopHeader) != "" {
		return &awayError{until: p.until, moved: true}
	}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		if err := f.streaming(p, r); err != nil {
			return err
		}
		if r.ProtoMajor == 1 { // no chunks, and the connection ends with it, as of our own streams
			res.Header.Set("Transfer-Encoding", "identity")
		}
	}
	for name := range res.Header { // what the other replica does not say is as here
		w.Header().Del(name)
	}
	f.count(string(p.to), res.StatusCode)
	return nil
}

// failure says what became of a request that another replica did not answer.
func (p *passage) failure(ctx context.Context, r *http.Request, body *sentBody, err error) error {
	dialed := true
	if op, ok := errors.AsType[*net.OpError](err); ok {
		dialed = op.Op != "dial"
	}
	_, away := errors.AsType[*awayError](err)
	switch cut := body.failed.Load(); {
	case r.Context().Err() != nil:
		panic(http.ErrAbortHandler) // the client is gone
	case cut != nil:
		return unsent(*cut)
	case away, errors.Is(err, guard.ErrStreams), errors.Is(err, sse.ErrClosed):
		return err
	case errors.Is(context.Cause(ctx), errStopping):
		return errStopping
	case p.safe, !dialed:
		return &awayError{until: p.until}
	}
	return errCut
}

// attend ends what waits for a replica that is not among the living any longer: one that froze, or
// whose machine is gone, does not report it.
func (f *forwarder) attend(ctx context.Context, p *passage) {
	tick := time.NewTicker(lookTime)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if _, lives := f.living(p.peer.Number); !lives {
				p.cancel(errPeerGone)
				return
			}
		}
	}
}

// sentBody is a body that is passed on, with what went wrong on its sender's side.
type sentBody struct {
	io.ReadCloser
	failed atomic.Pointer[error]
}

// Read implements [io.Reader].
func (b *sentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		b.failed.Store(&err)
	}
	return n, err
}

// punctual cuts a reader that does not take what comes.
type punctual struct {
	http.ResponseWriter
	control *http.ResponseController
}

// Write implements [io.Writer].
func (w *punctual) Write(b []byte) (int, error) {
	if err := w.control.SetWriteDeadline(time.Now().Add(takeTime)); err != nil &&
		!errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap serves [http.ResponseController].
func (w *punctual) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// done takes the deadline off the connection, which may serve more requests.
// refused only where there is none
func (w *punctual) done() { _ = w.control.SetWriteDeadline(time.Time{}) }
