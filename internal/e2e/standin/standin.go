// Package standin is the program that tests start as the other side: what stands in for agents and
// for servers of the user's, and the helper that keeps a tree of processes.
//
// Where the race detector watches a test, it does not watch the other side, which starts 15 times
// as fast without it: scripts/test.sh builds this as a program, names it in [Built], and proc finds
// its helper there too. Without it a test binary is its own other side, when [Main] is the first
// line of its TestMain.
package standin

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/agent/acp/acptest"
	"webchat/internal/agent/autohand"
	"webchat/internal/agent/autohand/autohandtest"
	"webchat/internal/agent/copilot/copilottest"
	"webchat/internal/proc"
)

// Built is the variable that names the program.
const Built = "WEBCHAT_STANDIN"

// Program is the path of the program to start.
func Program(tb testing.TB) string {
	tb.Helper()
	if path := os.Getenv(Built); path != "" {
		return path
	}
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return self
}

// Main does not return if this process was started as the other side. Its name or its environment
// says what it is.
func Main() {
	proc.Main()
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	acp, hand := os.Getenv("ACP_STANDIN"), os.Getenv("AUTOHAND_STANDIN")
	switch {
	case len(os.Args) == 3 && os.Args[1] == "agent-hook":
		if err := autohand.Forward(os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	case name == "copilot":
		copilottest.Main()
	case name == "autohand":
		autohandtest.Main(cmp.Or(os.Getenv("AUTOHAND_MANNER"), "polite"))
	case hand != "":
		autohandtest.Main(hand)
	case name == "acp-agent":
		acptest.Main("polite")
	case acp != "":
		acptest.Main(acp)
	case os.Getenv("STRIKE_FILE") != "":
		acptest.Strange(os.Getenv("STRIKE_FILE"))
	case os.Getenv("COPILOT_TEST_ROLE") == "mcp":
		copilottest.Echo()
	default:
		return
	}
	os.Exit(0)
}
