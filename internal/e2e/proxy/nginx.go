// Package proxy puts a real nginx before a server under test, as Debian
// ships it. It is for tests only.
//
//	url := proxy.Start(t, "127.0.0.1:8080", `
//	  location / { proxy_pass http://server; }`)
package proxy

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"webchat/internal/e2e/ports"
)

// Start runs nginx with the given locations until the test ends, and returns its
// host:port. "server" is the upstream's name in them. Without nginx the test is
// skipped; in CI it fails.
func Start(t testing.TB, upstream, locations string) string {
	t.Helper()
	return Run(t, func(address string) string {
		return fmt.Sprintf("upstream server { server %s; }\nserver {\n listen %s;\n %s\n}\n", upstream,
			address, locations)
	})
}

// Run is [Start] with all of the configuration's http block, as a function of the
// address to listen on.
func Run(t testing.TB, http func(address string) string) string {
	t.Helper()
	program := find(t)
	dir := t.TempDir()
	address := "127.0.0.1:" + ports.Free()
	config := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf(`
daemon off;
master_process off;
pid %[1]s/pid;
error_log %[1]s/error.log;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path %[1]s/body;
  proxy_temp_path %[1]s/proxy;
  fastcgi_temp_path %[1]s/fastcgi;
  uwsgi_temp_path %[1]s/uwsgi;
  scgi_temp_path %[1]s/scgi;
  %[2]s
}
`, dir, http(address))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-p", dir, "-c", config, "-e", filepath.Join(dir, "error.log"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it holds nothing
		_ = cmd.Wait()
	})
	for end := time.Now().Add(20 * time.Second); ; {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
			return address
		}
		if time.Now().After(end) {
			log, _ := os.ReadFile(filepath.Join(dir, "error.log"))
			t.Fatalf("nginx does not answer: %v\n%s", err, log)
		}
		time.Sleep(5 * time.Millisecond) // what is waited for is another program
	}
}

func find(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"nginx", "/usr/sbin/nginx"} { // Debian's is not in everybody's PATH
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const missing = "no nginx here: apt-get install nginx-light to try the server behind a real proxy"
	if os.Getenv("CI") != "" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}
