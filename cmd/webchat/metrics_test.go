package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// theirMetrics are served by Prometheus itself and by Kubernetes.
var theirMetrics = []string{"kubelet_volume_stats_available_bytes",
	"kubelet_volume_stats_capacity_bytes"}

// engineMetrics are served where a database keeps the sessions; testdata/engine/replicas.txt reads
// them.
var engineMetrics = []string{"webchat_engine_up", "webchat_fenced_total", "webchat_lease_seconds",
	"webchat_takeovers_total"}

// Every metric of the dashboard and of the alerts is one that /metrics has, and all of ours are
// used.
func TestDashboardAndAlertsNameWhatIsServed(t *testing.T) {
	served := append(servedMetrics(t), engineMetrics...)
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	var alerts struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	readDeployed(t, "grafana.json", json.Unmarshal, &dashboard)
	readDeployed(t, "alerts.yaml", func(b []byte, v any) error {
		return yaml.Unmarshal(b, v)
	}, &alerts)
	exprs := map[string][]string{}
	for _, p := range dashboard.Panels {
		for _, q := range p.Targets {
			exprs[p.Title] = append(exprs[p.Title], q.Expr)
		}
	}
	if n := len(exprs); n < 5 || n > 12 || n != len(dashboard.Panels) {
		t.Errorf("the dashboard has %d panels with queries, of %d", n, len(dashboard.Panels))
	}
	for _, g := range alerts.Groups {
		for _, r := range g.Rules {
			exprs[r.Alert] = append(exprs[r.Alert], r.Expr)
		}
	}
	used := map[string]bool{}
	for title, list := range exprs {
		for _, name := range metricsOf(list) {
			used[name] = true
			if !slices.Contains(served, name) && !slices.Contains(theirMetrics, name) {
				t.Errorf("%s: there is no metric %s", title, name)
			}
		}
	}
	for _, name := range served {
		if strings.HasPrefix(name, "webchat_") && !strings.HasSuffix(name, "_sum") && !used[name] {
			t.Errorf("nothing shows %s", name)
		}
	}
}

func readDeployed(t *testing.T, name string, decode func([]byte, any) error, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(source, "deploy", name))
	if err == nil {
		err = decode(b, v)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

var (
	notMetrics = regexp.MustCompile(
		`\{[^}]*\}|\[[^\]]*\]|\w+ by \([^)]*\)|\bon \([^)]*\)|\b(?:and|or)\b|\w+\(`)
	identifier = regexp.MustCompile(`\b[a-z][a-z0-9_]*\b`)
)

// metricsOf returns what expressions read.
func metricsOf(exprs []string) []string {
	return identifier.FindAllString(notMetrics.ReplaceAllString(strings.Join(exprs, "\n"), " "), -1)
}

// servedMetrics returns the names of what /metrics has once something was asked.
func servedMetrics(t *testing.T) (names []string) {
	t.Helper()
	o, err := parseOptions([]string{"--no-open", "--backend", "offline", "--listen", "localhost:0",
		"--data-dir", filepath.Join(t.TempDir(), "data"), "--workspace", t.TempDir()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = o.serve(t.Context(), o.Workspace, io.Discard, io.Discard,
		beside{ends: true, run: func(ctx context.Context, r *rooms, _ func(string) error) error {
			ask := func(h http.Handler, path string) string {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
				return w.Body.String()
			}
			ask(r.handler(), "/healthz") // statuses are listed as they occur
			for line := range strings.Lines(ask(r.metrics.handler(), "/metrics")) {
				if name, _, _ := strings.Cut(line, "{"); line[0] != '#' {
					name, _, _ = strings.Cut(name, " ")
					names = append(names, name)
				}
			}
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
