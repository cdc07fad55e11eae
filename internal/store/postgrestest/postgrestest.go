//go:build unix

// Package postgrestest starts a PostgreSQL server of its own for a test, on a socket in a temporary
// folder, with every commit synced.
//
//	server := postgrestest.Start(t)
//	url := server.Database(t)
package postgrestest

import (
	"bytes"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Server is one that runs until its test ends.
type Server struct {
	Dir  string // of its socket
	data string
	bin  string
	as   *syscall.SysProcAttr
	cmd  *exec.Cmd
	log  bytes.Buffer
	made atomic.Int64
}

// Start starts a server. Where there is none to start the test is skipped; in CI it fails.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{bin: binaries()}
	if s.bin == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("no PostgreSQL here: apt-get install postgresql")
		}
		t.Skip("no PostgreSQL here: apt-get install postgresql")
	}
	dir, err := os.MkdirTemp("", "pg") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s.Dir, s.data = dir, filepath.Join(dir, "data")
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		s.as = ordinary(t, dir)
	}
	init := s.command("initdb", "-D", s.data, "-U", "webchat", "--auth=trust", "-E", "UTF8",
		"--locale=C", "--data-checksums")
	if out, err := init.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	s.Run(t)
	t.Cleanup(func() {
		if s.cmd != nil {
			s.Stop(syscall.SIGQUIT)
		}
		if t.Failed() {
			t.Logf("PostgreSQL:\n%s", s.log.String())
		}
	})
	return s
}

// Run starts the server, also again after [Server.Stop].
func (s *Server) Run(t testing.TB) {
	t.Helper()
	s.cmd = s.command("postgres", "-D", s.data, "-k", s.Dir, "-c", "listen_addresses=", "-c",
		"max_connections=60", "-c", "log_min_messages=fatal")
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pause := time.NewTicker(50 * time.Millisecond)
	defer pause.Stop()
	for deadline := time.Now().Add(time.Minute); ; <-pause.C {
		if s.command("pg_isready", "-q", "-h", s.Dir, "-U", "webchat", "-d", "postgres").Run() == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("PostgreSQL does not start:\n%s", s.log.String())
		}
	}
}

// Stop ends the server by a signal: SIGINT in order, SIGQUIT at once, as a crash does.
func (s *Server) Stop(sig syscall.Signal) {
	_ = s.cmd.Process.Signal(sig)
	_ = s.cmd.Wait()
	s.cmd = nil
}

// Database makes an empty database and returns its URL.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprint("d", s.made.Add(1))
	s.SQL(t, "postgres", "CREATE DATABASE "+name)
	return s.URL(name)
}

// URL names a database of this server.
func (s *Server) URL(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.User("webchat"),
		Path:     "/" + database,
		RawQuery: url.Values{"host": {s.Dir}}.Encode(),
	}
	return u.String()
}

// SQL runs statements as the superuser.
func (s *Server) SQL(t testing.TB, database, statements string) {
	t.Helper()
	out, err := s.command("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", s.Dir, "-U", "webchat",
		"-d", database, "-c", statements).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", statements, err, out)
	}
}

func (s *Server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.bin, name), args...)
	c.Dir, c.SysProcAttr = s.Dir, s.as
	return c
}

// binaries is the folder of the newest server there is: Debian keeps them off PATH.
func binaries() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path)
		}
	}
	all, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(all) == 0 {
		return ""
	}
	return filepath.Dir(all[len(all)-1])
}

// ordinary makes commands run as a user who is not root, and gives that user the folder.
func ordinary(t testing.TB, dir string) *syscall.SysProcAttr {
	t.Helper()
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}

// Pooled starts a pgbouncer in transaction mode before the server, and returns what makes the URL
// of a database go through it.
func (s *Server) Pooled(t testing.TB) func(string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program, err = exec.LookPath("/usr/sbin/pgbouncer")
	}
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no pgbouncer here: apt-get install pgbouncer")
		}
		t.Skip("no pgbouncer here: apt-get install pgbouncer")
	}
	config := filepath.Join(s.Dir, "pgbouncer.ini")
	text := fmt.Sprintf(
		"[databases]\n* = host=%s user=webchat\n[pgbouncer]\npool_mode = transaction\nauth_type = any\n"+
			"unix_socket_dir = %[1]s\nlisten_addr =\nlogfile = %[1]s/pgbouncer.log\n", s.Dir)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	c := s.command("", "-q", config)
	c.Path = program
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	for deadline := time.Now().Add(time.Minute); ; {
		conn, err := net.Dial("unix", filepath.Join(s.Dir, ".s.PGSQL.6432"))
		if err == nil {
			_ = conn.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("pgbouncer does not start:", err)
		}
	}
	return func(at string) string { return at + "&port=6432" }
}
