package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// badInput mixes what is wrong with requests: every answer is a refusal with a
// sentence, never a fault, and nothing is changed.
func (s *soaked) badInput() string {
	at := s.session()
	hosts := []string{"evil.test", "localhost.", "127.1", "0.0.0.0:80", "localhost.evil.test",
		"[::ffff:7f00:1]", "xn--lcalhost-54a"}
	origins := []string{"null", "https://evil.test", "http://localhost:1", "http://127.0.0.1",
		"file://"}
	bodies := []string{"{", "[]", "null", `{"content":"a","Content":"b"}`,
		`{"content":"a","content":"b"}`, `{"content":1}`, `{"x":1}`, "\x00", `{"content":"` + "\xff" +
			`"}`,
		strings.Repeat(`{"content":`, 2000), strings.Repeat(" ", 2<<20), `{"content":"a"} x`}
	places := []string{"-1", "9e99", "%00", "99999999999999999999", strings.Repeat("9", 8000), "١",
		"1,2", "18446744073709551616"}
	paths := []string{"//api/sessions", "/static/../api/sessions", "/static/%2e%2e/api/sessions",
		"/api%2Fsessions", "/api/sessions/../../x", "/debug/pprof/", "/api/outputs/%2e%2e",
		"/.git/config", "/api/sessions/\u202e"}
	pick := func(list []string) string { return list[s.random.IntN(len(list))] }
	const n = 5000
	counts := map[int]int{}
	for i := range n {
		status, body := 0, ""
		switch i % 6 {
		case 0:
			status, body = s.request("POST", at+"/messages", `{"content":"x"}`, "Host: "+pick(hosts))
		case 1:
			status, body = s.request("POST", at+"/messages", `{"content":"x"}`, "Origin: "+pick(origins))
		case 2:
			status, body = s.request("POST", at+"/messages", pick(bodies))
		case 3:
			status, body = s.request("GET", pick(paths), "", "Authorization: none")
		case 4:
			status, body = s.request("POST", at+"/messages", "x=1", "Content-Type: "+
				pick([]string{"text/plain", "application/x-www-form-urlencoded; a=b",
					"multipart/form-data; boundary=x", "application/jsonx"}))
		case 5:
			status, body = s.request("GET", at+"/events", "", "Last-Event-ID: "+pick(places))
		}
		counts[status]++
		if status != 0 && (status < 300 || status >= 500) {
			s.t.Fatalf("request %d: %d %.200s", i, status, body)
		}
	}
	if _, body := s.request("GET", at+"/events", ""); strings.Contains(body, "user.message") {
		s.t.Errorf("something came through: %.300s", body)
	}
	return fmt.Sprintf("%d bad requests: %v", n, counts)
}

// flood shows a gigabyte while another session works.
func (s *soaked) flood() string {
	at, other := s.session(), s.session()
	shown := make(chan string)
	go func() { shown <- s.display(at, "yes 0123456789abcdef | head -c 1073741824") }()
	var slowest time.Duration
	most, asked := 0, 0
	for {
		select {
		case id := <-shown:
			var o struct {
				Size      int64
				Truncated bool
			}
			status, body := s.request("GET", "/api/outputs/"+id+"?format=json", "")
			if err := json.Unmarshal([]byte(body), &o); err != nil || status != 200 || !o.Truncated ||
				o.Size != 1<<30 {
				s.t.Errorf("the flood: %d, %d bytes, truncated %v, %v", status, o.Size, o.Truncated, err)
			}
			return fmt.Sprintf(
				"1 GiB of output with a limit of 128 MiB, %d MiB at most; the slowest of %d other requests "+
					"took %v", most>>20, asked, slowest.Round(time.Millisecond))
		default:
			began := time.Now()
			if status, body := s.request("GET", other, ""); status != 200 {
				s.t.Errorf("beside the flood: %d %s", status, body)
			}
			slowest, asked, most = max(slowest, time.Since(began)), asked+1, max(most, s.holds().rss)
			if most > 400<<20 {
				s.t.Errorf("the server uses %d MiB", most>>20)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// neverEnding starts commands that never end and do not want to, and stops them.
func (s *soaked) neverEnding() string {
	const n = 12
	at := s.session()
	commands := []string{"sleep inf", "yes", "trap '' TERM HUP INT; while :; do sleep 1; done",
		"sleep inf & setsid sleep inf & (setsid sh -c 'sleep inf & sleep inf' &); sleep inf", "cat",
		"for i in $(seq 40); do sleep inf & done; wait"}
	done := make(chan int, n)
	for i := range n {
		go func() {
			body, _ := json.Marshal(map[string]any{"tool": "run_and_display",
				"arguments": map[string]string{"command": commands[i%len(commands)]}})
			status, _ := s.request("POST", at+"/display", string(body))
			done <- status
		}()
	}
	ended := 0
	began := time.Now()
	for ended < n {
		select {
		case <-done:
			ended++
		case <-time.After(500 * time.Millisecond):
			for _, call := range s.running(at) {
				s.request("POST", at+"/tools/"+call+"/abort", "")
			}
			if time.Since(began) > time.Minute {
				s.t.Fatalf("%d of %d commands could not be stopped", n-ended, n)
			}
		}
	}
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for end := time.After(20 * time.Second); s.holds().children > 0; {
		select {
		case <-look.C:
		case <-end:
			s.t.Fatalf("%d children are left", s.holds().children)
		}
	}
	return fmt.Sprintf("%d commands that never end were stopped, with everything they had started", n)
}

// running lists the calls of a session that have no end yet.
func (s *soaked) running(at string) (calls []string) {
	_, body := s.request("GET", at+"/events?limit=5000", "")
	var list struct {
		Events []struct {
			Type string
			Data struct{ ToolCallID string }
		}
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		s.t.Fatal(err)
	}
	open := map[string]bool{}
	for _, e := range list.Events {
		switch e.Type {
		case "tool.execution_start":
			open[e.Data.ToolCallID] = true
		case "tool.execution_complete":
			delete(open, e.Data.ToolCallID)
		}
	}
	for id := range open {
		calls = append(calls, id)
	}
	return calls
}

// hungry runs commands that take what they can get, under limits as a container
// sets them.
func (s *soaked) hungry() string {
	at := s.session()
	for _, command := range []string{"ulimit -v 200000; tail /dev/zero",
		"ulimit -t 2; while :; do :; done",
		"ulimit -n 16; for i in 3 4 5 6 7 8 9; do eval \"exec $i</dev/null\"; done; cat /dev/null " +
			"/dev/null"} {
		s.display(at, command)
		if status, _ := s.request("GET", "/healthz", ""); status != 200 {
			s.t.Errorf("after %s: %d", command, status)
		}
	}
	return "3 greedy commands ended by their limits, the server answers"
}

// stalledReaders ask for much and read nothing: a download, a stream that follows
// a growing output, and a stream of events. All are cut; one that reads is not.
func (s *soaked) stalledReaders() string {
	at := s.session()
	go s.request("POST", at+"/display",
		`{"tool":"run_and_display","arguments":{"command":"for i in $(seq 1000); do head -c 262144 /dev/zero | tr '\\0' x; sleep 0.05; done"}}`)
	var id string
	for end := time.Now().Add(20 * time.Second); id == ""; time.Sleep(50 * time.Millisecond) {
		var list struct{ Outputs []struct{ ID string } }
		if _, body := s.request("GET", at+"/outputs", ""); json.Unmarshal([]byte(body), &list) == nil &&
			len(list.Outputs) > 0 {
			id = list.Outputs[0].ID
		}
		if time.Now().After(end) {
			s.t.Fatal("no output appears")
		}
	}
	began := time.Now()
	var stalled []net.Conn
	for _, path := range []string{"/api/outputs/" + id + "?follow=1", at + "/events", "/api/outputs/" +
		id + "?follow=1"} {
		c, err := net.Dial("tcp", s.address)
		if err != nil {
			s.t.Fatal(err)
		}
		_ = c.(*net.TCPConn).SetReadBuffer(4096)
		if _, err := io.WriteString(c, s.raw(path)); err != nil {
			s.t.Fatal(err)
		}
		stalled = append(stalled, c)
	}
	// One that reads sees the file grow to its end meanwhile.
	res, err := http.Get("http://" + s.address + "/api/outputs/" + id + "?follow=1")
	if err != nil {
		s.t.Fatal(err)
	}
	read, err := io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	if err != nil || read == 0 {
		s.t.Errorf("who reads got %d bytes, %v", read, err)
	}
	// The stalled ones have been cut when what they did not read ends in nothing.
	for i, c := range stalled {
		if i == 1 {
			_ = c.Close() // a stream of few events is not stalled: it fits into its buffers
			continue
		}
		_ = c.SetReadDeadline(time.Now().Add(60 * time.Second))
		got, err := io.Copy(io.Discard, bufio.NewReader(c))
		if err == nil && got >= read {
			s.t.Errorf("a stalled reader was served %d of %d bytes after all", got, read)
		}
		_ = c.Close()
	}
	return fmt.Sprintf("readers that stalled were cut; one beside them read %d MiB in %v", read>>20,
		time.Since(began).Round(time.Millisecond))
}

// paused stops the whole server for a while, as a closed lid does.
func (s *soaked) paused() string {
	c, err := s.dial(s.raw("/api/stream"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		if err := s.cmd.Process.Signal(sig); err != nil {
			s.t.Fatal(err)
		}
		if sig == syscall.SIGSTOP {
			time.Sleep(3 * time.Second)
		}
	}
	if status, _ := s.request("GET", "/healthz", ""); status != 200 {
		s.t.Errorf("afterwards: %d", status)
	}
	// A stream from before lives: what happens now comes on it.
	s.session()
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	for r := bufio.NewReader(c); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			s.t.Errorf("the stream from before: %v", err)
			break
		}
		if strings.Contains(line, "session.changed") {
			break
		}
	}
	return "the server was stopped for 3 s and went on, its streams too"
}
