package canary

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"
)

// recorder is a proxy on loopback in front of a model, which looks for a text in
// every request that goes through. It keeps numbers, not requests.
type recorder struct {
	url    string // what to use instead of the model's address
	canary []byte
	server *http.Server
	served chan error

	mu     sync.Mutex // guards counts
	counts traffic
}

type traffic struct {
	requests, bytes   int64
	found, unreadable int64 // requests with the text; requests that are compressed
}

// record starts a proxy in front of the model at address.
func record(ctx context.Context, address, canary string) (*recorder, error) {
	target, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen in front of the model: %w", err)
	}
	front := url.URL{Scheme: "http", Host: l.Addr().String(), Path: target.Path}
	r := &recorder{url: front.String(), canary: []byte(canary), served: make(chan error, 1)}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = target.Scheme, target.Host, target.Host
		},
		FlushInterval: -1, // words as they come
		ErrorLog:      log.New(io.Discard, "", 0),
	}
	r.server = &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			body, err := io.ReadAll(req.Body)
			if err != nil {
				http.Error(w, "the request was cut", http.StatusBadRequest)
				return
			}
			r.look(req, body)
			req.Body = io.NopCloser(bytes.NewReader(body))
			proxy.ServeHTTP(w, req)
		}),
	}
	go func() { r.served <- r.server.Serve(l) }()
	return r, nil
}

func (r *recorder) look(req *http.Request, body []byte) {
	encoding := req.Header.Get("Content-Encoding")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts.requests++
	r.counts.bytes += int64(len(body))
	if bytes.Contains(body, r.canary) || bytes.Contains([]byte(req.URL.String()), r.canary) {
		r.counts.found++
	}
	if encoding != "" && encoding != "identity" {
		r.counts.unreadable++
	}
}

func (r *recorder) seen() traffic {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

func (r *recorder) close() error {
	err := r.server.Close()
	if e := <-r.served; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}
