package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"webchat/internal/daemon"
	"webchat/internal/document"
	"webchat/internal/eventlog"
	"webchat/internal/guard"
	"webchat/internal/sessions"
	"webchat/internal/store"
	"webchat/internal/wording"
	"webchat/web"
)

// sessionStore keeps the sessions: a file in the data folder, or a PostgreSQL database.
type sessionStore interface {
	sessions.Log
	sessions.Catalog
	eventlog.Drafts
	daemon.Shrinking
	Close() error
}

// lateDocuments are some that are opened when they are first needed.
type lateDocuments struct {
	open func() (document.Store, error)
}

// Read implements [document.Store].
func (d *lateDocuments) Read(name string) (text []byte, version string, err error) {
	s, err := d.open()
	if err != nil {
		return nil, "", err
	}
	return s.Read(name)
}

// Replace implements [document.Store].
func (d *lateDocuments) Replace(name, version string, text []byte) (now string, err error) {
	s, err := d.open()
	if err != nil {
		return "", err
	}
	return s.Replace(name, version, text)
}

// documents are those of a data folder, as a command beside a server has them: in the folder, or in
// the database of --engine-file.
func (o *engineFlags) documents(dir string) document.Store {
	if o.EngineFile == "" {
		return document.Folder(dir)
	}
	return &lateDocuments{sync.OnceValues(func() (document.Store, error) {
		url, err := o.engineURL(slog.New(slog.DiscardHandler))
		if err != nil {
			return nil, err
		}
		return store.OpenDocuments(url)
	})}
}

// ownersOf is a store that several replicas may share; nil if it is this program's alone.
func ownersOf(db sessionStore) sessions.Owners {
	if shared, ok := db.(*store.Postgres); ok {
		return shared
	}
	return nil
}

// slotFile names this data folder to the database, so that a program that was killed makes its
// successor wait for nothing.
const slotFile = "slot"

// engineURL reads the file that --engine-file names.
func (o *engineFlags) engineURL(log *slog.Logger) (string, error) {
	const form = "write the address of a PostgreSQL database into it, such as " +
		"postgres://user:password@host/database"
	url, err := guard.ReadKey(o.EngineFile, "password of the database", log)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", usage("--engine-file %s: there is no such file; %s", o.EngineFile, form)
	case err != nil:
		return "", usage("--engine-file %s: %v", o.EngineFile, daemon.Plain(err))
	case url == "":
		return "", usage("--engine-file %s: it is empty; %s", o.EngineFile, form)
	case !strings.HasPrefix(url, "postgres://") && !strings.HasPrefix(url, "postgresql://"):
		return "", usage("--engine-file %s: it does not hold the address of a database; %s", o.EngineFile,
			form)
	}
	return url, nil
}

// openEngine opens the database that --engine-file names. One that does not answer is waited for,
// and away is called then.
func (o *engineFlags) openEngine(ctx context.Context, dir string, lost func(error), away func(),
	log *slog.Logger) (*store.Postgres, error) {
	url, err := o.engineURL(log)
	if err != nil {
		return nil, err
	}
	slot, err := slotOf(dir)
	if err != nil {
		return nil, err
	}
	for reported := false; ; reported = true {
		db, err := store.OpenPostgres(ctx, store.PostgresConfig{
			URL:     url,
			Slot:    slot,
			PeerURL: o.PeerURL,
			Version: version() + "+" + web.Version(),
			Lost:    lost,
			Logger:  log,
		})
		switch {
		case err == nil:
			return db, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !errors.Is(err, store.ErrAway):
			return nil, usage("--engine-file %s: %v", o.EngineFile, err)
		case !reported:
			log.Warn("the database does not answer; webchat begins when it does", "engine-file",
				o.EngineFile)
			away()
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// openStore opens the sessions for a command that runs without a server.
func (o *engineFlags) openStore(ctx context.Context, dir string,
	log *slog.Logger) (sessionStore, error) {
	if o.EngineFile != "" {
		return o.openEngine(ctx, dir, nil, func() {}, log)
	}
	if _, err := os.Stat(filepath.Join(dir, store.FileName)); err != nil {
		return nil, fmt.Errorf("there are no sessions in %s: %w", dir, daemon.Plain(err))
	}
	return store.Open(store.Config{Dir: dir})
}

// slotOf reads the name of this data folder, or makes one.
func slotOf(dir string) (string, error) {
	name := filepath.Join(dir, slotFile)
	b, err := os.ReadFile(name)
	if slot := strings.TrimSpace(string(b)); err == nil && slot != "" {
		return slot, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	slot := rand.Text()
	return slot, document.Write(name, []byte(slot+"\n"))
}

// engine says what the database is like that --engine-file names.
func (k checkup) engine(ctx context.Context) error {
	if k.EngineFile == "" {
		return nil
	}
	url, err := k.engineURL(slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	e, err := store.LookAt(ctx, url)
	if err != nil {
		return usage("--engine-file %s: %v", k.EngineFile, err)
	}
	used := "no webchat uses it"
	if len(e.Replicas) > 0 {
		used = "used by " + wording.Plural(len(e.Replicas), "webchat")
	}
	k.say("engine", "PostgreSQL %s, database %s, schema %d; %s", e.Version, e.Database, e.Schema, used)
	if e.Standbys > 0 && e.Synced == 0 {
		k.say("engine",
			"it has %s, and no commit waits for one: a failover may lose what was acknowledged; set "+
				"synchronous_standby_names",
			wording.Plural(e.Standbys, "standby"))
	}
	for _, r := range e.Replicas {
		k.say("replica", "%s", k.replica(r, len(e.Replicas) > 1))
	}
	return nil
}

// replica says what a replica that lives is like.
func (k checkup) replica(r store.Replica, several bool) string {
	text := fmt.Sprintf("%d, version %s, has its sessions for another %.0f s", r.Number, r.Version,
		r.Left.Seconds())
	switch {
	case r.URL != "":
		text += ", reached at " + r.URL
	case several:
		text += ", without --peer-url: nothing can be passed on to it"
	}
	switch {
	case k.SharedDir == "":
	case sees(k.SharedDir, r.Number):
		text += ", shares " + k.SharedDir
	default:
		text += ", writes to another folder than " + k.SharedDir + ": mount the same volume for both"
	}
	return text
}

// moveSessions is "webchat move": it copies the sessions of the data folder to the database, or
// back.
func moveSessions(ctx context.Context, o *options, stdout, stderr io.Writer) (err error) {
	if o.EngineFile == "" {
		return usage("say which database: webchat move --engine-file FILE")
	}
	path, _, err := o.credentials()
	if err != nil {
		return err
	}
	dir, err := daemon.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	log := slog.New(slog.NewTextHandler(stderr, nil))
	file, err := store.Open(store.Config{Dir: path})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	engine, err := o.openEngine(ctx, path, nil, func() {}, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	if len(engine.Peers()) > 0 {
		return fmt.Errorf("%w: %s", store.ErrHeld, wording.Plural(len(engine.Peers()), "server"))
	}
	var from, to store.Sessions = file, engine
	if o.Back {
		from, to = engine, file
	}
	began := time.Now()
	m, err := store.Move(ctx, from, to, func(m store.Moved) {
		if n := m.Copied + m.There; n%1000 == 0 || time.Since(began) > 5*time.Second {
			began = time.Now()
			fmt.Fprintf(stderr, "%d sessions so far\n", n)
		}
	})
	if err != nil {
		return fmt.Errorf("%w; %d sessions were copied: run it again to go on", err, m.Copied)
	}
	_, err = fmt.Fprintf(stdout,
		"%d sessions copied and compared, %d were there already; those they were copied from are as "+
			"they were\n", m.Copied, m.There)
	return err
}
