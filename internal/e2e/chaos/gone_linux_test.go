package chaos

import (
	"context"
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
)

// unlisted is a word of the file's trouble on a page.
const unlisted = "The log cannot be written"

// send sends a prompt, and reports whether it was accepted; nothing else but a refusal by
// the log is allowed.
func (s *server) send(id, content string) bool {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	res, err := s.ask(ctx, s.url, "POST", "/api/sessions/"+id+"/messages", `{"content":"`+content+`"}`)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if res.StatusCode == http.StatusServiceUnavailable &&
		strings.Contains(string(body), `"log_unavailable"`) {
		return false
	}
	if res.StatusCode != http.StatusAccepted {
		s.t.Fatalf("a prompt: %d %s", res.StatusCode, body)
	}
	return true
}

// page is the text of a page, whatever its status.
func (s *server) page(path string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	res, err := s.ask(ctx, s.url, "GET", path, "")
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// untilTrouble calls f and waits until readers are notified that the log cannot be written.
func (s *server) untilTrouble(f func()) {
	s.t.Helper()
	s.untilTold(`"errorType":"log"`, f)
}

// prompts are what the log of a session has of the prompts.
func (s *server) prompts(id string) (all []string) {
	s.t.Helper()
	for _, e := range s.logOf(id) {
		if e.Type == "user.message" {
			all = append(all, e.Data.Content)
		}
	}
	return all
}

// TestGone: the file, its journal or the folder is taken away or replaced under the
// server. It says so on every page before anybody writes, acknowledges nothing, and goes
// on when it is back.
func TestGone(t *testing.T) {
	rename := func(t *testing.T, from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	copyOf := func(t *testing.T, from, to string) {
		t.Helper()
		if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	for name, c := range map[string]struct {
		take func(t *testing.T, data string)
		back func(t *testing.T, data string) // nil: nobody has to do anything
	}{
		"the folder": {
			func(t *testing.T, data string) { rename(t, data, data+".away") },
			func(t *testing.T, data string) { rename(t, data+".away", data) }},
		"the file": {
			func(t *testing.T, data string) { rename(t, data+"/webchat.db", data+"/away") },
			func(t *testing.T, data string) { rename(t, data+"/away", data+"/webchat.db") }},
		"the file, which is replaced": {
			func(t *testing.T, data string) {
				rename(t, data+"/webchat.db", data+"/away")
				if err := os.WriteFile(data+"/webchat.db", nil, 0o600); err != nil {
					t.Fatal(err)
				}
			},
			func(t *testing.T, data string) { rename(t, data+"/away", data+"/webchat.db") }},
		"the folder, of which a copy comes back": {
			func(t *testing.T, data string) {
				copyOf(t, data, data+".copy")
				if err := os.RemoveAll(data); err != nil {
					t.Fatal(err)
				}
			},
			func(t *testing.T, data string) { rename(t, data+".copy", data) }},
		"the journal": {
			func(t *testing.T, data string) {
				if err := os.Remove(data + "/webchat.db-wal"); err != nil {
					t.Fatal(err)
				}
			}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.up()
			id := s.session()
			s.do("POST", "/api/sessions/"+id+"/messages?wait=true", `{"content":"first"}`)
			accepted := []string{"first"}
			if c.back == nil {
				s.untilSaved(func() { c.take(t, s.data) })
			} else {
				s.untilTrouble(func() { c.take(t, s.data) })
				for i := range 5 {
					if content := fmt.Sprint("while it is away ", i); s.send(id, content) {
						t.Errorf("%q was accepted", content)
						accepted = append(accepted, content)
					}
				}
				for _, page := range []string{"/sessions", "/sessions/" + id} {
					if got := s.get(page); !strings.Contains(got, unlisted) {
						t.Errorf("%s says nothing of it", page)
					}
				}
				s.untilSaved(func() { c.back(t, s.data) })
			}
			if s.do("POST", "/api/sessions/"+id+"/messages?wait=true",
				`{"content":"last"}`); strings.Contains(s.get("/sessions/"+id), unlisted) {
				t.Error("the page still says that nothing can be saved")
			}
			accepted = append(accepted, "last")
			s.end(syscall.SIGKILL)
			s.up()
			if got := s.prompts(id); strings.Join(got, ", ") != strings.Join(accepted, ", ") {
				t.Errorf("the log has the prompts %q, accepted were %q", got, accepted)
			}
			t.Logf("soak: %s was away; %d prompts acknowledged, 0 lost", name, len(accepted))
		})
	}
}

// TestBackupOverLiveFile: a backup is put over the file of a running server, which then takes no
// prompt, says why, and goes on with the backup after a restart.
func TestBackupOverLiveFile(t *testing.T) {
	for how, args := range map[string][]string{"renamed": {"mv", "-f"}, "copied": {"cp"}} {
		t.Run(how, func(t *testing.T) {
			s := newServer(t)
			s.up()
			id, file := s.session(), s.data+"/webchat.db"
			s.do("POST", "/api/sessions/"+id+"/messages?wait=true", `{"content":"in the backup"}`)
			s.end(syscall.SIGTERM)
			backup := filepath.Join(s.data, "backup")
			if out, err := exec.Command("cp", file, backup).CombinedOutput(); err != nil {
				t.Fatalf("%v %s", err, out)
			}
			s.up()
			s.do("POST", "/api/sessions/"+id+"/messages?wait=true", `{"content":"after it"}`)
			s.end(syscall.SIGTERM)
			s.up()
			s.do("POST", "/api/sessions/"+id+"/messages?wait=true", `{"content":"in the journal"}`)
			s.untilTrouble(func() {
				if out, err := exec.Command(args[0], append(args[1:], backup,
					file)...).CombinedOutput(); err != nil {
					t.Fatalf("%v %s", err, out)
				}
			})
			for range 3 {
				if s.send(id, "refused") {
					t.Error("a prompt was accepted")
				}
			}
			got := strings.ToLower(s.page("/sessions"))
			for _, want := range []string{"webchat.db was ", "restart webchat to go on with"} {
				if !strings.Contains(got, want) {
					t.Errorf("the page lacks %q: %s", want, got)
				}
			}
			s.end(syscall.SIGTERM)
			s.up()
			if got := s.prompts(id); strings.Join(got, ", ") != "in the backup" {
				t.Errorf("the log has the prompts %q", got)
			}
			if got := s.get("/sessions/" + id); !strings.Contains(got, "saved are missing") {
				t.Error("the page does not say that events are missing")
			}
			s.do("POST", "/api/sessions/"+id+"/messages?wait=true", `{"content":"goes on"}`)
			s.end(syscall.SIGTERM)
			s.sound()
		})
	}
}

// TestOtherServer: another server is started in a folder that was removed under the
// first one, which gives it up and leaves the other's files alone.
func TestOtherServer(t *testing.T) {
	s := newServer(t)
	s.up()
	id := s.session()
	if err := os.RemoveAll(s.data); err != nil {
		t.Fatal(err)
	}
	other := newServer(t)
	other.data, other.listen = s.data, "localhost:"+ports.Free()
	other.up()
	if s.listening() && s.send(id, "to the first") {
		t.Error("the first server accepts a prompt")
	}
	watch := time.AfterFunc(patience, func() { _ = s.cmd.Process.Kill() })
	defer watch.Stop()
	if err := s.cmd.Wait(); err == nil || !strings.Contains(s.log.String(),
		"another webchat has the data folder") {
		t.Errorf("the first server ended with %v and said\n%s", err, s.log)
	}
	for _, name := range []string{"server.json", "control", "lock", "webchat.db"} {
		if _, err := os.Stat(filepath.Join(s.data, name)); err != nil {
			t.Errorf("of the other server: %v", err)
		}
	}
	mine := other.session()
	other.do("POST", "/api/sessions/"+mine+"/messages?wait=true", `{"content":"to the other"}`)
	other.end(syscall.SIGTERM)
	other.sound()
}

// listening reports whether the server answers.
func (s *server) listening() bool {
	res, err := s.ask(s.t.Context(), s.url, "GET", "/api/sessions?limit=1", "")
	if err == nil {
		res.Body.Close()
	}
	return err == nil
}
