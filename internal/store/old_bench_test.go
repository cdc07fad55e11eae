package store

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
	"webchat/internal/store/storetest"
)

// oldSessions and oldEvents are what a user has after years. Building ten
// million events takes minutes, so the usual run has a tenth of them;
// WEBCHAT_BENCH_EVENTS says how many a session has.
const oldSessions = 100_000

func eventsEach(b *testing.B) int {
	n, err := strconv.Atoi(os.Getenv("WEBCHAT_BENCH_EVENTS"))
	if err != nil {
		return 10
	}
	if n < 5 {
		b.Fatalf("WEBCHAT_BENCH_EVENTS is %d, want 5 at least", n)
	}
	return n
}

// grow fills a store as if its sessions had been held: prompts and answers of
// which every one has common words, some have rare ones, and few have one of
// their own.
func grow(b *testing.B, db *DB, each int) {
	b.Helper()
	ctx := b.Context()
	entries, sum := storetest.Start(b, "0", 1)
	if err := db.Append(ctx, "0", entries, sum); err != nil {
		b.Fatal(err)
	}
	body := storetest.Entry(b, 2, event.ToolExecutionComplete{
		ToolCallID: "c",
		Success:    true,
		Result:     &event.ToolResult{Content: "Displayed session.go to user (50 lines)"},
	})
	said := func(n string) string {
		e := storetest.Entry(b, 3, event.AssistantMessage{
			MessageID: "m",
			Content:   "the answer about a thing " + n,
		})
		return string(e.JSON)
	}
	for _, step := range []string{
		`DROP TRIGGER events_without_holes`,
		fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
			INSERT INTO sessions (id, backend, model, title, folded, created_at, updated_at, deleted_at, pinned, activity, workspace, status, pending, unfinished, last_seq, rest)
			SELECT 's' || i, backend, model, 'Session ' || i, 'session ' || i, created_at, updated_at + i * 1000000000 * (i %% 7), 0, 0, i, workspace, status, 0, 0, %d, rest
			FROM n, sessions WHERE key = 1`, oldSessions-1, each),
		fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
			INSERT INTO events (at, json) SELECT key << 32 | i, CASE WHEN i %% 5 = 3 THEN CAST(replace(?1, 'NUMBER', 'word' || (key %% 1000) || ' own' || key) AS BLOB) ELSE CAST(?2 AS BLOB) END
			FROM sessions, n WHERE key > 1 ORDER BY key, i`, each),
		fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 5 FROM n WHERE i + 5 <= %d)
			INSERT INTO found (rowid, words) SELECT key << 32 | i, 'the answer about a thing word' || (key %% 1000) || ' own' || key
			FROM sessions, n WHERE key > 1 ORDER BY key, i`, each),
	} {
		if _, err := db.file.Load().conn.ExecContext(ctx, step, said("NUMBER"),
			string(body.JSON)); err != nil {
			b.Fatalf("%.60s: %v", step, err)
		}
	}
}

// BenchmarkOldAge is what a user does with 100,000 sessions: start, list, open
// one, search for what is common, rare, one's own, typed half, and not there.
func BenchmarkOldAge(b *testing.B) {
	dir, each := b.TempDir(), eventsEach(b)
	db, err := Open(Config{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	grow(b, db, each)
	size, err := db.Size()
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d sessions, %d events, %d MB, built in %v", oldSessions, oldSessions*each, size>>20,
		time.Since(began).Round(time.Second))
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	b.Run("start", func(b *testing.B) {
		timed(b, func(int) {
			db, _, err := OpenFile(Config{Dir: dir}, quiet)
			if err != nil {
				b.Fatal(err)
			}
			if err := db.Close(); err != nil {
				b.Fatal(err)
			}
		})
	})
	if db, err = Open(Config{Dir: dir}); err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	b.Run("open", func(b *testing.B) {
		timed(b, func(i int) {
			if got, err := db.After(b.Context(), eventlog.ID(fmt.Sprint("s", 1+i*7919%(oldSessions-1))), 0,
				100); err != nil || len(got) != min(each, 100) {
				b.Fatal(len(got), err)
			}
		})
	})
	for name, q := range map[string]sessions.Query{"list": {}, "search/common": {Text: "the answer"},
		"search/rare": {Text: "word77"},
		"search/own":  {Text: "own5555"}, "search/half": {Text: "own555"}, "search/begin": {Text: "wor"},
		"search/nothing": {Text: "zebra"}, "search/title": {Text: "session 4242"}} {
		b.Run(name, func(b *testing.B) {
			timed(b, func(int) {
				if p, err := db.List(b.Context(), q); err != nil || len(p.Sessions) == 0 &&
					name != "search/nothing" {
					b.Fatal(len(p.Sessions), err)
				}
			})
		})
	}
	b.Run("search", func(b *testing.B) {
		took := map[string][]float64{}
		for b.Loop() {
			for _, text := range []string{"the answer", "word77"} {
				began := time.Now()
				if _, err := db.List(b.Context(), sessions.Query{Text: text}); err != nil {
					b.Fatal(err)
				}
				took[text] = append(took[text], time.Since(began).Seconds())
			}
		}
		for _, list := range took {
			slices.Sort(list)
		}
		common, rare := took["the answer"], took["word77"]
		b.ReportMetric(common[len(common)/2]/rare[len(rare)/2], "common/rare")
	})
	b.Run("append", func(b *testing.B) {
		s, err := db.Summary(context.Background(), "s5")
		if err != nil {
			b.Fatal(err)
		}
		timed(b, func(i int) {
			e := storetest.Entry(b, s.LastSeq+1, event.AssistantMessage{
				MessageID: "m",
				Content:   fmt.Sprint("something new about thing ", i),
			})
			s = eventlog.Summarize(s, e)
			if err := db.Append(b.Context(), "s5", []event.Entry{e}, s); err != nil {
				b.Fatal(err)
			}
		})
	})
}

// timed runs f b.N times and reports the slowest beside the mean.
func timed(b *testing.B, f func(int)) {
	slowest := time.Duration(0)
	b.ResetTimer()
	for i := range b.N {
		began := time.Now()
		f(i)
		slowest = max(slowest, time.Since(began))
	}
	b.ReportMetric(float64(slowest.Microseconds())/1000, "slowest-ms")
}
