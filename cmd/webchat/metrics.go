package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"

	"webchat/internal/daemon"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/sessions"
	"webchat/internal/store"
)

// metrics are numbers about this process. No label names a user, a session, a path or a model.
type metrics struct {
	registry    *prometheus.Registry
	requests    *prometheus.CounterVec
	appends     prometheus.Histogram
	refused     *prometheus.CounterVec
	forwarded   *prometheus.CounterVec
	shown, sent prometheus.Counter
}

type refusal struct {
	err  error // nil: any
	name string
}

// refusals are why the log refused events, as the metric names them.
var refusals = []refusal{
	{store.ErrFull, "full"}, {store.ErrDisk, "disk"}, {store.ErrReadOnly, "read_only"},
	{store.ErrLocked, "locked"}, {store.ErrCorrupt, "damaged"},
	{store.ErrGone, "removed"}, {store.ErrReplaced, "replaced"}, {store.ErrAway, "away"},
	{store.ErrFenced, "fenced"}, {store.ErrClosed, "closed"}, {nil, "other"},
}

// newMetrics makes the numbers that are counted as things happen.
func newMetrics() *metrics {
	r := prometheus.NewRegistry()
	f := promauto.With(r)
	m := &metrics{registry: r,
		requests: f.NewCounterVec(prometheus.CounterOpts{
			Name: "webchat_requests_total",
			Help: "Requests that were answered, by status; a stream counts when it ends.",
		}, []string{"code"}),
		appends: f.NewHistogram(prometheus.HistogramOpts{
			Name:    "webchat_append_seconds",
			Help:    "Time until events were durable in the log.",
			Buckets: prometheus.ExponentialBuckets(0.00025, 2, 16),
		}),
		refused: f.NewCounterVec(prometheus.CounterOpts{
			Name: "webchat_append_refused_total",
			Help: "Times the log refused events, by reason.",
		}, []string{"why"}),
		forwarded: f.NewCounterVec(prometheus.CounterOpts{Name: "webchat_forwarded_total",
			Help: "Requests that were passed on to other replicas, by what decides to which and by the " +
				"status of the answer."}, []string{"to", "code"}),
		shown: f.NewCounter(prometheus.CounterOpts{
			Name: "webchat_tokens_shown_total",
			Help: "Tokens that displayed outputs would have cost a model.",
		}),
		sent: f.NewCounter(prometheus.CounterOpts{
			Name: "webchat_tokens_sent_total",
			Help: "Tokens that the confirmations of displayed outputs cost instead.",
		}),
	}
	for _, why := range refusals {
		m.refused.WithLabelValues(why.name) // 0 is news, too
	}
	m.forwarded.WithLabelValues("session", "200")
	r.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// read adds the numbers that are read off the rooms when somebody asks.
func (m *metrics) read(r *rooms) {
	for _, g := range []struct {
		name, help string
		value      func() int64
	}{
		{"ready", "1 while prompts are taken, as /readyz says; else 0.", func() int64 {
			return oneIf(r.sessions.Unready() == "")
		}},
		{"sessions_loaded", "Sessions in memory.", func() int64 {
			return int64(r.sessions.Stats().Loaded)
		}},
		{"turns_running", "Turns that run.", func() int64 { return int64(r.sessions.Stats().Turns) }},
		{"questions_waiting", "Questions that wait for a user's answer.", func() int64 {
			return int64(r.sessions.Stats().Questions)
		}},
		{"agents_open", "Open conversations with agents.", func() int64 {
			return int64(r.sessions.Stats().Agents)
		}},
		{"streams_open", "Open event streams.", func() int64 { return int64(r.hub.Streams()) }},
		{"peers", "Other living replicas that share the sessions.", func() int64 {
			if r.peers == nil {
				return 0
			}
			return int64(len(r.peers.Peers()))
		}},
		{"outputs", "Outputs that are kept.", func() int64 { return int64(r.outputs.Stats().Outputs) }},
		{"outputs_growing", "Outputs that still grow.", func() int64 {
			return int64(r.outputs.Stats().Growing)
		}},
		{"outputs_bytes", "Memory that outputs use.", func() int64 { return r.outputs.Stats().Used }},
		{"outputs_budget_bytes", "Memory that outputs may use.", func() int64 {
			return r.outputs.Stats().Budget
		}},
	} {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: "webchat",
			Name:      g.name,
			Help:      g.help,
		},
			func() float64 { return float64(g.value()) }))
	}
	if r.engine != nil {
		m.readEngine(r)
	}
}

// readEngine adds the numbers of a replica that shares a database.
func (m *metrics) readEngine(r *rooms) {
	f := promauto.With(m.registry)
	f.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "webchat_lease_seconds",
		Help: "Time until this replica gives up its sessions if it does not reach the database.",
	},
		func() float64 { return r.engine.Left().Seconds() })
	f.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "webchat_engine_up",
		Help: "1 while the database answers, else 0.",
	},
		func() float64 { return float64(oneIf(r.engine.Up())) })
	f.NewCounterFunc(prometheus.CounterOpts{
		Name: "webchat_fenced_total",
		Help: "1 once others may have the sessions of this replica, which ends then; else 0.",
	},
		func() float64 { return float64(oneIf(r.engine.Fenced())) })
	f.NewCounterFunc(prometheus.CounterOpts{
		Name: "webchat_takeovers_total",
		Help: "Sessions taken from replicas whose life had ended.",
	},
		func() float64 { return float64(r.engine.Takeovers()) })
}

func oneIf(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// wasForwarded counts what was passed on.
func (m *metrics) wasForwarded(to string, code int) {
	m.forwarded.WithLabelValues(to, strconv.Itoa(code)).Inc()
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{DisableCompression: true})
}

// measured is a log whose appends are counted.
type measured struct {
	sessions.Log
	*metrics
}

// Append implements [eventlog.Store].
func (m measured) Append(ctx context.Context, id eventlog.ID, entries []event.Entry,
	s eventlog.Summary) error {
	start := time.Now()
	err := m.Log.Append(ctx, id, entries, s)
	if err != nil {
		i := slices.IndexFunc(refusals, func(r refusal) bool {
			return r.err == nil || errors.Is(err, r.err)
		})
		m.refused.WithLabelValues(refusals[i].name).Inc()
		return err
	}
	m.appends.Observe(time.Since(start).Seconds())
	var added eventlog.Summary
	for _, e := range entries {
		if _, ok := e.Event.Data.(event.ToolExecutionComplete); ok {
			added = eventlog.Summarize(added, e)
		}
	}
	m.shown.Add(float64(added.Tokens.Shown))
	m.sent.Add(float64(added.Tokens.Sent))
	return nil
}

// askedHere answers requests whose Host is a name, or the address that they came to.
func askedHere(name string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil { // without a port
			host = strings.Trim(r.Host, "[]")
		}
		here, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
		asked, err := netip.ParseAddr(host)
		switch {
		case strings.EqualFold(host, name),
			strings.EqualFold(host, "localhost") && here != nil && here.IP.IsLoopback(),
			err == nil && here != nil && asked.Unmap() == here.AddrPort().Addr().Unmap():
			next.ServeHTTP(w, r)
		default:
			http.Error(w, "These metrics answer to the address and the name of --metrics-listen only.",
				http.StatusForbidden)
		}
	})
}

// metricsConnections is how many connections may be open: enough for some Prometheus servers and a
// person with curl.
const metricsConnections = 32

// serveMetrics answers GET /metrics on the address of --metrics-listen, if it is given, until stop
// is called. It needs no sign-in, so it answers only requests for this server's address or for the
// name in the flag: a page whose own name leads here cannot read it.
func (o *options) serveMetrics(ctx context.Context, h http.Handler,
	log *slog.Logger) (stop func(), err error) {
	if o.MetricsListen == "" {
		return func() {}, nil
	}
	listeners, _, err := daemon.Listeners(ctx, daemon.Where{
		Flag:    "--metrics-listen",
		Address: o.MetricsListen,
		Fixed:   true,
	}, nil)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	host, _, _ := net.SplitHostPort(o.MetricsListen) // listening takes no other
	mux.Handle("GET /metrics", askedHere(host, h))
	server := &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	var serving sync.WaitGroup
	for _, l := range listeners {
		serving.Go(func() {
			if err := server.Serve(netutil.LimitListener(l, metricsConnections)); !errors.Is(err,
				http.ErrServerClosed) {
				log.Error("the metrics address failed", "error", err)
			}
		})
	}
	log.Info("metrics are served without sign-in", "address", listeners[0].Addr())
	return func() {
		_ = server.Close() // a scrape that is cut is repeated
		serving.Wait()
	}, nil
}
