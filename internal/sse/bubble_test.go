package sse

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// pipes is a listener without a kernel: no buffer hides a stalled client, and time
// is the bubble's.
type pipes struct {
	conns   chan net.Conn
	closed  chan struct{}
	once    sync.Once
	results chan error
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// get sends a request and reads the response's header.
func (p *pipes) get(t *testing.T, header ...string) (net.Conn, *parser) {
	t.Helper()
	near, far := net.Pipe()
	p.conns <- far
	if _, err := io.WriteString(near, "GET / HTTP/1.1\r\nHost: x\r\n"+strings.Join(header, "\r\n")+
		"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReaderSize(near, 16), nil)
	if err != nil {
		t.Fatal(err)
	}
	return near, newParser(res.Body)
}

// inBubble runs f with a hub and a server in fake time. What serve returned comes on
// the channel p.results.
func inBubble(t *testing.T, c Config,
	serve func(h *Hub, w http.ResponseWriter, r *http.Request) error,
	f func(t *testing.T, h *Hub, p *pipes)) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, c)
		p := &pipes{conns: make(chan net.Conn), closed: make(chan struct{}), results: make(chan error, 1)}
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p.results <- serve(h, w, r)
		})}
		served := make(chan error)
		go func() { served <- srv.Serve(p) }()
		defer func() {
			srv.Close()
			<-served
		}()
		f(t, h, p)
	})
}
