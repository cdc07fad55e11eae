package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
	"webchat/internal/store/storetest"
)

func mustOpen(t testing.TB, dir string) *DB {
	t.Helper()
	db, err := Open(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// filled returns a closed store's folder with some sessions.
func filled(t testing.TB) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	db := mustOpen(t, dir)
	for i := range 10 {
		id := eventlog.ID(fmt.Sprint("s", i))
		entries, s := storetest.Start(t, id, 50)
		if err := db.Append(t.Context(), id, entries, s); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, db.path
}

func TestBadFiles(t *testing.T) {
	_, good := filled(t)
	bytesOf, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	with := func(at int, v uint32) []byte {
		b := bytes.Clone(bytesOf)
		binary.BigEndian.PutUint32(b[at:], v)
		return b
	}
	for _, c := range []struct {
		name string
		file []byte
		want error
		says string
	}{
		{"text", []byte(strings.Repeat("this is not a database. ", 100)), ErrCorrupt,
			"not an SQLite file"},
		{"short", bytesOf[:50], ErrCorrupt, "too short"},
		{"truncated", bytesOf[:4096*3+100], ErrCorrupt, "damaged"},
		{"zeroes after the header", append(bytes.Clone(bytesOf[:100]), make([]byte, 8000)...), ErrCorrupt,
			"damaged"},
		{"newer", with(60, uint32(firstVersion+len(steps))), ErrVersion,
			fmt.Sprintf("version %d and this program knows up to %d", firstVersion+len(steps), firstVersion+
				len(steps)-1)},
		{"of development", with(60, firstVersion-1), ErrVersion,
			fmt.Sprintf("a development build wrote it (schema %d)", firstVersion-1)},
		{"of another program", with(68, 77), ErrCorrupt, "another program"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, FileName)
			if err := os.WriteFile(file, c.file, 0o600); err != nil {
				t.Fatal(err)
			}
			db, err := Open(Config{Dir: dir})
			if err == nil {
				_, err = db.After(t.Context(), "s5", 0, 100)
				err = errors.Join(err, db.Check(t.Context()))
				db.Close()
			}
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) ||
				!strings.Contains(err.Error(), file) && c.name != "truncated" {
				t.Errorf("Open: %v, want %v and %q with the path", err, c.want, c.says)
			}
			if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, c.file) {
				t.Errorf("the file was touched (%v)", err)
			}
		})
	}
}

func TestForeignTablesAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, FileName)
	other, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec(`CREATE TABLE mine (x)`); err != nil {
		t.Fatal(err)
	}
	other.Close()
	if _, err := Open(Config{Dir: dir}); !errors.Is(err, ErrCorrupt) ||
		!strings.Contains(err.Error(), "another program") {
		t.Errorf("Open: %v", err)
	}
}

func TestOddPlaces(t *testing.T) {
	empty := t.TempDir()
	if err := os.WriteFile(filepath.Join(empty, FileName), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{empty, filepath.Join(t.TempDir(), "a b", "100%?#ü&x=y", "deep")} {
		db, err := Open(Config{Dir: dir})
		if err != nil {
			t.Errorf("Open in %q: %v", dir, err)
			continue
		}
		entries, s := storetest.Start(t, "a", 1)
		if err := db.Append(t.Context(), "a", entries, s); err != nil {
			t.Error(err)
		}
		files, err := os.ReadDir(dir)
		if err != nil || len(files) != 4 {
			t.Errorf("in %q: %v, %v", dir, files, err)
		}
		for _, f := range files {
			if fi, err := f.Info(); runtime.GOOS != "windows" && (err != nil || fi.Mode().Perm() != 0o600) {
				t.Errorf("%s has mode %v (%v), want 0600", f.Name(), fi.Mode(), err)
			}
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if files, _ := os.ReadDir(dir); len(files) != 2 {
			t.Errorf("closed, in %q: %v", dir, files)
		}
	}

	inTheWay := t.TempDir()
	if err := os.Mkdir(filepath.Join(inTheWay, FileName), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{Dir: inTheWay}); !errors.Is(err, ErrCorrupt) ||
		!strings.Contains(err.Error(), "it is a folder") {
		t.Errorf("a folder in the file's place: %v", err)
	}
	notAFolder := filepath.Join(empty, FileName)
	if _, err := Open(Config{Dir: notAFolder}); err == nil ||
		!strings.Contains(err.Error(), notAFolder) {
		t.Errorf("a file in the folder's place: %v", err)
	}
}

func TestReadOnlyFile(t *testing.T) {
	if os.Geteuid() <= 0 {
		t.Skip("this user may write anything")
	}
	_, file := filled(t)
	if err := os.Chmod(file, 0o400); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{Dir: filepath.Dir(file)}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("Open: %v", err)
	}
}

// TestDriverErrorsBecomeOurs provokes each kind at the driver itself.
func TestDriverErrorsBecomeOurs(t *testing.T) {
	_, file := filled(t)
	db, err := sql.Open("sqlite", writeSource(file)+"&mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = db.Exec(`DELETE FROM sessions`)
	if !errors.Is(translated(err), ErrReadOnly) {
		t.Errorf("a write to a read-only file: %v", translated(err))
	}
	if _, err = db.Exec(`no such thing`); err == nil || errors.Is(translated(err), ErrCorrupt) ||
		translated(err) == err {
		t.Errorf("a wrong statement: %v", translated(err))
	}
	for _, err := range []error{context.Canceled, context.DeadlineExceeded, nil} {
		if translated(err) != err {
			t.Errorf("%v became %v", err, translated(err))
		}
	}
}

func TestLocked(t *testing.T) {
	dir, file := filled(t)
	other, err := sql.Open("sqlite", writeSource(file))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	conn, err := other.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), `BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{Dir: dir}); !errors.Is(err, ErrLocked) {
		t.Errorf("Open while another program writes: %v", err)
	}
	if _, err := conn.ExecContext(t.Context(), `ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, dir)
}

// TestTwoPrograms: what one has not seen of the other it cannot overwrite.
func TestTwoPrograms(t *testing.T) {
	dir := t.TempDir()
	one, two := mustOpen(t, dir), mustOpen(t, dir)
	entries, s := storetest.Start(t, "a", 2)
	if err := one.Append(t.Context(), "a", entries, s); err != nil {
		t.Fatal(err)
	}
	if err := two.Append(t.Context(), "a", entries, s); !errors.Is(err, ErrSequence) {
		t.Errorf("the same beginning twice: %v", err)
	}
	if err := two.Close(); err != nil {
		t.Error(err)
	}
	if err := one.Append(t.Context(), "a", entries, s); !errors.Is(err, ErrOverwritten) {
		t.Errorf("after the other one wrote into the file: %v", err)
	}
	if err := errors.Join(one.Close(), one.file.Load().read.Close()); err != nil {
		t.Error(err)
	}
}

// TestOneBadJobSparesTheOthers: a shared transaction that fails is taken apart.
func TestOneBadJobSparesTheOthers(t *testing.T) {
	db := mustOpen(t, t.TempDir())
	appending := func(id eventlog.ID, seq int64) *job {
		e := storetest.Entry(t, seq, event.Abort{Reason: "x"})
		r, err := rowOf(eventlog.Summarize(eventlog.Summary{ID: id}, e))
		if err != nil {
			t.Fatal(err)
		}
		return &job{done: make(chan struct{}), do: func(ctx context.Context, f *file) error {
			return f.append(ctx, r, []event.Entry{e}, nil)
		}}
	}
	jobs := []*job{appending("a", 1), appending("bad", 7), appending("b", 1)}
	db.commit(jobs)
	for i, wantErr := range []bool{false, true, false} {
		<-jobs[i].done
		if (jobs[i].err != nil) != wantErr {
			t.Errorf("job %d: %v", i, jobs[i].err)
		}
	}
	for id, want := range map[eventlog.ID]int{"a": 1, "bad": 0, "b": 1} {
		if got, err := db.After(t.Context(), id, 0, 10); err != nil || len(got) != want {
			t.Errorf("session %s: %d entries, want %d (%v)", id, len(got), want, err)
		}
	}
}

// TestDatabaseRefusesHoles: not only this code does.
func TestDatabaseRefusesHoles(t *testing.T) {
	db := mustOpen(t, t.TempDir())
	entries, s := storetest.Start(t, "a", 3)
	if err := db.Append(t.Context(), "a", entries, s); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`INSERT INTO events (at, json) VALUES (1 << 32 | 5, x'7b7d')`,
		`INSERT INTO events (at, json) VALUES (1 << 32 | 3, x'7b7d')`,
		`INSERT INTO events (at, json) VALUES (2 << 32, x'7b7d')`,
		`INSERT INTO events (at, json) VALUES (2 << 32 | 2, x'7b7d')`,
		`UPDATE events SET json = x'7b7d'`,
	} {
		if _, err := db.file.Load().conn.ExecContext(t.Context(), statement); !errors.Is(translated(err),
			ErrSequence) {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

// TestDamagedEvents: an entry that is missing, no event, or not what was written costs that entry,
// is copied once, and its session is known to have damage, also after a restart.
func TestDamagedEvents(t *testing.T) {
	dir := t.TempDir()
	db := mustOpen(t, dir)
	for _, id := range []eventlog.ID{"missing", "malformed", "cut", "flipped", "older", "sound"} {
		entries, s := storetest.Start(t, id, 5)
		if err := db.Append(t.Context(), id, entries, s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.file.Load().conn.ExecContext(t.Context(),
		`DROP TRIGGER events_stay; DELETE FROM events WHERE at = (1 << 32 | 3);
		UPDATE events SET json = x'7b7d' WHERE at = (2 << 32 | 3); DELETE FROM events WHERE at IN (3 << 32 | 4, 3 << 32 | 5);
		UPDATE events SET json = CAST(replace(CAST(json AS TEXT), 'rds', 'rdz') AS BLOB) WHERE at = (4 << 32 | 2);
		UPDATE events SET sum = NULL WHERE at >> 32 IN (5, 6); -- as versions before the sum wrote them
		UPDATE events SET json = unhex(replace(hex(json), hex('rds'), hex('rd') || 'FF')) WHERE at = (5 << 32 | 3)`); err != nil {
		t.Fatal(err)
	}
	if err := db.inspect(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[eventlog.ID][]int64{"missing": {3}, "malformed": {3}, "cut": {4, 5},
		"flipped": {2}, "older": {3}, "sound": nil} {
		for _, step := range []int{1, 2, 5, 10} {
			var bad []int64
			for seq := int64(0); seq < 5; {
				got, err := db.After(t.Context(), id, seq, step)
				if err != nil || len(got) == 0 {
					t.Fatalf("%s after %d: %d entries, %v", id, seq, len(got), err)
				}
				for _, e := range got {
					if seq++; e.Seq != seq {
						t.Fatalf("%s: entry %d follows %d", id, e.Seq, seq-1)
					}
					if d, ok := e.Event.Data.(event.SessionDamaged); ok {
						if bad = append(bad, seq); d.Copy != "damaged-events/"+string(id)+".jsonl" {
							t.Errorf("%s: the copy is %q", id, d.Copy)
						}
					}
				}
			}
			if !slices.Equal(bad, want) {
				t.Errorf("%s: damaged are %v, want %v", id, bad, want)
			}
		}
		rows, err := os.ReadFile(filepath.Join(dir, damageFolder, string(id)+".jsonl"))
		if n := bytes.Count(rows, []byte("\n")); n != len(want) || id == "malformed" &&
			!strings.Contains(string(rows), `"raw":"e30="`) {
			t.Errorf("%s: the copy is %q, %v", id, rows, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = mustOpen(t, dir)
	list, err := db.List(t.Context(), sessions.Query{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list.Sessions {
		if want := map[eventlog.ID]int{"missing": 1, "malformed": 1, "cut": 2, "flipped": 1,
			"older": 1}[s.ID]; s.Damaged != want {
			t.Errorf("the list says that %d events of %s are damaged, want %d", s.Damaged, s.ID, want)
		}
		if err := db.Delete(t.Context(), s.ID); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(dir, damageFolder)); err != nil || len(left) > 0 {
		t.Errorf("of deleted sessions are left %v, %v", left, err)
	}
}
