package pagetest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/event"
	"webchat/internal/page"
	"webchat/internal/views"
)

type noOutputs struct{}

func (noOutputs) Output(string) (views.Output, bool) { return views.Output{}, false }

// It is the one test of package page in which goroutines meet, and stands apart from the others
// so that these need no race detector.
// Who waits for a place in the log goes on when it is taken in, not before, or when
// there is no more waiting.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pages, err := page.New(page.Config{Outputs: noOutputs{}})
		if err != nil {
			t.Fatal(err)
		}
		var log []event.Entry
		for i, d := range []event.Data{event.SessionStart{}, event.SessionTitleChanged{Title: "a"},
			event.SessionTitleChanged{Title: "b"}} {
			log = append(log, event.Entry{
				Seq:   int64(i + 1),
				Pos:   int64(i + 1),
				Event: event.New(d, "", time.Now()),
			})
		}
		p := pages.Projector("s1")
		p.Load(log[0])
		if err := p.Await(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 2)
		go func() { done <- p.Await(t.Context(), 3) }()
		p.Feed(log[1])
		synctest.Wait()
		if len(done) != 0 {
			t.Fatal("it was awaited too short")
		}
		p.Feed(log[2])
		if err := <-done; err != nil {
			t.Error(err)
		}
		ctx, stop := context.WithCancelCause(t.Context())
		go func() { done <- p.Await(ctx, 4) }()
		synctest.Wait()
		why := errors.New("the pump ended")
		stop(why)
		if err := <-done; err != why {
			t.Errorf("it ended with %v", err)
		}
	})
}
