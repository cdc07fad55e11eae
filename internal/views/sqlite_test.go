package views

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"webchat/internal/outputs"
)

// databaseOf makes an SQLite file by statements.
func databaseOf(t testing.TB, statements ...string) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "made.db")
	db, err := sql.Open("sqlite", name)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func putBytes(t testing.TB, h *Views, b []byte) *outputs.Output {
	t.Helper()
	return put(t, h, outputs.Meta{Type: outputs.File, Binary: true}, string(b))
}

func viewsOf(h *Views, o *outputs.Output) string { return strings.Join(h.Of(o), " ") }

// words are what a window shows, without its markup.
func words(w outputs.Window) string {
	return strings.Join(strings.Fields(string(tags.ReplaceAll(w.HTML, []byte(" ")))), " ")
}

func TestSQLiteIsTables(t *testing.T) {
	h := New(testStore(t), nil)
	o := putBytes(t, h, databaseOf(t,
		`CREATE TABLE users (id INTEGER PRIMARY KEY, "na""me" TEXT, photo BLOB, at DATETIME, double INT AS (id*2))`,
		`INSERT INTO users VALUES (3, 'Ada', x'00ff', '2026-01-02 03:04:05'), (7, NULL, NULL, NULL), (9, '', x'', '1')`,
		`CREATE TABLE "other one" (a, b, PRIMARY KEY (a)) WITHOUT ROWID`,
		`INSERT INTO "other one" VALUES (10, 'x'), (9, 'y')`,
		`CREATE VIEW all_users AS SELECT * FROM users`,
		`CREATE TRIGGER tr AFTER INSERT ON users BEGIN DELETE FROM users; END`))
	if got := viewsOf(h, o); got != "table schema hex" {
		t.Fatal(got)
	}
	w := ask(t, h, o, outputs.Ask{View: Table, Rows: 50})
	checkHarmless(t, "table", w.HTML)
	if got, want := words(w),
		`users other one row id na&#34;me photo at 1 3 Ada x&#39;00ff&#39; 2026-01-02 03:04:05 2 7 null null null 3 9 empty x&#39;&#39; 1`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if w.Total != 3 || w.Header["Records"] != "3" {
		t.Error(w.Total, w.Header)
	}
	if got := words(ask(t, h, o, outputs.Ask{
		View: Table,
		At:   "2",
		Rows: 50,
	})); got != "users other one row a b 1 9 y 2 10 x" {
		t.Error(got)
	}
	if got := words(ask(t, h, o, outputs.Ask{
		View: Table,
		Sort: "-1",
		From: 2,
		Rows: 1,
	})); !strings.HasSuffix(got, "at 2 7 null null null") {
		t.Error(got)
	}
	if w := ask(t, h, o, outputs.Ask{View: Table, Filter: []string{"2:has:ad"}}); w.Total != 1 ||
		!strings.Contains(words(w), "Ada") {
		t.Error(w.Total, words(w))
	}
	schema := textOf(ask(t, h, o, outputs.Ask{View: Schema, Rows: 50}).HTML)
	for _, want := range []string{"CREATE TABLE users",
		"CREATE VIEW all_users AS SELECT * FROM users;", "CREATE TRIGGER tr"} {
		if !strings.Contains(schema, want) {
			t.Errorf("the schema lacks %s: %s", want, schema)
		}
	}
	for _, a := range []outputs.Ask{{View: Table, At: "3"}, {View: Table, At: "x"},
		{View: Table, At: "2", Sort: "1"}, {View: Table, Sort: "6"}} {
		a.From, a.Rows = 1, 10
		if _, err := h.View(t.Context(), o, a); !isRefusal(err) {
			t.Errorf("%+v: %v", a, err)
		}
	}
}

func isRefusal(err error) bool {
	_, ok := errors.AsType[*outputs.Refusal](err)
	return ok
}

// What a file has its reader do is not done: views that recurse, tables that are functions, and a
// view that says it is a table are text, and what is too large is its size.
func TestThreat92SQLiteRunsNothing(t *testing.T) {
	h := New(roomyStore(t), nil)
	const endless = `AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT * FROM n`
	statements := []string{
		`CREATE TABLE big (a, b)`,
		`INSERT INTO big VALUES (zeroblob(3000000), 'beside'), (replace(hex(zeroblob(300000)), '00', 'abc'), 2)`,
		`CREATE VIRTUAL TABLE words USING fts5(text)`, `CREATE VIEW endless ` + endless,
		`CREATE TABLE checked (a, b AS (hex(zeroblob(100000000))), CHECK (length(hex(zeroblob(1000))) > 1))`, `INSERT INTO checked VALUES (1)`,
	}
	o := putBytes(t, h, databaseOf(t, statements...))
	if got := viewsOf(h, o); got != "table schema hex" {
		t.Fatal(got)
	}
	w := ask(t, h, o, outputs.Ask{View: Table, Rows: 50})
	if got := words(w); !strings.Contains(got, "3.0 MB, too large to show beside") ||
		!strings.Contains(got, "… and more") || len(got) > 3000 {
		t.Errorf("%.300s", got)
	}
	names, _, _ := strings.Cut(string(w.HTML), "</ol>")
	if strings.Contains(names, "endless") || strings.Contains(names, ">words<") ||
		!strings.Contains(names, "checked") {
		t.Error(names)
	}
	statements = append(statements, `PRAGMA writable_schema=ON`,
		`INSERT INTO sqlite_schema VALUES ('table', 'swapped', 'swapped', 2, 'CREATE VIEW swapped `+
			endless+`')`)
	if o := putBytes(t, h, databaseOf(t, statements...)); viewsOf(h, o) == "hex" {
		if note := ask(t, h, o, outputs.Ask{View: Hex}).Header["Note"]; !strings.Contains(note,
			"so its bytes are shown") {
			t.Error(note)
		}
	} else if got := string(ask(t, h, o, outputs.Ask{View: Table}).HTML); strings.Contains(got,
		"swapped") {
		t.Error(got)
	}
	for _, sentence := range []string{`ATTACH 'x.db' AS x`, `SELECT * FROM endless`,
		`SELECT load_extension('x')`, `PRAGMA journal_mode`, `CREATE TEMP TABLE t (a)`,
		`SELECT * FROM pragma_table_list`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT * FROM n`} {
		err := withDatabase(t.Context(), o, func(c *sql.Conn) error {
			_, err := c.ExecContext(t.Context(), sentence)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), "authoriz") &&
			!strings.Contains(err.Error(), "prohibited") {
			t.Errorf("%s: %v", sentence, err)
		}
	}
}

func roomyStore(t testing.TB) *outputs.Store {
	t.Helper()
	s, err := outputs.New(outputs.Config{TTL: time.Minute, Budget: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A damaged file shows what is there, or its bytes with one sentence; it never takes long, and
// nothing but what a view may hold comes of it.
func TestThreat92DamagedSQLite(t *testing.T) {
	h := New(testStore(t), nil)
	statements := []string{`CREATE TABLE t (a, b)`}
	for i := range 400 {
		statements = append(statements, fmt.Sprintf(`INSERT INTO t VALUES (%d, '%s')`, i,
			strings.Repeat("<b>\u202e", 30)))
	}
	whole := databaseOf(t, statements...)
	for what, b := range map[string][]byte{
		"only a beginning": whole[:4096], "half": whole[:len(whole)/2],
		"a header": append([]byte("SQLite format 3\x00"), make([]byte, 84)...),
		"holes":    overwritten(whole, len(whole)/2, 8192), "no schema": overwritten(whole, 100, 200),
	} {
		o := putBytes(t, h, b)
		list := h.Of(o)
		for _, v := range list {
			w, err := h.View(t.Context(), o, outputs.Ask{View: v, From: 1, Rows: 500})
			if err != nil && !isRefusal(err) {
				t.Errorf("%s %s: %v", what, v, err)
			}
			checkHarmless(t, what, w.HTML)
		}
		if what == "holes" {
			if got := words(ask(t, h, o, outputs.Ask{View: Table, Rows: 500})); !strings.HasSuffix(got,
				"The file is damaged here: what is left of this table cannot be read.") {
				t.Errorf("%.300s", got)
			}
		} else if len(list) != 1 {
			t.Errorf("%s: %v", what, list)
		}
		w := ask(t, h, o, outputs.Ask{View: Hex})
		if note := w.Header["Note"]; len(list) == 1 &&
			!strings.HasSuffix(note, "so its bytes are shown.") {
			t.Errorf("%s: %q", what, note)
		}
	}
}

func overwritten(b []byte, from, n int) []byte {
	b = bytes.Clone(b)
	for i := from; i < min(len(b), from+n); i++ {
		b[i] = 0xa5
	}
	return b
}

func FuzzSQLite(f *testing.F) {
	whole := databaseOf(f, `CREATE TABLE t (a PRIMARY KEY, b)`,
		`INSERT INTO t VALUES (1, 2), ('x', x'00'), (NULL, 3.5)`, `CREATE VIEW v AS SELECT * FROM t`)
	f.Add(whole, 0, byte(0), 100, byte(0))
	f.Add(whole, 4096, byte(5), 4100, byte(255))
	f.Add(whole[:4096], 20, byte(1), 60, byte(9))
	f.Fuzz(func(t *testing.T, b []byte, at int, x byte, also int, y byte) {
		if len(b) > 1<<20 {
			return
		}
		b = bytes.Clone(b)
		for i, v := range map[int]byte{at: x, also: y} {
			if i >= 0 && i < len(b) {
				b[i] = v
			}
		}
		if len(b) > 16 {
			copy(b, "SQLite format 3\x00")
		}
		h := New(testStore(t), nil)
		o := putBytes(t, h, b)
		if !slices.Contains(h.Of(o), Hex) {
			t.Fatal("no bytes")
		}
		for _, v := range h.Of(o) {
			w, err := h.View(t.Context(), o, outputs.Ask{View: v, From: 1, Rows: 100})
			if err != nil && !isRefusal(err) {
				t.Fatal(v, err)
			}
			checkHarmless(t, v, w.HTML)
		}
	})
}
