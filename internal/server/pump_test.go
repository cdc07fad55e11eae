package server

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

type fakePumpSource struct {
	runs  *atomic.Int32
	fault chan struct{}
}

func (f fakePumpSource) Run(ctx context.Context) {
	f.runs.Add(1)
	select {
	case <-ctx.Done():
	case <-f.fault:
		panic("fault")
	}
}

func TestPumps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPumps(slog.New(slog.DiscardHandler))
		var runs atomic.Int32
		begun, fault := 0, make(chan struct{})
		acquire := func() (context.Context, func()) {
			ctx, _, release, _ := p.Acquire(t.Context(), "topic", func() pumpSource {
				begun++
				return fakePumpSource{&runs, fault}
			})
			synctest.Wait()
			return ctx, release
		}
		a, releaseA := acquire()
		b, releaseB := acquire()
		if begun != 1 || runs.Load() != 1 {
			t.Fatalf("two readers, %d sources begun, %d run", begun, runs.Load())
		}
		releaseA()
		if a.Err() == nil || b.Err() != nil {
			t.Error("a reader's end is not its own")
		}
		releaseB()
		time.Sleep(pumpLinger - time.Second) // in the bubble's time
		c, releaseC := acquire()
		time.Sleep(2 * pumpLinger)
		synctest.Wait()
		if begun != 1 || c.Err() != nil {
			t.Errorf("%d sources begun; a reader that came back was cut: %v", begun, c.Err())
		}
		releaseC()
		time.Sleep(pumpLinger + time.Second)
		synctest.Wait()
		if len(p.byTopic) != 0 {
			t.Error("a pump without readers stays")
		}
		d, releaseD := acquire()
		fault <- struct{}{}
		synctest.Wait()
		if begun != 2 || d.Err() == nil {
			t.Errorf("%d sources begun; a reader outlives its source's fault: %v", begun, d.Err())
		}
		releaseD()
		e, releaseE := acquire()
		p.Close()
		synctest.Wait() // its readers are told beside it
		if begun != 3 || e.Err() == nil || len(p.byTopic) != 0 {
			t.Errorf("%d sources begun; after the close: %v, %d topics", begun, e.Err(), len(p.byTopic))
		}
		releaseE()
		f, releaseF := acquire()
		if f.Err() == nil {
			t.Error("a reader that came too late waits for ever")
		}
		releaseF()
		p.Close()
	})
}

// A session that is slow to be subscribed to does not hold up other streams.
func TestPumpsBeginBesideEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPumps(slog.New(slog.DiscardHandler))
		var runs atomic.Int32
		subscribed, joined := make(chan struct{}), make(chan func())
		go func() {
			_, _, release, _ := p.Acquire(t.Context(), "slow", func() pumpSource {
				<-subscribed
				return fakePumpSource{&runs, nil}
			})
			joined <- release
		}()
		synctest.Wait()
		_, _, release, _ := p.Acquire(t.Context(), "other", func() pumpSource {
			return fakePumpSource{&runs, nil}
		})
		release()
		close(subscribed)
		(<-joined)()
		p.Close()
		if runs.Load() != 2 {
			t.Errorf("%d sources run", runs.Load())
		}
	})
}

// What cannot be subscribed to is an error for its readers, and is tried again for the next.
func TestPumpsWithoutASource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPumps(slog.New(slog.DiscardHandler))
		if _, _, _, err := p.Acquire(t.Context(), "topic", func() pumpSource {
			panic("fault")
		}); err == nil {
			t.Error("a reader has a source that could not be made")
		}
		synctest.Wait()
		var runs atomic.Int32
		_, src, release, err := p.Acquire(t.Context(), "topic", func() pumpSource {
			return fakePumpSource{&runs, nil}
		})
		if err != nil || src == nil {
			t.Fatalf("the next reader has %v, %v", src, err)
		}
		release()
		p.Close()
		if len(p.byTopic) != 0 {
			t.Error("a pump stays")
		}
	})
}
