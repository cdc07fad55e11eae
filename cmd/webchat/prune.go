package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/offline"
	"webchat/internal/daemon"
	"webchat/internal/files"
	"webchat/internal/sessions"
	"webchat/internal/wording"
)

// age is a duration that may be given in days and weeks.
type age time.Duration

// String is a as the flag takes it.
func (a age) String() string {
	if d := time.Duration(a); d >= 24*time.Hour && d%(24*time.Hour) == 0 {
		return strconv.FormatInt(int64(d/(24*time.Hour)), 10) + "d"
	}
	return time.Duration(a).String()
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (a *age) UnmarshalText(b []byte) error {
	text := string(b)
	for unit, days := range map[string]int64{"d": 1, "w": 7} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			n, err := strconv.ParseInt(number, 10, 64)
			if err != nil || n < 0 || n > 100_000 {
				return errors.New("it must be an age such as 90d, 12w or 36h")
			}
			*a = age(time.Duration(n*days) * 24 * time.Hour)
			return nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return errors.New("it must be an age such as 90d, 12w or 36h")
	}
	*a = age(d)
	return nil
}

// pruneSessions is "webchat sessions prune": by the running server, or without one.
func pruneSessions(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	if o.OlderThan <= 0 {
		return usage("say how old: webchat sessions prune --older-than 90d")
	}
	dir, g, err := o.credentials()
	if err != nil {
		return err
	}
	older := time.Duration(o.OlderThan)
	var p daemon.Pruned
	if info, e := daemon.Read(dir); e == nil && info.URL != "" {
		p, err = daemon.Client{Dir: dir, Token: g.Token()}.Prune(ctx, older)
	} else {
		p, err = o.pruneAlone(ctx, dir, older, slog.New(slog.NewTextHandler(stderr, nil)))
	}
	if err != nil {
		return err
	}
	if p.Elsewhere > 0 {
		fmt.Fprintf(stdout, "%d more stay, since other servers have them: run this there too\n",
			p.Elsewhere)
	}
	_, err = fmt.Fprintf(stdout, "deleted %d sessions not used for %v; %s of %s are left\n",
		p.Sessions, o.OlderThan, wording.Size(p.After), wording.Size(p.Before))
	return err
}

// pruneAlone does it without a server, which must not start meanwhile.
func (o *options) pruneAlone(ctx context.Context, path string, older time.Duration,
	log *slog.Logger) (p daemon.Pruned, err error) {
	dir, err := daemon.Open(path)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	db, err := o.openStore(ctx, path, log)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	folders, err := files.WorkspaceIn(path) // nothing works anywhere
	if err != nil {
		return p, err
	}
	m, err := sessions.New(sessions.Config{
		Log:        db,
		Catalog:    db,
		Drafts:     db,
		Owners:     ownersOf(db),
		Workspaces: folders,
		Logger:     log,
		Backends:   []agent.Backend{offline.New(offline.Config{})},
	})
	if err != nil {
		return p, err
	}
	ctx, stop := context.WithCancel(ctx)
	ran := make(chan error, 1)
	go func() { ran <- m.Run(ctx) }()
	p, err = daemon.Prune(ctx, m, db, older)
	stop()
	return p, errors.Join(err, <-ran)
}
