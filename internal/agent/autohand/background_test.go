package autohand_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// What the CLI leaves running in the background, also in a session of its own, outlives
// its turn and ends with the conversation.
func TestCommandsInTheBackgroundEndWithTheConversation(t *testing.T) {
	b, _ := newBackend(t, "polite", nil)
	dir := t.TempDir()
	h := sitWith(t, b, dir, nil)
	h.must("leave echo $$ >new; mv new pid; command -v setsid >/dev/null && exec setsid sleep 600; " +
		"exec sleep 600")
	h.must("shell until test -e pid; do sleep 0.01; done")
	text, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	left, err := os.FindProcess(pid)
	if err == nil {
		err = left.Signal(syscall.Signal(0))
	}
	if err != nil {
		t.Fatal("it ended before its conversation:", err)
	}
	if err := h.conn.Close(); err != nil {
		t.Fatal(err)
	}
	if left.Signal(syscall.Signal(0)) == nil {
		t.Error("it runs on")
	}
	if asked := h.Asked(); len(asked) != 2 || asked[0].Action != "run a command in the background" {
		t.Errorf("it asked %+v", asked)
	}
}
