package importtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// maxCommitted is more than any file of the project needs, in bytes.
const maxCommitted = 1 << 20

// TestNoProgramIsCommitted fails on what is too large to be a source, such as a built binary.
func TestNoProgramIsCommitted(t *testing.T) {
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		return // an archive of a release
	}
	out, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		st, err := os.Lstat(filepath.Join(root, name))
		if err == nil && st.Size() > maxCommitted {
			t.Errorf("%s has %d bytes", name, st.Size())
		}
	}
}
