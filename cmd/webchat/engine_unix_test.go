//go:build unix

package main

import (
	"os"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"webchat/internal/store/postgrestest"
)

// TestEngine runs the scripts in which a database keeps the sessions. Beside the commands of
// [TestScript] they have:
//
//	database FILE...   makes empty databases and writes their addresses
//	engine stop|start  crashes the server of all of them, and starts it again
func TestEngine(t *testing.T) {
	server := postgrestest.Start(t)
	p := scripts(t, "testdata/engine")
	p.Cmds["database"] = func(ts *testscript.TestScript, _ bool, names []string) {
		for _, name := range names {
			ts.Check(os.WriteFile(ts.MkAbs(name), []byte(server.Database(t)+"\n"), 0o600))
		}
	}
	p.Cmds["engine"] = func(ts *testscript.TestScript, _ bool, what []string) {
		if what[0] == "stop" {
			server.Stop(syscall.SIGQUIT)
		} else {
			server.Run(t)
		}
	}
	testscript.Run(t, p)
}
