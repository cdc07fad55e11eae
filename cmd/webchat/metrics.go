package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"

	"webchat/internal/daemon"
	"webchat/internal/outputs"
)

// newMetrics describes the process and what it keeps.
func newMetrics(out *outputs.Store) http.Handler {
	gauge := func(name, help string, value func(outputs.Stats) float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "webchat", Name: name, Help: help}, func() float64 { return value(out.Stats()) })
	}
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		gauge("outputs", "Outputs that are kept.", func(s outputs.Stats) float64 { return float64(s.Outputs) }),
		gauge("outputs_growing", "Outputs that still grow.", func(s outputs.Stats) float64 { return float64(s.Growing) }),
		gauge("outputs_bytes", "Memory that outputs use.", func(s outputs.Stats) float64 { return float64(s.Used) }),
		gauge("outputs_budget_bytes", "Memory that outputs may use.", func(s outputs.Stats) float64 { return float64(s.Budget) }))
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{DisableCompression: true})
}

// metricsConnections is how many connections may be open: enough for some Prometheus servers and a
// person with curl.
const metricsConnections = 32

// serveMetrics answers GET /metrics on the address of --metrics-listen, if it is given, until stop is
// called. It asks for no sign-in, and does not mind the request's Host: Prometheus asks by address.
func (o *options) serveMetrics(ctx context.Context, h http.Handler, log *slog.Logger) (stop func(), err error) {
	if o.MetricsListen == "" {
		return func() {}, nil
	}
	listeners, _, err := daemon.Listeners(ctx, "--metrics-listen", o.MetricsListen, true, nil)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", h)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 32 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	var serving sync.WaitGroup
	for _, l := range listeners {
		serving.Go(func() {
			if err := server.Serve(netutil.LimitListener(l, metricsConnections)); !errors.Is(err, http.ErrServerClosed) {
				log.Error("metrics are not served any more", "error", err)
			}
		})
	}
	log.Info("metrics are served without sign-in", "address", listeners[0].Addr())
	return func() {
		_ = server.Close() // a scrape that is cut is repeated
		serving.Wait()
	}, nil
}
