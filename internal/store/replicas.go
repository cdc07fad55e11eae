package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"webchat/internal/eventlog"
	"webchat/internal/sessions"
)

// A replica is one life of a process that shares the database with others. Its number is never used
// again. What it has it has until its life ends, so the number of the owner in a session's row is
// the fence: only the replica that took the session last may write. A life ends when its row was
// not renewed in time, or when another replica took a session of it.

// ErrFenced: the life of this replica has ended, and others may have what it had. It wraps
// [eventlog.ErrClosed].
var ErrFenced = fmt.Errorf("another webchat may have the sessions of this one: %w",
	eventlog.ErrClosed)

// Times are those of a replica's life. The zero value is what all replicas have; others are for
// tests.
type Times struct {
	Beat   time.Duration // between two renewals
	Lease  time.Duration // from the last renewal until others may take what it has
	GiveUp time.Duration // from the last renewal until it gives up what it has
}

func (t Times) complete() Times {
	return Times{cmp.Or(t.Beat, beat), cmp.Or(t.Lease, lease), cmp.Or(t.GiveUp, giveUp)}
}

// attempt bounds one statement, so that a connection that went dead is noticed.
func (t Times) attempt() time.Duration { return t.GiveUp / 4 }

// life is what a replica knows of itself and the others.
type life struct {
	cfg   *PostgresConfig
	me    int64  // its number
	start string // see [Postgres.Start]

	mu     sync.Mutex // guards what follows
	until  time.Time  // when it gives up what it has
	peers  []sessions.Peer
	stays  []sessions.Peer // those of them that do not leave
	leaves bool            // what is released others take
	ended  bool
	lost   bool // it ended though it was not closed
	// acknowledged is what this replica wrote last of each session: a log that ends before was lost by
	// a failover.
	acknowledged map[eventlog.ID]written
}

// Self is this replica.
func (l *life) Self() sessions.Peer {
	return sessions.Peer{Number: l.me, URL: l.cfg.PeerURL, Version: l.cfg.Version}
}

// Peers are the other living replicas as of the last beat, by their numbers.
func (l *life) Peers() []sessions.Peer {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.peers)
}

// Start is a text that all living replicas have in common, and those that come after the last of
// them do not: what follows from it ends with them.
func (l *life) Start() string { return l.start }

// Left is how long this replica has what it has if it does not reach the database again.
func (l *life) Left() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, time.Until(l.until))
}

// Up reports whether the database answered one of the last three beats.
func (l *life) Up() bool {
	return l.Left() > l.cfg.Times.GiveUp-3*l.cfg.Times.Beat
}

// Fenced reports whether the life of this replica has ended though it was not closed.
func (l *life) Fenced() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// held returns [ErrFenced] when others may have what this replica had: by the clock that a frozen
// program does not see and by the one that stands still while a machine sleeps.
func (l *life) held() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Before(l.until) && now.Round(0).Before(l.until.Round(0)) || l.cfg.unfenced {
		return nil
	}
	return ErrFenced
}

// end ends the life: nothing is written after, and Lost is called, once.
func (l *life) end(why string) {
	l.mu.Lock()
	was := l.ended
	l.ended, l.until = true, time.Time{}
	l.lost = l.lost || !was
	l.mu.Unlock()
	if was {
		return
	}
	l.cfg.Logger.Error(why+": it ends, so that nothing is done twice", "replica", l.me)
	if l.cfg.Lost != nil {
		l.cfg.Lost(ErrFenced)
	}
}

// Alive implements [sessions.Owners].
func (db *Postgres) Alive() error { return db.held() }

// keepReplicas is how long the row of a replica is kept after its life.
const keepReplicas = `interval '1 hour'`

// join begins the life. An earlier one of the same data folder is dead, since only a living process
// has the lock of the folder: what it had is free at once.
func (db *Postgres) join(ctx context.Context, tx pgx.Tx) error {
	exec := func(text string, args ...any) error {
		_, err := tx.Exec(ctx, text, args...)
		return refused(err)
	}
	if err := exec(`UPDATE replicas SET ends = now() WHERE slot = $1 AND ends > now()`,
		db.cfg.Slot); err != nil {
		return err
	}
	if err := exec(`DELETE FROM replicas WHERE ends < now() - ` + keepReplicas); err != nil {
		return err
	}
	// What others made of the number that was before is worth nothing once no replica is left that
	// knows it.
	if err := exec(
		`INSERT INTO documents (name, version, body) SELECT $1, 1, convert_to(gen_random_uuid()::text, 'UTF8')
		WHERE NOT EXISTS (SELECT FROM replicas WHERE ends > now())
		ON CONFLICT (name) DO UPDATE SET version = documents.version + 1, body = excluded.body`, startDocument); err != nil {
		return err
	}
	err := tx.QueryRow(ctx,
		`INSERT INTO replicas (slot, url, version, ends) VALUES ($1, $2, $3, now() + $4::bigint * interval '1 microsecond') RETURNING id`,
		db.cfg.Slot, db.cfg.PeerURL, db.cfg.Version, db.cfg.Times.Lease.Microseconds()).Scan(&db.life.me)
	if err != nil {
		return refused(err)
	}
	var start []byte
	err = tx.QueryRow(ctx, `SELECT body FROM documents WHERE name = $1`, startDocument).Scan(&start)
	db.life.start = string(start)
	return refused(err)
}

// renew says again and again that this replica lives, until it is closed or its life has ended.
func (db *Postgres) renew() {
	defer close(db.done)
	tick := time.NewTicker(db.cfg.Times.Beat)
	defer tick.Stop()
	for {
		select {
		case <-db.open.Done():
			return
		case <-tick.C:
		}
		switch err := db.beat(); {
		case db.open.Err() != nil:
			return
		case errors.Is(err, ErrFenced):
			db.end("another webchat ended the life of this one, or it was away for too long")
			return
		case db.held() != nil:
			db.end("this webchat did not reach the database for too long")
			return
		}
	}
}

// beat renews the row, and learns which other replicas live and which documents changed.
func (db *Postgres) beat() error {
	sent := time.Now()
	db.life.mu.Lock()
	until := db.life.until
	db.life.mu.Unlock()
	ctx, cancel := context.WithTimeout(db.open, min(time.Until(until), db.cfg.Times.attempt()))
	defer cancel()
	var mine bool
	var peers, stays []sessions.Peer
	versions := map[string]int64{}
	err := db.query(ctx, func(rows record) error {
		var what, text, version string
		var number int64
		err := rows.Scan(&what, &number, &text, &version)
		peer := sessions.Peer{Number: number, URL: text, Version: version}
		switch what {
		case "me":
			mine = true
		case "stays":
			stays = append(stays, peer)
			fallthrough
		case "leaves":
			peers = append(peers, peer)
		default:
			versions[text] = number
		}
		return err
	}, `WITH me AS (UPDATE replicas SET ends = now() + $2::bigint * interval '1 microsecond' WHERE id = $1 AND ends > now() RETURNING id)
		SELECT 'me', id, '', '' FROM me
		UNION ALL SELECT CASE WHEN leaves OR url = '' THEN 'leaves' ELSE 'stays' END, id, url, version FROM replicas WHERE ends > now() AND id <> $1
		UNION ALL SELECT 'document', version, name, '' FROM documents`, db.life.me, db.cfg.Times.Lease.Microseconds())
	if err != nil {
		return err
	}
	if !mine {
		return ErrFenced
	}
	slices.SortFunc(peers, func(a, b sessions.Peer) int { return cmp.Compare(a.Number, b.Number) })
	db.life.mu.Lock()
	if !db.life.ended {
		db.life.until = sent.Add(db.cfg.Times.GiveUp)
		db.life.peers, db.life.stays = peers, stays
	}
	db.life.mu.Unlock()
	db.documents.follow(ctx, versions)
	return nil
}

// Leave gives back what this replica has, so that others need not wait for its lease. Nothing is
// written after. It may be called twice.
func (db *Postgres) Leave() error {
	db.life.mu.Lock()
	was := db.life.ended
	db.life.ended, db.life.until = true, time.Time{}
	db.life.mu.Unlock()
	if was {
		return nil
	}
	_, err := db.exec(db.open, `UPDATE replicas SET ends = now() WHERE id = $1 AND ends > now()`,
		db.life.me)
	if errors.Is(err, ErrAway) {
		return nil // the lease ends by itself
	}
	return err
}

// alive is true of the row of a replica that lives, in a statement.
const alive = `EXISTS (SELECT FROM replicas r WHERE r.ends > now() AND r.id = `

// Take implements [sessions.Owners].
func (db *Postgres) Take(ctx context.Context, id eventlog.ID) error {
	err := db.take(ctx, id)
	if err != nil {
		if _, elsewhere := errors.AsType[*sessions.ElsewhereError](err); !elsewhere {
			err = fmt.Errorf("take session %s: %w", id, err)
		}
	}
	return err
}

func (db *Postgres) take(ctx context.Context, id eventlog.ID) error {
	for range 5 { // another one may be faster, and then be dead
		if err := db.held(); err != nil {
			return err
		}
		heir, leaves := db.heir(id)
		var owner, other int64
		var took, lives bool
		var url, version string
		var left float64
		found := false
		// Where another one takes the row meanwhile, PostgreSQL looks again at the columns of the row
		// only, not whether its new owner lives: so the owner has to be the one that was found dead.
		err := db.query(ctx, func(rows record) error {
			found = true
			return rows.Scan(&owner, &took, &lives, &other, &url, &version, &left)
		}, `WITH free AS MATERIALIZED (SELECT key, owner FROM sessions WHERE id = $2 AND owner <> $1 AND $3::boolean
				AND NOT `+alive+`sessions.owner) AND `+alive+`$1)),
			t AS (UPDATE sessions SET owner = $1 FROM free WHERE sessions.key = free.key AND sessions.owner = free.owner RETURNING id)
			SELECT s.owner, EXISTS (SELECT FROM t), `+alive+`$1), coalesce(r.id, 0), coalesce(r.url, ''), coalesce(r.version, ''),
				coalesce(extract(epoch FROM r.ends - now()), 0)::float8
			FROM sessions s LEFT JOIN replicas r ON r.id = s.owner AND r.ends > now() WHERE s.id = $2`, db.life.me, []byte(id), !leaves)
		switch {
		case err != nil:
			return err
		case !found:
			return eventlog.ErrNotFound
		case !lives:
			db.end("the life of this webchat has ended")
			return ErrFenced
		case took:
			db.taken.Add(1)
			db.life.mu.Lock()
			if was, ok := db.life.acknowledged[id]; ok {
				// the rest others may have written
				db.life.acknowledged[id] = written{last: was.last, created: -1}
			}
			db.life.mu.Unlock()
			return nil
		case owner == db.life.me:
			return nil
		case other != 0:
			return &sessions.ElsewhereError{ID: id, Peer: sessions.Peer{
				Number:  other,
				URL:     url,
				Version: version,
			},
				Until: time.Now().Add(time.Duration(left * float64(time.Second)))}
		}
		if leaves {
			return &sessions.ElsewhereError{ID: id, Peer: heir, Until: time.Now()}
		}
	}
	return ErrAway
}

// heir says whether this replica leaves what it can to others, and which of them takes a session
// then: always the same one, so that two requests do not find two.
func (db *Postgres) heir(id eventlog.ID) (peer sessions.Peer, leaves bool) {
	db.life.mu.Lock()
	defer db.life.mu.Unlock()
	if !db.life.leaves || len(db.life.stays) == 0 {
		return peer, false
	}
	return db.life.stays[crc32.ChecksumIEEE([]byte(id))%uint32(len(db.life.stays))], true
}

// Others implements [sessions.Owners].
func (db *Postgres) Others() int {
	db.life.mu.Lock()
	defer db.life.mu.Unlock()
	return len(db.life.stays)
}

// Yield implements [sessions.Owners].
func (db *Postgres) Yield(ctx context.Context) error {
	db.life.mu.Lock()
	db.life.leaves = true
	db.life.mu.Unlock()
	// the others know with their next beat
	_, err := db.exec(ctx, `UPDATE replicas SET leaves = true WHERE id = $1`, db.life.me)
	return err
}

// Release implements [sessions.Owners].
func (db *Postgres) Release(ctx context.Context, id eventlog.ID) error {
	if _, err := db.exec(ctx, `UPDATE sessions SET owner = 0 WHERE id = $1 AND owner = $2`, []byte(id),
		db.life.me); err != nil {
		return fmt.Errorf("release session %s: %w", id, err)
	}
	return nil
}

// Takeovers is how many sessions this replica took that others had, or that were given back.
func (db *Postgres) Takeovers() int64 { return db.taken.Load() }

// Elsewhere implements [sessions.Owners].
func (db *Postgres) Elsewhere(ctx context.Context) (all []eventlog.Summary, err error) {
	found, err := db.sessions(ctx, `SELECT `+columns+
		` FROM sessions WHERE touched > now() - interval '1 minute'
		AND owner IN (SELECT id FROM replicas WHERE id <> $1 AND ends > now() - interval '1 minute')`, db.life.me)
	for _, r := range found {
		all = append(all, r.Summary)
	}
	if err != nil {
		return nil, fmt.Errorf("list the sessions of other replicas: %w", err)
	}
	return all, nil
}

// owned says what it means that a statement about a session this replica has changed so many rows.
func (db *Postgres) owned(ctx context.Context, id eventlog.ID, changed int64, err error) error {
	if err != nil || changed > 0 {
		return err
	}
	_, _, err = db.look(ctx, id, 0)
	if err == nil {
		err = eventlog.ErrNotFound // it was deleted, or begun, just now
	}
	return err
}

// look reads where a log ends, and its event of a sequence. The error is [ErrFenced] if another
// replica has the session, which ends this one, or [eventlog.ErrNotFound].
func (db *Postgres) look(ctx context.Context, id eventlog.ID,
	seq int64) (last int64, there []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, db.cfg.Times.attempt())
	defer cancel()
	owner, found := int64(0), false
	err = db.query(ctx, func(rows record) error {
		found = true
		return rows.Scan(&owner, &last, &there)
	}, `SELECT s.owner, s.last_seq, e.json FROM sessions s LEFT JOIN events e ON e.session = s.key AND e.seq = $2 WHERE s.id = $1`, []byte(id), seq)
	switch {
	case err != nil:
	case !found:
		err = eventlog.ErrNotFound
	case owner != db.life.me:
		db.end(fmt.Sprintf("webchat %d took session %s of this one", owner, id))
		err = ErrFenced
	}
	return last, there, err
}
