// Package deploy checks the manifests beside it by the types of those that read them, since no
// image can be pulled and no cluster started where tests run. It is a module of its own, so that
// webchat does not depend on what it stands on.
package deploy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// webchat answers these without sign-in, whatever the name in the request.
const live, ready = "/healthz", "/readyz"

// The file is what Compose takes, and publishes nothing beyond this machine.
func TestCompose(t *testing.T) {
	if _, err := load(t); err == nil {
		t.Error("it starts without an address for the browser")
	}
	project, err := load(t, "WEBCHAT_PUBLIC_URL=https://chat.example")
	if err != nil {
		t.Fatal(err)
	}
	s, err := project.GetService("webchat")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Ports {
		if p.HostIP != "127.0.0.1" {
			t.Errorf("port %s is published on %q", p.Published, p.HostIP)
		}
	}
	for _, v := range s.Volumes {
		if _, ok := project.Volumes[v.Source]; !ok && v.Type == "volume" {
			t.Errorf("there is no volume %s", v.Source)
		}
	}
	if at := *s.Environment["WEBCHAT_METRICS_LISTEN"]; at != s.Hostname+":9464" {
		t.Errorf("metrics are served on %s, which is not an address of %s", at, s.Hostname)
	}
	if test := s.HealthCheck.Test; !slices.Contains(test, "http://127.0.0.1:8080"+ready) {
		t.Errorf("the health check is %v", test)
	}
	if !s.ReadOnly || !slices.Contains(s.CapDrop, "ALL") || s.Restart == "" {
		t.Error("it is not read-only, keeps capabilities or is not started again")
	}
}

// load reads the file as Compose does.
func load(t *testing.T, env ...string) (*types.Project, error) {
	o, err := cli.NewProjectOptions([]string{"single/compose.yaml"}, cli.WithEnv(env))
	if err != nil {
		return nil, err
	}
	return o.LoadProject(t.Context())
}

// The manifests are what Kubernetes takes, down to each field, and their parts fit.
func TestKubernetes(t *testing.T) {
	b, err := os.ReadFile("single/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var service corev1.Service
	var set appsv1.StatefulSet
	kinds := map[string]any{"Service": &service, "StatefulSet": &set}
	for _, doc := range bytes.Split(b, []byte("\n---\n")) {
		var head struct{ Kind string }
		if err := yaml.Unmarshal(doc, &head); err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(doc, kinds[head.Kind]); err != nil {
			t.Errorf("%s: %v", head.Kind, err)
		}
		delete(kinds, head.Kind)
	}
	if len(kinds) > 0 {
		t.Fatalf("missing: %v", kinds)
	}
	pod := set.Spec.Template
	for k, v := range service.Spec.Selector {
		if pod.Labels[k] != v || set.Spec.Selector.MatchLabels[k] != v {
			t.Errorf("the service selects %s=%s, the pods have %v", k, v, pod.Labels)
		}
	}
	if *set.Spec.Replicas != 1 || set.Spec.ServiceName != service.Name {
		t.Errorf("%d replicas of %s", *set.Spec.Replicas, set.Spec.ServiceName)
	}
	c := pod.Spec.Containers[0]
	ports := map[string]int32{}
	for _, p := range c.Ports {
		ports[p.Name] = p.ContainerPort
	}
	for _, p := range service.Spec.Ports {
		if ports[p.TargetPort.StrVal] == 0 {
			t.Errorf("the service's port %s leads to %s, which the container has not", p.Name, p.TargetPort.StrVal)
		}
	}
	for _, p := range []struct {
		probe *corev1.Probe
		path  string
	}{{c.StartupProbe, live}, {c.LivenessProbe, live}, {c.ReadinessProbe, ready}} {
		if g := p.probe.HTTPGet; g.Path != p.path || ports[g.Port.StrVal] != 8080 {
			t.Errorf("a probe asks %s at %s, not %s", g.Path, g.Port.StrVal, p.path)
		}
	}
	volumes := []string{}
	for _, v := range pod.Spec.Volumes {
		volumes = append(volumes, v.Name)
	}
	for _, v := range set.Spec.VolumeClaimTemplates {
		volumes = append(volumes, v.Name)
	}
	for _, m := range c.VolumeMounts {
		if !slices.Contains(volumes, m.Name) {
			t.Errorf("%s is mounted from %s, which is none of %v", m.MountPath, m.Name, volumes)
		}
	}
	for _, e := range c.Env {
		if e.Name == "WEBCHAT_METRICS_LISTEN" && e.Value != set.Name+"-0:9464" {
			t.Errorf("metrics are served on %s, which is not an address of the pod", e.Value)
		}
	}
}

// Prometheus takes the rules and what the dashboard asks, and the alerts come when they should.
func TestPromtool(t *testing.T) {
	if _, err := exec.LookPath("promtool"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no promtool: scripts/setup.sh installs it")
		}
		t.Skip("no promtool here: it comes with Debian's package prometheus")
	}
	promtool(t, "check", "rules", "--lint-fatal", "alerts.yaml")
	promtool(t, "test", "rules", "alerts_test.yaml")

	b, err := os.ReadFile("grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	if err := json.Unmarshal(b, &dashboard); err != nil {
		t.Fatal(err)
	}
	rules := strings.Builder{}
	rules.WriteString("groups:\n- name: dashboard\n  rules:\n")
	for i, p := range dashboard.Panels {
		for j, q := range p.Targets {
			fmt.Fprintf(&rules, "  - {record: 'panel:%d_%d', expr: %q}\n", i, j, strings.ReplaceAll(q.Expr, "$__rate_interval", "1m"))
		}
	}
	name := filepath.Join(t.TempDir(), "dashboard.yaml")
	if err := os.WriteFile(name, []byte(rules.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", "--lint-fatal", name)
}

func promtool(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("promtool", args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
