//go:build unix

package policy

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A package.json that is a pipe has no scripts, and is not waited for.
func TestPipesHaveNoScripts(t *testing.T) {
	ws := lay(t, "src/")
	name := filepath.Join(ws, "package.json")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	p := New(Config{Workspace: ws})
	if got := begins(p, "npm run build"); got != "" { // nothing writes to it
		t.Errorf("it may be granted by %q", got)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0) // keeps the pipe open, so that reading has no end
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(`{"scripts":{"build":"x"}}`); err != nil {
		t.Fatal(err)
	}
	if got := begins(p, "npm run build"); got != "" {
		t.Errorf("it may be granted by %q", got)
	}
}
