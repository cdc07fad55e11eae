package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/store"
)

// wireRate is how many events a second a backend reports in the benchmark.
const wireRate = 2000

// stamp is when an event was reported, as its id, so that who reads the wire
// knows how long it took.
func stamp(i int) string { return fmt.Sprintf("at-%d-%d", i, time.Now().UnixNano()) }

func reported(line string) (time.Time, bool) {
	_, rest, ok := strings.Cut(line, `"at-`)
	if !ok {
		return time.Time{}, false
	}
	_, rest, _ = strings.Cut(rest, "-")
	rest, _, _ = strings.Cut(rest, `"`)
	n, err := strconv.ParseInt(rest, 10, 64)
	return time.Unix(0, n), err == nil
}

// pacer is a backend whose agent reports logged events at a pace.
type pacer struct {
	n    int
	rate int // events a second
	host agent.Host
}

func (*pacer) Name() string                                  { return "pacer" }
func (*pacer) Info(context.Context) agent.Info               { return agent.Info{Available: true} }
func (*pacer) Models(context.Context) ([]agent.Model, error) { return nil, nil }
func (*pacer) Steer(context.Context, agent.Prompt) error     { return agent.ErrUnsupported }
func (*pacer) SetModel(context.Context, string) error        { return nil }
func (*pacer) SetTitle(context.Context, string) error        { return nil }
func (*pacer) Close() error                                  { return nil }
func (p *pacer) Open(_ context.Context, _ agent.Options, h agent.Host) (agent.Conn, error) {
	p.host = h
	return p, nil
}

func (p *pacer) Prompt(ctx context.Context, _ agent.Prompt) error {
	return paced(p.n, p.rate, func(i int) error {
		return p.host.Report(ctx, event.AssistantReasoning{
			ReasoningID: stamp(i),
			Content:     "a thought of ordinary length about what to do next",
		})
	})
}

// paced calls f n times, so often a second.
func paced(n, rate int, f func(int) error) error {
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	for i := range n {
		<-tick.C
		if err := f(i); err != nil {
			return err
		}
	}
	return nil
}

// wire reads a stream until n events have come, and returns how long each took.
func wire(body io.Reader, n int) (took []time.Duration, err error) {
	for lines := bufio.NewReader(body); len(took) < n; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return nil, err
		}
		if at, ok := reported(line); ok {
			took = append(took, time.Since(at))
		}
	}
	return took, nil
}

// measureWire reads a stream until n events have come.
func measureWire(b *testing.B, body io.Reader, n int) {
	b.Helper()
	took, err := wire(body, n)
	if err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(took[n/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[n*99/100].Microseconds()), "p99-µs")
}

// BenchmarkBackendToWire is how long an event takes from the backend to the bytes
// a client reads, the durable log included, at 2,000 events a second. The
// reference appends to the same store and writes to the response by itself: no
// session, no fan-out.
func BenchmarkBackendToWire(b *testing.B) {
	b.Run("webchat", func(b *testing.B) {
		db, err := store.Open(store.Config{Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = db.Close() })
		h := newHouseOn(b, db, &pacer{n: b.N, rate: wireRate})
		_, path := h.session(b)
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		res, err := h.client.Do(h.request("GET", path+"/events", "",
			"Accept: text/event-stream").WithContext(ctx))
		if err != nil {
			b.Fatal(err)
		}
		defer res.Body.Close()
		b.ResetTimer()
		if res, body := h.do("POST", path+"/messages", `{"content":"go"}`); res.StatusCode != 202 {
			b.Fatalf("%d %s", res.StatusCode, body)
		}
		measureWire(b, res.Body, b.N)
	})
	b.Run("reference", func(b *testing.B) { referenceWire(b) })
}

func referenceWire(b *testing.B) {
	db, err := store.Open(store.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	begun := make(chan struct{})
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		flush := http.NewResponseController(w)
		_ = flush.Flush()
		<-begun
		sum := eventlog.Summary{ID: "s", Status: event.Idle}
		_ = paced(b.N, wireRate, func(i int) error {
			e := event.Entry{
				Seq: sum.LastSeq + 1,
				Event: event.New(event.AssistantReasoning{
					ReasoningID: stamp(i),
					Content:     "a thought of ordinary length about what to do next",
				}, "", time.Now()),
			}
			var err error
			if e.JSON, err = event.Marshal(e.Event); err != nil {
				return err
			}
			sum = eventlog.Summarize(sum, e)
			if err := db.Append(r.Context(), "s", []event.Entry{e}, sum); err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w, "id: %d\ndata: %s\n\n", e.Seq, e.JSON); err != nil {
				return err
			}
			return flush.Flush()
		})
	}))
	defer bare.Close()
	res, err := bare.Client().Get(bare.URL)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	b.ResetTimer()
	close(begun)
	measureWire(b, res.Body, b.N)
}

// BenchmarkJoin is a reader that comes to a session of 5,000 events: the whole log,
// its last hundred, and the page.
func BenchmarkJoin(b *testing.B) {
	db, err := store.Open(store.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	const events = 5000
	h := newHouseOn(b, db, &pacer{n: events, rate: wireRate})
	id, path := h.session(b)
	if res, body := h.do("POST", path+"/messages?wait=true",
		`{"content":"go"}`); res.StatusCode != 200 {
		b.Fatalf("%d %s", res.StatusCode, body)
	}
	for name, c := range map[string]struct {
		path string
		want int
	}{"whole": {path + "/events", events}, "last": {path + "/events?after=" + strconv.Itoa(events-100),
		100}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				ctx, cancel := context.WithCancel(b.Context())
				res, err := h.client.Do(h.request("GET", c.path, "",
					"Accept: text/event-stream").WithContext(ctx))
				if err != nil {
					b.Fatal(err)
				}
				lines := bufio.NewScanner(res.Body)
				lines.Buffer(nil, 1<<20)
				for n := 0; n < c.want && lines.Scan(); {
					if strings.HasPrefix(lines.Text(), "id: ") {
						n++
					}
				}
				if err := lines.Err(); err != nil {
					b.Fatal(err)
				}
				cancel()
				_ = res.Body.Close()
			}
		})
	}
	b.Run("page", func(b *testing.B) {
		for b.Loop() {
			if res, _ := h.do("GET", "/sessions/"+id, ""); res.StatusCode != 200 {
				b.Fatal(res.Status)
			}
		}
	})
}
