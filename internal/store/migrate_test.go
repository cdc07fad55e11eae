package store

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/store/storetest"
)

// TestMigrations opens a file of every older version.
func TestMigrations(t *testing.T) {
	for version := range len(migrations) {
		dir := t.TempDir()
		file := filepath.Join(dir, FileName)
		old, err := sql.Open("sqlite", writeSource(file))
		if err != nil {
			t.Fatal(err)
		}
		conn, err := old.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := migrate(t.Context(), conn, migrations[:version]); err != nil {
			t.Fatal(err)
		}
		conn.Close()
		old.Close()
		db := mustOpen(t, dir)
		entries, s := storetest.Start(t, "a", 2)
		if err := db.Append(t.Context(), "a", entries, s); err != nil {
			t.Errorf("from version %d: %v", version, err)
		}
	}
}

// TestMigrationSteps: steps are applied once, in order, each whole or not at all.
func TestMigrationSteps(t *testing.T) {
	db, err := sql.Open("sqlite", writeSource(filepath.Join(t.TempDir(), "x.db")))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	steps := []string{
		`CREATE TABLE a (x); INSERT INTO a VALUES (1);`,
		`ALTER TABLE a ADD COLUMN y; UPDATE a SET y = x + 1;`,
		`CREATE TABLE b (x); INSERT INTO nowhere VALUES (1);`,
	}
	if err := migrate(t.Context(), conn, steps[:1]); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := migrate(t.Context(), conn, steps); err == nil || !strings.Contains(err.Error(), "version 3") {
			t.Fatalf("a step that fails: %v", err)
		}
		var version, y, tables int
		if err := conn.QueryRowContext(t.Context(), `SELECT (SELECT user_version FROM pragma_user_version), (SELECT y FROM a),
			(SELECT count(*) FROM sqlite_schema WHERE name = 'b')`).Scan(&version, &y, &tables); err != nil {
			t.Fatal(err)
		}
		if version != 2 || y != 2 || tables != 0 {
			t.Errorf("version %d, y %d, tables of the failed step %d", version, y, tables)
		}
	}
	if err := migrate(t.Context(), conn, steps[:1]); !errors.Is(err, ErrNewer) {
		t.Errorf("an older program: %v", err)
	}
}
