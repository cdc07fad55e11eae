package store

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestMigrationSteps: steps are applied once, in order, all or none.
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
		if err := migrate(t.Context(), conn, steps); err == nil ||
			!strings.Contains(err.Error(), fmt.Sprint("version ", firstVersion+2)) {
			t.Fatalf("a step that fails: %v", err)
		}
		var version, columns, tables int
		if err := conn.QueryRowContext(t.Context(),
			`SELECT (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM pragma_table_info('a')),
			(SELECT count(*) FROM sqlite_schema WHERE name = 'b')`).Scan(&version, &columns, &tables); err != nil {
			t.Fatal(err)
		}
		if version != firstVersion || columns != 1 || tables != 0 {
			t.Errorf("version %d, %d columns, tables of the failed step %d", version, columns, tables)
		}
	}
	if err := migrate(t.Context(), conn, steps[:2]); err != nil {
		t.Fatal(err)
	}
	if err := migrate(t.Context(), conn, steps[:1]); !errors.Is(err, ErrVersion) {
		t.Errorf("an older program: %v", err)
	}
}
