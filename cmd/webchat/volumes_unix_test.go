//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"webchat/internal/e2e/ports"
)

// imageEnv is the environment of the image, with other folders and on loopback.
func imageEnv(t *testing.T, data, workspace, address string) (env []string) {
	t.Helper()
	b, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?ms)^ENV (HOME=.*?[^\\])$`).FindSubmatch(b)
	if m == nil || imageLine(t, `ENTRYPOINT (.*)`) != `["webchat"]` {
		t.Fatal("the Dockerfile sets no environment, or has other arguments")
	}
	here := strings.NewReplacer("=/data", "="+data, "=/workspace", "="+workspace, "=0.0.0.0:8080", "="+
		address, "\\\n", " ")
	return append(strings.Fields(here.Replace(string(m[1]))), "PATH="+os.Getenv("PATH"),
		"GORACE=atexit_sleep_ms=0")
}

// contained runs the program as the image does.
type contained struct {
	program, workspace, data, address string
	user                              syscall.Credential
}

func (c contained) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(c.program, args...)
	cmd.Args[0] = "webchat" // which makes this test's binary the program
	cmd.Dir, cmd.Env = c.workspace, imageEnv(t, c.data, c.workspace, c.address)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &c.user}
	return cmd
}

// run starts the server, calls f with its API token, and stops it.
func (c contained) run(t *testing.T, f func(token string)) {
	t.Helper()
	cmd, log := c.command(t), &told{}
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	_, err = bufio.NewReader(out).ReadString('\n')
	go func() { ended <- cmd.Wait() }()
	if err != nil {
		t.Fatalf("no link: %v %v\n%s", err, <-ended, log)
	}
	if out, err := c.command(t, "url").CombinedOutput(); err != nil {
		t.Errorf("webchat url: %v %s", err, out)
	}
	token, err := c.command(t, "token").Output()
	if err != nil {
		t.Errorf("webchat token: %v", err)
	}
	f(strings.TrimSpace(string(token)))
	if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), <-ended); err != nil {
		t.Errorf("stop: %v\n%s", err, log)
	}
	if strings.Contains(log.String(), "level=WARN") {
		t.Errorf("it warns of its own files:\n%s", log)
	}
}

// grant does to a volume what Kubernetes does for a group at each start of a pod.
func grant(t *testing.T, volume string, group int) {
	t.Helper()
	err := filepath.WalkDir(volume, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil || e.Type()&fs.ModeSymlink != 0 {
			return err
		}
		mode := info.Mode() | 0o660
		if e.IsDir() {
			mode |= 0o110 | fs.ModeSetgid
		}
		return errors.Join(os.Lchown(path, -1, group), os.Chmod(path, mode))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// THREATS 83: in a container webchat keeps to a folder of its own, whichever users can
// write to the volume. (scripts/image.sh runs the image itself.)
func TestVolumesOfTheImage(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder to somebody else")
	}
	const image, arbitrary, group = 10001, 1000680000, 2000
	ours := syscall.Credential{Uid: image, Gid: image}
	grouped := syscall.Credential{Uid: image, Gid: image, Groups: []uint32{group}}
	for name, v := range map[string]struct {
		uid, gid int
		mode     os.FileMode
		user     syscall.Credential
	}{
		"a volume of Docker's":        {0, 0, 0o777 | os.ModeSticky, ours},
		"an empty folder for all":     {0, 0, 0o777, ours},
		"an empty folder for a group": {0, group, 0o777 | os.ModeSetgid, grouped},
		"a folder for a group":        {0, group, 0o775 | os.ModeSetgid, grouped},
		"our own, for a group":        {image, group, 0o770 | os.ModeSetgid, grouped},
		"any user of group 0":         {0, 0, 0o770, syscall.Credential{Uid: arbitrary, Gid: 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			top := t.TempDir()
			c := contained{filepath.Join(top, "webchat"), t.TempDir(), t.TempDir(), "127.0.0.1:" +
				ports.Free(), v.user}
			if err := errors.Join(os.Chmod(filepath.Dir(top), 0o755), copyFile(self, c.program),
				os.Chown(c.data, v.uid, v.gid), os.Chmod(c.data, v.mode)); err != nil {
				t.Fatal(err)
			}
			var first string
			c.run(t, func(token string) {
				first = token
				if res, body := ask1(t, "POST", c.address, "localhost", "/api/sessions", "{}",
					"Content-Type: application/json", "Authorization: Bearer "+token); res.StatusCode != 201 {
					t.Errorf("a session: %d %s", res.StatusCode, body)
				}
			})
			grant(t, c.data, v.gid)
			c.run(t, func(token string) {
				var list struct{ Sessions []json.RawMessage }
				_, body := ask1(t, "GET", c.address, "localhost", "/api/sessions", "", "Authorization: Bearer "+
					token)
				if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Sessions) != 1 ||
					token != first {
					t.Errorf("after another start: %v %s", err, body)
				}
				tokens, err := filepath.Glob(filepath.Join(c.data, "*", "token"))
				if err != nil || len(tokens) != 1 {
					t.Fatalf("%v %v", tokens, err)
				}
				for _, path := range []string{filepath.Dir(tokens[0]), tokens[0]} {
					if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
						t.Errorf("others can use %s: %v %v", path, info.Mode(), err)
					}
				}
			})
		})
	}
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
