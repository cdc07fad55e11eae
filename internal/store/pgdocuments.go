package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"webchat/internal/document"
)

// startDocument has the text of [Postgres.Start]; no [document.Value] does.
const startDocument = "start"

// refreshTime bounds how long a request that is about to be refused waits for the database.
const refreshTime = time.Second

// maxDocument is how many bytes a document may have.
const maxDocument = 16 << 20

// documents implements [document.Store] in the database. What was read once is kept in memory, and
// read again when a beat shows another version: no request waits for a database that is away.
// Without a beat nothing is kept.
type documents struct {
	db *Postgres

	asking sync.Mutex // held while a request reads or writes the database; taken before mu

	mu    sync.Mutex      // guards what follows
	known map[string]text // nil: nothing is kept
}

// text is a document as it was read.
type text struct {
	version int64 // 0: there is none
	body    []byte
	asked   time.Time // when it was asked for last, whatever came of it
}

// Documents are the small texts that the replicas share.
func (db *Postgres) Documents() document.Store { return db.documents }

// OpenDocuments opens the documents of a database without joining its replicas, for a command
// beside them. The first use connects.
func OpenDocuments(url string) (document.Store, error) {
	db, err := connect(PostgresConfig{URL: url})
	if err != nil {
		return nil, err
	}
	return &documents{db: db}, nil
}

// String names where they are, for the log.
func (d *documents) String() string { return "the database" }

func named(version int64) string {
	if version == 0 {
		return ""
	}
	return strconv.FormatInt(version, 10)
}

func (d *documents) get(name string) (text, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t, ok := d.known[name]
	return t, ok
}

func (d *documents) set(name string, t text) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if was := d.known[name]; was.version > t.version { // a beat was faster
		t.version, t.body = was.version, was.body
	}
	if d.known != nil {
		d.known[name] = t
	}
}

// Read implements [document.Store].
func (d *documents) Read(name string) (body []byte, version string, err error) {
	t, ok := d.get(name)
	if !ok {
		d.asking.Lock()
		defer d.asking.Unlock()
		if t, ok = d.get(name); !ok {
			if t, err = d.ask(d.db.open, name); err != nil {
				return nil, "", fmt.Errorf("read %s: %w", name, err)
			}
			d.set(name, t)
		}
	}
	return t.body, named(t.version), nil
}

// Refresh implements [document.Refresher]: callers that wait for each other share one query.
func (d *documents) Refresh(name string) error {
	called := time.Now()
	d.asking.Lock()
	defer d.asking.Unlock()
	was, ok := d.get(name)
	if was.asked.After(called) {
		return nil
	}
	now := time.Now()
	ctx, cancel := context.WithTimeout(d.db.open, refreshTime)
	defer cancel()
	t, err := d.ask(ctx, name)
	if err != nil {
		if was.asked = now; ok {
			d.set(name, was)
		}
		return fmt.Errorf("read %s: %w", name, err)
	}
	t.asked = now
	d.set(name, t)
	return nil
}

// ask reads a text from the database.
func (d *documents) ask(ctx context.Context, name string) (t text, err error) {
	ctx, cancel := context.WithTimeout(ctx, d.db.cfg.Times.attempt()/2)
	defer cancel()
	err = d.db.query(ctx, func(rows record) error { return rows.Scan(&t.version, &t.body) },
		`SELECT version, body FROM documents WHERE name = $1`, name)
	return t, err
}

// follow reads again what others changed: versions has the present ones. It waits for no request,
// and no number of them, such as of strangers whose cookies are looked up, keeps it from that.
func (d *documents) follow(ctx context.Context, versions map[string]int64) {
	d.mu.Lock()
	var changed []string
	for name, t := range d.known {
		if versions[name] > t.version {
			changed = append(changed, name)
		}
	}
	d.mu.Unlock()
	for _, name := range changed {
		if t, err := d.ask(ctx, name); err == nil { // else the next beat tries
			d.set(name, t)
		}
	}
}

// Replace implements [document.Store].
func (d *documents) Replace(name, version string, body []byte) (now string, err error) {
	changed := fmt.Errorf("%s: %w", name, document.ErrChanged)
	was, err := strconv.ParseInt("0"+version, 10, 64)
	switch {
	case err != nil:
		return "", changed
	case len(body) > maxDocument:
		return "", fmt.Errorf("%s has more than 16 MiB", name)
	case body == nil:
		body = []byte{}
	}
	d.asking.Lock()
	defer d.asking.Unlock()
	statement,
		args := `UPDATE documents SET version = version + 1, body = $2 WHERE name = $1 AND version = $3`,
		[]any{name, body, was}
	if was == 0 {
		statement,
			args = `INSERT INTO documents (name, version, body) VALUES ($1, 1, $2) ON CONFLICT (name) DO NOTHING`, args[:2]
	}
	n, err := d.db.exec(d.db.open, statement, args...)
	t := text{version: was + 1, body: bytes.Clone(body)}
	if err != nil && !mayBeDone(err) {
		return "", fmt.Errorf("change %s: %w", name, err)
	}
	if err != nil || n == 0 { // others were faster, or the reply was lost
		there, asked := d.ask(d.db.open, name)
		if asked != nil {
			return "", fmt.Errorf("change %s: %w", name, errors.Join(err, asked))
		}
		d.set(name, there)
		switch {
		case err != nil && there.version == was:
			return "", fmt.Errorf("change %s: %w", name, err)
		case err == nil || there.version != t.version || !bytes.Equal(there.body, t.body):
			return "", changed
		}
	}
	d.set(name, t)
	return named(t.version), nil
}
