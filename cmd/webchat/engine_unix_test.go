//go:build unix

package main

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"webchat/internal/e2e/ports"
	"webchat/internal/store/postgrestest"
)

// TestEngine runs the scripts in which a database keeps the sessions. Beside the commands of
// [TestScript] they have:
//
//	database FILE...   makes empty databases and writes their addresses
//	engine stop|start  crashes the server of all of them, and starts it again
//	engine sql FILE S  runs statements in a database
//	sends PATH BODY    posts it until it is taken, as a page does
//	saves              waits until what is said to webchat can be saved
//	readyz WORD        waits until /readyz says the word
func TestEngine(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	p := scripts(t, "testdata/engine")
	p.Cmds["database"] = func(ts *testscript.TestScript, _ bool, names []string) {
		for _, name := range names {
			ts.Check(os.WriteFile(ts.MkAbs(name), []byte(server.Database(t)+"\n"), 0o600))
		}
	}
	p.Cmds["engine"] = func(ts *testscript.TestScript, _ bool, what []string) {
		switch what[0] {
		case "stop":
			server.Stop(syscall.SIGQUIT)
		case "start":
			server.Run(t)
		case "sql":
			at, err := url.Parse(strings.TrimSpace(ts.ReadFile(what[1])))
			ts.Check(err)
			server.SQL(t, strings.TrimPrefix(at.Path, "/"), what[2])
		}
	}
	says := func(ts *testscript.TestScript, word string) {
		defer http.DefaultClient.CloseIdleConnections()
		eventually(ts, "/readyz", func() bool {
			res, err := http.Get(ts.Getenv("URL") + "/readyz")
			if err != nil {
				return false
			}
			defer res.Body.Close()
			b, err := io.ReadAll(res.Body)
			return err == nil && string(b) == word+"\n"
		})
	}
	p.Cmds["saves"] = func(ts *testscript.TestScript, _ bool, _ []string) { says(ts, "ready") }
	p.Cmds["readyz"] = func(ts *testscript.TestScript, _ bool, words []string) { says(ts, words[0]) }
	p.Cmds["sends"] = func(ts *testscript.TestScript, _ bool, what []string) {
		defer http.DefaultClient.CloseIdleConnections()
		eventually(ts, what[0], func() bool {
			r, err := http.NewRequest(http.MethodPost, ts.Getenv("URL")+what[0], strings.NewReader(what[1]))
			ts.Check(err)
			r.Header.Set("Authorization", "Bearer "+ts.Getenv("TOKEN"))
			r.Header.Set("Content-Type", "application/json")
			res, err := http.DefaultClient.Do(r)
			return err == nil && res.Body.Close() == nil && res.StatusCode < 300
		})
	}
	testscript.Run(t, p)
}

// BenchmarkEngineStart measures the time from starting the program to the first page it serves with
// a database that keeps the sessions, in turns with a file: "ratio" is the median of the first over
// the second.
func BenchmarkEngineStart(b *testing.B) {
	dir := b.TempDir()
	program, engine := build(b, dir, "."), filepath.Join(dir, "engine")
	if err := os.WriteFile(engine, []byte(postgrestest.Start(b).Database(b)), 0o600); err != nil {
		b.Fatal(err)
	}
	file := webchatAt(b, program, filepath.Join(dir, "file"))
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte(strings.Repeat("t", 64)), 0o600); err != nil {
		b.Fatal(err)
	}
	alone := webchatAt(b, program, filepath.Join(dir, "with"), "--engine-file", engine, "--token-file",
		token, "--shared-dir", b.TempDir())
	with := func(addr string) []string {
		return append(alone(addr), "--public-url", "http://"+addr, "--peer-url", "http://"+addr)
	}
	for _, args := range []func(string) []string{file, with} { // which makes the tables
		addr := "127.0.0.1:" + ports.Free()
		firstPage(b, addr, args(addr)...)
	}
	inTurns(b, "file", file, with)
}
