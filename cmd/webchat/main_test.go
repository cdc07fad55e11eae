package main

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"webchat/internal/e2e/standin"
)

// checked fails when the tests of this process leave a goroutine behind.
type checked struct{ *testing.M }

func (m checked) Run() int {
	os.Setenv("WEBCHAT_SANDBOX", "off") // of the programs that tests start, whatever the kernel can
	// Programs and real agents are waited for more than they compute.
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.M.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

// httpClient makes one request for a script that does other things meanwhile, and
// prints what comes, however it ends: METHOD PATH [BODY [FILE]]. It writes to FILE
// when the answer begins.
func httpClient() {
	args := append(os.Args[1:], "", "")
	r, err := http.NewRequest(args[0], os.Getenv("URL")+args[1], strings.NewReader(args[2]))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	r.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
	r.Header.Set("Content-Type", "application/json")
	if args[2] == "" {
		r.Header.Set("Accept", "text/event-stream")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	if args[3] != "" {
		if err := os.WriteFile(args[3], []byte(res.Status), 0o600); err != nil {
			fmt.Println(err)
		}
	}
	if _, err := io.Copy(os.Stdout, res.Body); err != nil {
		fmt.Println(err)
	}
}

func TestMain(m *testing.M) {
	hooked(os.Args[1:])
	standin.Main()
	testscript.Main(checked{m}, map[string]func(){"webchat": main, "http-client": httpClient,
		"mcp-client": mcpClientOfTests, "key-proxy": keyProxyOfTests})
}
