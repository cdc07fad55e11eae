package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"webchat/internal/calls"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/store/storetest"
)

// counting is a store that counts what is read of it, and may fail.
type counting struct {
	*storetest.Memory
	read  atomic.Int64
	fails atomic.Bool
}

func (c *counting) After(ctx context.Context, id eventlog.ID, seq int64,
	limit int) ([]event.Entry, error) {
	if c.fails.Load() {
		return nil, errors.New("no disk")
	}
	entries, err := c.Memory.After(ctx, id, seq, limit)
	c.read.Add(int64(len(entries)))
	return entries, err
}

type noOwner struct{}

func (noOwner) Changed(eventlog.Summary)     {}
func (noOwner) Wrote(err error, _ int) error { return err }
func (noOwner) Unsaved() string              { return "" }

// A log that this process began is never read for its index; one of an earlier process is, by the
// first question, while others append.
func TestIndexIsFoldedOnce(t *testing.T) {
	db := &counting{Memory: storetest.NewMemory()}
	open := func(sum eventlog.Summary) *eventlog.Log {
		return eventlog.New(eventlog.Config{
			Store:        db,
			Owner:        noOwner{},
			Now:          time.Now,
			Unsubscribed: func() {},
		}, sum)
	}
	task := func(i int) event.Data { return event.TaskStarted{TaskID: fmt.Sprint(i)} }
	first := open(eventlog.Summary{ID: "s"})
	if err := first.Add(event.SessionStart{SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	for i := range 3000 {
		if err := first.Add(task(i)); err != nil {
			t.Fatal(err)
		}
	}
	has := func(l *eventlog.Log, i int) (known bool) {
		if err := l.Index(t.Context(), func(x *calls.Index) {
			known = x.Task(fmt.Sprint(i))
		}); err != nil {
			t.Error(err)
		}
		return known
	}
	if !has(first, 2999) || has(first, 3000) || db.read.Load() > 0 {
		t.Errorf("of a log that began here %d events were read", db.read.Load())
	}

	again := open(first.Summary())
	db.fails.Store(true)
	if err := again.Index(t.Context(), func(*calls.Index) {}); err == nil {
		t.Error("a log that cannot be read has an index")
	}
	db.fails.Store(false)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			if err := again.Add(task(4000 + i)); err != nil {
				t.Error(err)
			}
			if !has(again, 2999) || !has(again, 4000+i) {
				t.Errorf("task %d is not known", 4000+i)
			}
		})
	}
	all.Wait()
	read := db.read.Load()
	for i := range 4 {
		if !has(again, 4000+i) {
			t.Errorf("task %d is not known", 4000+i)
		}
	}
	if db.read.Load() > read {
		t.Errorf("%d events were read again", db.read.Load()-read)
	}
	if e, err := again.At(t.Context(), 2); err != nil || e.Seq != 2 {
		t.Errorf("event 2 is %+v, %v", e, err)
	}
	if _, err := again.At(t.Context(), 9000); !errors.Is(err, eventlog.ErrLog) {
		t.Error(err)
	}
}
