package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"webchat/internal/agent/copilot/copilottest"
	"webchat/internal/daemon"
	"webchat/internal/e2e/ports"
	"webchat/internal/proc"
)

// TestScript runs the program as its users do, from testdata/script. Beside the
// usual commands a script has:
//
//	ready                 wait for the server of $WEBCHAT_DATA_DIR; sets URL, TOKEN, PID
//	http [-H 'K: v'] [-until TEXT] METHOD PATH [BODY]
//	                      prints the status and the answer; -until reads a stream up to TEXT
//	asked ID              wait until the session ID asks for leave; sets REQ
//	capture NAME REGEXP   sets NAME to the group found in the last output
//	sigterm               asks the server of PID to stop
//	address [NAME]        sets NAME, or WEBCHAT_LISTEN, to an address that is free
//	gone FILE...          wait until the process whose pid is in FILE has gone
//	appears FILE...       wait for files
//	occupy                listens on a port and sets PORT
//	mode FILE PERM        checks the permissions
func TestScript(t *testing.T) { testscript.Run(t, scripts(t, "testdata/script")) }

// scripts are those of a folder.
func scripts(t *testing.T, dir string) testscript.Params {
	honest, leaky := copilottest.New(t), copilottest.New(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	source, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir() // where go keeps what it built, whatever home a script has
	if err != nil {
		t.Fatal(err)
	}
	cache = cmp.Or(os.Getenv("GOCACHE"), filepath.Join(cache, "go-build"))
	leaky.Answer(leak)
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		// In CI a missing program fails the script that needs it.
		Condition: func(name string) (bool, error) {
			switch name {
			case "ci":
				return os.Getenv("CI") != "", nil
			case "confines":
				return proc.Confines() == nil, nil
			case "boxed": // the tests themselves run in a container
				return boxed(), nil
			case "copilot": // the real CLI is installed
				_, err := os.Stat(realCopilot)
				if err != nil && os.Getenv("CI") != "" {
					return false, errors.New("it is not there: run scripts/copilot.sh, which needs npm")
				}
				return err == nil, nil
			case "mcptools": // what others check servers with is installed
				_, err := os.Stat(filepath.Join(mcpTools, "node"))
				if err != nil && os.Getenv("CI") != "" {
					return false, errors.New("it is not there: run scripts/mcp.sh, which needs npm")
				}
				return err == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("XDG_DATA_HOME", filepath.Join(e.WorkDir, "share"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "config"))
			e.Setenv("WEBCHAT_DATA_DIR", filepath.Join(e.WorkDir, "data"))
			e.Setenv("WEBCHAT_WORKSPACE", filepath.Join(e.WorkDir, "ws"))
			e.Setenv("WEBCHAT_LISTEN", "localhost:0")
			e.Setenv("WEBCHAT_NO_OPEN", "true")
			e.Setenv("WEBCHAT_BACKEND", "offline") // whatever is installed on this machine
			e.Setenv("WEBCHAT_SANDBOX", "off")     // and whatever its kernel can
			e.Setenv("MODEL_URL", honest.URL())
			e.Setenv("AUTOHAND", filepath.Join(e.WorkDir, "cli", "autohand"))
			e.Setenv("CLI", filepath.Join(e.WorkDir, "cli")) // other agents' stand-ins
			e.Setenv("SOURCE", source)
			e.Setenv("GOCACHE", cache)
			e.Setenv("LEAKY_URL", leaky.URL())
			e.Setenv("COPILOT", realCopilot)
			e.Setenv("MCPTOOLS", mcpTools)
			e.Setenv("COPILOT_CACHE", filepath.Join(filepath.Dir(realCopilot), "..", "..", "home"))
			e.Setenv("GORACE", "atexit_sleep_ms=0") // else each process takes a second to end
			if err := os.MkdirAll(filepath.Join(e.WorkDir, "ws"), 0o755); err != nil {
				return err
			}
			if err := os.Mkdir(filepath.Join(e.WorkDir, "cli"), 0o755); err != nil {
				return err
			}
			for _, name := range []string{"autohand", "acp-agent"} {
				if err := os.Symlink(self, filepath.Join(e.WorkDir, "cli", name)); err != nil &&
					runtime.GOOS != "windows" {
					return err
				}
			}
			return documented(e)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"ready": ready, "http": request, "asked": asked, "capture": capture, "sigterm": sigterm,
			"gone": gone, "appears": appears, "occupy": occupy, "address": address, "mode": mode,
		},
	}
}

// cached is what a script of scripts installed.
func cached(name ...string) string {
	path, err := filepath.Abs(filepath.Join(append([]string{"..", "..", ".cache"}, name...)...))
	if err != nil {
		return ""
	}
	return path
}

var (
	// the CLI, of scripts/copilot.sh
	realCopilot = cached("copilot", "node_modules", ".bin", "copilot")
	mcpTools    = cached("mcp") // of scripts/mcp.sh
)

// leak is a model that reads the file instead of having it shown.
func leak(r copilottest.Request) *copilottest.Reply {
	if last := r.Messages[len(r.Messages)-1]; last.Role == "tool" {
		return &copilottest.Reply{Text: "I have read it."}
	}
	return &copilottest.Reply{Calls: []copilottest.Call{{
		Tool:      "grep",
		Arguments: `{"pattern":"canary","output_mode":"content"}`,
	}}}
}

// patience ends a test that hangs. It measures nothing: beside other tests on a slow machine,
// agents alone take half a minute to start.
const patience = 5 * time.Minute

// eventually asks often until ok; what is waited for is in another process.
func eventually(ts *testscript.TestScript, what string, ok func() bool) {
	end := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			ts.Fatalf("%s: not within %v", what, patience)
		}
	}
}

func ready(ts *testscript.TestScript, _ bool, _ []string) {
	dir := cmp.Or(ts.Getenv("WEBCHAT_DATA_DIR"), filepath.Join(ts.Getenv("XDG_DATA_HOME"), "webchat"))
	var info daemon.Info
	eventually(ts, "the server", func() bool {
		var err error
		info, err = daemon.Read(dir)
		// one that was killed leaves its own
		if err != nil || info.URL == "" || runtime.GOOS == "linux" && !alive(info.PID) {
			return false
		}
		res, err := http.Get(info.URL + "/healthz")
		if err != nil {
			return false
		}
		defer http.DefaultClient.CloseIdleConnections()
		return res.Body.Close() == nil && res.StatusCode == 200
	})
	token, err := os.ReadFile(cmp.Or(ts.Getenv("WEBCHAT_TOKEN_FILE"), filepath.Join(dir, "token")))
	ts.Check(err)
	ts.Setenv("URL", info.URL)
	ts.Setenv("TOKEN", strings.TrimSpace(string(token)))
	ts.Setenv("PID", strconv.Itoa(info.PID))
}

func request(ts *testscript.TestScript, _ bool, args []string) {
	header, until, stay := http.Header{}, "", false
	header.Set("Authorization", "Bearer "+ts.Getenv("TOKEN"))
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		if args[0] == "-stay" {
			stay, args = true, args[1:]
			continue
		}
		if args[0] == "-until" {
			until = args[1]
		} else {
			name, value, _ := strings.Cut(args[1], ":")
			header.Set(name, strings.TrimSpace(value))
		}
		args = args[2:]
	}
	if len(args) < 2 {
		ts.Fatalf("usage: http [-H 'K: v'] [-until TEXT] [-stay] METHOD PATH [BODY]")
	}
	var body io.Reader
	if len(args) > 2 {
		body = strings.NewReader(args[2])
		if header.Get("Content-Type") == "" {
			header.Set("Content-Type", "application/json")
		}
	}
	if strings.HasPrefix(args[1], "/") {
		args[1] = ts.Getenv("URL") + args[1]
	}
	r, err := http.NewRequest(args[0], args[1], body)
	ts.Check(err)
	if until != "" {
		header.Set("Accept", "text/event-stream")
	}
	r.Header, r.Host = header, header.Get("Host")
	client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	if stay {
		client.CheckRedirect = func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}
	}
	check := func(err error) {
		if err != nil {
			ts.Fatalf("%v; the log until then:\n%s", err, sessionLog(ts, args[1]))
		}
	}
	res, err := client.Do(r)
	check(err)
	defer res.Body.Close()
	fmt.Fprintf(ts.Stdout(), "status %d\n", res.StatusCode)
	ts.Check(res.Header.Write(ts.Stdout()))
	lines := bufio.NewReader(res.Body)
	for {
		line, err := lines.ReadString('\n')
		_, _ = io.WriteString(ts.Stdout(), line)
		if err == io.EOF || until != "" && strings.Contains(line, until) {
			return
		}
		check(err)
	}
}

// sessionLog returns the log of the session that a request is about, for the output of a failure.
func sessionLog(ts *testscript.TestScript, url string) string {
	session := regexp.MustCompile(`/api/sessions/[^/?]+`).FindString(url)
	r, err := http.NewRequest(http.MethodGet, ts.Getenv("URL")+session+"/events?limit=5000", nil)
	if session == "" || err != nil {
		return "no session"
	}
	r.Header.Set("Authorization", "Bearer "+ts.Getenv("TOKEN"))
	client := http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(r)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body) // as much as comes
	return strings.ReplaceAll(string(text), `},{"id"`, "},\n{\"id\"")
}

func capture(ts *testscript.TestScript, _ bool, args []string) {
	m := regexp.MustCompile("(?m)" + args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if m == nil {
		ts.Fatalf("no %q in the last output", args[1])
	}
	ts.Setenv(args[0], m[1])
}

func pidOf(ts *testscript.TestScript, text string) int {
	pid, err := strconv.Atoi(strings.TrimSpace(text))
	ts.Check(err)
	if pid <= 1 {
		ts.Fatalf("pid %d", pid)
	}
	return pid
}

func sigterm(ts *testscript.TestScript, _ bool, _ []string) {
	p, err := os.FindProcess(pidOf(ts, ts.Getenv("PID")))
	ts.Check(err)
	ts.Check(p.Signal(syscall.SIGTERM))
}

// gone waits until the processes whose numbers are in the files have ended; gone -in
// DIR, until no process works in the folder.
func gone(ts *testscript.TestScript, _ bool, files []string) {
	if files[0] == "-in" {
		dir := ts.MkAbs(files[1])
		eventually(ts, "the end of all processes in "+files[1], func() bool {
			links, err := filepath.Glob("/proc/[0-9]*/cwd")
			ts.Check(err)
			return !slices.ContainsFunc(links, func(link string) bool {
				at, _ := os.Readlink(link)
				return at == dir
			})
		})
		return
	}
	for _, f := range files {
		pid := pidOf(ts, ts.ReadFile(f))
		eventually(ts, fmt.Sprintf("the end of process %d of %s", pid, f), func() bool {
			return !alive(pid)
		})
	}
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	if runtime.GOOS == "linux" {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return false
		}
		_, after, _ := strings.Cut(string(b), ") ")
		return !strings.HasPrefix(after, "Z")
	}
	p, err := os.FindProcess(pid)
	return err == nil && p.Signal(syscall.Signal(0)) == nil
}

func appears(ts *testscript.TestScript, _ bool, files []string) {
	for _, f := range files {
		eventually(ts, f, func() bool {
			info, err := os.Stat(ts.MkAbs(f))
			return err == nil && info.Size() > 0
		})
	}
}

// address is where the script's servers listen, also when they come back.
func address(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(append(args, "WEBCHAT_LISTEN")[0], "localhost:"+ports.Free())
}

// occupy takes a port as another program would.
func occupy(ts *testscript.TestScript, _ bool, _ []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { ts.Check(l.Close()) })
	ts.Setenv("PORT", strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
}

func mode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := fmt.Sprintf("%03o", info.Mode().Perm()); got != args[1] && runtime.GOOS != "windows" {
		ts.Fatalf("%s has the mode %s, want %s", args[0], got, args[1])
	}
}
