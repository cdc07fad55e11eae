package outputs

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkGetNginx compares fetching an output with nginx serving a file of the same bytes from a
// memory file system where there is one: "ratio" is nginx's time through ours (above 1 we are
// faster).
func BenchmarkGetNginx(b *testing.B) {
	program, err := exec.LookPath("nginx")
	if err != nil {
		b.Skip("nginx is not installed")
	}
	for _, tt := range []struct {
		name string
		size int
	}{{"1KiB", 1 << 10}, {"100KiB", 100 << 10}, {"10MiB", 10 << 20}} {
		b.Run(tt.name, func(b *testing.B) {
			data := make([]byte, tt.size)
			pattern(data, 0)
			s := newStore(b, 64<<20)
			id, err := s.Put(Meta{Type: File, Path: "some/file.go"}, data)
			if err != nil {
				b.Fatal(err)
			}
			ours, _ := serve(b, newHandler(s, nil))
			b.SetBytes(int64(tt.size))
			compare(b, max(1, min(200, (4<<20)/tt.size)),
				fetcher(b, ours+string(id), tt.size), fetcher(b, serveNginx(b, program, data), tt.size))
		})
	}
}

// serveNginx starts one worker with its defaults for static files and returns the address of the
// bytes.
func serveNginx(b *testing.B, program string, data []byte) string {
	dir, err := os.MkdirTemp("/dev/shm", "webchat-nginx-")
	if err != nil {
		dir = b.TempDir()
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	conf := fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/error;
events { worker_connections 64; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000; default_type text/plain;
  client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi; uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
  server { listen %[2]s; root %[1]s/www; }
}`, dir, addr)
	www := filepath.Join(dir, "www")
	for name, text := range map[string][]byte{"conf": []byte(conf), "www/file": data} {
		if err := os.MkdirAll(www, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	cmd := exec.Command(program, "-p", dir, "-c", filepath.Join(dir, "conf"), "-e",
		filepath.Join(dir, "error"))
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return "http://" + addr + "/file"
		}
	}
	text, _ := os.ReadFile(filepath.Join(dir, "error"))
	b.Fatalf("nginx did not start: %s", text)
	return ""
}
