//go:build unix

package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"webchat/internal/document"
	"webchat/internal/document/documenttest"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
	"webchat/internal/store"
	"webchat/internal/store/postgrestest"
	"webchat/internal/store/storetest"
)

func TestPostgres(t *testing.T) {
	server := postgrestest.Start(t)
	// First, while there is little that a server that crashed has to look through.
	t.Run("Restart", func(t *testing.T) { postgresRestart(t, server) })
	all := func(t *testing.T, through func(string) string) {
		storetest.Run(t, func(t testing.TB) (storetest.Store, func() storetest.Store) {
			at := through(server.Database(t))
			db := openPostgres(t, at)
			t.Cleanup(func() { shut(t, db) })
			return db, func() storetest.Store {
				shut(t, db)
				db = openPostgres(t, at)
				return db
			}
		}, store.ErrSequence)
	}
	t.Run("Store", func(t *testing.T) { all(t, func(at string) string { return at }) })
	t.Run("Pooled", func(t *testing.T) { all(t, server.Pooled(t)) })
	t.Run("Refusals", func(t *testing.T) { postgresRefusals(t, server) })
	t.Run("Owners", func(t *testing.T) { postgresOwners(t, server) })
	t.Run("FrozenOwnerWithAndWithoutFence", func(t *testing.T) { postgresFence(t, server) })
	t.Run("TakenAtOnce", func(t *testing.T) { postgresTakenAtOnce(t, server) })
	t.Run("Documents", func(t *testing.T) { postgresDocuments(t, server) })
	t.Run("Damaged", func(t *testing.T) { postgresDamaged(t, server) })
	t.Run("Full", func(t *testing.T) { postgresFull(t, server) })
	t.Run("LostReplies", func(t *testing.T) { postgresLostReplies(t, server) })
}

func openPostgres(t testing.TB, at string) *store.Postgres {
	t.Helper()
	db, err := store.OpenPostgres(t.Context(), store.PostgresConfig{URL: at, Slot: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func shut(t testing.TB, db *store.Postgres) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// What is not fit is refused with what it is, and never with the address or the password.
func postgresRefusals(t *testing.T, server *postgrestest.Server) {
	newer, reads := server.Database(t), server.Database(t)
	shut(t, openPostgres(t, newer))
	server.SQL(t, nameOf(newer), "UPDATE schema_version SET version = 7")
	server.SQL(t, "postgres", "ALTER DATABASE "+nameOf(reads)+
		" SET default_transaction_read_only = on")
	secret := func(at string) string { return strings.Replace(at, "webchat@", "webchat:hunter2@", 1) }
	for name, c := range map[string]struct {
		at   string
		want error
		says string
	}{
		"no address": {"postgres://user:hunter2@host:port/x", store.ErrRefused,
			"not one that libpq reads"},
		"no database": {secret(server.URL("nothing")), store.ErrRefused, "createdb"},
		"unknown user": {strings.Replace(server.URL("postgres"), "webchat@", "stranger:hunter2@", 1),
			store.ErrRefused, "password"},
		"no server": {"postgres://webchat:hunter2@/x?host=" +
			url.QueryEscape(filepath.Join(server.Dir, "none")), store.ErrAway, "does not answer"},
		"newer schema": {secret(newer), store.ErrVersion, "schema 7 and this program knows up to 3"},
		"read only":    {secret(reads), store.ErrReadOnly, "primary"},
	} {
		_, err := store.OpenPostgres(t.Context(), store.PostgresConfig{URL: c.at, Slot: name})
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An event whose bytes are not those that were written costs that event, and its session is known
// to have damage.
func postgresDamaged(t *testing.T, server *postgrestest.Server) {
	at := server.Database(t)
	db := openPostgres(t, at)
	defer func() { shut(t, db) }()
	for _, id := range []eventlog.ID{"flipped", "older", "sound"} {
		entries, s := storetest.Start(t, id, 5)
		if err := db.Append(t.Context(), id, entries, s); err != nil {
			t.Fatal(err)
		}
	}
	server.SQL(t, nameOf(at),
		`UPDATE events SET json = overlay(json PLACING 'Z' FROM position('rds'::bytea IN json)) WHERE session = 1 AND seq = 2;
		UPDATE events SET sum = NULL WHERE session > 1;
		UPDATE events SET json = overlay(json PLACING '\xff' FROM position('rds'::bytea IN json)) WHERE session = 2 AND seq = 3`)
	for id, want := range map[eventlog.ID]int64{"flipped": 2, "older": 3, "sound": 0} {
		got, err := db.After(t.Context(), id, 0, 10)
		if err != nil || len(got) != 5 {
			t.Fatalf("%s: %d entries, %v", id, len(got), err)
		}
		for _, e := range got {
			if d, bad := e.Event.Data.(event.SessionDamaged); bad != (e.Seq == want) || d.Copy != "" {
				t.Errorf("%s: entry %d is %s of %q", id, e.Seq, e.Event.Type(), d.Copy)
			}
		}
		if s, err := db.Summary(t.Context(), id); err != nil || s.Damaged != int(min(want, 1)) {
			t.Errorf("%s: %d damaged events, %v", id, s.Damaged, err)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// lifeOf opens a replica whose life lasts until the test ends it.
func lifeOf(t *testing.T, at, slot string, lost chan error) *store.Postgres {
	t.Helper()
	c := longLife(at, slot)
	if lost != nil {
		c.Lost = func(err error) { lost <- err }
	}
	return live(t, c)
}

func longLife(at, slot string) store.PostgresConfig {
	return store.PostgresConfig{
		URL:     at,
		Slot:    slot,
		PeerURL: "http://" + slot,
		Version: "1",
		Times:   store.Times{Beat: time.Hour, Lease: time.Hour, GiveUp: time.Hour},
	}
}

func live(t *testing.T, c store.PostgresConfig) *store.Postgres {
	t.Helper()
	db, err := store.OpenPostgres(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, db) })
	return db
}

// A session has one replica. Another cannot take it while that one lives, and finds it in the lists
// that are of all only. When that one's lease has ended the session is taken, and the first, which
// was frozen and knows of nothing, writes nothing more, though the new one has not written yet.
func postgresOwners(t *testing.T, server *postgrestest.Server) {
	at := server.Database(t)
	lost := make(chan error, 1)
	first, second := lifeOf(t, at, "a", lost), lifeOf(t, at, "b", nil)
	if got := second.Peers(); len(got) != 1 || got[0] != first.Self() || got[0].URL != "http://a" {
		t.Errorf("beside the second lives %+v", got)
	}
	if first.Start() == "" || first.Start() != second.Start() {
		t.Errorf("they do not begin with the same: %q, %q", first.Start(), second.Start())
	}
	entries, s := storetest.Start(t, "a", 1)
	turn := storetest.Entry(t, 2, event.TurnStart{TurnID: "t", MessageID: "m"})
	s = eventlog.Summarize(s, turn)
	if err := first.Append(t.Context(), "a", append(entries, turn), s); err != nil {
		t.Fatal(err)
	}
	gone := time.Now()
	if err := first.Mark(t.Context(), "a", sessions.Mark{DeletedAt: &gone}); err != nil {
		t.Fatal(err)
	}
	lists := func(db *store.Postgres, want int) {
		t.Helper()
		for _, kind := range []sessions.QueryKind{sessions.QueryUnfinished, sessions.QueryDeleted} {
			if p, err := db.List(t.Context(), sessions.Query{Kind: kind}); err != nil ||
				len(p.Sessions) != want {
				t.Errorf("%s: %d sessions, %v; want %d", kind, len(p.Sessions), err, want)
			}
		}
	}
	lists(first, 1)
	lists(second, 0)
	if all, err := second.Elsewhere(t.Context()); err != nil || len(all) != 1 || all[0].ID != "a" ||
		all[0].LastSeq != 2 {
		t.Errorf("elsewhere are %+v, %v", all, err)
	}
	var elsewhere *sessions.ElsewhereError
	if err := second.Take(t.Context(), "a"); !errors.As(err, &elsewhere) ||
		elsewhere.Peer != first.Self() || time.Until(elsewhere.Until) < time.Minute {
		t.Errorf("the second takes: %v", err)
	}
	if err := second.Take(t.Context(), "none"); !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("the second takes what is not there: %v", err)
	}
	if err := first.Take(t.Context(), "a"); err != nil {
		t.Errorf("the first takes what it has: %v", err)
	}

	server.SQL(t, nameOf(at), "UPDATE replicas SET ends = now() WHERE slot = 'a'")
	lists(second, 1)
	if err := second.Take(t.Context(), "a"); err != nil || second.Takeovers() != 1 {
		t.Fatalf("%d takeovers, %v", second.Takeovers(), err)
	}
	next := storetest.Entry(t, 3, event.TurnEnd{
		TurnID:    "t",
		MessageID: "m",
		Outcome:   event.Interrupted,
	})
	for range 2 {
		err := first.Append(t.Context(), "a", []event.Entry{next}, eventlog.Summarize(s, next))
		if !errors.Is(err, store.ErrFenced) || !errors.Is(err, eventlog.ErrClosed) {
			t.Errorf("the first appends: %v", err)
		}
	}
	if err := <-lost; !errors.Is(err, store.ErrFenced) {
		t.Errorf("the first gets %v", err)
	}
	if err := second.Append(t.Context(), "a", []event.Entry{next},
		eventlog.Summarize(s, next)); err != nil {
		t.Error(err)
	}
	if got, err := second.After(t.Context(), "a", 0, 0); err != nil || len(got) != 3 {
		t.Errorf("%d entries, %v", len(got), err)
	}

	// Whatever else is written about a session that another has is refused, and ends a life.
	for name, write := range map[string]func(*store.Postgres) error{
		"mark": func(db *store.Postgres) error {
			return db.Mark(t.Context(), "a", sessions.Mark{DeletedAt: &gone})
		},
		"delete": func(db *store.Postgres) error { return db.Delete(t.Context(), "a") },
		"drafts": func(db *store.Postgres) error {
			return db.SaveDrafts(t.Context(), "a", []eventlog.Draft{{MessageID: "m"}})
		},
	} {
		if err := write(lifeOf(t, at, name, nil)); !errors.Is(err, store.ErrFenced) {
			t.Errorf("%s: %v", name, err)
		}
	}

	// Events that were saved and are gone, as after a failover to a standby that lacks them, end a
	// life.
	behind := lifeOf(t, at, "behind", nil)
	entries, s = storetest.Start(t, "b", 3)
	if err := behind.Append(t.Context(), "b", entries, s); err != nil {
		t.Fatal(err)
	}
	server.SQL(t, nameOf(at),
		"DELETE FROM events WHERE seq = 3 AND session = (SELECT key FROM sessions WHERE id = 'b'); "+
			"UPDATE sessions SET last_seq = 2 WHERE id = 'b'")
	next = storetest.Entry(t, 4, event.Abort{Reason: "x"})
	if err := behind.Append(t.Context(), "b", []event.Entry{next},
		eventlog.Summarize(s, next)); !errors.Is(err, store.ErrFenced) {
		t.Errorf("behind the log: %v", err)
	}

	// What is given back is free at once, as is what one had that was killed and is started again.
	if err := second.Leave(); err != nil {
		t.Fatal(err)
	}
	third := lifeOf(t, at, "c", nil)
	if err := third.Take(t.Context(), "a"); err != nil || third.Start() != first.Start() {
		t.Errorf("%q, %v", third.Start(), err)
	}
	again := lifeOf(t, at, "c", nil)
	if err := again.Take(t.Context(), "a"); err != nil {
		t.Error(err)
	}

	// One that leaves names the same heir each time, and takes nothing back while there is one.
	server.SQL(t, nameOf(at), "UPDATE replicas SET ends = now() WHERE id < "+
		fmt.Sprint(again.Self().Number))
	leaving := lifeOf(t, at, "leaving", nil)
	entries, s = storetest.Start(t, "c", 1)
	if err := errors.Join(leaving.Append(t.Context(), "c", entries, s), leaving.Yield(t.Context()),
		leaving.Release(t.Context(), "c")); err != nil || leaving.Others() != 1 {
		t.Errorf("%d others, %v", leaving.Others(), err)
	}
	for range 2 {
		if err := leaving.Take(t.Context(), "c"); !errors.As(err, &elsewhere) ||
			elsewhere.Peer != again.Self() {
			t.Errorf("the one that leaves takes it back: %v", err)
		}
	}
	if err := again.Take(t.Context(), "c"); err != nil {
		t.Error(err)
	}

	// What it does not write again, since it is there already, it writes when others may have changed
	// it.
	for range 2 {
		next := storetest.Entry(t, s.LastSeq+1, event.Abort{Reason: "x"})
		s = eventlog.Summarize(s, next)
		if err := again.Append(t.Context(), "c", []event.Entry{next}, s); err != nil {
			t.Error(err)
		}
		if got, err := again.Summary(t.Context(), "c"); err != nil || got.Backend != s.Backend ||
			s.Backend == "" {
			t.Errorf("of %q is written %q, %v", s.Backend, got.Backend, err)
		}
		server.SQL(t, nameOf(at), "UPDATE sessions SET backend = 'other', owner = 0 WHERE id = 'c'")
		if err := again.Take(t.Context(), "c"); err != nil {
			t.Error(err)
		}
	}
	if behind := lifeOf(t, at, "last", nil); behind.Others() != 1 || len(behind.Peers()) != 2 {
		t.Errorf("beside one that leaves there are %d others of %d", behind.Others(), len(behind.Peers()))
	}
	server.SQL(t, nameOf(at), "UPDATE replicas SET ends = now()")
	if alone := lifeOf(t, at, "d", nil); alone.Start() == first.Start() {
		t.Error("when none is left the next one begins with the same")
	}
}

// wait returns when as many statements as n wait for a lock. It looks from a connection of its own:
// within a transaction PostgreSQL shows only who was connected at its first look.
func wait(t *testing.T, at string, n int) {
	t.Helper()
	seen := must(pgx.Connect(t.Context(), at))
	defer seen.Close(context.Background())
	for waits, until := 0, time.Now().Add(time.Minute); waits < n; {
		err := seen.QueryRow(t.Context(),
			`SELECT count(*) FROM pg_locks l JOIN pg_stat_activity USING (pid) WHERE NOT granted AND datname = current_database()`).Scan(&waits)
		if err != nil || time.Now().After(until) {
			t.Fatal("they do not wait:", waits, err)
		}
	}
}

// Of two replicas that take a free session at the same moment one gets it, and the other gets its
// address.
func postgresTakenAtOnce(t *testing.T, server *postgrestest.Server) {
	at := server.Database(t)
	entries, s := storetest.Start(t, "a", 1)
	gone, one, other := lifeOf(t, at, "gone", nil), lifeOf(t, at, "one", nil),
		lifeOf(t, at, "other", nil)
	if err := errors.Join(gone.Append(t.Context(), "a", entries, s), gone.Leave()); err != nil {
		t.Fatal(err)
	}
	holder := must(pgx.Connect(t.Context(), at))
	defer holder.Close(context.Background())
	held := must(holder.Begin(t.Context()))
	must(held.Exec(t.Context(), `UPDATE sessions SET touched = now()`))
	took := make(chan error, 2)
	for _, db := range []*store.Postgres{one, other} {
		go func() { took <- db.Take(t.Context(), "a") }()
	}
	wait(t, at, 2) // both read the row as it was, and wait for it
	if err := held.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	var elsewhere *sessions.ElsewhereError
	if first, second := <-took, <-took; (first == nil) == (second == nil) ||
		!errors.As(errors.Join(first, second), &elsewhere) {
		t.Errorf("one gets %v, the other %v", first, second)
	}
}

// An owner is frozen with an event to append, just before it looks at the time or just after;
// another takes the session and writes; then the first goes on. Two stores in one process show in a
// moment, and each time, what TestSoakWithoutFence of internal/e2e/cluster finds by freezing
// programs at random: a log shows, and a session acts on, nothing but what an append acknowledged,
// so all of that has to be in the log at the end. With the fence it is; without, the same steps
// lose some of it.
func postgresFence(t *testing.T, server *postgrestest.Server) {
	at := server.Database(t)
	for i, c := range []struct{ unfenced, looked bool }{{false, false}, {false, true}, {true, false},
		{true, true}} {
		name := fmt.Sprintf("unfenced %t, looked at the time %t", c.unfenced, c.looked)
		id := eventlog.ID(fmt.Sprint("s", i))
		open := func(slot string) *store.Postgres {
			config := longLife(at, fmt.Sprint(slot, i))
			if c.unfenced {
				config = config.Unfenced()
			}
			return live(t, config)
		}
		var acknowledged []event.Entry
		write := func(db *store.Postgres, before eventlog.Summary,
			entries ...event.Entry) (after eventlog.Summary) {
			t.Helper()
			after = storetest.Fold(before, entries)
			switch err := db.Append(t.Context(), id, entries, after); {
			case err == nil:
				acknowledged = append(acknowledged, entries...)
			case !errors.Is(err, store.ErrFenced):
				t.Errorf("%s: %v", name, err)
			}
			return after
		}
		end := func(o event.Outcome) event.Entry {
			return storetest.Entry(t, 3, event.TurnEnd{TurnID: "t", MessageID: "m", Outcome: o})
		}
		frozen, next := open("frozen"), open("next")
		begun, _ := storetest.Start(t, id, 1)
		s := write(frozen, eventlog.Summary{}, append(begun,
			storetest.Entry(t, 2, event.TurnStart{TurnID: "t", MessageID: "m"}))...)
		server.SQL(t, nameOf(at), fmt.Sprint("UPDATE replicas SET ends = now() WHERE id = ",
			frozen.Self().Number))
		if err := next.Take(t.Context(), id); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		write(next, s, end(event.Interrupted), storetest.Entry(t, 4, event.Abort{Reason: "x"}))
		if !c.looked {
			frozen.Thaw()
		}
		write(frozen, s, end(event.Completed))

		log, err := next.After(t.Context(), id, 0, 0)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		missing := 0
		for _, a := range acknowledged {
			if !slices.ContainsFunc(log, func(e event.Entry) bool {
				return e.Seq == a.Seq && bytes.Equal(e.JSON, a.JSON)
			}) {
				missing++
			}
		}
		if len(acknowledged) < 4 || (missing > 0) != c.unfenced {
			t.Errorf("%s: of %d events that were acknowledged %d are not in the log", name,
				len(acknowledged), missing)
		}
	}
}

func nameOf(at string) string { return strings.TrimPrefix(must(url.Parse(at)).Path, "/") }

// What replicas share is read by all, and who was first is not overwritten.
func postgresDocuments(t *testing.T, server *postgrestest.Server) {
	documenttest.Run(t, func(t *testing.T) func() document.Store {
		at, n := server.Database(t), 0
		return func() document.Store {
			n++
			db, err := store.OpenPostgres(t.Context(), store.PostgresConfig{
				URL:   at,
				Slot:  strconv.Itoa(n),
				Times: store.Times{Beat: 20 * time.Millisecond},
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { shut(t, db) })
			return db.Documents()
		}
	})
}

// What one replica takes back, such as a token or a grant, no other believes for long, whatever
// keeps the other's requests busy with the database.
func TestThreat101DocumentsFollowUnderLoad(t *testing.T) {
	at := postgrestest.Start(t).Database(t)
	open := func(slot string) document.Store {
		db, err := store.OpenPostgres(t.Context(), store.PostgresConfig{
			URL:   at,
			Slot:  slot,
			Times: store.Times{Beat: 20 * time.Millisecond},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { shut(t, db) })
		return db.Documents()
	}
	one, other := open("1"), open("2")
	for _, name := range []string{"busy", "tokens"} {
		if _, err := other.Replace(name, "", []byte("before")); err != nil {
			t.Fatal(err)
		}
	}
	if body, _, err := one.Read("tokens"); string(body) != "before" || err != nil {
		t.Fatal(string(body), err)
	}
	holder := must(pgx.Connect(t.Context(), at))
	defer holder.Close(context.Background())
	held := must(holder.Begin(t.Context()))
	must(held.Exec(t.Context(), `UPDATE documents SET body = body WHERE name = 'busy'`))
	busy := make(chan error, 1)
	go func() { _, err := one.Replace("busy", "1", []byte("after")); busy <- err }()
	wait(t, at, 1)
	until := time.Now().Add(time.Minute)
	if _, err := other.Replace("tokens", "1", []byte("after")); err != nil {
		t.Fatal(err)
	}
	for body := []byte(nil); string(body) != "after"; {
		if body, _, _ = one.Read("tokens"); time.Now().After(until) {
			t.Error("a request that waits keeps a replica from what was taken back")
			break
		}
		runtime.Gosched()
	}
	if err := held.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-busy; err != nil {
		t.Error(err)
	}
}

// A reply that is lost after the commit counts as what it was: each entry is in the log once.
func postgresLostReplies(t *testing.T, server *postgrestest.Server) {
	proxy := swallow(t, server)
	at := must(url.Parse(server.Database(t)))
	at.Host, at.RawQuery = proxy.Addr().String(), "sslmode=disable"
	db := openPostgres(t, at.String())
	defer shut(t, db)
	entries, s := storetest.Start(t, "a", 1)
	if err := db.Append(t.Context(), "a", entries, s); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		e := storetest.Entry(t, s.LastSeq+1, event.Abort{Reason: "x"})
		next := eventlog.Summarize(s, e)
		proxy.arm()
		if err := db.Append(t.Context(), "a", []event.Entry{e}, next); err != nil {
			t.Fatal(err)
		}
		s = next
	}
	if got, err := db.After(t.Context(), "a", 0, 100); err != nil || len(got) != 21 {
		t.Errorf("%d entries, %v", len(got), err)
	}
	if n := proxy.lost.Load(); n < 20 {
		t.Errorf("only %d replies were lost", n)
	}
}

// What was acknowledged is there after the server crashed, and an append that met the crash is done
// when it is back.
func postgresRestart(t *testing.T, server *postgrestest.Server) {
	at := server.Database(t)
	db := openPostgres(t, at)
	defer shut(t, db)
	entries, s := storetest.Start(t, "a", 1)
	if err := db.Append(t.Context(), "a", entries, s); err != nil {
		t.Fatal(err)
	}
	var writer sync.WaitGroup
	stop, crashed := make(chan struct{}), make(chan struct{})
	pause := time.NewTicker(20 * time.Millisecond) // a server that starts has other things to do
	defer pause.Stop()
	writer.Go(func() {
		for n := 0; ; n++ {
			e := storetest.Entry(t, s.LastSeq+1, event.Abort{Reason: "x"})
			next := eventlog.Summarize(s, e)
			switch err := db.Append(context.Background(), "a", []event.Entry{e}, next); {
			case err == nil:
				s = next
			case errors.Is(err, store.ErrAway):
				<-pause.C
			default:
				t.Errorf("Append: %v", err)
				return
			}
			if n == 20 {
				close(crashed)
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	<-crashed
	lost := make(chan error, 1)
	brief, err := store.OpenPostgres(t.Context(),
		store.PostgresConfig{URL: at, Slot: "brief", Lost: func(err error) { lost <- err },
			Times: store.Times{Beat: 50 * time.Millisecond, GiveUp: 2 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, brief)
	server.Stop(syscall.SIGQUIT)
	if err := db.Writable(t.Context(), 1); !errors.Is(err, store.ErrAway) {
		t.Errorf("Writable without a server: %v", err)
	}
	if err := <-lost; !errors.Is(err, store.ErrFenced) { // its life ends though no reply arrives
		t.Errorf("one that does not reach the server gets %v", err)
	}
	late, begun := storetest.Start(t, "z", 1)
	if err := brief.Append(t.Context(), "z", late, begun); !errors.Is(err, store.ErrFenced) {
		t.Errorf("it appends: %v", err)
	}
	server.Run(t)
	for deadline := time.Now().Add(time.Minute); db.Writable(t.Context(), 1) != nil; <-pause.C {
		if time.Now().After(deadline) {
			t.Fatal("the store does not come back")
		}
	}
	close(stop)
	writer.Wait()
	if got, err := db.After(t.Context(), "a", 0, 1e6); err != nil || int64(len(got)) != s.LastSeq {
		t.Errorf("%d entries, want %d: %v", len(got), s.LastSeq, err)
	}
}

// swallower passes connections on to a server. Once armed it loses the next reply to a statement,
// and the connection with it.
type swallower struct {
	net.Listener
	armed atomic.Bool
	lost  atomic.Int64
}

func (s *swallower) arm() { s.armed.Store(true) }

func swallow(t *testing.T, server *postgrestest.Server) *swallower {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &swallower{Listener: l}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			engine, err := net.Dial("unix", filepath.Join(server.Dir, ".s.PGSQL.5432"))
			if err != nil {
				_ = client.Close()
				continue
			}
			var writes atomic.Bool
			all.Go(func() { // statements
				defer engine.Close()
				b := make([]byte, 64<<10)
				for {
					n, err := client.Read(b)
					if strings.Contains(string(b[:n]), "INSERT INTO events") {
						writes.Store(true)
					}
					if _, failed := engine.Write(b[:n]); err != nil || failed != nil {
						return
					}
				}
			})
			all.Go(func() { // replies
				defer client.Close()
				b := make([]byte, 64<<10)
				for {
					n, err := engine.Read(b)
					if n > 0 && writes.Swap(false) && s.armed.Swap(false) {
						s.lost.Add(1)
						return
					}
					if _, failed := client.Write(b[:n]); err != nil || failed != nil {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	return s
}

// BenchmarkPostgresAppend is one session that appends one event at a time, then 64 that do so at
// once, in turns with the same rows written by a bare statement: "p50-ratio" and "p99-ratio" are
// ours over that, "ratio" is the speed of ours over that.
func BenchmarkPostgresAppend(b *testing.B) {
	server := postgrestest.Start(b)
	pair := func(b *testing.B) (ours, bare func(session int64)) {
		db, pool := openPostgres(b, server.Database(b)), bareRows(b, server.Database(b))
		b.Cleanup(func() { shut(b, db) })
		e := storetest.Entry(b, 1, body)
		var last [2][64]int64
		return func(session int64) {
			e := e
			last[0][session]++
			e.Seq = last[0][session]
			sum := eventlog.Summary{
				ID:      eventlog.ID(fmt.Sprint("s", session)),
				Status:  event.Idle,
				LastSeq: e.Seq,
			}
			if err := db.Append(context.Background(), sum.ID, []event.Entry{e}, sum); err != nil {
				b.Error(err)
			}
		}, func(session int64) { bareAppend(b, pool, session, &last[1][session]) }
	}
	b.Run("one", func(b *testing.B) {
		ours, bare := pair(b)
		var took [2][]time.Duration
		for b.Loop() {
			for i, write := range []func(int64){ours, bare} {
				began := time.Now()
				write(0)
				took[i] = append(took[i], time.Since(began))
			}
		}
		slices.Sort(took[0])
		slices.Sort(took[1])
		for name, i := range map[string]int{"p50": len(took[0]) / 2, "p99": len(took[0]) * 99 / 100} {
			b.ReportMetric(float64(took[0][i].Microseconds()), name+"-µs")
			b.ReportMetric(float64(took[0][i])/float64(took[1][i]), name+"-ratio")
		}
	})
	b.Run("64", func(b *testing.B) {
		ours, bare := pair(b)
		const each = 20 // events of a session in a round
		var took [2]time.Duration
		for b.Loop() {
			for i, write := range []func(int64){ours, bare} {
				began := time.Now()
				var all sync.WaitGroup
				for session := range int64(64) {
					all.Go(func() {
						for range each {
							write(session)
						}
					})
				}
				all.Wait()
				took[i] += time.Since(began)
			}
		}
		b.ReportMetric(float64(64*each*b.N)/took[0].Seconds(), "events/s")
		b.ReportMetric(float64(took[1])/float64(took[0]), "ratio")
	})
}

// bareRows makes a database with the same tables and a first event in each of 64 sessions.
func bareRows(b *testing.B, at string) *pgxpool.Pool {
	b.Helper()
	db := openPostgres(b, at)
	for session := range 64 {
		entries, sum := storetest.Start(b, eventlog.ID(fmt.Sprint("s", session)), 1)
		if err := db.Append(b.Context(), sum.ID, entries, sum); err != nil {
			b.Fatal(err)
		}
	}
	shut(b, db)
	c := must(pgxpool.ParseConfig(at))
	c.ConnConfig.DefaultQueryExecMode, c.MaxConns = pgx.QueryExecModeExec, 8
	pool := must(pgxpool.NewWithConfig(b.Context(), c))
	b.Cleanup(pool.Close)
	return pool
}

// bareAppend writes the rows of an event: what changes in the session's, and the event's own.
func bareAppend(b *testing.B, pool *pgxpool.Pool, session int64, seq *int64) {
	e := storetest.Entry(b, 1, body)
	*seq++
	tag, err := pool.Exec(context.Background(),
		`WITH s AS (UPDATE sessions SET last_seq = $2, rest = $3, touched = now() WHERE id = $1 AND last_seq = $2 - 1 RETURNING key)
		INSERT INTO events SELECT key, $2, $4, array_to_tsvector($5::text[]) FROM s`, fmt.Append(nil, "s", session), 1+*seq, []byte("{}"), e.JSON, []string{"render_file_contents", "internal", "session", "session.go"})
	if err != nil || tag.RowsAffected() != 1 {
		b.Error(tag, err)
	}
}

// BenchmarkPostgresSearch looks for words in 1,000,000 events of 10,000 sessions, as the bar does:
// a page of sessions with what was found in each. "ratio" is the median of it in that of a bare
// tsquery of the same words, which counts the events; a middle word is in one event of a hundred.
func BenchmarkPostgresSearch(b *testing.B) {
	server := postgrestest.Start(b)
	at := server.Database(b)
	db := openPostgres(b, at)
	defer shut(b, db)
	entries, sum := storetest.Start(b, "0", 1)
	if err := db.Append(b.Context(), "0", entries, sum); err != nil {
		b.Fatal(err)
	}
	pool := must(pgxpool.New(b.Context(), at))
	defer pool.Close()
	said := storetest.Entry(b, 1, event.AssistantMessage{
		MessageID: "m",
		Content:   "the answer about a thing NUMBER",
	}).JSON
	number := `'rare' || n % 100003 || ' middle' || abs(hashint8(n)) % 100 || ' half' || abs(hashint8(-n)) % 2`
	for _, step := range []string{
		`INSERT INTO sessions (id, backend, model, title, folded, workspace, created_at, updated_at, deleted_at, pinned, activity, status, failed,
			pending, unfinished, last_seq, rest, owner, touched) SELECT convert_to('s' || n, 'UTF8'), backend, model, convert_to('Session ' || n, 'UTF8'),
			'session ' || n, workspace, created_at, updated_at, 0, false, n, status, false, 0, false, 100, rest, owner, touched
			FROM sessions, generate_series(1, 10000) n`,
		`DROP INDEX events_words`,
		`INSERT INTO events SELECT s.key, n % 100 + 1, convert_to(replace('` + string(said) +
			`', 'NUMBER', ` + number + `), 'UTF8'),
			array_to_tsvector(string_to_array('the answer about a thing ' || ` + number + `, ' '))
			FROM generate_series(0, 999999) n JOIN sessions s ON s.activity = n / 100 + 1 AND s.last_seq = 100`,
		`CREATE INDEX events_words ON events USING gin (words)`,
		`VACUUM ANALYZE sessions, events`,
	} {
		if _, err := pool.Exec(b.Context(), step); err != nil {
			b.Fatalf("%.40s: %v", step, err)
		}
	}
	for _, c := range []struct{ name, text, query string }{
		{"rare", "rare77777", "'rare77777'"}, {"middle", "middle77", "'middle77'"},
		{"common", "half1", "'half1'"},
	} {
		b.Run(c.name, func(b *testing.B) {
			var ours, bare []time.Duration
			for b.Loop() {
				began := time.Now()
				p, err := db.List(b.Context(), sessions.Query{Text: c.text})
				if ours = append(ours, time.Since(began)); err != nil || len(p.Sessions) == 0 {
					b.Fatal(len(p.Sessions), err)
				}
				began = time.Now()
				var n int
				err = pool.QueryRow(b.Context(), `SELECT count(*) FROM events WHERE words @@ $1::text::tsquery`,
					c.query).Scan(&n)
				if bare = append(bare, time.Since(began)); err != nil || n == 0 {
					b.Fatal(n, err)
				}
			}
			slices.Sort(ours)
			slices.Sort(bare)
			b.ReportMetric(float64(ours[len(ours)/2].Microseconds())/1000, "ms/webchat")
			b.ReportMetric(float64(bare[len(bare)/2].Microseconds())/1000, "ms/tsquery")
			b.ReportMetric(float64(ours[len(ours)/2])/float64(bare[len(bare)/2]), "ratio")
		})
	}
}
