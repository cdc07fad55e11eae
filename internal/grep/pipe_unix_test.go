//go:build unix

package grep

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe that nothing writes to is passed over at once.
func TestPipe(t *testing.T) {
	d := folder(t, map[string]string{"b": "hit"})
	if err := syscall.Mkfifo(filepath.Join(d.Root.Name(), "a"), 0o600); err != nil {
		t.Skip(err)
	}
	d.Names = append([]string{"a"}, d.Names...)
	if lines, _ := search(t, d, Query{Text: "hit"}); len(lines) != 1 {
		t.Errorf("found %q", lines)
	}
}
