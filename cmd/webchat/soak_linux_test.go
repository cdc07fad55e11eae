package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// soaked is a server under load and what is known of it.
type soaked struct {
	*program
	t      *testing.T
	random *rand.Rand
	client *http.Client
	begun  []string // sessions
}

// TestSoakLoadAndFaults holds what THREATS names under load: rows 18 and 62 to 66,
// faults 4, 6 to 9, 23, 24 and 28, one after the other on one server with little
// memory; then everything is as it was before.
func TestSoakLoadAndFaults(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("WEBCHAT_SOAK"), 10, 64)
	if err != nil {
		t.Skip("a long run: make soak")
	}
	file := filepath.Join(t.TempDir(), "webchat")
	if out, err := exec.Command("go", "build", "-o", file, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	s := &soaked{
		t:      t,
		random: rand.New(rand.NewPCG(seed, 0)),
		client: &http.Client{
			Timeout:   2 * time.Minute,
			Transport: &http.Transport{MaxIdleConnsPerHost: 64},
		},
	}
	s.program = launch(t, file, []string{"GOMEMLIMIT=128MiB"}, "--output-budget", "32MiB",
		"--output-ttl", "2s", "--listen", "localhost:0")
	s.address = s.own()
	s.warm()
	before := s.settled(nil)
	t.Logf("soak: the server begins with %v", before)
	for _, part := range []struct {
		name string
		run  func() string
	}{
		{"row 65, F9", s.manyStreams}, {"rows 62, 65", s.silentConnections}, {"row 81", s.strangers},
		{"row 18", s.guesses}, {"rows 3, 11, 54, 64, 66", s.badInput},
		{"F6, F28", s.flood}, {"F4, F7", s.neverEnding}, {"F23", s.hungry},
		{"row 63, F8", s.stalledReaders}, {"F24", s.paused},
	} {
		began := time.Now()
		said := part.run()
		t.Logf("soak: %s: %s (%v)", part.name, said, time.Since(began).Round(time.Millisecond))
		if t.Failed() {
			return
		}
	}
	for _, at := range s.begun { // a session that was used holds its workspace open
		if status, body := s.request("DELETE", at, ""); status != 204 {
			t.Errorf("delete: %d %s", status, body)
		}
	}
	s.client.CloseIdleConnections()
	after := s.settled(&before)
	t.Logf("soak: the server ends with %v", after)
}

// warm has everything made that is made once, such as the connections of the
// database's pool.
func (s *soaked) warm() {
	at := s.session()
	s.display(at, "echo warm")
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			for range 20 {
				s.request("GET", at+"/events", "")
				s.request("GET", "/api/sessions?q=warm", "")
			}
		})
	}
	wg.Wait()
	s.client.CloseIdleConnections()
}

// own reads the address the program found for itself.
func (s *soaked) own() string {
	at, _, _ := strings.Cut(strings.TrimPrefix(s.link, "http://localhost:"), "/")
	return "localhost:" + at
}

func (s *soaked) request(method, path, body string, header ...string) (int, string) {
	s.t.Helper()
	r, err := http.NewRequest(method, "http://"+s.address+path, strings.NewReader(body))
	if err != nil {
		return 0, err.Error() // nothing net/http would send
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	res, err := s.client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(b)
}

func (s *soaked) session() string {
	s.t.Helper()
	var one struct{ ID string }
	if status, body := s.request("POST", "/api/sessions", ""); status != 201 ||
		json.Unmarshal([]byte(body), &one) != nil {
		s.t.Fatalf("begin a session: %d %s", status, body)
	}
	s.begun = append(s.begun, "/api/sessions/"+one.ID)
	return "/api/sessions/" + one.ID
}

// display runs a command as the user and returns the output's id.
func (s *soaked) display(session, command string) string {
	s.t.Helper()
	body, _ := json.Marshal(map[string]any{"tool": "run_and_display",
		"arguments": map[string]string{"command": command}})
	status, text := s.request("POST", session+"/display", string(body))
	var shown struct{ Output struct{ ID string } }
	if status != 200 || json.Unmarshal([]byte(text), &shown) != nil {
		s.t.Fatalf("%s: %d %s", command, status, text)
	}
	return shown.Output.ID
}

// load is what a process holds.
type load struct {
	rss, goroutines, descriptors, children int
}

func (u load) String() string {
	return fmt.Sprintf("%d MiB of memory, %d goroutines, %d descriptors, %d children", u.rss>>20,
		u.goroutines, u.descriptors, u.children)
}

// What the server logs: only root may look into it.
var (
	goroutines  = regexp.MustCompile(`(?m)^go_goroutines (\d+)`)
	descriptors = regexp.MustCompile(`(?m)^process_open_fds (\d+)`)
)

func (s *soaked) holds() (u load) {
	s.t.Helper()
	status, metrics := s.request("GET", "/metrics", "")
	m, d := goroutines.FindStringSubmatch(metrics), descriptors.FindStringSubmatch(metrics)
	if status != 200 || m == nil || d == nil {
		s.t.Fatalf("metrics: %d", status)
	}
	u.goroutines, _ = strconv.Atoi(m[1])
	u.descriptors, _ = strconv.Atoi(d[1])
	dir := fmt.Sprintf("/proc/%d/", s.cmd.Process.Pid)
	tasks, err := filepath.Glob(dir + "task/*/children")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, name := range tasks {
		b, _ := os.ReadFile(name) // a thread may have ended
		u.children += len(strings.Fields(string(b)))
	}
	statm, err := os.ReadFile(dir + "statm")
	if err != nil {
		s.t.Fatal(err)
	}
	pages, _ := strconv.Atoi(strings.Fields(string(statm))[1])
	u.rss = pages * os.Getpagesize()
	return u
}

// settled waits until the server holds no more than before; without a before,
// until nothing changes any more.
func (s *soaked) settled(before *load) load {
	s.t.Helper()
	last, calm := load{}, 0
	for end := time.Now().Add(90 * time.Second); ; time.Sleep(250 * time.Millisecond) {
		now := s.holds()
		if before != nil && now.goroutines <= before.goroutines &&
			now.descriptors <= before.descriptors && now.children <= before.children &&
			now.rss <= before.rss+64<<20 {
			return now
		}
		if calm++; now.goroutines != last.goroutines || now.descriptors != last.descriptors ||
			now.children != last.children {
			calm = 0
		}
		if last = now; before == nil && calm >= 50 {
			return now
		}
		if time.Now().After(end) {
			s.t.Errorf("the server holds %v, before it was %v; open are %v", now, before, s.open())
			return now
		}
	}
}

// open lists what the server has opened, for root.
func (s *soaked) open() (names []string) {
	list, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, name := range list {
		to, _ := os.Readlink(name) // it may be closed by now
		names = append(names, to)
	}
	return names
}

// dial opens a connection and sends text on it.
func (s *soaked) dial(text string) (net.Conn, error) {
	c, err := net.DialTimeout("tcp", s.address, 20*time.Second)
	if err == nil && text != "" {
		_, err = io.WriteString(c, text)
	}
	return c, err
}

func (s *soaked) raw(path string) string {
	return "GET " + path +
		" HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nAuthorization: Bearer " + s.token +
		"\r\n\r\n"
}

// manyStreams asks for 10,000 streams: some are given, the rest are asked to come
// later, and an open one stays open.
func (s *soaked) manyStreams() string {
	const asked = 10_000
	var mu sync.Mutex
	var held []net.Conn
	counts := map[string]int{}
	var wg sync.WaitGroup
	gate := make(chan struct{}, 200)
	for range asked {
		gate <- struct{}{}
		wg.Go(func() {
			defer func() { <-gate }()
			c, err := s.dial(s.raw("/api/stream"))
			status := "no answer"
			if err == nil {
				_ = c.SetReadDeadline(time.Now().Add(30 * time.Second))
				if res, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil {
					if status = strconv.Itoa(res.StatusCode); res.StatusCode == 503 &&
						res.Header.Get("Retry-After") == "" {
						status = "503 without Retry-After"
					}
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if counts[status]++; status == "200" {
				held = append(held, c)
			} else if c != nil {
				_ = c.Close()
			}
		})
	}
	wg.Wait()
	if counts["200"] != 1024 || counts["200"]+counts["503"] != asked {
		s.t.Errorf("streams: %v", counts)
	}
	if status, _ := s.request("GET", "/api/sessions", ""); status != 200 {
		s.t.Errorf("beside the streams: %d", status)
	}
	for _, c := range held {
		_ = c.Close()
	}
	return fmt.Sprintf("%d streams asked for, %d held, %d told to come later", asked, counts["200"],
		counts["503"])
}

// silentConnections opens 10,000 connections that say nothing, or half of it: they
// are let go, and who comes then is served.
func (s *soaked) silentConnections() string {
	var held []net.Conn
	for i := range 10_000 {
		c, err := s.dial([]string{"", "GET / HTTP/1.1\r\nHost: loc",
			"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n{"}[i%3])
		if c != nil {
			held = append(held, c)
		}
		if err != nil && c == nil {
			s.t.Errorf("connection %d: %v", i, err)
			break
		}
	}
	began := time.Now()
	for end := began.Add(60 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		s.client.CloseIdleConnections()
		if status, _ := s.request("GET", "/healthz", ""); status == 200 {
			break
		}
		if time.Now().After(end) {
			s.t.Fatal("the server never came back")
		}
	}
	took := time.Since(began).Round(time.Millisecond)
	for _, c := range held {
		_ = c.Close()
	}
	return fmt.Sprintf("%d silent connections; others were served after %v", len(held), took)
}

// guesses tries 10,000 tokens: each is wrong, no user is locked out, and the log
// does not grow with it.
func (s *soaked) guesses() string {
	const n = 10_000
	lines := strings.Count(s.log.String(), "\n")
	for i := range n {
		guess := strconv.FormatUint(s.random.Uint64(), 36)
		if status, body := s.request("GET", "/api/sessions", "", "Authorization: Bearer "+
			guess); status != 401 {
			s.t.Fatalf("guess %d: %d %s", i, status, body)
		}
	}
	if status, _ := s.request("GET", "/api/sessions", ""); status != 200 {
		s.t.Errorf("the right token: %d", status)
	}
	if more := strings.Count(s.log.String(), "\n") - lines; more > 100 {
		s.t.Errorf("%d lines of log", more)
	}
	return fmt.Sprintf("%d wrong tokens", n)
}
