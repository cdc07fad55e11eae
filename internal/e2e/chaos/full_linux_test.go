package chaos

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fill takes all room of a folder's disk and returns what gives it back.
func fill(t *testing.T, dir string) (empty func()) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	if f.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// sendUntilRefused sends longer and longer prompts until one is refused, and returns those that
// were accepted.
func (s *server) sendUntilRefused(id string) (accepted []string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	for size := 100; ; size *= 2 {
		content := "prompt " + strings.Repeat("x", size)
		res, err := s.ask(ctx, s.url, "POST", "/api/sessions/"+id+"/messages", `{"content":"`+content+
			`"}`)
		if err != nil {
			s.t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		switch {
		case err != nil:
			s.t.Fatal(err)
		case res.StatusCode == http.StatusServiceUnavailable &&
			strings.Contains(string(body), `"log_unavailable"`):
			return accepted
		case res.StatusCode != http.StatusAccepted:
			s.t.Fatalf("a prompt on a full disk: %d %s", res.StatusCode, body)
		}
		accepted = append(accepted, strings.TrimSuffix(strings.TrimPrefix(string(body), `{"messageId":"`),
			"\"}\n"))
	}
}

// untilSaved calls f and waits for the report that the log can be written again.
func (s *server) untilSaved(f func()) {
	s.t.Helper()
	s.untilTold(`"errorType":"saved"`, f)
}

// untilTold calls f and waits until readers of the list get what holds a text.
func (s *server) untilTold(text string, f func()) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	res, err := s.ask(ctx, s.url, "GET", "/api/stream", "", "Accept: text/event-stream")
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	f()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if strings.Contains(lines.Text(), text) {
			return
		}
	}
	s.t.Fatalf("no page is told %s", text)
}

// onSmallDisk puts the data folder on a disk of its own and returns what mounts that
// anew, with other flags.
func (s *server) onSmallDisk() (remount func(flags uintptr)) {
	s.t.Helper()
	const options = "size=4m,mode=0700"
	if err := os.Mkdir(s.data, 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", s.data, "tmpfs", 0, options); err != nil {
		s.t.Skipf("no small disk can be mounted: %v", err)
	}
	s.t.Cleanup(func() {
		s.end(syscall.SIGTERM)
		if err := syscall.Unmount(s.data, 0); err != nil {
			s.t.Error(err)
		}
	})
	return func(flags uintptr) {
		s.t.Helper()
		if err := syscall.Mount("tmpfs", s.data, "tmpfs", syscall.MS_REMOUNT|flags, options); err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestReadOnlyDiskAfterKill: a disk that can only be read since the server was killed
// does not hide what is on it, and commands find the server.
func TestReadOnlyDiskAfterKill(t *testing.T) {
	s := newServer(t)
	remount := s.onSmallDisk()
	s.up()
	id := s.session()
	path := "/api/sessions/" + id
	s.do("POST", path+"/messages?wait=true", `{"content":"show go.mod"}`)
	before := s.get(path + "/events")
	s.end(syscall.SIGKILL)
	remount(syscall.MS_RDONLY)
	for _, temp := range []string{s.data, t.TempDir()} { // the first is no place for a socket either
		s.end(syscall.SIGKILL)
		t.Setenv("TMPDIR", temp)
		s.up()
		if after := s.get(path + "/events"); after != before {
			t.Errorf("the log reads\n%s\nbefore the kill it was\n%s", after, before)
		}
	}
	if got := s.sendUntilRefused(id); len(got) > 0 {
		t.Errorf("a disk that can only be read took %d prompts", len(got))
	}
	for _, page := range []string{"/sessions", "/sessions/" + id} {
		if got := s.get(page); !strings.Contains(got,
			"The log cannot be written: the disk can only be read") {
			t.Errorf("%s says nothing of the disk", page)
		}
	}
	if got := s.do("POST", path+"/display",
		`{"tool":"render_file_contents","arguments":{"path":"go.mod"}}`); !strings.Contains(got,
		`"notKept":true`) {
		t.Errorf("a look: %s", got)
	}
	out, err := exec.Command(binary, "url", "--data-dir", s.data).CombinedOutput()
	_, secret, ok := strings.Cut(strings.TrimSpace(string(out)), s.url+"/auth#t=")
	if err != nil || !ok {
		t.Errorf("webchat url: %v %s", err, out)
	}
	s.do("POST", "/api/sign-in", `{"token":"`+secret+`"}`) // a browser can sign in
	s.untilSaved(func() { remount(0) })
	s.do("POST", path+"/messages?wait=true", `{"content":"show go.mod"}`)
	s.end(syscall.SIGTERM)
	s.sound()
}

// TestFullDisk: a disk runs full, the program is started again on it, there is room again, and then
// it can only be read for a while. Nothing that was accepted is lost, and nothing else is there.
func TestFullDisk(t *testing.T) {
	s := newServer(t)
	remount := s.onSmallDisk()
	s.up()
	id := s.session()
	path := "/api/sessions/" + id
	s.do("POST", path+"/messages?wait=true", `{"content":"show go.mod"}`)
	empty := fill(t, s.data)
	accepted := s.sendUntilRefused(id)
	looksFull := func() {
		t.Helper()
		for _, page := range []string{"/sessions", "/sessions/" + id} {
			if got := s.get(page); !strings.Contains(got, "The log cannot be written") {
				t.Errorf("%s says nothing of the disk", page)
			}
		}
		if got := s.do("POST", path+"/display",
			`{"tool":"render_file_contents","arguments":{"path":"go.mod"}}`); !strings.Contains(got,
			`"notKept":true`) {
			t.Errorf("a look: %s", got)
		}
		s.do("POST", path+"/abort", "") // it is accepted
	}
	looksFull()
	s.end(syscall.SIGTERM)
	s.up()
	accepted = append(accepted, s.sendUntilRefused(id)...)
	looksFull()
	s.untilSaved(empty)
	s.end(syscall.SIGTERM)
	remount(syscall.MS_RDONLY)
	s.up()
	looksFull()
	if got := s.sendUntilRefused(id); len(got) > 0 {
		t.Errorf("a disk that can only be read took %d prompts", len(got))
	}
	s.untilSaved(func() { remount(0) })
	s.do("POST", path+"/messages?wait=true", `{"content":"show go.mod"}`)
	if strings.Contains(s.get("/sessions/"+id), "The log cannot be written") {
		t.Error("the page still says that nothing can be saved")
	}
	ends := map[string]int{}
	var said []string
	for _, e := range s.logOf(id) {
		switch e.Type {
		case "user.message":
			if strings.HasPrefix(e.Data.Content, "prompt ") {
				said = append(said, e.Data.MessageID)
			}
		case "turn.end":
			ends[e.Data.MessageID]++
		}
	}
	if strings.Join(said, " ") != strings.Join(accepted, " ") {
		t.Errorf("the log has %d prompts, accepted were %d", len(said), len(accepted))
	}
	for _, m := range said {
		if ends[m] != 1 {
			t.Errorf("prompt %s ended %d times", m, ends[m])
		}
	}
	t.Logf("soak: %d prompts were accepted by a full disk, 0 lost", len(accepted))
	s.end(syscall.SIGTERM)
	s.sound()
}
