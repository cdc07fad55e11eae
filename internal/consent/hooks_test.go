//go:build unix

package consent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/proc"
)

func TestMain(m *testing.M) {
	proc.Main()
	goleak.VerifyTestMain(m)
}

// audit is what was reported.
type audit struct {
	mu     sync.Mutex // guards what follows
	starts []event.HookStart
	ends   []event.HookEnd
	fail   error
}

func (a *audit) report(d event.Data) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch d := d.(type) {
	case event.HookStart:
		a.starts = append(a.starts, d)
	case event.HookEnd:
		a.ends = append(a.ends, d)
	}
	return a.fail
}

func newSet(t *testing.T, list ...consent.Hook) (*consent.Hooks, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := consent.NewHooks(consent.HookConfig{
		Hooks:     list,
		Workspace: dir,
		Env:       []string{"PATH=" + os.Getenv("PATH"), "MINE=1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, dir
}

func before(command string) consent.Hook {
	return consent.Hook{Event: consent.BeforeTool, Command: command}
}

func call() consent.HookCall {
	return consent.HookCall{
		RequestID:  "r1",
		ToolCallID: "c1",
		SessionID:  "s1",
		Event:      consent.BeforeTool,
		Tool:       "bash",
		Arguments:  json.RawMessage(`{"command":"ls"}`),
	}
}

func run(t *testing.T, s *consent.Hooks, c consent.HookCall) (consent.HookVerdict, *audit) {
	t.Helper()
	return runWithin(t.Context(), t, s, c)
}

func runWithin(ctx context.Context, t *testing.T, s *consent.Hooks,
	c consent.HookCall) (consent.HookVerdict, *audit) {
	t.Helper()
	a := &audit{}
	v, err := s.Run(ctx, c, a.report)
	if err != nil {
		t.Fatal(err)
	}
	return v, a
}

// THREATS 58: anything but a clear yes means no, with the reason in the log.
func TestThreat58FailClosed(t *testing.T) {
	for name, c := range map[string]struct {
		command string
		code    int
		says    string
	}{
		"veto":              {`echo '{"allow":false,"reason":"not on Sundays"}'`, 0, "not on Sundays"},
		"veto in silence":   {`echo '{"allow":false}'`, 0, "without a reason"},
		"veto by status":    {`echo "no <b>way</b>" >&2; echo ignored; exit 2`, 2, "no <b>way</b>"},
		"status, no reason": {`exit 2`, 2, "without a reason"},
		"crash":             {`echo oops >&2; exit 1`, 1, "status 1: oops"},
		"not found":         {`exec /no/such/program 2>/dev/null`, 127, "status 127"},
		"killed":            {`kill -9 $$`, 137, "SIGKILL"},
		"too slow":          {`sleep 60`, 143, "within 300ms"},
		"too slow, stubborn": {`trap '' TERM; echo > trapped; sleep 60 & wait; sleep 60`, 137,
			"within 30s"},
		"not JSON":           {`echo yes`, 0, "not understood"},
		"no object":          {`echo true`, 0, "a JSON object, not a bool"},
		"not UTF-8":          {`printf '{"allow":true,"reason":"\377"}'`, 0, "not UTF-8"},
		"half an answer":     {`printf '{"allow":true'`, 0, "ends in the middle"},
		"two answers":        {`echo '{"allow":true}{"allow":true}'`, 0, "something follows"},
		"unknown verdict":    {`echo '{"allow":"yes"}'`, 0, `"allow" as true or false`},
		"no verdict":         {`echo '{"decision":"allow"}'`, 0, `"decision", which is not known`},
		"verdict in another": {`echo '{"Allow":true}'`, 0, `"Allow", which is not known`},
		"contradiction":      {`echo '{"allow":false,"allow":true}'`, 0, `"allow" twice`},
		"empty object":       {`echo '{}'`, 0, `no "allow"`},
		"reason of a kind":   {`echo '{"allow":true,"reason":1}'`, 0, "as a string, not as a number"},
		"strange arguments":  {`echo '{"allow":true,"arguments":[1]}'`, 0, "not an object"},
		"a prompt here":      {`echo '{"allow":true,"prompt":"x"}'`, 0, "change the prompt"},
		"too much":           {`head -c 65537 /dev/zero | tr '\0' ' '`, -2, "more than 65536 bytes"},
		"endless":            {`yes`, -2, "more than 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := before(c.command)
			h.Timeout = 30 * time.Second
			if name == "too slow" {
				h.Timeout = 300 * time.Millisecond
			}
			s, dir := newSet(t, h)
			ctx, end := context.WithCancelCause(t.Context())
			defer end(nil)
			if name == "too slow, stubborn" { // its time is over when it is stubborn
				fifo := filepath.Join(dir, "trapped")
				if err := syscall.Mkfifo(fifo, 0o600); err != nil {
					t.Fatal(err)
				}
				go func() {
					if _, err := os.ReadFile(fifo); err != nil {
						t.Error(err)
					}
					end(consent.ErrTimeout)
				}()
			}
			v, a := runWithin(ctx, t, s, call())
			if v.Allow || !strings.Contains(v.Reason, c.says) {
				t.Errorf("%+v, want a no that says %q", v, c.says)
			}
			if len(a.starts) != 1 || len(a.ends) != 1 {
				t.Fatalf("%d starts, %d ends", len(a.starts), len(a.ends))
			}
			e := a.ends[0]
			if e.Allow || e.Reason != v.Reason || e.HookID != a.starts[0].HookID ||
				e.Event != "before_tool" || e.Command != c.command || c.code > -2 && e.ExitCode != c.code {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestAllows(t *testing.T) {
	for _, command := range []string{`true`, `cat >/dev/null`, `echo`, `echo '{"allow":true}'`,
		`echo '{"allow":true,"reason":null,"arguments":null}'`,
		`head -c 65000 /dev/zero | tr '\0' ' '; echo '{"allow":true}'`, `yes | head -c 1000000 >&2`} {
		s, _ := newSet(t, before(command))
		if v, a := run(t, s, call()); !v.Allow || v.Reason != "" || v.Arguments != nil ||
			len(a.ends) != 1 || !a.ends[0].Allow || a.ends[0].ExitCode != 0 {
			t.Errorf("%s: %+v %+v", command, v, a.ends)
		}
	}
}

func TestReadsTheCall(t *testing.T) {
	s, dir := newSet(t, before(`cat > in.json; pwd > where; env > env`))
	c := call()
	c.Arguments = json.RawMessage(`{"n":9007199254740993}`)
	c.Result, c.Prompt = json.RawMessage(`{"type":"success"}`), "hi"
	run(t, s, c)
	got := read(t, dir, "in.json")
	want := `{"requestId":"r1","sessionId":"s1","event":"before_tool","tool":"bash","arguments":{"n":9007199254740993},"result":{"type":"success"},"prompt":"hi","workspace":"` + dir + `"}` + "\n"
	if got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	if got := read(t, dir, "where"); got != dir+"\n" {
		t.Errorf("it ran in %s", got)
	}
	if got := read(t, dir, "env"); !strings.Contains(got, "MINE=1\n") ||
		strings.Contains(got, "HOME=") {
		t.Errorf("environment: %s", got)
	}
	elsewhere := t.TempDir()
	h := before(`pwd > where2`)
	h.Dir = elsewhere
	s, _ = newSet(t, h)
	run(t, s, call())
	read(t, elsewhere, "where2")
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRewriteAndOrder(t *testing.T) {
	s, dir := newSet(t,
		before(`cat > one; echo '{"allow":true,"arguments":{"command":"ls -l"}}'`),
		consent.Hook{Event: consent.BeforeTool, Matcher: "ba|sh", Command: `touch never`},
		consent.Hook{Event: consent.BeforeTool, Matcher: "sh|ba.*", Command: `cat > two`},
		consent.Hook{Event: consent.AfterTool, Command: `touch never`},
	)
	v, a := run(t, s, call())
	if !v.Allow || string(v.Arguments) != `{"command":"ls -l"}` || len(a.ends) != 2 {
		t.Errorf("%+v %+v", v, a.ends)
	}
	if got := string(a.ends[0].Arguments); got != `{"command":"ls -l"}` ||
		a.ends[1].Arguments != nil || a.starts[0].ToolCallID != "c1" {
		t.Errorf("the log says of the first hook %s, of the second %s, and of the call %q", got,
			a.ends[1].Arguments, a.starts[0].ToolCallID)
	}
	if one, two := read(t, dir, "one"), read(t, dir, "two"); !strings.Contains(one, `"ls"`) ||
		!strings.Contains(two, `"ls -l"`) {
		t.Errorf("%s%s", one, two)
	}
	if _, err := os.Stat(filepath.Join(dir, "never")); err == nil {
		t.Error("a hook of another tool or moment ran")
	}
	c := call()
	c.RequestID, c.Fixed = "r2", true
	if v, a := run(t, s, c); v.Allow || !strings.Contains(v.Reason, "cannot be changed") ||
		len(a.ends) != 1 || a.ends[0].Allow || a.ends[0].Arguments != nil {
		t.Errorf("a rewrite where none is possible: %+v %+v", v, a.ends)
	}
	s, _ = newSet(t, consent.Hook{
		Event:   consent.PromptSubmitted,
		Command: `echo '{"allow":true,"prompt":"better"}'`,
	})
	if v, a := run(t, s, consent.HookCall{Event: consent.PromptSubmitted, Prompt: "x"}); !v.Allow ||
		v.Prompt != "better" || a.ends[0].Prompt != "better" {
		t.Errorf("%+v %+v", v, a.ends)
	}
}

// THREATS 59: the same request is decided once, with one line in the log.
func TestThreat59AskedTwiceDecidedOnce(t *testing.T) {
	s, dir := newSet(t,
		before(`echo x >> ran; cat >/dev/null; echo '{"allow":true,"arguments":{"command":"ls -l"}}'`))
	a := &audit{}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			c := call()
			c.Arguments = json.RawMessage(` { "command" : "ls" } `)
			v, err := s.Run(t.Context(), c, a.report)
			if err != nil || !v.Allow || string(v.Arguments) != `{"command":"ls -l"}` {
				t.Errorf("%+v %v", v, err)
			}
		})
	}
	wg.Wait()
	if got := read(t, dir, "ran"); got != "x\n" || len(a.starts) != 1 || len(a.ends) != 1 {
		t.Errorf("it ran %q, %d starts, %d ends", got, len(a.starts), len(a.ends))
	}
	ask := func(change func(*consent.HookCall)) consent.HookVerdict {
		c := call()
		change(&c)
		v, err := s.Run(t.Context(), c, a.report)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := ask(func(c *consent.HookCall) {
		c.Arguments = json.RawMessage(`{"command":"ls -l"}`)
	}); !v.Allow || v.Arguments != nil {
		t.Errorf("what the hook made of it: %+v", v)
	}
	if v := ask(func(c *consent.HookCall) {
		c.Arguments = json.RawMessage(`{"command":"rm"}`)
	}); v.Allow {
		t.Errorf("other content under the same id: %+v", v)
	}
	if v := ask(func(c *consent.HookCall) { c.Tool = "shell" }); v.Allow {
		t.Errorf("another tool under the same id: %+v", v)
	}
	if len(a.ends) != 1 {
		t.Errorf("%d ends", len(a.ends))
	}
	ask(func(c *consent.HookCall) { c.SessionID = "s2" })
	ask(func(c *consent.HookCall) { c.RequestID = "r2" })
	ask(func(c *consent.HookCall) { c.Within = "t2" })
	ask(func(c *consent.HookCall) { c.RequestID = "" })
	ask(func(c *consent.HookCall) { c.RequestID = "" })
	if len(a.ends) != 6 {
		t.Errorf("%d ends", len(a.ends))
	}
}

func alive(pid int) bool {
	if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		return !strings.Contains(string(b), ") Z ")
	}
	return syscall.Kill(pid, 0) == nil
}

// hook.end comes when nothing of the command is left, however it ends.
func TestEndsTheTree(t *testing.T) {
	tree := `(trap '' TERM; sleep 600; sleep 600) & echo $! >> pids; setsid sleep 600 & echo $! >> pids; `
	for name, c := range map[string]struct {
		command string
		allow   bool
		abort   bool
	}{
		"by itself": {tree, true, false},
		"aborted":   {tree + `echo $$ >> pids; touch ready; sleep 600`, false, true},
		"flood":     {tree + `yes`, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, dir := newSet(t, before(c.command))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.abort {
				go func() {
					tick := time.NewTicker(time.Millisecond)
					defer tick.Stop()
					for ctx.Err() == nil {
						<-tick.C
						if _, err := os.Stat(filepath.Join(dir, "ready")); err == nil {
							cancel()
						}
					}
				}()
			}
			a := &audit{}
			v, err := s.Run(ctx, call(), func(d event.Data) error {
				if _, ok := d.(event.HookEnd); ok {
					for _, f := range strings.Fields(read(t, dir, "pids")) {
						if pid, err := strconv.Atoi(f); err != nil || alive(pid) {
							t.Errorf("process %s is left, %v", f, err)
						}
					}
				}
				return a.report(d)
			})
			if err != nil || v.Allow != c.allow || len(a.ends) != 1 || a.ends[0].Allow != c.allow {
				t.Errorf("%+v %v %+v", v, err, a.ends)
			}
			if c.abort && !strings.Contains(v.Reason, "stopped") {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestWhatCannotBeLoggedDoesNotRun(t *testing.T) {
	s, dir := newSet(t, before(`touch ran`))
	a := &audit{fail: errors.New("disk full")}
	for range 2 {
		if v, err := s.Run(t.Context(), call(), a.report); err == nil || v.Allow {
			t.Errorf("%+v %v", v, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("it ran")
	}
}

func TestReasonsArePresentable(t *testing.T) {
	s, _ := newSet(t, before(`printf 'a\033[31m\342\200\256b\377\nc' >&2; exit 2`))
	if v, _ := run(t, s, call()); v.Reason != "a[31mb�\nc" {
		t.Errorf("%q", v.Reason)
	}
	s, _ = newSet(t, before(`yes é | head -c 100000 | tr -d '\n' >&2; exit 2`))
	if v, _ := run(t, s, call()); len(v.Reason) > consent.MaxReason ||
		len(v.Reason) < consent.MaxReason-8 || !strings.HasSuffix(v.Reason, "é…") {
		t.Errorf("%d bytes, …%q", len(v.Reason), v.Reason[len(v.Reason)-8:])
	}
}
