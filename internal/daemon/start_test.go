package daemon

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The log of a server in the background stays below its bound, by whole lines, however long the
// server runs, and what another file or a terminal gets is left alone.
func TestLogOfTheBackgroundIsBounded(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, logName)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	before := strings.Repeat("from an earlier server\n", 2*mostLog/23)
	if _, err := io.WriteString(f, before); err != nil {
		t.Fatal(err)
	}
	w := LogWriter(dir, f)
	last := ""
	for i := range 50_000 {
		last = fmt.Sprintf("level=WARN number=%07d msg=%s\n", i, strings.Repeat("x", 60))
		if n, err := io.WriteString(w, last); err != nil || n != len(last) {
			t.Fatal(n, err)
		}
		if st, err := f.Stat(); err != nil || st.Size() > mostLog {
			t.Fatalf("%d bytes after %d lines, %v", st.Size(), i, err)
		}
	}
	text, err := os.ReadFile(name)
	if err != nil || !bytes.HasSuffix(text, []byte(last)) || len(text) < mostLog/2-1000 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	for _, line := range strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n") {
		if strings.TrimSpace(line) == "" || !strings.HasPrefix(line, "level=WARN number=") {
			t.Fatalf("a line is cut: %q", line)
		}
	}
	other, err := os.Create(filepath.Join(dir, "other"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if got := LogWriter(dir, other); got != io.Writer(other) {
		t.Errorf("another file: %T", got)
	}
}
