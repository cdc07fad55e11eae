package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"webchat/internal/e2e/ports"
	"webchat/internal/e2e/proxy"
)

// program runs webchat as another process, until the test ends.
type program struct {
	address         string // host:port
	link            string
	token           string
	data, workspace string
	flags           []string
	cmd             *exec.Cmd // its first argument makes this test's binary the program
	log             *told
}

// told is what a program writes to its standard error.
type told struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *told) Write(p []byte) (int,
	error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}
func (s *told) String() string { s.mu.Lock(); defer s.mu.Unlock(); return s.b.String() }

// startProgram runs the program that this test's binary holds.
func startProgram(t *testing.T, flags ...string) *program {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return launch(t, self, []string{"GORACE=atexit_sleep_ms=0"}, flags...)
}

func launch(t *testing.T, file string, env []string, flags ...string) *program {
	t.Helper()
	p := prepare(t, file, env, flags...)
	p.start(t)
	return p
}

// prepare makes a program that is not started yet.
func prepare(t *testing.T, file string, env []string, flags ...string) *program {
	t.Helper()
	p := &program{
		address:   "127.0.0.1:" + ports.Free(),
		data:      filepath.Join(t.TempDir(), "data"),
		workspace: t.TempDir(),
		log:       &told{},
	}
	p.cmd = exec.Command(file)
	p.flags = flags
	p.cmd.Env = append(append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir()), env...)
	p.cmd.Stderr = p.log
	return p
}

func (p *program) start(t *testing.T) {
	t.Helper()
	p.cmd.Args = append([]string{"webchat", "serve", "--no-open", "--listen", p.address, "--data-dir",
		p.data, "--workspace", p.workspace}, p.flags...)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.stop(t) })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = p.cmd.Wait()
		t.Fatalf("no link: %v\n%s", err, p.log)
	}
	p.link = strings.TrimSpace(line)
	token, err := os.ReadFile(filepath.Join(p.data, "token"))
	if err != nil {
		t.Fatal(err)
	}
	p.token = strings.TrimSpace(string(token))
}

func (p *program) stop(t *testing.T) {
	t.Helper()
	if p.cmd.ProcessState != nil {
		return
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("stop: %v\n%s", err, p.log)
	}
}

// ask makes a request to an address under a Host of its own.
func ask1(t *testing.T, method, address, host, path, body string,
	header ...string) (*http.Response, string) {
	t.Helper()
	res := open1(t, method, address, host, path, body, header...)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}

func open1(t *testing.T, method, address, host, path, body string,
	header ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+path,
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives:  true,
		DisableCompression: true,
	}, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// THREATS 72: a proxy that passes the Host on is served; one that rewrites it is
// refused, with the line its configuration lacks; no client is let in for what it
// says of himself in X-Forwarded-*.
func TestBehindNginx(t *testing.T) {
	const passOn = "proxy_set_header Host $host; proxy_http_version 1.1;"
	documented := fences(readPages(t)["PROXY"], "nginx")
	if len(documented) != 2 {
		t.Fatalf("PROXY.md has %d blocks for nginx, not one for / and one below a path", len(documented))
	}
	page := func(i int) string {
		return strings.ReplaceAll(documented[i].text, "http://127.0.0.1:24287", "http://server")
	}
	for _, c := range []struct {
		name, public, locations, path string
		status                        int
	}{
		{"as PROXY.md has it", "https://chat.example", page(0), "", 200},
		{"with its port", "https://chat.example:8443",
			`location / { proxy_pass http://server; proxy_set_header Host $http_host; }`, "", 200},
		{"Host rewritten", "https://chat.example", `location / { proxy_pass http://server; }`, "", 403},
		{"only forwarded", "https://chat.example",
			`location / { proxy_pass http://server; proxy_set_header X-Forwarded-Host $host; proxy_set_header Forwarded "host=$host"; }`, "", 403},
		{"below a path, passed on, as PROXY.md has it", "https://chat.example/webchat", page(1),
			"/webchat", 200},
		{"below a path, passed on", "https://chat.example/tools/chat/",
			`location /tools/chat/ { proxy_pass http://server; ` + passOn + ` }`, "/tools/chat", 200},
		{"below a path, taken away", "https://chat.example/tools/chat",
			`location /tools/chat/ { proxy_pass http://server/; ` + passOn + ` }`, "/tools/chat", 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := startProgram(t, "--public-url", c.public)
			proxy := proxy.Start(t, p.address, c.locations)
			res, body := ask1(t, "GET", proxy, "chat.example", c.path+"/auth", "")
			if res.StatusCode != c.status {
				t.Fatalf("%s %s", res.Status, body)
			}
			if c.status == 403 {
				if !strings.Contains(body, "nginx: proxy_set_header Host $host") {
					t.Errorf("the refusal does not say what to change: %s", body)
				}
				return
			}
			if res, _ := ask1(t, "GET", proxy, "evil.test", c.path+"/auth", ""); res.StatusCode != 403 {
				t.Errorf("a foreign name: %s", res.Status)
			}
			if res, _ := ask1(t, "GET", p.address, "localhost", c.path+"/auth", ""); res.StatusCode != 403 {
				t.Errorf("past the proxy: %s", res.Status)
			}
			signInThrough(t, p, proxy, c.public, c.path)
			streamThrough(t, p, proxy, c.path)
		})
	}
}

// signInThrough follows the printed link and uses what it gives.
func signInThrough(t *testing.T, p *program, proxy, public, path string) {
	public = strings.TrimRight(public, "/")
	prefix := public + "/auth#t="
	if !strings.HasPrefix(p.link, prefix) {
		t.Fatalf("the link is %s, want %s…", p.link, prefix)
	}
	origin := strings.TrimSuffix(public, path)
	res, body := ask1(t, "POST", proxy, "chat.example", path+"/api/sign-in",
		fmt.Sprintf(`{"token":%q}`, strings.TrimPrefix(p.link, prefix)),
		"Content-Type: application/json", "Origin: "+origin, "Sec-Fetch-Site: same-origin")
	var in struct{ Secret string }
	if err := json.Unmarshal([]byte(body), &in); err != nil || res.StatusCode != 200 ||
		in.Secret == "" {
		t.Fatalf("sign in: %s %s", res.Status, body)
	}
	c := res.Cookies()[0]
	if !strings.HasPrefix(c.Name, "__Host-webchat") || !c.Secure || !c.HttpOnly ||
		c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" {
		t.Errorf("cookie %v", c)
	}
	if res.Header.Get("Strict-Transport-Security") == "" {
		t.Error("no HSTS")
	}
	cookie := "Cookie: " + c.Name + "=" + c.Value
	res, body = ask1(t, "GET", proxy, "chat.example", path+"/", "", cookie)
	if res.StatusCode != 200 || !strings.Contains(body, `src="`+path+`/static/`) {
		t.Errorf("the page: %s", res.Status)
	}
	if res, _ := ask1(t, "POST", proxy, "chat.example", path+"/api/sessions", "{}", cookie,
		"Content-Type: application/json"); res.StatusCode != 401 {
		t.Errorf("a cookie wrote: %s", res.Status)
	}
	if res, _ := ask1(t, "POST", proxy, "chat.example", path+"/api/sessions", "{}",
		"Authorization: Bearer "+in.Secret, "Content-Type: application/json",
		"Origin: https://chat.example.evil.test"); res.StatusCode != 403 {
		t.Errorf("a foreign origin: %s", res.Status)
	}
}

// streamThrough sees each event as it happens, though nginx buffers by default.
func streamThrough(t *testing.T, p *program, proxy, path string) {
	auth := "Authorization: Bearer " + p.token
	_, body := ask1(t, "POST", proxy, "chat.example", path+"/api/sessions", "", auth)
	var one struct{ ID string }
	if err := json.Unmarshal([]byte(body), &one); err != nil || one.ID == "" {
		t.Fatalf("session: %s", body)
	}
	at := path + "/api/sessions/" + one.ID
	res := open1(t, "GET", proxy, "chat.example", at+"/events", "", auth, "Accept: text/event-stream")
	defer res.Body.Close()
	lines := make(chan string)
	go func() {
		defer close(lines)
		for r := bufio.NewScanner(res.Body); r.Scan(); {
			lines <- r.Text()
		}
	}()
	// Each word is said only when the one before has arrived: a proxy that kept
	// events back would never deliver one.
	for i := range 3 {
		word := fmt.Sprintf("word-%d-of-the-stream", i)
		said, _ := json.Marshal(map[string]string{"content": word})
		if res, body := ask1(t, "POST", proxy, "chat.example", at+"/messages", string(said), auth,
			"Content-Type: application/json"); res.StatusCode != 202 {
			t.Fatalf("say: %s %s", res.Status, body)
		}
		for late := time.After(patience); ; {
			select {
			case line, ok := <-lines:
				if !ok {
					t.Fatal("the stream ended")
				}
				if strings.Contains(line, word) {
					break
				}
				continue
			case <-late:
				t.Fatalf("%s did not arrive", word)
			}
			break
		}
	}
	_ = res.Body.Close()
	for range lines { // until its reader has ended
	}
}
