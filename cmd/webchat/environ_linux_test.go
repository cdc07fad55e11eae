package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// unprivileged makes a program run as somebody who may not read everything, if
// this is root, in folders of its own.
func unprivileged(t *testing.T, p *program) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("", "webchat") // the folders of a test are closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p.data, p.workspace = filepath.Join(dir, "data"), filepath.Join(dir, "workspace")
	for _, name := range []string{dir, p.data, p.workspace} {
		if err := os.MkdirAll(name, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(name, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	p.cmd.Path = "/proc/self/exe" // the file itself is in a folder for root
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	p.cmd.Env = append(p.cmd.Env, "HOME="+dir, "XDG_CONFIG_HOME="+dir)
}

// THREATS 84: an agent's command gets no credential of the user's, the user's own
// gets all but the server's, and neither can read the server's environment.
func TestThreat84Environment(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const dsn = "postgres://app:" + "hunter2@db/app"
	p := prepare(t, self, []string{"GORACE=atexit_sleep_ms=0", "WEBCHAT_PROVIDER_KEY=" + planted +
		"-key", "COPY_OF_IT=x" + planted + "-key", "DATABASE_URL=" + dsn, "CACHE_AT=" + dsn,
		"GITHUB_TOKEN=ghp", "HARMLESS=harmless"}, "--permissions", "allow")
	unprivileged(t, p)
	p.start(t)
	auth := "Authorization: Bearer " + p.token
	post := func(path, body string) string {
		t.Helper()
		_, text := ask1(t, "POST", p.address, "localhost", path, body, auth,
			"Content-Type: application/json")
		return text
	}
	var one struct{ ID string }
	if err := json.Unmarshal([]byte(post("/api/sessions", "{}")), &one); err != nil {
		t.Fatal(err)
	}
	at := "/api/sessions/" + one.ID
	output := func(id, from string) string {
		t.Helper()
		if id == "" {
			t.Fatalf("nothing was shown: %s", from)
		}
		_, text := ask1(t, "GET", p.address, "localhost", "/api/outputs/"+id, "")
		return text
	}
	typed := func(command string) string {
		t.Helper()
		in, _ := json.Marshal(map[string]any{"tool": "run_and_display",
			"arguments": map[string]string{"command": command}})
		var shown struct{ Output struct{ ID string } }
		body := post(at+"/display", string(in))
		_ = json.Unmarshal([]byte(body), &shown) // what is not shown has no id
		return output(shown.Output.ID, body)
	}
	asked := func(command string) string {
		t.Helper()
		in, _ := json.Marshal(map[string]string{"content": "run " + command})
		var turn struct{ Outputs []struct{ ID string } }
		body := post(at+"/messages?wait=true", string(in))
		if err := json.Unmarshal([]byte(body), &turn); err != nil || len(turn.Outputs) != 1 {
			t.Fatalf("%s: %s", command, body)
		}
		return output(turn.Outputs[0].ID, body)
	}
	check := func(who, env string, secret bool) {
		t.Helper()
		for name, want := range map[string]bool{"HARMLESS=": true, "DATABASE_URL=": secret,
			"CACHE_AT=": secret, "GITHUB_TOKEN=": secret, "WEBCHAT_": false, "COPY_OF_IT=": false,
			planted: false} {
			if strings.Contains(env, name) != want {
				t.Errorf("%s command: %s is there: %v, want %v", who, name, !want, want)
			}
		}
	}
	check("the user's", typed("env | sort"), true)
	check("an agent's", asked("env"), false)
	check("an agent's, run by the user,", typed("env"), false)
	if _, log := ask1(t, "GET", p.address, "localhost", at+"/events?limit=1000", "",
		auth); strings.Count(log,
		`"withheld":["CACHE_AT","COPY_OF_IT","DATABASE_URL","GITHUB_TOKEN"]`) != 1 {
		t.Error("the question does not name what was withheld")
	}
	server := "/proc/" + strconv.Itoa(p.cmd.Process.Pid)
	for _, look := range []string{"cat " + server + "/environ", "cat /proc/$PPID/environ", "cat " +
		server + "/maps", "ls " + server + "/fd/"} {
		if got := typed(look + " 2>&1 || echo refused"); !strings.Contains(got, "Permission denied") ||
			!strings.HasSuffix(got, "refused\n") || strings.Contains(got, planted) {
			t.Errorf("%s: %q", look, got)
		}
	}
}
