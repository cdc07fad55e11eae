package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"webchat/internal/store"
)

// shutdownTime is how long a stop may take, after turns were waited for.
const shutdownTime = 10 * time.Second

// lifetime is when a server ends: by a signal, by a command, or because others may have its
// sessions.
type lifetime struct {
	ctx  context.Context // ends when the server is to end
	stop context.CancelFunc

	undrained context.Context // ends when running turns are not to be waited for
	cut       context.CancelFunc
	fenced    chan error    // why others may have the sessions of this program
	ended     chan struct{} // closed when all of it has ended
}

func newLifetime(ctx context.Context) *lifetime {
	l := &lifetime{fenced: make(chan error, 1), ended: make(chan struct{})}
	l.ctx, l.stop = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	l.undrained, l.cut = context.WithCancel(context.Background())
	return l
}

// over frees what it holds, when all has ended.
func (l *lifetime) over() {
	l.cut()
	close(l.ended)
	l.stop()
}

// lose ends the server since another one may have its sessions, by force if it does not end in
// time. It is called once.
func (l *lifetime) lose(why error) {
	l.cut()
	l.fenced <- fmt.Errorf("webchat ended, so that nothing is done twice: %w", why)
	l.stop()
	go func() {
		select {
		case <-l.ended:
		case <-time.After(store.ForceExit):
			os.Exit(exitFenced) // helpers end what the commands of agents left
		}
	}()
}

// lost is the reason of lose, if it was called.
func (l *lifetime) lost() error {
	select {
	case why := <-l.fenced:
		return why
	default:
		return nil
	}
}

// drain waits for running turns, for at most so long, and not after a second signal.
func (l *lifetime) drain(most time.Duration, wait func(context.Context)) {
	ctx, end := context.WithTimeout(l.undrained, most)
	defer end()
	ctx, unhook := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer unhook()
	wait(ctx)
}

// serve answers until the server is to end, then drains and lets everything end in order: streams
// get their last frame, turns are closed in the log, requests end.
func (r *rooms) serve(ctx context.Context, life *lifetime, drain time.Duration, f *front,
	log *slog.Logger, ready func() error) error {
	working, endWork := context.WithCancel(context.Background())
	defer endWork()
	sessions, outputs := r.work(working)
	f.answer(r.handler())
	f.begin()
	err := ready()
	left, sessionsEnded := len(f.listeners), false
	if err == nil {
		select {
		case <-ctx.Done():
			log.Info("stopping")
			life.drain(drain, r.sessions.Drain)
		case err = <-f.served:
			left--
			err = fmt.Errorf("serve: %w", err)
		case err = <-sessions:
			sessionsEnded = true
			err = fmt.Errorf("run the sessions: %w", err)
		}
	}
	life.stop() // a second signal ends the program at once

	limit, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	r.server.CutForwarded() // first: no hub has them, and their readers find another replica
	streams, cancelStreams := context.WithTimeout(limit, shutdownTime/3)
	defer cancelStreams()
	if e := r.hub.Close(streams); e != nil {
		log.Warn("some streams were cut", "error", e)
	}
	endWork()
	r.lender.Close()
	if !sessionsEnded {
		err = errors.Join(err, <-sessions)
	}
	if r.engine != nil { // others take the sessions at once, while what was asked here is answered
		err = errors.Join(err, r.engine.Leave())
	}
	err = errors.Join(err, f.end(limit, left, log))
	r.server.Close()
	return errors.Join(err, <-outputs)
}
