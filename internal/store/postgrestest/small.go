//go:build unix

package postgrestest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// SmallDatabase makes an empty database on a disk of its own of a size, and returns its URL and the
// folder of the disk. Where nothing can be mounted the test is skipped.
func (s *Server) SmallDatabase(t testing.TB, size string) (url, disk string) {
	t.Helper()
	name := fmt.Sprint("small", s.made.Add(1))
	disk = filepath.Join(s.Dir, name)
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "mode=0755,size="+size, name,
		disk).CombinedOutput(); err != nil {
		t.Skipf("no small disk can be mounted: %v, %s", err, out)
	}
	// the folder is removed next, if it can be
	t.Cleanup(func() { _ = exec.Command("umount", "-l", disk).Run() })
	space := filepath.Join(disk, "space")
	if err := os.Mkdir(space, 0o700); err != nil {
		t.Fatal(err)
	}
	if s.as != nil {
		if err := os.Chown(space, int(s.as.Credential.Uid), int(s.as.Credential.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	s.SQL(t, "postgres", fmt.Sprintf("CREATE TABLESPACE %s LOCATION '%s'", name, space))
	s.SQL(t, "postgres", fmt.Sprintf("CREATE DATABASE %s TABLESPACE %s", name, name))
	return s.URL(name), disk
}
