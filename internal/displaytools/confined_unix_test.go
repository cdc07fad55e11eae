//go:build unix

package displaytools

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"webchat/internal/agent"
)

// Rows 40 to 43 of THREATS (45 is TestThreat45HugeFile, 46 TestThreat46Sensitive): what is not a
// file of the workspace is not read, by neither tool, and nothing of it is kept.
func TestConfinement(t *testing.T) {
	b := newBench(t, nil)
	outside := real(t, t.TempDir())
	secret := filepath.Join(outside, "secret.png")
	if err := os.WriteFile(secret, []byte("CANARY"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.write("dir/in.txt", "inside")
	b.link(secret, "absolute.png")
	b.link("../"+filepath.Base(outside)+"/secret.png", "escaping.png")
	b.link(outside, "folder")
	b.link("/proc/self/environ", "environ")
	b.link("/dev/zero", "zero")
	b.link("pipe", "to-pipe")
	b.link("self", "self")
	if err := syscall.Mkfifo(filepath.Join(b.dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ row, path string }{
		{"40", "../" + filepath.Base(outside) + "/secret.png"},
		{"40", "dir/../../" + filepath.Base(outside) + "/secret.png"},
		{"40", ".."},
		{"40", "ok\x00.png"},
		{"40", "dir/in.txt\x00.png"},
		{"40", "..%2fsecret.png"},
		{"40", `..\` + filepath.Base(outside) + `\secret.png`},
		{"40", "//" + secret},
		{"40", "file://" + secret},
		{"40", "~root/secret.png"},
		{"41", secret},
		{"41", "/etc/passwd"},
		{"41", b.dir + "/../" + filepath.Base(outside) + "/secret.png"},
		{"41", b.dir + "x"},
		{"42", "absolute.png"},
		{"42", "escaping.png"},
		{"42", "folder/secret.png"},
		{"42", "self"},
		{"43", "pipe"},
		{"43", "to-pipe"},
		{"43", "zero"},
		{"43", "environ"},
		{"43", "/proc/self/mem"},
	} {
		for _, tool := range []string{RenderFile, DisplayImage} {
			began := time.Now()
			said := b.refused(tool, "path", c.path)
			if took := time.Since(began); took > 5*time.Second { // it would wait for ever
				t.Errorf("row %s, %s %q: refused after %v", c.row, tool, c.path, took)
			}
			if strings.Contains(said, "CANARY") || said == "" || strings.Contains(said, "\x00") {
				t.Errorf("row %s, %s %q: %q", c.row, tool, c.path, said)
			}
		}
	}
	if n := b.store.Stats().Outputs; n != 0 {
		t.Errorf("%d outputs of what was refused", n)
	}
	for _, c := range []struct{ row, path, content string }{ // and these are files of the workspace
		{"41", b.dir + "/dir/in.txt", "inside"},
		{"41", "./dir//in.txt", "inside"},
	} {
		if got := b.bytes(b.call(RenderFile, "path", c.path)); got != c.content {
			t.Errorf("row %s, %q: %q", c.row, c.path, got)
		}
	}
}

// Row 42: the folder on the way is swapped for a link out of the workspace while
// files are opened through it.
func TestThreat42FolderSwapped(t *testing.T) {
	b := newBench(t, nil)
	outside := real(t, t.TempDir())
	if err := os.WriteFile(filepath.Join(outside, "f"), []byte("CANARY"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.write("good/f", "public")
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		way, tmp := filepath.Join(b.dir, "way"), filepath.Join(b.dir, "tmp")
		for i := 0; ; i++ {
			select {
			case <-quit:
				return
			default:
			}
			if os.Symlink([]string{"good", outside}[i%2], tmp) == nil {
				_ = os.Rename(tmp, way) // it may be too late for this round
			}
		}
	}()
	shown := 0
	for n := 0; n < 400 || shown < 50 && n < 1e6; n++ { // the swaps may wait for a processor
		a, err := b.tool(RenderFile).Plan(b.ctx(), object(t, "path", "way/f"))
		if err != nil {
			continue
		}
		if res := b.run(b.ctx(), a); res.Type == agent.Success {
			shown++
			if got := b.bytes(res); got != "public" {
				t.Fatalf("a file from outside: %q", got)
			}
		}
	}
	close(quit)
	<-done
	if shown == 0 {
		t.Error("nothing was ever shown: the race was not run")
	}
}

// Row 44, a limit that is documented: a hard link is a file of the workspace.
func TestThreat44HardLink(t *testing.T) {
	b := newBench(t, nil)
	other := filepath.Join(filepath.Dir(b.dir), "other-"+filepath.Base(b.dir))
	if err := os.WriteFile(other, []byte("elsewhere"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(other) })
	if err := os.Link(other, filepath.Join(b.dir, "hard")); err != nil {
		t.Skip("no hard links here:", err)
	}
	if got := b.bytes(b.call(RenderFile, "path", "hard")); got != "elsewhere" {
		t.Errorf("%q: SECURITY.md says otherwise", got)
	}
}
