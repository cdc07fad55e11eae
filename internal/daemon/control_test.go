package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// running serves the command line in a data folder, and returns a client of it.
func running(t *testing.T, dir string, c ControlConfig) Client {
	t.Helper()
	client, _ := runningAs(t, dir, c)
	return client
}

func runningAs(t *testing.T, dir string, c ControlConfig) (Client, *Control) {
	t.Helper()
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	c.Dir = dir
	c.Protect = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer secret" {
				http.Error(w, "no", http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	control, err := Listen(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(control.Close(), f.Close()); err != nil {
			t.Error(err)
		}
	})
	if err := f.Announce(Info{URL: "http://localhost:1", PID: os.Getpid()}); err != nil {
		t.Fatal(err)
	}
	return Client{Dir: dir, Token: "secret"}, control
}

func TestAskingTheServer(t *testing.T) {
	for name, dir := range map[string]string{"short": "data",
		"too long for a socket": strings.Repeat("d", 100)} {
		t.Run(name, func(t *testing.T) {
			c := running(t, filepath.Join(t.TempDir(), dir), ControlConfig{
				Link:   func() string { return "http://localhost:1/auth#t=X" },
				Logout: func(user string) (int, error) { return len(user), nil },
				Prune: func(_ context.Context, older time.Duration) (Pruned, error) {
					if older > time.Hour {
						return Pruned{Sessions: 2, Before: 20, After: 10}, nil
					}
					return Pruned{}, errors.New("the disk\nis full")
				},
			})
			if link, err := c.Link(t.Context()); err != nil || link != "http://localhost:1/auth#t=X" {
				t.Errorf("%s, %v", link, err)
			}
			if n, err := c.Logout(t.Context(), "ann"); err != nil || n != 3 {
				t.Errorf("%d, %v", n, err)
			}
			if p, err := c.Prune(t.Context(), 48*time.Hour); err != nil ||
				p != (Pruned{Sessions: 2, Before: 20, After: 10}) {
				t.Errorf("%+v, %v", p, err)
			}
			if _, err := c.Prune(t.Context(), time.Minute); err == nil ||
				!strings.Contains(err.Error(), "the disk; is full") {
				t.Errorf("%v", err)
			}
			if _, err := c.Prune(t.Context(), -time.Minute); err == nil {
				t.Error("it prunes what is yet to come")
			}
			c.Token = "another"
			if link, err := c.Link(t.Context()); err == nil || link != "" {
				t.Errorf("with another token: %s, %v", link, err)
			}
		})
	}
}

func TestStopReturnsWhenTheServerHasEnded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	stopped, ended := make(chan struct{}), make(chan error, 1)
	asked := running(t, dir, ControlConfig{Stop: func() { close(stopped) }})
	go func() {
		<-stopped
		held, err := isLocked(dir)
		if err == nil && !held {
			err = errors.New("the folder is not locked while the server ends")
		}
		// as far as another process can tell
		ended <- errors.Join(err, os.Remove(filepath.Join(dir, "lock")))
	}()
	info, err := asked.Stop(t.Context())
	if err := errors.Join(err, <-ended); err != nil || info.PID != os.Getpid() {
		t.Errorf("%+v, %v", info, err)
	}
}

// The answer to a stop reaches who asked even if the server ends in that instant.
func TestStopIsAnsweredBeforeTheEnd(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	ended := make(chan error, 1)
	var control atomic.Pointer[Control]
	c, listening := runningAs(t, dir, ControlConfig{Stop: func() {
		err := control.Load().server.Close() // which cuts the connection of the request
		ended <- errors.Join(err, os.Remove(filepath.Join(dir, "lock")))
	}})
	control.Store(listening)
	_, err := c.Stop(t.Context())
	if err := errors.Join(err, <-ended); err != nil {
		t.Error(err)
	}
}

func TestNoServer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if _, err := (Client{Dir: dir}).Link(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "no webchat runs") {
		t.Errorf("%v", err)
	}
	c := running(t, dir, ControlConfig{})
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(),
		"is in use by webchat with pid") {
		t.Errorf("a second server: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "control")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Link(t.Context()); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("%v", err)
	}
}

// A server that was killed leaves its files behind, and none runs then.
func TestKilledServer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Announce(Info{URL: "http://localhost:1", PID: 1}),
		f.lock.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := (Client{Dir: dir}).Link(t.Context()); !errors.Is(err, ErrNone) {
		t.Errorf("%v", err)
	}
}

// What a full disk keeps from server.json is found by the socket, and what the server
// cannot do differs from what it refuses. An unresponsive one is named by its pid,
// not by the request.
func TestServerInTrouble(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	c := running(t, dir, ControlConfig{Link: func() string { return "http://localhost:1/auth#t=X" },
		Open: func(context.Context, Opening) (string, error) {
			return "", fmt.Errorf("%w: the disk is full", ErrUnable)
		}})
	if _, err := c.Open(t.Context(), Opening{}); !errors.Is(err, ErrUnable) ||
		!strings.HasSuffix(err.Error(), ": nothing was shown: the disk is full") {
		t.Errorf("%v", err)
	}
	past, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if _, err := c.Link(past); err == nil || !strings.Contains(err.Error(),
		fmt.Sprintf("pid %d does not answer", os.Getpid())) || strings.Contains(err.Error(), "http:") {
		t.Errorf("%v", err)
	}
	if err := os.Remove(filepath.Join(dir, "server.json")); err != nil {
		t.Fatal(err)
	}
	if link, err := c.Link(t.Context()); err != nil || link == "" {
		t.Errorf("%s, %v", link, err)
	}
	if _, err := c.Open(t.Context(), Opening{}); err == nil ||
		strings.Contains(err.Error(), "pid 0") || strings.Contains(err.Error(), "webchat: ") {
		t.Errorf("%v", err)
	}
}
