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
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// webchat answers these without sign-in, whatever the name in the request.
const live, ready = "/healthz", "/readyz"

// The files are what Compose takes, and publish nothing beyond this machine.
func TestCompose(t *testing.T) {
	for name, webchats := range map[string][]string{
		"single":   {"webchat"},
		"replicas": {"webchat-1", "webchat-2", "webchat-3"},
	} {
		t.Run(name, func(t *testing.T) {
			file := name + "/compose.yaml"
			if _, err := load(t, file); err == nil {
				t.Error("it starts without an address for the browser")
			}
			project, err := load(t, file, "WEBCHAT_PUBLIC_URL=https://chat.example")
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range project.Services {
				for _, p := range s.Ports {
					if p.HostIP != "127.0.0.1" {
						t.Errorf("port %s of %s is published on %q", p.Published, s.Name, p.HostIP)
					}
				}
				for _, v := range s.Volumes {
					if _, ok := project.Volumes[v.Source]; !ok && v.Type == "volume" {
						t.Errorf("there is no volume %s", v.Source)
					}
				}
				if s.Restart == "" {
					t.Errorf("%s is not started again", s.Name)
				}
			}
			own := map[string]string{} // what no two replicas may share
			for _, name := range webchats {
				s, err := project.GetService(name)
				if err != nil {
					t.Fatal(err)
				}
				checkWebchat(t, s)
				for _, v := range []string{"WEBCHAT_DATA_DIR", "WEBCHAT_PEER_URL"} {
					if at := s.Environment[v]; len(webchats) > 1 && (at == nil || own[*at] != "") {
						t.Errorf("%s has no %s of its own", name, v)
					} else if at != nil {
						own[*at] = name
					}
				}
				if at := s.Environment["WEBCHAT_PEER_URL"]; at != nil && *at != "http://"+s.Hostname+":8080" {
					t.Errorf("the others reach %s at %s", s.Hostname, *at)
				}
			}
			if len(webchats) > 1 {
				checkNginx(t, project, webchats)
			}
		})
	}
}

func checkWebchat(t *testing.T, s types.ServiceConfig) {
	t.Helper()
	if at := *s.Environment["WEBCHAT_METRICS_LISTEN"]; at != s.Hostname+":9464" {
		t.Errorf("metrics are served on %s, which is not an address of %s", at, s.Hostname)
	}
	if test := s.HealthCheck.Test; !slices.Contains(test, "http://127.0.0.1:8080"+ready) {
		t.Errorf("the health check is %v", test)
	}
	if !s.ReadOnly || !slices.Contains(s.CapDrop, "ALL") {
		t.Error("it is not read-only or keeps capabilities")
	}
	for _, v := range []string{"WEBCHAT_ENGINE_FILE", "WEBCHAT_TOKEN_FILE"} {
		at := s.Environment[v]
		if at != nil && !slices.ContainsFunc(s.Secrets, func(f types.ServiceSecretConfig) bool {
			return *at == "/run/secrets/"+f.Source
		}) {
			t.Errorf("%s is %s, which is no secret of %s", v, *at, s.Name)
		}
	}
}

// checkNginx sees that the names in nginx.conf are the replicas', at the addresses they have.
func checkNginx(t *testing.T, project *types.Project, webchats []string) {
	t.Helper()
	b, err := os.ReadFile("replicas/nginx.conf")
	if err != nil {
		t.Fatal(err)
	}
	nginx, err := project.GetService("nginx")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range webchats {
		if !bytes.Contains(b, []byte("server "+name+":8080")) {
			t.Errorf("nginx passes nothing on to %s", name)
		}
		s, _ := project.GetService(name)
		if at := nginx.ExtraHosts[name]; !slices.Equal(at, []string{s.Networks["default"].Ipv4Address}) {
			t.Errorf("nginx looks for %s at %s", name, at)
		}
	}
}

// load reads a file as Compose does.
func load(t *testing.T, name string, env ...string) (*types.Project, error) {
	o, err := cli.NewProjectOptions([]string{name}, cli.WithEnv(env))
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
	decode(t, b, map[string]any{"Service/webchat": &service, "StatefulSet/webchat": &set})
	checkService(t, service, set)
	checkPods(t, set, nil)
	if *set.Spec.Replicas != 1 || set.Spec.ServiceName != service.Name {
		t.Errorf("%d replicas of %s", *set.Spec.Replicas, set.Spec.ServiceName)
	}
	for _, e := range set.Spec.Template.Spec.Containers[0].Env {
		if e.Name == "WEBCHAT_METRICS_LISTEN" && e.Value != set.Name+"-0:9464" {
			t.Errorf("metrics are served on %s, which is not an address of the pod", e.Value)
		}
	}
}

// What kustomize makes of the replicas is what Kubernetes takes, and its parts fit.
func TestKubernetesReplicas(t *testing.T) {
	files := filesys.MakeFsInMemory()
	for _, name := range []string{"kustomization.yaml", "kubernetes.yaml"} {
		b, err := os.ReadFile(filepath.Join("replicas", name))
		if err == nil {
			err = files.WriteFile("/"+name, b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"engine", "token"} {
		if err := files.WriteFile("/secrets/"+name, []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "/")
	if err != nil {
		t.Fatal(err)
	}
	b, err := made.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	var service, pods corev1.Service
	var set appsv1.StatefulSet
	var claim corev1.PersistentVolumeClaim
	var budget policyv1.PodDisruptionBudget
	var network networkingv1.NetworkPolicy
	var public corev1.ConfigMap
	var secret corev1.Secret
	decode(t, b, map[string]any{"Service/webchat": &service, "Service/webchat-pods": &pods,
		"StatefulSet/webchat":                  &set,
		"PersistentVolumeClaim/webchat-shared": &claim, "PodDisruptionBudget/webchat": &budget,
		"NetworkPolicy/webchat": &network,
		"ConfigMap/webchat":     &public, "Secret/webchat": &secret})
	checkService(t, service, set)
	checkService(t, pods, set)
	checkPods(t, set, []string{claim.Name})
	labels := set.Spec.Template.Labels
	for k, v := range budget.Spec.Selector.MatchLabels {
		if labels[k] != v || network.Spec.PodSelector.MatchLabels[k] != v {
			t.Errorf("the budget is for %s=%s, the network's policy for %v", k, v,
				network.Spec.PodSelector.MatchLabels)
		}
	}
	if budget.Spec.MaxUnavailable.IntValue() != 1 ||
		!slices.Equal(claim.Spec.AccessModes, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}) {
		t.Errorf("%v pods may be away, and the volume is %v", budget.Spec.MaxUnavailable,
			claim.Spec.AccessModes)
	}
	if *set.Spec.Replicas != 3 || set.Spec.ServiceName != pods.Name ||
		set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement {
		t.Errorf("%d replicas of %s, %s", *set.Spec.Replicas, set.Spec.ServiceName,
			set.Spec.PodManagementPolicy)
	}
	pod := set.Spec.Template.Spec
	if *pod.TerminationGracePeriodSeconds != 660 ||
		!slices.Equal(pod.Containers[0].Lifecycle.PreStop.Exec.Command, []string{"sleep", "5"}) {
		t.Error("a pod does not get the time to end its turns")
	}
	values := map[string]string{}
	for _, e := range pod.Containers[0].Env {
		values[e.Name] = e.Value
		if from := e.ValueFrom; from != nil && from.ConfigMapKeyRef != nil &&
			from.ConfigMapKeyRef.Name != public.Name {
			t.Errorf("%s is from %s, and kustomize makes %s", e.Name, from.ConfigMapKeyRef.Name, public.Name)
		}
	}
	if values["WEBCHAT_PEER_URL"] != "http://$(POD_IP):8080" ||
		values["WEBCHAT_METRICS_LISTEN"] != "$(POD_NAME):9464" {
		t.Errorf("a pod is not reached at its own address: %v", values)
	}
	var mount string
	for _, m := range pod.Containers[0].VolumeMounts {
		for _, v := range pod.Volumes {
			if v.Name == m.Name && v.Secret != nil && v.Secret.SecretName == secret.Name {
				mount = m.MountPath
			}
		}
	}
	for name := range secret.Data {
		if at := values["WEBCHAT_"+strings.ToUpper(name)+"_FILE"]; at != mount+"/"+name {
			t.Errorf("the secret's %s is not where webchat looks for it, %s", name, at)
		}
	}
}

// decode reads each document into what is there for its kind and its name, which may end with what
// kustomize adds to it.
func decode(t *testing.T, text []byte, into map[string]any) {
	t.Helper()
	for _, doc := range bytes.Split(text, []byte("\n---\n")) {
		var head struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if err := yaml.Unmarshal(doc, &head); err != nil {
			t.Fatal(err)
		}
		name := head.Kind + "/" + head.Metadata.Name
		if into[name] == nil {
			name = name[:max(0, strings.LastIndexByte(name, '-'))]
		}
		if into[name] == nil {
			t.Fatalf("nothing is known of %s %s", head.Kind, head.Metadata.Name)
		}
		if err := yaml.UnmarshalStrict(doc, into[name]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		delete(into, name)
	}
	if len(into) > 0 {
		t.Fatalf("missing: %v", into)
	}
}

// checkService sees that a service leads to the pods of a set.
func checkService(t *testing.T, service corev1.Service, set appsv1.StatefulSet) {
	t.Helper()
	pod := set.Spec.Template
	for k, v := range service.Spec.Selector {
		if pod.Labels[k] != v || set.Spec.Selector.MatchLabels[k] != v {
			t.Errorf("the service selects %s=%s, the pods have %v", k, v, pod.Labels)
		}
	}
	ports := portsOf(set)
	for _, p := range service.Spec.Ports {
		if ports[p.TargetPort.StrVal] == 0 {
			t.Errorf("the service's port %s leads to %s, which the container has not", p.Name,
				p.TargetPort.StrVal)
		}
	}
}

func portsOf(set appsv1.StatefulSet) map[string]int32 {
	ports := map[string]int32{}
	for _, p := range set.Spec.Template.Spec.Containers[0].Ports {
		ports[p.Name] = p.ContainerPort
	}
	return ports
}

// checkPods sees that probes and mounts of a set's pods are of what there is.
func checkPods(t *testing.T, set appsv1.StatefulSet, claims []string) {
	t.Helper()
	pod := set.Spec.Template.Spec
	c, ports := pod.Containers[0], portsOf(set)
	for _, p := range []struct {
		probe *corev1.Probe
		path  string
	}{{c.StartupProbe, live}, {c.LivenessProbe, live}, {c.ReadinessProbe, ready}} {
		if g := p.probe.HTTPGet; g.Path != p.path || ports[g.Port.StrVal] != 8080 {
			t.Errorf("a probe asks %s at %s, not %s", g.Path, g.Port.StrVal, p.path)
		}
	}
	volumes := []string{}
	for _, v := range pod.Volumes {
		volumes = append(volumes, v.Name)
		if v.PersistentVolumeClaim != nil && !slices.Contains(claims, v.PersistentVolumeClaim.ClaimName) {
			t.Errorf("there is no claim %s", v.PersistentVolumeClaim.ClaimName)
		}
	}
	for _, v := range set.Spec.VolumeClaimTemplates {
		volumes = append(volumes, v.Name)
	}
	for _, m := range c.VolumeMounts {
		if !slices.Contains(volumes, m.Name) {
			t.Errorf("%s is mounted from %s, which is none of %v", m.MountPath, m.Name, volumes)
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
			fmt.Fprintf(&rules, "  - {record: 'panel:%d_%d', expr: %q}\n", i, j,
				strings.ReplaceAll(q.Expr, "$__rate_interval", "1m"))
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

// The profile for the sandbox has what that takes, and is no more than a list of calls.
func TestSeccompProfile(t *testing.T) {
	text, err := os.ReadFile("seccomp.json")
	if err != nil {
		t.Fatal(err)
	}
	var profile struct {
		DefaultAction string
		Architectures []string
		Syscalls      []struct {
			Names  []string
			Action string
			Args   []struct{ Index, Value int }
		}
	}
	if err := json.Unmarshal(text, &profile); err != nil || profile.DefaultAction != "SCMP_ACT_ERRNO" {
		t.Fatal(profile.DefaultAction, err)
	}
	allowed := map[string]bool{}
	for _, s := range profile.Syscalls {
		for _, name := range s.Names {
			if s.Action == "SCMP_ACT_ALLOW" && len(s.Args) == 0 {
				allowed[name] = true
			}
		}
	}
	for name, want := range map[string]bool{"clone": true, "unshare": true, "mount": true,
		"umount2": true, "open_tree": true, "move_mount": true, "mount_setattr": true,
		"pivot_root": true, "openat2": true, "seccomp": true, "landlock_restrict_self": true,
		"execve": true, "newfstatat": true,
		"bpf": false, "keyctl": false, "kexec_load": false, "init_module": false, "io_uring_setup": false,
		"open_by_handle_at": false, "reboot": false, "setns": false, "syslog": false} {
		if allowed[name] != want {
			t.Errorf("%s is allowed: %v", name, allowed[name])
		}
	}
}
