//go:build unix

package sse

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	r3labs "github.com/r3labs/sse/v2"
)

// mark stands once in each measured frame; clients count it.
const mark = '!'

// benchData is a message delta in its envelope.
var benchData = []byte(
	`{"id":"0198d0b0-7c5e-7c31-9d2f-0d6f5b1c2a3e","timestamp":"2026-01-02T03:04:05.678Z","parentId":"0198d0b0-7c5e-7c31-9d2f-0d6f5b1c2a3d","ephemeral":true,"type":"assistant.message_delta","data":{"messageId":"m1","offset":123456,"deltaContent":"some twenty letters!"}}`)

// contender is one implementation under measurement, on its own server.
type contender struct {
	name    string
	publish func(Frame)
	srv     *httptest.Server
}

type serverFunc func(testing.TB, http.HandlerFunc) *httptest.Server

func ours(b *testing.B, serve serverFunc, buffer int) contender {
	h := newHub(b, Config{Buffer: buffer})
	topic := h.Topic("bench")
	return contender{"ours", func(f Frame) {
		topic.Publish(f)
	}, serve(b, func(w http.ResponseWriter, r *http.Request) { _ = topic.Serve(w, r, nil) })}
}

func optimum(b *testing.B) contender {
	h := newHandwritten()
	return contender{"optimum", func(f Frame) { h.publish(f) }, server(b, h.ServeHTTP)}
}

func bare(b *testing.B, serve serverFunc) contender {
	s := r3labs.New()
	s.AutoReplay = false
	s.CreateStream("bench")
	b.Cleanup(s.Close) // after the server's, which runs first
	srv := serve(b, func(w http.ResponseWriter, r *http.Request) {
		r.URL.RawQuery = "stream=bench"
		s.ServeHTTP(w, r)
	})
	return contender{"r3labs", func(f Frame) { s.Publish("bench", &r3labs.Event{Data: f.Data}) }, srv}
}

// audience is many clients of one contender, each a connection and a goroutine that
// counts marks.
type audience struct {
	conns []net.Conn
	total atomic.Int64
	want  atomic.Int64
	done  chan struct{}
	wg    sync.WaitGroup
}

func (c contender) audience(b *testing.B, n int,
	seen func(client int, n int64, now time.Time)) *audience {
	a := &audience{done: make(chan struct{}, 1)}
	for i := range n {
		conn := dial(b, c.srv)
		a.conns = append(a.conns, conn)
		a.wg.Go(func() {
			buf := make([]byte, 64<<10)
			var mine int64
			for {
				n, err := conn.Read(buf)
				if err != nil {
					return
				}
				marks := int64(bytes.Count(buf[:n], []byte{mark}))
				if marks == 0 {
					continue
				}
				if seen != nil {
					now := time.Now()
					for k := range marks {
						seen(i, mine+k, now)
					}
				}
				mine += marks
				if a.total.Add(marks) == a.want.Load() {
					a.done <- struct{}{}
				}
			}
		})
	}
	return a
}

// dial opens a stream and returns when its first bytes are there, so that it is
// subscribed.
func dial(b *testing.B, srv *httptest.Server) net.Conn {
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		b.Fatal(err)
	}
	var head []byte
	for one := make([]byte, 1); !bytes.HasSuffix(head, []byte("\r\n\r\n")); head = append(head,
		one[0]) {
		if _, err := conn.Read(one); err != nil {
			b.Fatal(err)
		}
	}
	return conn
}

func (a *audience) expect(deliveries int) { a.want.Add(int64(deliveries)) }

func (a *audience) wait(b *testing.B) {
	select {
	case <-a.done:
	case <-time.After(30 * time.Second):
		b.Fatalf("%d of %d deliveries", a.total.Load(), a.want.Load())
	}
}

func (a *audience) close() {
	for _, c := range a.conns {
		c.Close()
	}
	a.wg.Wait()
}

// rounds yields at least five, and more while the benchmark's time lasts.
func rounds(b *testing.B) iter.Seq[int] {
	return func(yield func(int) bool) {
		for b.Loop() {
			for i := range 5 {
				if !yield(i) {
					return
				}
			}
		}
	}
}

func median[T int64 | float64 | time.Duration](s []T) T {
	s = slices.Clone(s)
	slices.Sort(s)
	return s[len(s)/2]
}

// BenchmarkFanoutBurst publishes as fast as it can to many clients and waits until
// all have all. The figures are medians over at least five interleaved rounds;
// "of-optimum" is our speed as a multiple of the hand-written one's.
func BenchmarkFanoutBurst(b *testing.B) {
	for _, clients := range []int{100, 1000} {
		b.Run(fmt.Sprint(clients), func(b *testing.B) {
			most := max(200_000/clients, 500)
			contenders := []contender{ours(b, server, 1<<30), optimum(b), bare(b, server)}
			frames := []int{most, most, most / 10} // bare r3labs takes too long
			times := make([][]time.Duration, len(contenders))
			audiences := make([]*audience, len(contenders))
			for i, c := range contenders {
				audiences[i] = c.audience(b, clients, nil)
				defer audiences[i].close()
			}
			round := func(i int) time.Duration {
				audiences[i].expect(frames[i] * clients)
				start := time.Now()
				for range frames[i] {
					contenders[i].publish(Frame{ID: 12345, Pos: 1, Data: benchData})
				}
				audiences[i].wait(b)
				return time.Since(start) / time.Duration(frames[i])
			}
			for i := range contenders {
				round(i) // warm up
			}
			for range rounds(b) {
				for i := range contenders {
					times[i] = append(times[i], round(i))
				}
			}
			for i, c := range contenders {
				b.ReportMetric(float64(median(times[i]).Nanoseconds())/float64(clients), c.name+"-ns/delivery")
			}
			b.ReportMetric(ratio(times[1], times[0]), "of-optimum")
			b.ReportMetric(ratio(times[2], times[0]), "of-r3labs")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// ratio is the median of the quotients of rounds that ran side by side.
func ratio(a, c []time.Duration) float64 {
	var q []float64
	for i := range a {
		q = append(q, float64(a[i])/float64(c[i]))
	}
	return median(q)
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// paced is what one paced round showed.
type paced struct {
	p50, p99, cpu time.Duration // cpu: of all, clients included, for each delivery
	delivered     float64       // part of what was to be delivered
}

// paced publishes frames at a fixed pace to clients and waits until they have all, or
// for patience after the last.
func (c contender) paced(b *testing.B, clients, frames int, every time.Duration, data []byte,
	patience time.Duration) (p paced) {
	sent := make([]time.Time, frames)
	latency := make([][]time.Duration, clients)
	a := c.audience(b, clients, func(client int, n int64, now time.Time) {
		latency[client] = append(latency[client], now.Sub(sent[n]))
	})
	a.expect(frames * clients)
	before := cpuTime(b)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for k := range frames {
		<-tick.C
		sent[k] = time.Now()
		c.publish(Frame{ID: 12345, Pos: 1, Data: data})
	}
	select {
	case <-a.done:
	case <-time.After(patience):
	}
	p.cpu = (cpuTime(b) - before) / time.Duration(frames*clients)
	p.delivered = float64(a.total.Load()) / float64(frames*clients)
	a.close()
	all := slices.Concat(latency...)
	slices.Sort(all)
	p.p50, p.p99 = all[len(all)/2], all[len(all)*99/100]
	return p
}

// BenchmarkFanoutPaced publishes 200 frames a second to 100 clients, 20,000
// deliveries a second: the latency and the CPU of each, and ours over the
// hand-written optimum's.
func BenchmarkFanoutPaced(b *testing.B) {
	contenders := []contender{ours(b, server, 0), optimum(b), bare(b, server)}
	p50, p99 := make([][]time.Duration, len(contenders)), make([][]time.Duration, len(contenders))
	cpu := make([][]time.Duration, len(contenders))
	for range rounds(b) {
		for i, c := range contenders {
			p := c.paced(b, 100, 200, 5*time.Millisecond, benchData, 10*time.Second)
			p50[i], p99[i], cpu[i] = append(p50[i], p.p50), append(p99[i], p.p99), append(cpu[i], p.cpu)
		}
	}
	for i, c := range contenders {
		b.ReportMetric(float64(median(p50[i]).Microseconds()), c.name+"-p50-µs")
		b.ReportMetric(float64(median(p99[i]).Microseconds()), c.name+"-p99-µs")
		b.ReportMetric(float64(median(cpu[i]).Nanoseconds()), c.name+"-cpu-ns/delivery")
	}
	b.ReportMetric(ratio(p50[0], p50[1]), "p50/optimum")
	b.ReportMetric(ratio(cpu[0], cpu[1]), "cpu/optimum")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkStalledClient compares 99 clients alone with the same 99 beside one that
// reads nothing: what part they get, and by how much their median latency changes;
// then what bare r3labs gives them.
func BenchmarkStalledClient(b *testing.B) {
	const clients, frames, every = 99, 400, 2 * time.Millisecond
	data := append(bytes.Repeat([]byte("x"), 2<<10), mark)
	var quiet, stalled []time.Duration
	var delivered, bareDelivered []float64
	for range rounds(b) {
		c := ours(b, tightServer, 64<<10)
		p := c.paced(b, clients, frames, every, data, 10*time.Second)
		quiet = append(quiet, p.p50)

		conn := stalledConn(b, c.srv, "/")
		p = c.paced(b, clients, frames, every, data, 10*time.Second)
		stalled, delivered = append(stalled, p.p50), append(delivered, p.delivered)
		conn.Close()

		c = bare(b, tightServer)
		conn = stalledConn(b, c.srv, "/")
		p = c.paced(b, clients, frames, every, data, time.Second)
		bareDelivered = append(bareDelivered, p.delivered)
		conn.Close()
	}
	b.ReportMetric(100*median(delivered), "%-delivered")
	b.ReportMetric(100*median(bareDelivered), "%-r3labs-delivered")
	b.ReportMetric(float64(median(quiet).Microseconds()), "p50-µs-without")
	b.ReportMetric(float64(median(stalled).Microseconds()), "p50-µs-beside")
	b.ReportMetric(ratio(stalled, quiet), "p50-ratio")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkIdleStream opens 1,000 streams and reports what each costs, net/http's
// connection and the client's socket included.
func BenchmarkIdleStream(b *testing.B) {
	const streams = 1000
	for b.Loop() {
		for _, c := range []contender{ours(b, server, 0), optimum(b)} {
			dial(b, c.srv).Close()
			before := memory()
			conns := make([]net.Conn, streams)
			for i := range conns {
				conns[i] = dial(b, c.srv)
			}
			b.ReportMetric(float64(memory()-before)/streams, c.name+"-bytes/stream")
			for _, conn := range conns {
				conn.Close()
			}
			c.srv.Close()
		}
	}
	b.ReportMetric(0, "ns/op")
}

func memory() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
