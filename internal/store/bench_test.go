package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
	"webchat/internal/store"
	"webchat/internal/store/storetest"
)

// body is an ordinary event of about 300 bytes.
var body = event.ToolExecutionStart{
	ToolCallID: "01990000-0000-7000-8000-000000000000-call1",
	ToolName:   "render_file_contents",
	By:         event.ByAgent,
	Arguments:  []byte(`{"path":"internal/session/session.go","startLine":1,"endLine":200}`),
}

// BenchmarkAppend is one session that appends one event at a time, and, as the
// reference, a bare insert of the same bytes in the same kind of file.
func BenchmarkAppend(b *testing.B) {
	b.Run("store", func(b *testing.B) {
		appendLoop(b, open(b, store.Config{Dir: b.TempDir()}), 1, body)
	})
	b.Run("relayed", func(b *testing.B) {
		appendLoop(b, open(b, store.Config{Dir: b.TempDir()}), 1,
			event.AssistantReasoning{ReasoningID: "r", Content: strings.Repeat("a thought ", 20)})
	})
	b.Run("reference", func(b *testing.B) {
		file := filepath.ToSlash(filepath.Join(b.TempDir(), "x.db"))
		db, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		db.SetMaxOpenConns(1)
		if _, err := db.Exec(
			`CREATE TABLE events (at INTEGER PRIMARY KEY, json BLOB NOT NULL)`); err != nil {
			b.Fatal(err)
		}
		insert, err := db.Prepare(`INSERT INTO events (at, json) VALUES (?, ?)`)
		if err != nil {
			b.Fatal(err)
		}
		defer insert.Close()
		e := storetest.Entry(b, 1, body)
		measure(b, func(i int) {
			if _, err := insert.Exec(i+1, e.JSON); err != nil {
				b.Fatal(err)
			}
		})
	})
}

// BenchmarkAppendBatch hands over 64 events at a time.
func BenchmarkAppendBatch(b *testing.B) {
	appendLoop(b, open(b, store.Config{Dir: b.TempDir()}), 64, body)
}

func appendLoop(b *testing.B, s storetest.Store, batch int, data event.Data) {
	if c, ok := s.(interface{ Close() error }); ok {
		defer c.Close()
	}
	sum := eventlog.Summary{ID: "a", Status: event.Idle}
	e := storetest.Entry(b, 1, data)
	entries := make([]event.Entry, batch)
	measure(b, func(int) {
		for i := range entries {
			e.Seq = sum.LastSeq + 1
			entries[i] = e
			sum.LastSeq++
		}
		if err := s.Append(context.Background(), "a", entries, sum); err != nil {
			b.Fatal(err)
		}
	})
	b.ReportMetric(float64(batch*b.N)/b.Elapsed().Seconds(), "events/s")
}

// measure runs f b.N times and reports the middle and the tail of its times.
func measure(b *testing.B, f func(i int)) {
	times := make([]time.Duration, 0, b.N)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		began := time.Now()
		f(i)
		times = append(times, time.Since(began))
	}
	b.StopTimer()
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkAppendSessions is 64 sessions at once, which share commits.
func BenchmarkAppendSessions(b *testing.B) {
	db := open(b, store.Config{Dir: b.TempDir()})
	defer db.Close()
	var n atomic.Int64
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		sum := eventlog.Summary{ID: eventlog.ID(fmt.Sprint("s", n.Add(1))), Status: event.Idle}
		e := storetest.Entry(b, 1, body)
		for pb.Next() {
			e.Seq = sum.LastSeq + 1
			sum.LastSeq++
			if err := db.Append(context.Background(), sum.ID, []event.Entry{e}, sum); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkAfter reads pages of 100 entries of a log of 20,000, and, as the
// reference, decodes the same bytes without a store.
func BenchmarkAfter(b *testing.B) {
	db := open(b, store.Config{Dir: b.TempDir()})
	defer db.Close()
	const size, page = 20_000, 100
	entries, sum := storetest.Start(b, "a", size)
	if err := db.Append(b.Context(), "a", entries, sum); err != nil {
		b.Fatal(err)
	}
	b.Run("store", func(b *testing.B) {
		measure(b, func(i int) {
			got, err := db.After(b.Context(), "a", int64(i*page%size), page)
			if err != nil || len(got) != page {
				b.Fatal(len(got), err)
			}
		})
	})
	b.Run("reference", func(b *testing.B) {
		measure(b, func(i int) {
			from := i * page % size
			for _, e := range entries[from : from+page] {
				if _, err := event.Unmarshal(slices.Clone(e.JSON)); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}

// BenchmarkList lists and searches 20,000 sessions.
func BenchmarkList(b *testing.B) {
	db := open(b, store.Config{Dir: b.TempDir()})
	defer db.Close()
	for i := range 20_000 {
		entries, sum := storetest.Start(b, eventlog.ID(fmt.Sprint("session ", i)), 1)
		sum.UpdatedAt = sum.UpdatedAt.Add(time.Duration(i) * time.Second)
		if err := db.Append(b.Context(), sum.ID, entries, sum); err != nil {
			b.Fatal(err)
		}
	}
	for name, q := range map[string]sessions.Query{"first": {}, "search": {Text: "session 1234"},
		"searchNothing": {Text: "zzz"}} {
		b.Run(name, func(b *testing.B) {
			measure(b, func(int) {
				if _, err := db.List(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// BenchmarkOpen opens a file that is there, as every start does.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	open(b, store.Config{Dir: dir}).Close()
	measure(b, func(int) { open(b, store.Config{Dir: dir}).Close() })
}
