package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"webchat/internal/daemon"
	"webchat/internal/mcp"
	"webchat/internal/sse"
)

// beside is what runs beside a server from when it is ready. present prints a sign-in
// link and opens it in the browser.
type beside struct {
	run  func(ctx context.Context, r *rooms, present func(link string) error) error
	ends bool // the server ends with it
}

// serving is a server from its start to its end. What a step of the start made is ended in the
// reverse order, by ends.
type serving struct {
	o              *options
	folders        []string
	stdout, stderr io.Writer
	beside         beside
	ends           []func() error

	config *config
	life   *lifetime
	path   string // of the data folder
	dir    *daemon.Folder
	log    *slog.Logger
	port   int
	front  *front
	rooms  *rooms
}

// serve is the server, with those folders open, from its start until a signal or the end
// of what runs beside it. Whatever fails while it starts leaves nothing behind.
func (o *options) serve(ctx context.Context, folders []string, stdout, stderr io.Writer,
	b beside) (err error) {
	if err := o.checkReplica(true); err != nil {
		return err
	}
	s := &serving{
		o:       o,
		folders: folders,
		stdout:  stdout,
		stderr:  stderr,
		beside:  b,
		life:    newLifetime(ctx),
	}
	defer s.life.over()
	defer func() {
		for _, end := range slices.Backward(s.ends) {
			err = errors.Join(err, end())
		}
	}()
	// The heap may grow to 16 MB before it is collected first: that would take a tenth
	// of the start, and go on beside the first page.
	usual := debug.SetGCPercent(400)
	s.atEnd(func() error { debug.SetGCPercent(usual); return nil })
	ctx = s.life.ctx
	for _, step := range []func(context.Context) error{s.configure, s.takeFolder, s.listen,
		s.openRooms, s.serveMetrics, s.control} {
		if err := step(ctx); err != nil {
			if ctx.Err() != nil && errors.Is(err, context.Canceled) {
				return nil // it was to end before it began
			}
			return err
		}
	}
	return s.rooms.serve(ctx, s.life, o.Drain, s.front, s.log, func() error {
		time.AfterFunc(time.Second, func() { debug.SetGCPercent(usual) })
		return s.ready(ctx)
	})
}

func (s *serving) atEnd(end func() error) { s.ends = append(s.ends, end) }

// configure reads what the user set up, and refuses what is wrong before anything is made.
func (s *serving) configure(context.Context) (err error) {
	if s.config, err = s.o.loadConfig(); err != nil {
		return err
	}
	if err := s.o.roster(s.config).checkBackend(); err != nil {
		return err
	}
	_, err = s.o.roster(s.config).providers()
	return err
}

// takeFolder makes the data folder this server's alone.
func (s *serving) takeFolder(context.Context) (err error) {
	if s.path, err = s.o.madeDataDir(); err != nil {
		return err
	}
	if s.dir, err = daemon.Open(s.path); err != nil {
		return err
	}
	s.atEnd(func() (err error) {
		if taken := s.dir.Held(); errors.Is(taken, daemon.ErrTaken) {
			err = fmt.Errorf("webchat ended: %w", taken)
		}
		return errors.Join(err, s.dir.Close())
	})
	s.log = slog.New(slog.NewTextHandler(daemon.LogWriter(s.path, s.stderr), nil))
	return nil
}

// held reports whether the data folder is still this server's, and ends the server if it is not:
// two on one folder would each believe to be alone.
func (s *serving) held() error {
	err := s.dir.Held()
	if errors.Is(err, daemon.ErrTaken) {
		s.life.stop()
	}
	return err
}

// listen takes the port. Clients that connect wait until the rooms are there.
func (s *serving) listen(ctx context.Context) error {
	listeners, port, err := daemon.Listeners(ctx, daemon.Where{
		Flag:    "--listen",
		Address: s.o.Listen,
		Fixed:   s.o.listenGiven,
	}, sse.ListenControl)
	if err != nil {
		return err
	}
	if _, asked, _ := net.SplitHostPort(s.o.Listen); asked != "0" && asked != strconv.Itoa(port) {
		fmt.Fprintf(s.stderr,
			"webchat: port %s is in use by another program, so this server listens on port %d\n", asked,
			port)
	}
	s.port, s.front = port, newFront(listeners, s.o.boundConnections(), s.log)
	s.atEnd(func() error { s.front.abandon(); return nil })
	return nil
}

func (s *serving) openRooms(ctx context.Context) (err error) {
	s.atEnd(s.life.lost)
	w := wiring{ctx: ctx, o: s.o, c: s.config, folders: s.folders, dir: s.path, log: s.log,
		locked: s.held, lost: s.life.lose, away: s.front.begin}
	if s.rooms, err = w.newRooms(); err != nil {
		return err
	}
	s.atEnd(func() error {
		s.rooms.looking.Wait()
		return errors.Join(s.rooms.day.Close(), s.rooms.db.Close())
	})
	return nil
}

func (s *serving) serveMetrics(ctx context.Context) error {
	stop, err := s.o.serveMetrics(ctx, s.rooms.metrics.handler(), s.log)
	if err == nil {
		s.atEnd(func() error { stop(); return nil })
	}
	return err
}

// base is where the page is on this machine.
func (s *serving) base() string { return "http://localhost:" + strconv.Itoa(s.port) }

// url is where the page is for its users.
func (s *serving) url() string { return cmp.Or(s.o.PublicURL, s.base()) }

// control lets other commands reach this server. Without it the server does all else.
func (s *serving) control(ctx context.Context) error {
	s.o.warn(s.log)
	for _, folder := range s.folders {
		s.o.warnWorkspace(folder, s.log)
	}
	r, base := s.rooms, s.base()
	r.handover.Link = func(path string) string { return r.guard.LinkTo(base, path) }
	ctl, err := daemon.Listen(ctx, daemon.ControlConfig{
		Dir: s.path, Protect: r.guard.Bearer, Link: func() string { return r.guard.Link(base) },
		Logout: r.guard.Revoke, Token: r.guard.NewToken, Stop: s.life.stop,
		Prune: func(ctx context.Context, older time.Duration) (daemon.Pruned, error) {
			return daemon.Prune(ctx, r.sessions, r.db, older)
		}, Lend: r.lender.In, Open: r.handover.Open, Show: r.handover.Show})
	if err != nil {
		s.log.Warn("webchat url and other commands do not find this server", "error", err)
	}
	s.atEnd(func() error { return errors.Join(ctl.Close(), daemon.RemoveRedirect(s.path)) })
	r.lender.Listens(mcp.Address{
		URL:  s.url(),
		Own:  s.o.ownURL(base, s.port),
		Ends: s.beside.ends,
	})
	return nil
}

// ready announces the server and begins what runs beside it.
func (s *serving) ready(ctx context.Context) error {
	err := s.dir.Announce(daemon.Info{URL: s.url(), PID: os.Getpid()})
	if errors.Is(err, daemon.ErrNotKept) {
		s.log.Warn("server.json was not written: commands may name an older server", "error", err)
	} else if err != nil {
		return fmt.Errorf("write server.json: %w", err)
	}
	if peers := s.rooms.peers; peers != nil {
		if err := s.o.checkAddress(ctx, peers.Self(), s.log); err != nil {
			return err
		}
		s.rooms.looking.Go(func() { markShared(ctx, s.o.SharedDir, peers, s.log) })
	}
	if !atTerminal(s.stderr) { // there the link says so
		s.log.Info("webchat is ready", "url", s.base(), "workspace", strings.Join(s.folders, " "), "data",
			s.path)
	}
	done := make(chan error, 1)
	s.atEnd(func() error { return <-done })
	go func() { done <- s.runBeside(ctx) }()
	return nil
}

// runBeside runs what was asked for with the start, and returns what the command is to report of
// it.
func (s *serving) runBeside(ctx context.Context) error {
	err := s.beside.run(ctx, s.rooms, func(link string) error {
		return opener{s.o, s.stdout, s.stderr}.present(s.path, link)
	})
	if s.beside.ends {
		s.life.stop()
		return err
	}
	if err != nil && ctx.Err() == nil {
		s.log.Error("what was asked for at the start was not done", "error", err)
	}
	return nil
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
		log.Warn("the Docker socket can be written from this container, so users of webchat and agents " +
			"can take over the whole machine: do not mount it")
	}
	if host, err := o.listenHost(); err == nil && !isLoopback(host) && !o.container &&
		o.PublicURL == "" {
		log.Warn("listening beyond this machine, but only requests for localhost are answered; give "+
			"--public-url for a name", "listen", o.Listen)
	}
}
