package store

import (
	"errors"
	"strings"
	"testing"

	"webchat/internal/sessions"
	"webchat/internal/store/storetest"
)

// TestPurgeGoesOn: a deletion that was cut off is finished at the next Open.
func TestPurgeGoesOn(t *testing.T) {
	dir := t.TempDir()
	db := mustOpen(t, dir)
	entries, s := storetest.Start(t, "a", purgeStep+10)
	if err := db.Append(t.Context(), "a", entries, s); err != nil {
		t.Fatal(err)
	}
	if _, err := db.file.Load().conn.ExecContext(t.Context(),
		`DELETE FROM sessions; INSERT INTO purges VALUES (1)`); err != nil {
		t.Fatal(err)
	}
	db.Close()
	db = mustOpen(t, dir)
	var left int
	if err := db.file.Load().read.QueryRow(
		`SELECT (SELECT count(*) FROM events) + (SELECT count(*) FROM purges)`).Scan(
		&left); err != nil || left != 0 {
		t.Errorf("%d rows are left (%v)", left, err)
	}
}

func TestClosed(t *testing.T) {
	db := mustOpen(t, t.TempDir())
	for range 2 {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	entries, s := storetest.Start(t, "a", 1)
	if err := db.Append(t.Context(), "a", entries, s); !errors.Is(err, ErrClosed) {
		t.Errorf("Append: %v", err)
	}
	if _, err := db.After(t.Context(), "a", 0, 1); !errors.Is(err, ErrClosed) {
		t.Errorf("After: %v", err)
	}
}

// TestPlans: the statements that run often use the order the rows lie in.
func TestPlans(t *testing.T) {
	db := mustOpen(t, t.TempDir())
	for _, q := range []sessions.Query{{}, {Kind: sessions.QueryUnfinished},
		{Kind: sessions.QueryDeleted}} {
		for _, from := range []*cursor{nil, {Key: 1}} {
			p, err := pageOf(q)
			if err != nil {
				t.Fatal(err)
			}
			p.from = from
			text, args := db.file.Load().pick(p, nil)
			plan(t, db, text, args...)
		}
	}
	plan(t, db, selectAfter, "a", 1, 10)
}

func plan(t *testing.T, db *DB, text string, args ...any) {
	t.Helper()
	rows, err := db.file.Load().read.Query(`EXPLAIN QUERY PLAN `+text, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var a, b, c int
		var detail string
		if err := rows.Scan(&a, &b, &c, &detail); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(detail, "TEMP B-TREE") || strings.HasPrefix(detail, "SCAN") &&
			!strings.Contains(detail, "INDEX") {
			t.Errorf("%s\n  %s", text, detail)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}
