package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"webchat/internal/agent/offline"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/store"
)

// lastTurns is how many turns a page shows.
const lastTurns = 40

// writeLong writes a session of so many turns to a store. The last ones hold 300 tool
// results of 8 KB, those before them one short result each.
func writeLong(t testing.TB, db eventlog.Store, turns int) eventlog.ID {
	t.Helper()
	id := eventlog.ID(event.NewID())
	var (
		sum     eventlog.Summary
		entries []event.Entry
		parent  event.ID
		now     = time.Now().Add(-24 * time.Hour)
	)
	add := func(data ...event.Data) {
		for _, d := range data {
			now = now.Add(50 * time.Millisecond)
			e := event.Entry{Seq: sum.LastSeq + 1, Event: event.New(d, parent, now)}
			parent = e.Event.ID
			var err error
			if e.JSON, err = event.Marshal(e.Event); err != nil {
				t.Fatal(err)
			}
			sum = eventlog.Summarize(sum, e)
			entries = append(entries, e)
		}
	}
	flush := func() {
		if err := db.Append(t.Context(), id, entries, sum); err != nil {
			t.Fatal(err)
		}
		entries = nil
	}
	long := strings.Repeat("func (p *pump) publish(frame []byte) error { return p.ring.put(frame) }\n",
		8<<10/72)
	add(event.SessionStart{
		SessionID: string(id),
		Backend:   offline.Name,
		Title:     "A long one",
		Context:   event.Context{Cwd: "/home/me/relay"},
	})
	for i := range turns {
		m := fmt.Sprint("m", i)
		add(event.UserMessage{MessageID: m, Content: fmt.Sprintf("Look into the pump once more, part %d.",
			i)}, event.TurnStart{TurnID: "t" + m, MessageID: m})
		calls, result := 1, "7 hits"
		if left := turns - i; left <= lastTurns {
			calls, result = 300*left/lastTurns-300*(left-1)/lastTurns, long
		}
		for k := range calls {
			c := fmt.Sprintf("%s-c%d", m, k)
			add(event.ToolExecutionStart{
				ToolCallID: c,
				ToolName:   "view",
				Arguments:  []byte(fmt.Sprintf(`{"path":"internal/pump/pump%d.go"}`, k)),
				By:         event.ByAgent,
			},
				event.ToolExecutionComplete{
					ToolCallID:   c,
					Success:      true,
					Result:       &event.ToolResult{Content: result},
					ResultTokens: 2400,
					DurationMs:   12,
				})
		}
		add(event.AssistantMessage{
			MessageID: "a" + m,
			Content: "The ring drops the oldest frame when it is full, and `publish` does not look at " +
				"it. " + strings.Repeat("So it waits. ", 20),
		},
			event.TurnEnd{
				TurnID:    "t" + m,
				MessageID: m,
				Outcome:   event.Completed,
				Usage:     event.Usage{InputTokens: 900, OutputTokens: 80},
			})
		if len(entries) > 2000 {
			flush()
		}
	}
	flush()
	return id
}

// BenchmarkOpenLongSession is what opening a session of 10,000 turns costs that was not
// opened before in this process, beside one of as many turns as a page shows.
func BenchmarkOpenLongSession(b *testing.B) {
	db, err := store.Open(store.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	ids := []eventlog.ID{writeLong(b, db, lastTurns), writeLong(b, db, 10_000)}
	var took [2][]time.Duration
	size := 0
	for b.Loop() {
		for range 5 {
			h := newHouseOn(b, db, offline.New(offline.Config{}))
			h.do("GET", "/", "")
			for i, id := range ids {
				begun := time.Now()
				res, body := h.do("GET", "/sessions/"+string(id), "")
				took[i] = append(took[i], time.Since(begun))
				if res.StatusCode != 200 || strings.Count(body, `data-turn `) != lastTurns {
					b.Fatalf("%d, %d turns", res.StatusCode, strings.Count(body, `data-turn `))
				}
				size = max(size, len(body))
			}
			h.stop()
		}
	}
	median := func(d []time.Duration) float64 { slices.Sort(d); return d[len(d)/2].Seconds() * 1e3 }
	b.ReportMetric(median(took[0]), "40-turns-ms")
	b.ReportMetric(median(took[1]), "10000-turns-ms")
	b.ReportMetric(median(took[1])/median(took[0]), "ratio")
	b.ReportMetric(float64(size)/1e3, "first-page-kB")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkOpenReplay is what a replay costs of a session of 102,000 events that was not replayed
// before in this process: the page that says it reads, the film, the first moment, and one in its
// middle behind that.
func BenchmarkOpenReplay(b *testing.B) {
	db, err := store.Open(store.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	path := "/sessions/" + string(writeLong(b, db, 17_000)) + "/replay"
	took := map[string][]float64{}
	for b.Loop() {
		h := newHouseOn(b, db, offline.New(offline.Config{}))
		h.do("GET", "/", "")
		get := func(query string) float64 {
			begun := time.Now()
			if res, body := h.do("GET", path+query, ""); res.StatusCode != 200 {
				b.Fatalf("%d %.300s", res.StatusCode, body)
			}
			return time.Since(begun).Seconds() * 1e3
		}
		for _, c := range [][2]string{{"page", ""}, {"film", "?part=film"}, {"first", "?part=moment"},
			{"step", "?part=moment&at=50000"}} {
			took[c[0]] = append(took[c[0]], get(c[1]))
		}
		h.stop()
	}
	for name, all := range took {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], name+"-ms")
	}
	b.ReportMetric(0, "ns/op")
}
