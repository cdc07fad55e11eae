//go:build unix

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"webchat/internal/e2e/ports"
	"webchat/internal/e2e/proxy"
	"webchat/internal/e2e/witness"
	"webchat/internal/store/postgrestest"
)

const (
	lease = 6 * time.Second // of a program that is built with the tag shortlease
	// patience ends only what hangs: beside other load what has to come may take a minute.
	patience = 2 * time.Minute
	host     = "chat.example"
	// lostLease is the code with which a program ends that may no longer have its sessions.
	lostLease = 3
)

var folder string // of the programs under test

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "cluster")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	folder = dir
	return m.Run()
}

// program builds webchat with build tags, once.
func program(t *testing.T, tags string) string {
	t.Helper()
	name := filepath.Join(folder, "webchat-"+tags)
	if _, err := os.Stat(name); err == nil {
		return name
	}
	if out, err := exec.Command("go", "build", "-tags", tags, "-o", name,
		"webchat/cmd/webchat").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return name
}

// cluster is some replicas that share a database and folders, and the nginx before them.
type cluster struct {
	t         *testing.T
	program   string
	args      []string // of each life, beside those that all have
	dir       string
	workspace string
	token     string
	engine    *postgrestest.Server
	replicas  []*replica
	edge      string // the URL of nginx

	mu   sync.Mutex     // guards ends
	ends map[string]int // lives of programs, by how they ended
}

// start starts so many replicas, which run until the test ends: one that ends is started again.
func start(t *testing.T, n int, program string, args ...string) *cluster {
	t.Helper()
	c := &cluster{
		t:       t,
		program: program,
		args:    args,
		dir:     t.TempDir(),
		token:   strings.Repeat("token", 8),
		ends:    map[string]int{},
	}
	c.workspace = filepath.Join(c.dir, "workspace")
	for _, name := range []string{c.workspace, filepath.Join(c.dir, "shared")} {
		if err := os.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c.write("workspace/go.mod", "module demo\n")
	c.write("token", c.token)
	c.engine = postgrestest.Start(t)
	database := c.engine.Database(t)
	name := database[strings.LastIndexByte(database, '/')+1 : strings.LastIndexByte(database, '?')]
	for i := range n {
		r := &replica{
			c:      c,
			number: i + 1,
			listen: "127.0.0.1:" + ports.Free(),
			line:   newLine(t, filepath.Join(c.engine.Dir, ".s.PGSQL.5432")),
		}
		c.write(fmt.Sprint("engine-", r.number), fmt.Sprintf("postgres://webchat@%s/%s?sslmode=disable",
			r.line.address(), name))
		c.replicas = append(c.replicas, r)
	}
	c.edge = "http://" + c.nginx()
	stop, all := make(chan struct{}), sync.WaitGroup{}
	for _, r := range c.replicas {
		all.Go(func() { r.supervise(stop) })
	}
	t.Cleanup(func() {
		close(stop)
		for _, r := range c.replicas {
			r.signal(syscall.SIGCONT)
			r.signal(syscall.SIGTERM)
		}
		stuck := time.AfterFunc(patience, func() {
			for _, r := range c.replicas {
				if r.signal(syscall.SIGKILL) {
					t.Errorf("replica %d does not end", r.number)
				}
			}
		})
		all.Wait()
		stuck.Stop()
		for _, r := range c.replicas {
			if t.Failed() {
				t.Logf("the log of replica %d:\n%s", r.number, r.log.String())
			}
		}
	})
	c.ready()
	return c
}

func (c *cluster) write(name, text string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// nginx starts one with the file that ships, but for the addresses in it, and returns its own.
func (c *cluster) nginx() string {
	c.t.Helper()
	b, err := os.ReadFile("../../../deploy/replicas/nginx.conf")
	if err != nil {
		c.t.Fatal(err)
	}
	return proxy.Run(c.t, func(address string) string {
		text := strings.Replace(string(b), "listen 8080;", "listen "+address+";", 1)
		for i := range 3 {
			of := c.replicas[i%len(c.replicas)] // what ships has three
			text = strings.Replace(text, fmt.Sprintf("webchat-%d:8080", i+1), of.listen, 1)
		}
		return text
	})
}

// ready waits until each replica takes prompts.
func (c *cluster) ready() {
	c.t.Helper()
	for _, r := range c.replicas {
		c.eventually(fmt.Sprint("replica ", r.number, " is ready"), func() bool {
			return c.status(r.url(), "/readyz") == http.StatusOK
		})
	}
}

// eventually waits for what has to come.
func (c *cluster) eventually(what string, f func() bool) {
	c.t.Helper()
	if !within(patience, f) {
		c.t.Fatalf("%s: not within %v", what, patience)
	}
}

func within(d time.Duration, f func() bool) bool {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(d); !f(); <-tick.C {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// anywhere is the URL of a replica, or more often of nginx.
func (c *cluster) anywhere(rnd *rand.Rand) string {
	if i := rnd.IntN(2 * len(c.replicas)); i < len(c.replicas) {
		return c.replicas[i].url()
	}
	return c.edge
}

var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// ask makes a request; the answer's body is closed by the caller.
func (c *cluster) ask(ctx context.Context, base, method, path, body string,
	header ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Host = host
	req.Header.Set("Authorization", "Bearer "+c.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		if req.Header.Set(name, value); value == "" {
			req.Header.Del(name)
		}
	}
	return client.Do(req)
}

// do is ask with the whole answer, within a time.
func (c *cluster) do(within time.Duration, base, method, path,
	body string) (status int, text string, err error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), within)
	defer cancel()
	res, err := c.ask(ctx, base, method, path, body)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), err
}

func (c *cluster) status(base, path string) int {
	status, _, _ := c.do(time.Second, base, "GET", path, "")
	return status
}

// must asks until the answer is that status.
func (c *cluster) must(want int, base, method, path, body string) (text string) {
	c.t.Helper()
	var status int
	var err error
	defer func() {
		if status != want {
			c.t.Logf("%s %s was answered %d %v %.300s", method, path, status, err, text)
		}
	}()
	c.eventually(method+" "+path, func() bool {
		if status, text, err = c.do(10*time.Second, base, method, path, body); status != want &&
			!passing(status) {
			c.t.Fatalf("%s %s: not %d", method, path, want)
		}
		return err == nil && status == want
	})
	return text
}

// passing reports whether a request may be made again: its server has gone, or another has not
// taken over yet.
func passing(status int) bool {
	return status == 0 || status == http.StatusBadGateway || status == http.StatusServiceUnavailable ||
		status == http.StatusGatewayTimeout
}

// session begins one and returns its id.
func (c *cluster) session(base string) string {
	c.t.Helper()
	var one struct{ ID string }
	if err := json.Unmarshal([]byte(c.must(http.StatusCreated, base, "POST", "/api/sessions", "{}")),
		&one); err != nil || one.ID == "" {
		c.t.Fatalf("%v %q", err, one.ID)
	}
	return one.ID
}

// logOf is a session's whole log.
func (c *cluster) logOf(base, id string) (all []witness.Event) {
	c.t.Helper()
	for {
		var page struct{ Events []json.RawMessage }
		text := c.must(http.StatusOK, base, "GET",
			fmt.Sprintf("/api/sessions/%s/events?limit=500&after=%d", id, len(all)), "")
		if err := json.Unmarshal([]byte(text), &page); err != nil {
			c.t.Fatal(err)
		}
		for _, raw := range page.Events {
			all = append(all, witness.Decode(c.t, raw))
		}
		if len(page.Events) == 0 {
			return all
		}
	}
}

// replica is where one program after the other runs.
type replica struct {
	c      *cluster
	number int
	listen string
	line   *line
	log    witness.Logs

	mu      sync.Mutex // guards what follows
	life    int
	folders int
	cmd     *exec.Cmd // nil between two lives
	ordered bool      // this life's end is the test's
	rest    time.Duration
}

func (r *replica) url() string { return "http://" + r.listen }

// lives is how many lives have begun.
func (r *replica) lives() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.life
}

// dataDir is the folder of the machine that it is on now.
func (r *replica) dataDir() string {
	return filepath.Join(r.c.dir, fmt.Sprintf("data-%d-%d", r.number, r.folders))
}

// supervise runs one life after the other.
func (r *replica) supervise(stop <-chan struct{}) {
	for {
		cmd, err := r.begin()
		if err != nil {
			r.c.t.Error(err)
			return
		}
		err = cmd.Wait()
		rest := r.ended(err)
		select {
		case <-stop:
			return
		case <-time.After(rest):
		}
	}
}

// begin begins a life.
func (r *replica) begin() (*exec.Cmd, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.life++
	r.ordered, r.rest = false, 50*time.Millisecond
	dir := r.c.dir
	args := []string{"serve", "--no-open", "--backend", "offline", "--permissions", "allow",
		"--listen", r.listen, "--public-url", "https://" + host,
		"--workspace", r.c.workspace, "--data-dir", r.dataDir(),
		"--token-file", filepath.Join(dir, "token"), "--engine-file",
		filepath.Join(dir, fmt.Sprint("engine-", r.number)),
		"--shared-dir", filepath.Join(dir, "shared"), "--peer-url", r.url()}
	cmd := exec.Command(r.c.program, append(args, r.c.args...)...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("LIFE=%d.%d", r.number, r.life))
	cmd.Stderr = &r.log
	fmt.Fprintf(&r.log, "-- life %d\n", r.life)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r.cmd = cmd
	return cmd, nil
}

// ended notes how a life ended, and returns after what time the next one begins.
func (r *replica) ended(err error) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cmd = nil
	how := "in order"
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		switch status, _ := exit.Sys().(syscall.WaitStatus); {
		case status.Signaled():
			how = "killed"
		case exit.ExitCode() == lostLease:
			how = "lost its lease"
		default:
			how = "code " + strconv.Itoa(exit.ExitCode())
		}
	}
	if failed := strings.HasPrefix(how, "code"); failed || how != "lost its lease" && !r.ordered {
		r.c.t.Errorf("life %d of replica %d ended by itself: %s", r.life, r.number, how)
		r.rest = patience // one that cannot start is not started again and again
	}
	fmt.Fprintf(&r.log, "-- life %d ended: %s\n", r.life, how)
	r.c.mu.Lock()
	r.c.ends[how]++
	r.c.mu.Unlock()
	return r.rest
}

// signal sends a signal to the life that runs; false if none does.
func (r *replica) signal(sig syscall.Signal) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cmd == nil {
		return false
	}
	r.ordered = r.ordered || sig == syscall.SIGKILL || sig == syscall.SIGTERM
	return r.cmd.Process.Signal(sig) == nil
}

// vanish kills the program and loses its folder, as when its machine is gone; another one comes
// after the lease.
func (r *replica) vanish() bool {
	r.mu.Lock()
	r.folders++
	r.rest = lease + time.Second
	r.mu.Unlock()
	return r.signal(syscall.SIGKILL)
}
