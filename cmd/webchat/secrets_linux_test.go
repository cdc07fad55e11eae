package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// planted is in every secret of TestSecretsStayInside.
const planted = "CANARY-9b2e"

// THREATS 12, 17, 19, 48, 49 and 67: what the program knows is neither in its
// arguments nor its log, also when it crashes, nor in what its children get; and
// what lies on the disk admits no one.
func TestSecretsStayInside(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	inherited := []string{"GORACE=atexit_sleep_ms=0", "WEBCHAT_PROVIDER_KEY=" + planted + "-key",
		"OPENAI_API_KEY=" + planted, "GITHUB_TOKEN=" + planted,
		"AWS_SECRET_ACCESS_KEY=" + planted, "MY_PASSWORD=" + planted, "HARMLESS=harmless",
		"GOTRACEBACK=all"}
	p := launch(t, self, inherited)
	auth := "Authorization: Bearer " + p.token
	_, body := ask1(t, "POST", p.address, "localhost", "/api/sessions", "", auth)
	var one struct{ ID string }
	if err := json.Unmarshal([]byte(body), &one); err != nil {
		t.Fatal(err)
	}
	at := "/api/sessions/" + one.ID
	run := func(command string) string {
		t.Helper()
		in, _ := json.Marshal(map[string]any{"tool": "run_and_display",
			"arguments": map[string]string{"command": command}})
		_, body := ask1(t, "POST", p.address, "localhost", at+"/display", string(in), auth,
			"Content-Type: application/json")
		var shown struct{ Output struct{ ID string } }
		if err := json.Unmarshal([]byte(body), &shown); err != nil || shown.Output.ID == "" {
			t.Fatalf("%s: %s", command, body)
		}
		// row 22: the id is enough
		_, text := ask1(t, "GET", p.address, "localhost", "/api/outputs/"+shown.Output.ID, "")
		return text
	}
	env := run("env") // the user's own
	if strings.Contains(env, planted+"-key") || strings.Contains(env, "WEBCHAT_") ||
		!strings.Contains(env, "HARMLESS=harmless") {
		t.Errorf("row 48: a command sees\n%s", env)
	}
	for _, fd := range strings.Fields(run("for f in /proc/self/fd/*; do echo ${f##*/}; done")) {
		// the shell opens some of its own
		if n, err := strconv.Atoi(fd); err != nil || n > 2 && n != 10 && n != 255 && n != 3 {
			t.Errorf("row 49: a command has descriptor %s", fd)
		}
	}
	if files := run("ls -l /proc/self/fd"); strings.Contains(files, "socket:") ||
		strings.Contains(files, p.data) {
		t.Errorf("row 49: a command has opened\n%s", files)
	}
	if got := run("read x < /dev/stdin; echo got:$x"); strings.TrimSpace(got) != "got:" {
		t.Errorf("row 51: a command is asked for input: %q", got)
	}
	launchSecret := p.link[strings.Index(p.link, "#t=")+3:]
	p.listensOnLoopbackOnly(t)
	for _, name := range []string{"cmdline", "environ"} { // of all our processes
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.cmd.Process.Pid, name))
		if name == "environ" && errors.Is(err, os.ErrPermission) && os.Getuid() != 0 {
			continue // nobody but root may read it
		}
		if err != nil || strings.Contains(string(b), launchSecret) ||
			strings.Contains(string(b), p.token) {
			t.Errorf("row 17: %s tells a secret, or %v", name, err)
		}
	}
	signInAs(t, p, launchSecret)
	ask1(t, "POST", p.address, "localhost", at+"/messages?wait=true", `{"content":"`+planted+
		` in a prompt"}`, auth, "Content-Type: application/json")
	run("echo " + planted + " of a command")
	ask1(t, "GET", p.address, "localhost", "/"+planted+"?"+planted, "", "Cookie: a="+planted,
		"Authorization: Bearer "+planted)
	// The crash dump is the log's worst moment.
	if err := p.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait() // it fails, as it should
	said := p.log.String()
	if !strings.Contains(said, "goroutine ") {
		t.Errorf("no dump: %s", said)
	}
	for what, secret := range map[string]string{"a canary": planted, "the token": p.token,
		"the link": launchSecret} {
		if i := strings.Index(said, secret); i >= 0 {
			t.Errorf("row 67: the log holds %s: %q", what, said[max(0, i-100):min(len(said), i+60)])
		}
	}
}

// signInAs spends the link and looks at what is on the disk afterwards.
func signInAs(t *testing.T, p *program, launchSecret string) {
	t.Helper()
	res, body := ask1(t, "POST", p.address, "localhost", "/api/sign-in",
		fmt.Sprintf(`{"token":%q}`, launchSecret), "Content-Type: application/json")
	var in struct{ Secret string }
	if err := json.Unmarshal([]byte(body), &in); err != nil || res.StatusCode != 200 {
		t.Fatalf("sign in: %s %s", res.Status, body)
	}
	cookie := res.Cookies()[0].Value
	err := filepath.WalkDir(p.data, func(name string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(name)
		for _, secret := range []string{in.Secret, cookie, launchSecret} {
			if strings.Contains(string(b), secret) {
				t.Errorf("row 19: %s lets one in", name)
			}
		}
		if info, err := d.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("row 19: others may open %s: %v", name, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// listensOnLoopbackOnly looks into the kernel's table of listening sockets.
func (p *program) listensOnLoopbackOnly(t *testing.T) {
	t.Helper()
	_, text, err := net.SplitHostPort(p.address)
	if err != nil {
		t.Fatal(err)
	}
	port, _ := strconv.Atoi(text)
	found := 0
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		b, err := os.ReadFile(table)
		if err != nil {
			continue // a machine without that family
		}
		for line := range strings.Lines(string(b)) {
			fields := strings.Fields(line)
			if len(fields) < 4 || fields[3] != "0A" || !strings.HasSuffix(fields[1],
				fmt.Sprintf(":%04X", port)) {
				continue
			}
			if found++; !strings.HasPrefix(fields[1], "0100007F:") &&
				!strings.HasPrefix(fields[1], "00000000000000000000000001000000:") {
				t.Errorf("row 12: it listens on %s", fields[1])
			}
		}
	}
	if found == 0 {
		t.Error("row 12: nothing listens there")
	}
}
