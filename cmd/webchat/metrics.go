package main

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

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
