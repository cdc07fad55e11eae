package copilot_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/agenttest"
	"webchat/internal/agent/copilot"
	"webchat/internal/agent/copilot/copilottest"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/guard"
	"webchat/internal/outputs"
	"webchat/internal/server"
	"webchat/internal/session"
	"webchat/internal/sessions"
	"webchat/internal/sse"
	"webchat/internal/store"
)

// BenchmarkFrameToWire measures an event from the moment a CLI writes its frame
// to its pipe until a client has read it from the session's stream, at 2,000
// events a second, with the log in SQLite in between.
func BenchmarkFrameToWire(b *testing.B) {
	cfg, _ := scripted(b, fmt.Appendf(nil,
		"-- > go --\nevent assistant.turn_start {\"turnId\":\"0\"}\nstamps %d\n", b.N))
	web, token, manager := site(b, backend(b, cfg))
	s, err := manager.Create(b.Context(), sessions.Options{})
	if err != nil {
		b.Fatal(err)
	}
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, web+"/api/sessions/"+
		string(s.ID())+"/events", nil)
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer res.Body.Close()
	b.ResetTimer()
	if _, err := s.Send(b.Context(), session.Message{Content: "go"}); err != nil {
		b.Fatal(err)
	}
	took := readStamps(b, res.Body)
	b.StopTimer()
	slices.Sort(took)
	at := func(q float64) float64 {
		return float64(took[int(q*float64(len(took)-1))].Microseconds()) / 1000
	}
	b.ReportMetric(at(0.5), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
}

// BenchmarkManyDeltas measures an answer of 2 MB in 40,000 pieces: what the real CLI
// takes for it, with us behind it, and what we take of that, with a stand-in that has the
// pieces ready. The CLI is to be what limits it.
func BenchmarkManyDeltas(b *testing.B) {
	const pieces = 40_000
	piece := strings.Repeat("w", 49) + " "
	model := copilottest.New(b)
	model.Answer(func(r copilottest.Request) *copilottest.Reply {
		if r.Prompt() == "go" {
			return &copilottest.Reply{Text: strings.Repeat(piece, pieces)}
		}
		return nil
	})
	script := []byte("-- > hello --\n-- > go --\nevent assistant.turn_start {\"turnId\":\"0\"}\n")
	for range pieces {
		script = fmt.Appendf(script,
			"event assistant.message_delta {\"messageId\":\"m\",\"deltaContent\":%q}\n", piece)
	}
	ready, _ := scripted(b, script)
	took := func(cfg copilot.Config) time.Duration {
		_, _, manager := site(b, backend(b, cfg))
		s, err := manager.Create(b.Context(), sessions.Options{})
		if err != nil {
			b.Fatal(err)
		}
		var began time.Time
		var r eventlog.TurnResult
		for _, prompt := range []string{"hello", "go"} { // the first starts the CLI
			began = time.Now()
			id, err := s.Send(b.Context(), session.Message{Content: prompt})
			if err != nil {
				b.Fatal(err)
			}
			if r, err = s.WaitTurn(b.Context(), id); err != nil {
				b.Fatal(err)
			}
		}
		if r.Error != "" || len(r.Content) != pieces*len(piece) {
			b.Fatalf("%d bytes, %q", len(r.Content), r.Error)
		}
		return time.Since(began)
	}
	for b.Loop() {
		all, ours := took(real(b, model)), took(ready)
		b.ReportMetric(all.Seconds(), "cli-s")
		b.ReportMetric(ours.Seconds(), "ours-s")
		b.ReportMetric(float64(ours)/float64(all), "our-share")
	}
}

// readStamps reads a stream up to the end of the turn and returns how old each
// piece was that came.
func readStamps(b *testing.B, r io.Reader) (took []time.Duration) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		now := time.Now()
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type string
			Data struct{ DeltaContent string }
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			b.Fatal(err)
		}
		if e.Type == "turn.end" {
			return took
		}
		for stamp := range strings.FieldsSeq(e.Data.DeltaContent) {
			n, err := strconv.ParseInt(stamp, 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			took = append(took, now.Sub(time.Unix(0, n)))
		}
	}
	b.Fatal("the stream ended before the turn", lines.Err())
	return nil
}

// site is a whole server on the backend.
func site(b *testing.B, backend agent.Backend) (url, token string, manager *sessions.Manager) {
	b.Helper()
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	quiet := slog.New(slog.DiscardHandler)
	out, err := outputs.New(outputs.Config{TTL: time.Hour, Budget: 1 << 20})
	must(err)
	door, err := guard.New(guard.Config{Dir: b.TempDir()})
	must(err)
	hub, err := sse.New(sse.Config{Closing: server.Closing})
	must(err)
	db, err := store.Open(store.Config{Dir: b.TempDir()})
	must(err)
	folders, err := files.WorkspaceIn(b.TempDir())
	must(err)
	manager, err = sessions.New(sessions.Config{
		Log:        db,
		Catalog:    db,
		Drafts:     db,
		Backends:   []agent.Backend{backend},
		Workspaces: folders,
		Logger:     quiet,
	})
	must(err)
	srv, err := server.New(server.Config{
		Sessions: manager,
		Outputs:  out,
		Hub:      hub,
		Guard:    door,
		Version:  "bench",
		Logger:   quiet,
	})
	must(err)
	web := httptest.NewServer(srv.Handler())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- manager.Run(ctx) }()
	b.Cleanup(func() {
		limit, stop := context.WithTimeout(context.Background(), 5*time.Second)
		defer stop()
		must(hub.Close(limit))
		cancel()
		must(<-ended)
		web.CloseClientConnections()
		web.Close()
		srv.Close()
		must(db.Close())
	})
	return web.URL, door.Token(), manager
}

// BenchmarkIdleSession measures what an open conversation costs while nothing
// happens in it: of our memory and goroutines, and of the real CLI's.
func BenchmarkIdleSession(b *testing.B) {
	const many = 20
	for b.Loop() {
		back := backend(b, real(b, copilottest.New(b)))
		open := func(id string) agent.Conn {
			conn, err := back.Open(b.Context(), options(b, id, false), agenttest.NewHost(nil))
			if err != nil {
				b.Fatal(err)
			}
			return conn
		}
		conns := []agent.Conn{open("first")}
		heap, goroutines, cli := heapBytes(), runtime.NumGoroutine(), resident(b, copilot.PID(back))
		for i := range many {
			conns = append(conns, open(fmt.Sprint("session-", i)))
		}
		b.ReportMetric(float64(heapBytes()-heap)/1024/many, "our-KiB/session")
		b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/many, "our-goroutines/session")
		b.ReportMetric(float64(resident(b, copilot.PID(back))-cli)/1024/many, "cli-KiB/session")
		b.ReportMetric(float64(cli)/1024/1024, "cli-MiB")
		for _, c := range conns {
			if err := c.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func heapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// resident is the memory a process holds, in bytes; 0 where the system does not say.
func resident(b *testing.B, pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), "VmRSS:")
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	n, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return n * 1024
}
