package store_test

import (
	"context"
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"

	"webchat/internal/store"
	"webchat/internal/store/storetest"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerDir); dir != "" {
		writeUntilKilled(dir) // this process is the child of a test
	}
	// The model is slow on SQLite under the race detector. -rapid.checks on the
	// command line, which is read later, asks for more.
	if err := flag.Set("rapid.checks", "6"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

func TestSQLite(t *testing.T) {
	storetest.Run(t, func(t testing.TB) (storetest.Store, func() storetest.Store) {
		c := store.Config{Dir: t.TempDir()}
		db := open(t, c)
		shut := func() {
			if err := db.Check(context.Background()); err != nil {
				t.Error(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
		t.Cleanup(func() { shut() })
		return db, func() storetest.Store {
			shut()
			db = open(t, c)
			return db
		}
	}, store.ErrSequence)
}

func open(t testing.TB, c store.Config) *store.DB {
	t.Helper()
	db, err := store.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return db
}
