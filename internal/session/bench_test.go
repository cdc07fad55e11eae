package session

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// nowhere is a Log that takes everything and keeps nothing.
type nowhere struct{ *memory }

func (nowhere) Append(context.Context, eventlog.ID, []event.Entry, eventlog.Summary) error {
	return nil
}

// benchHost opens a session whose agent is in the middle of a turn.
func benchHost(b *testing.B) (*Session, agent.Host) {
	mem := newMemory()
	hosts := make(chan agent.Host, 1)
	backend := &scripted{prompt: func(ctx context.Context, h agent.Host, _ agent.Prompt) error {
		hosts <- h
		<-ctx.Done()
		return ctx.Err()
	}}
	ctx := context.Background()
	s, err := Create(ctx, Config{
		Log:       nowhere{mem},
		Owner:     &rig{},
		Backend:   backend,
		Workspace: b.TempDir(),
		Context:   func() event.Context { return event.Context{} },
		Logger:    slog.New(slog.NewTextHandler(io.Discard, nil)),
	}, event.SessionStart{SessionID: "bench"}, "")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	if _, err := s.Send(ctx, Message{Content: "go"}); err != nil {
		b.Fatal(err)
	}
	return s, <-hosts
}

// report measures one event from a backend's Report to a subscriber's Next.
func report(b *testing.B, data func(i int) event.Data) {
	s, h := benchHost(b)
	sub := s.Subscribe()
	defer sub.Close()
	ctx := context.Background()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := h.Report(ctx, data(i)); err != nil {
			b.Fatal(err)
		}
		if _, err := sub.Next(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReportToNextDelta(b *testing.B) {
	offset := int64(0)
	report(b, func(int) event.Data {
		if offset > 1<<20 {
			offset = 0
		}
		d := event.AssistantMessageDelta{MessageID: "m", Offset: offset, DeltaContent: "word "}
		offset += 5
		return d
	})
}

func BenchmarkReportToNextLogged(b *testing.B) {
	report(b, func(int) event.Data { return event.AssistantTurnStart{TurnID: "t"} })
}

// BenchmarkReportToNextReference is the least such a way costs: encode one event
// and hand it over by a channel.
func BenchmarkReportToNextReference(b *testing.B) {
	ch := make(chan event.Entry, 1)
	offset := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		e := event.Entry{Event: event.New(event.AssistantMessageDelta{
			MessageID:    "m",
			Offset:       offset,
			DeltaContent: "word ",
		}, "", time.Now())}
		var err error
		if e.JSON, err = event.Marshal(e.Event); err != nil {
			b.Fatal(err)
		}
		offset += 5
		ch <- e
		<-ch
	}
}

// BenchmarkReportToNextThousandReaders fans one event out to a thousand subscribers
// who all read it.
func BenchmarkReportToNextThousandReaders(b *testing.B) {
	s, h := benchHost(b)
	ctx := context.Background()
	var subs []*eventlog.Subscription
	for range 1000 {
		sub := s.Subscribe()
		defer sub.Close()
		subs = append(subs, sub)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := h.Report(ctx, event.SessionUsageInfo{}); err != nil {
			b.Fatal(err)
		}
		for _, sub := range subs {
			if _, err := sub.Next(ctx); err != nil {
				b.Fatal(err)
			}
		}
	}
}
