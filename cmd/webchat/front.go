package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"webchat/internal/daemon"
	"webchat/internal/guard"
)

// front is the HTTP server of what listens. Connections wait until it begins.
type front struct {
	http      *http.Server
	listeners []net.Listener
	handler   atomic.Pointer[http.Handler]
	begin     func()     // once
	served    chan error // what ends each listener, once it began
	begun     atomic.Bool
	ended     bool // in order
}

// newFront makes one for at most so many connections. Before its handler is set it says that it
// waits for the database.
func newFront(listeners []net.Listener, most int, log *slog.Logger) *front {
	connections := guard.NewConnections(most)
	f := &front{listeners: listeners, served: make(chan error, len(listeners))}
	f.answer(guard.Waiting("engine", "engine_away",
		"webchat waits for its database, which does not answer."))
	f.http = &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			(*f.handler.Load()).ServeHTTP(w, r)
		}),
		DisableGeneralOptionsHandler: true, // it would answer before the guard
		ReadHeaderTimeout:            5 * time.Second,
		IdleTimeout:                  60 * time.Second,
		MaxHeaderBytes:               32 << 10,
		// bad requests of strangers are not worth a warning
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		ConnContext: connections.Context,
		ConnState:   connections.State,
	}
	f.begin = sync.OnceFunc(func() {
		f.begun.Store(true)
		for _, l := range listeners {
			go func() { f.served <- f.http.Serve(connections.Listener(l)) }()
		}
	})
	return f
}

// answer sets what answers from here on.
func (f *front) answer(h http.Handler) { f.handler.Store(&h) }

// abandon ends it at once, begun or not, unless it has ended in order.
func (f *front) abandon() {
	if f.ended {
		return
	}
	if !f.begun.Load() {
		daemon.CloseAll(f.listeners)
		return
	}
	_ = f.http.Close() // no caller is left to report it to
	for range f.listeners {
		<-f.served
	}
}

// end lets requests end until the limit. left is how many listeners still serve.
func (f *front) end(limit context.Context, left int, log *slog.Logger) (err error) {
	f.ended = true
	if e := f.http.Shutdown(limit); e != nil {
		log.Warn("some requests were cut", "error", e)
		_ = f.http.Close() // its error was reported before
	}
	for range left {
		if e := <-f.served; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
	}
	return err
}
