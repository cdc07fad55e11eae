package copilot_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"webchat/internal/proc"
)

// TestMain is also the stand-in of the CLI and the MCP server of the tests,
// which are this binary started again.
func TestMain(m *testing.M) {
	proc.Main()
	switch {
	case strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == "copilot":
		beStandIn()
		return
	case os.Getenv("COPILOT_TEST_ROLE") == "mcp":
		beServer()
		return
	}
	goleak.VerifyTestMain(tests{m})
}

// startSleeper starts what a CLI that is killed would leave behind.
func startSleeper(pidFile string) {
	c := exec.Command("sleep", "600")
	if c.Start() == nil {
		_ = os.WriteFile(pidFile, []byte(strconv.Itoa(c.Process.Pid)), 0o600)
	}
}

// tests are all of the package.
type tests struct{ *testing.M }

// Run implements [goleak.TestingM].
func (t tests) Run() int {
	defer endCommon()
	return t.M.Run()
}
