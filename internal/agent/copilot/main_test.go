package copilot_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"webchat/internal/proc"
)

// TestMain is also the stand-in of the CLI and the MCP server of the tests,
// which are this binary started again.
func TestMain(m *testing.M) {
	proc.Main()
	switch os.Getenv("COPILOT_TEST_ROLE") {
	case "mcp":
		beServer()
		return
	}
	goleak.VerifyTestMain(m)
}
