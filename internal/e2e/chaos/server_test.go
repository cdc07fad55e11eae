package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"webchat/internal/e2e/ports"
	"webchat/internal/e2e/witness"
)

var binary string // the program under test

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "chaos")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "webchat.exe")
	if out, err := exec.Command("go", "build", "-o", binary,
		"webchat/cmd/webchat").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// patience is how long is waited for what has to come.
const patience = 2 * time.Minute

// server is the program with a data folder that outlives it.
type server struct {
	t         *testing.T
	workspace string
	data      string
	flags     []string
	listen    string // the same address for every start, once there was one

	cmd   *exec.Cmd
	url   string
	token string
	log   *witness.Logs

	closedLate map[string]int // what starts closed, by kind
}

func newServer(t *testing.T, flags ...string) *server {
	s := &server{
		t:          t,
		workspace:  t.TempDir(),
		data:       filepath.Join(t.TempDir(), "data"),
		flags:      flags,
		listen:     "localhost:" + ports.Free(),
		closedLate: map[string]int{},
	}
	for name, text := range map[string]string{"go.mod": "module demo\n",
		"docs/harbour.md": strings.Repeat("# Harbour\n\nA line.\n", 50)} {
		path := filepath.Join(s.workspace, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		s.end(syscall.SIGTERM)
		if t.Failed() && s.log != nil {
			t.Logf("the server's log:\n%s", s.log)
		}
	})
	return s
}

// up starts the program and returns how long it took until it answered.
func (s *server) up() time.Duration {
	s.t.Helper()
	began := time.Now()
	s.log = &witness.Logs{}
	s.cmd = exec.Command(binary, append([]string{"serve", "--no-open", "--backend", "offline",
		"--sandbox", "off", "--listen", s.listen,
		"--data-dir", s.data, "--workspace", s.workspace}, s.flags...)...)
	s.cmd.Stderr = s.log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.t.Fatalf("the program does not start: %v\n%s", err, s.log)
	}
	if url, _, _ := strings.Cut(strings.TrimSpace(line), "/auth#"); s.url == "" {
		s.url, s.listen = url, strings.TrimPrefix(url, "http://")
	} else if url != s.url {
		s.t.Fatalf("it comes back at %s, was at %s", url, s.url)
	}
	token, err := os.ReadFile(filepath.Join(s.data, "token"))
	if err != nil {
		s.t.Fatal(err)
	}
	if s.token == "" {
		s.token = strings.TrimSpace(string(token))
	}
	s.get("/api/sessions?limit=1") // answered when recovery is over
	return time.Since(began)
}

// end ends the program by a signal and waits for it.
func (s *server) end(sig os.Signal) {
	if s.cmd == nil || s.cmd.ProcessState != nil {
		return
	}
	_ = s.cmd.Process.Signal(sig) // it may have ended
	_ = s.cmd.Wait()              // how it ended is not the question
}

var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// ask makes a request; the answer's body is closed by the caller. An error means
// that the server has gone.
func (s *server) ask(ctx context.Context, base, method, path, body string,
	header ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	req.Host = strings.TrimPrefix(s.url, "http://")
	return client.Do(req)
}

// do is ask with the whole answer; it fails the test when the server has gone.
func (s *server) do(method, path, body string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	res, err := s.ask(ctx, s.url, method, path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if res.StatusCode >= 300 {
		s.t.Fatalf("%s %s: %d %s", method, path, res.StatusCode, b)
	}
	return string(b)
}

func (s *server) get(path string) string { s.t.Helper(); return s.do("GET", path, "") }

// session begins one and returns its id.
func (s *server) session() string {
	s.t.Helper()
	var one struct{ ID string }
	if err := json.Unmarshal([]byte(s.do("POST", "/api/sessions", "{}")), &one); err != nil ||
		one.ID == "" {
		s.t.Fatal(err)
	}
	return one.ID
}

// logOf is a session's whole log.
func (s *server) logOf(id string) (all []witness.Event) {
	s.t.Helper()
	for {
		var page struct {
			Events []json.RawMessage
			Cursor int64
		}
		text := s.get(fmt.Sprintf("/api/sessions/%s/events?limit=500&after=%d", id, len(all)))
		if err := json.Unmarshal([]byte(text), &page); err != nil {
			s.t.Fatal(err)
		}
		for _, raw := range page.Events {
			all = append(all, witness.Decode(s.t, raw))
		}
		if len(page.Events) == 0 {
			return all
		}
		if page.Cursor != int64(len(all)) {
			s.t.Fatalf("session %s: %d events end at sequence %d", id, len(all), page.Cursor)
		}
	}
}
