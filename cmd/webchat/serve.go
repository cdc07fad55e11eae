package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"webchat/internal/daemon"
	"webchat/internal/sse"
	"webchat/internal/store"
)

// shutdownTime is how long a stop may take.
const shutdownTime = 10 * time.Second

// beside is what runs beside a server from when it is ready. present prints a sign-in
// link and opens it in the browser.
type beside struct {
	run  func(ctx context.Context, r *rooms, present func(link string) error) error
	ends bool // the server ends with it
}

// serve is the server, with those folders open, from its start until a signal or the end
// of what runs beside it. Whatever fails while it starts leaves nothing behind.
func (o *options) serve(ctx context.Context, folders []string, stdout, stderr io.Writer, b beside) (err error) {
	if err := o.checkReplica(true); err != nil {
		return err
	}
	// The heap may grow to 16 MB before it is collected first: that would take a tenth
	// of the start, and go on beside the first page.
	usual := debug.SetGCPercent(400)
	defer debug.SetGCPercent(usual)
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	c, err := o.loadConfig()
	if err != nil {
		return err
	}
	if err := o.checkBackend(c); err != nil {
		return err
	}
	if _, err := o.providers(c); err != nil {
		return err
	}
	path, err := o.madeDataDir()
	if err != nil {
		return err
	}
	dir, err := daemon.Open(path)
	if err != nil {
		return err
	}
	defer func() {
		if taken := dir.Held(); errors.Is(taken, daemon.ErrTaken) {
			err = errors.Join(err, fmt.Errorf("webchat ended: %w", taken))
		}
		err = errors.Join(err, dir.Close())
	}()
	log := slog.New(slog.NewTextHandler(daemon.LogWriter(path, stderr), nil))
	listeners, port, err := daemon.Listeners(ctx, "--listen", o.Listen, o.listenGiven, sse.ListenControl)
	if err != nil {
		return err
	}
	if _, asked, _ := net.SplitHostPort(o.Listen); asked != "0" && asked != strconv.Itoa(port) {
		fmt.Fprintf(stderr, "webchat: port %s is in use by another program, so this server listens on port %d\n", asked, port)
	}
	held := func() error {
		err := dir.Held()
		if errors.Is(err, daemon.ErrTaken) {
			stop() // two servers on one folder would each believe to be alone
		}
		return err
	}
	fenced := make(chan error, 1) // others may have the sessions of this program
	ended := make(chan struct{})
	defer close(ended)
	quit, cut := context.WithCancel(context.Background())
	defer cut()
	lost := func(err error) {
		cut()
		fenced <- fmt.Errorf("webchat ended, so that nothing is done twice: %w", err)
		stop()
		go func() {
			select {
			case <-ended:
			case <-time.After(store.ForceExit):
				os.Exit(exitFenced) // helpers end what the commands of agents left
			}
		}()
	}
	defer func() {
		select {
		case away := <-fenced:
			err = errors.Join(err, away)
		default:
		}
	}()
	front := newFront(listeners, o.boundConnections(), log)
	r, err := o.newRooms(ctx, c, folders, path, held, lost, front.begin, log)
	if err != nil {
		front.abandon()
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return nil // it was to end before it began
		}
		return err
	}
	defer func() { err = errors.Join(err, r.db.Close()) }()
	defer r.looking.Wait()
	stopMetrics, err := o.serveMetrics(ctx, r.metrics.handler(), log)
	if err != nil {
		front.abandon()
		return err
	}
	defer stopMetrics()
	o.warn(log)
	for _, folder := range folders {
		o.warnWorkspace(folder, log)
	}
	base := "http://localhost:" + strconv.Itoa(port)
	r.handover.Link = func(path string) string { return r.guard.LinkTo(base, path) }
	ctl, err := daemon.Listen(ctx, daemon.ControlConfig{Dir: path, Protect: r.guard.Bearer, Link: func() string { return r.guard.Link(base) }, Logout: r.guard.Revoke, Token: r.guard.NewToken, Stop: stop,
		Prune: func(ctx context.Context, older time.Duration) (daemon.Pruned, error) {
			return daemon.Prune(ctx, r.sessions, r.db, older)
		}, Lend: r.lender.In, Open: r.handover.Open, Show: r.handover.Show})
	if err != nil {
		log.Warn("webchat url and other commands do not find this server", "error", err)
	}
	defer func() { err = errors.Join(err, ctl.Close(), daemon.RemoveRedirect(path)) }()
	info := daemon.Info{URL: base, PID: os.Getpid()}
	if o.PublicURL != "" {
		info.URL = o.PublicURL
	}
	r.lender.Listens(info.URL, o.ownURL(base, port), b.ends)
	var done chan error // nil: what runs beside it did not begin
	defer func() {
		if done != nil {
			err = errors.Join(err, <-done)
		}
	}()
	drain := func() {
		draining, end := context.WithTimeout(quit, o.Drain)
		defer end()
		draining, unhook := signal.NotifyContext(draining, os.Interrupt, syscall.SIGTERM) // a second one ends it
		defer unhook()
		r.sessions.Drain(draining)
	}
	return r.serve(ctx, drain, stop, front, log, func() error {
		if err := dir.Announce(info); errors.Is(err, daemon.ErrNotKept) {
			log.Warn("server.json was not written: commands may name an older server", "error", err)
		} else if err != nil {
			return fmt.Errorf("write server.json: %w", err)
		}
		if r.peers != nil {
			if err := o.checkAddress(ctx, r.peers.Self(), log); err != nil {
				return err
			}
			r.looking.Go(func() { markShared(ctx, o.SharedDir, r.peers, log) })
		}
		time.AfterFunc(time.Second, func() { debug.SetGCPercent(usual) })
		if !atTerminal(stderr) { // there the link says so
			log.Info("webchat is ready", "url", base, "workspace", strings.Join(folders, " "), "data", path)
		}
		done = make(chan error, 1)
		go func() {
			err := b.run(ctx, r, func(link string) error { return o.present(path, link, stdout, stderr) })
			if !b.ends && err != nil && ctx.Err() == nil {
				log.Error("what was asked for at the start was not done", "error", err)
			}
			if b.ends {
				defer stop()
			} else {
				err = nil
			}
			done <- err
		}()
		return nil
	})
}

// ownURL is where agents on this machine call the tools that are lent to them: loopback, if it is
// listened on, since there may be a proxy before the public URL that asks people who they are.
func (o *options) ownURL(base string, port int) string {
	host, err := o.listenHost()
	ip, e := netip.ParseAddr(host)
	switch {
	case o.PublicURL == "", err == nil && isLoopback(host):
		return base
	case host == "", e == nil && ip.Unmap().IsUnspecified():
		return "http://127.0.0.1:" + strconv.Itoa(port)
	}
	return o.PublicURL
}

// warn says what the user should know about this start.
func (o *options) warn(log *slog.Logger) {
	if o.Permissions == "allow" {
		log.Warn("--permissions allow: agents run commands as you without asking")
	}
	if o.InsecureNoAuth {
		log.Warn("--insecure-no-auth: every program on this machine can run commands as you")
	}
	if (o.container || boxed()) && reachesDocker("/var/run/docker.sock") {
		log.Warn("the Docker socket can be written from this container, so users of webchat and agents can take over the whole machine: do not mount it")
	}
	if host, err := o.listenHost(); err == nil && !isLoopback(host) && !o.container && o.PublicURL == "" {
		log.Warn("listening beyond this machine, but only requests for localhost are answered; give --public-url for a name", "listen", o.Listen)
	}
}

// serve answers until ctx ends, then drains and lets everything end in order: streams get
// their last frame, turns are closed in the log, requests end.
func (r *rooms) serve(ctx context.Context, drain, unhook func(), f *front, log *slog.Logger, ready func() error) error {
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
			drain()
		case err = <-f.served:
			left--
			err = fmt.Errorf("serve: %w", err)
		case err = <-sessions:
			sessionsEnded = true
			err = fmt.Errorf("run the sessions: %w", err)
		}
	}
	unhook() // a second signal ends the program at once

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
