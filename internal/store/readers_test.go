package store

import (
	"testing"

	"webchat/internal/store/storetest"
)

// Who begins to read writes nothing: it need not wait for who writes, nor he for it.
func TestReaderBeginsBesideAWriter(t *testing.T) {
	db, err := Open(Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	entries, sum := storetest.Start(t, "one", 1)
	if err := db.Append(t.Context(), "one", entries, sum); err != nil {
		t.Fatal(err)
	}
	err = db.alone(t.Context(), func() error {
		if _, err := db.file.Load().conn.ExecContext(t.Context(), `BEGIN IMMEDIATE`); err != nil {
			return err
		}
		defer db.file.Load().exec(t.Context(), `ROLLBACK`)
		for range 3 { // each on a connection of its own
			reader, err := db.file.Load().read.Conn(t.Context())
			if err != nil {
				return err
			}
			defer reader.Close()
			var n int
			if err := reader.QueryRowContext(t.Context(),
				`SELECT count(*) FROM sessions`).Scan(&n); err != nil || n != 1 {
				t.Errorf("read %d sessions, %v", n, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
