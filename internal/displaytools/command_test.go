//go:build unix

package displaytools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/outputs"
)

func TestCommandCompletes(t *testing.T) {
	b := newBench(t, nil)
	for _, test := range []struct{ command, text, out string }{
		{"true", "Command completed (exit 0, 0 lines)", ""},
		{"echo a; echo b >&2; printf c", "Command completed (exit 0, 3 lines)", "a\nb\nc"},
		{"echo one; exit 7", "Command completed (exit 7, 1 line)", "one\n"},
		{"no-such-command-x 2>/dev/null", "Command completed (exit 127, 0 lines)", ""},
		{"cat", "Command completed (exit 0, 0 lines)", ""},
		{"seq 200 | tail -1; seq 199", "Command completed (exit 0, 200 lines)", ""},
		{"printf '\\377\\000\\033[31mred\\r\\n'", "Command completed (exit 0, 1 line)",
			"\xff\x00\x1b[31mred\r\n"},
	} {
		b.told = nil
		res := b.call(RunCommand, "command", test.command)
		o := b.output(res)
		m := o.Meta()
		if res.Type != agent.Success || res.TextForModel != test.text || test.out != "" &&
			b.bytes(res) != test.out {
			t.Errorf("%s: %+v %q", test.command, res, b.bytes(res))
		}
		if n := cost(t, res.TextForModel); n > 12 {
			t.Errorf("%d tokens: %s", n, res.TextForModel)
		}
		if m.Type != outputs.Terminal || m.Command != test.command || m.Cwd != b.dir ||
			m.ExitCode == nil || *m.ExitCode != *res.Telemetry.ExitCode || m.TimedOut ||
			m.SessionID != "s1" || m.ToolCallID != "call-1" || !o.Complete() {
			t.Errorf("%s: %+v", test.command, m)
		}
		if len(b.told) == 0 || b.told[0].OutputID != string(o.ID()) || b.told[0].ToolCallID != "call-1" {
			t.Errorf("%s: the first progress is %+v", test.command, b.told)
		}
	}
}

func TestCommandAsks(t *testing.T) {
	b := newBench(t, nil)
	b.write("sub/x", "")
	command := "echo \u202e hi;\nrm -rf ./nothing"
	a := b.plan(RunCommand, "command", command, "cwd", "sub")
	p := a.Ask
	if p == nil || p.Kind != agent.KindShell || p.Action != "run a command" || p.Resource != command ||
		p.Cwd != filepath.Join(b.dir, "sub") ||
		p.Digest != a.Digest || p.Sensitive || p.ToolName != RunCommand || p.ToolCallID != "call-1" {
		t.Errorf("%+v", p)
	}
	if again := b.plan(RunCommand, "command", command, "cwd", "./sub/"); again.Digest != a.Digest {
		t.Error("the same act has two digests")
	}
	if other := b.plan(RunCommand, "command", command); other.Digest == a.Digest {
		t.Error("two acts have one digest")
	}
}

func TestCommandFolder(t *testing.T) {
	b := newBench(t, nil)
	b.write("sub/x", "")
	b.link("/", "away")
	b.link("sub", "near")
	for cwd, want := range map[string]string{"": b.dir, "sub": b.dir + "/sub", "near": b.dir + "/sub",
		filepath.Join(b.dir, "sub"): b.dir + "/sub", ".": b.dir} {
		if got := b.bytes(b.call(RunCommand, "command", "pwd; echo $PWD", "cwd", cwd)); got != want+"\n"+
			want+"\n" {
			t.Errorf("%q: %q", cwd, got)
		}
	}
	for cwd, want := range map[string]string{
		"..": "That path leaves the workspace.", "away": "That path leaves", "/tmp": "That path leaves",
		"sub/x": "x is a file, and commands run in folders.", "none": "There is no folder none in ",
	} {
		if got := b.refused(RunCommand, "command", "pwd", "cwd", cwd); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s", cwd, got)
		}
	}
	a := b.plan(RunCommand, "command", "pwd", "cwd", "near")
	if err := errors.Join(os.Remove(filepath.Join(b.dir, "near")),
		os.Symlink(".", filepath.Join(b.dir, "near"))); err != nil {
		t.Fatal(err)
	}
	if res := b.run(b.ctx(), a); res.Type != agent.Failed || res.Telemetry != nil {
		t.Errorf("it ran elsewhere: %+v", res)
	}
}

func TestCommandEnvironment(t *testing.T) {
	b := newBench(t, func(c *Config) {
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/home/u", "WEBCHAT_PROVIDER_KEY=1",
			"webchat_x=1", "ACME=provider", "GITHUB_TOKEN=1", "DATABASE_URL=1",
			"MY_VAR_KEY=mine", "WEBCHAT_TOKEN=1", "NO_COLOR=1", "TERM=dumb", "COLUMNS=7", "PWD=/old",
			"OLDPWD=/older", "LANG=C", "CACHE=redis://:" + "pass@localhost", "EMPTY="}
		c.EnvAllow = []string{"MY_VAR_KEY", "WEBCHAT_TOKEN"}
		c.EnvDeny = []string{"ACME"}
	})
	agents := []string{"PATH=" + os.Getenv("PATH"), "HOME=/home/u", "MY_VAR_KEY=mine", "LANG=C",
		"EMPTY=",
		"CLICOLOR_FORCE=1", "FORCE_COLOR=1", "TERM=xterm-256color", "COLUMNS=120", "PWD=" + b.dir}
	withheld := []string{"ACME", "CACHE", "DATABASE_URL", "GITHUB_TOKEN"}
	const list = "ACME, CACHE, DATABASE_URL, GITHUB_TOKEN"
	for name, x := range map[string]struct {
		call     agent.CallInfo
		want     []string
		withheld []string
		log      string
	}{
		"an agent's": {agent.CallInfo{By: event.ByAgent}, agents, withheld, "Withheld: " +
			list},
		"of no call": {agent.CallInfo{}, agents, withheld, "Withheld: " + list},
		"an agent's, by the user": {agent.CallInfo{By: event.ByUser}, agents, withheld,
			"Withheld, because the agent had asked for this command: " + list},
		"the user's": {agent.CallInfo{By: event.ByUser, Typed: true},
			append([]string{"GITHUB_TOKEN=1", "DATABASE_URL=1", "CACHE=redis://:" + "pass@localhost"},
				agents...), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := agent.WithCall(context.Background(), x.call)
			a, err := b.tool(RunCommand).Plan(ctx, object(t, "command", "exec env"))
			if err != nil || !slices.Equal(a.Ask.Withheld, x.withheld) {
				t.Fatalf("withheld: %q, %v", a.Ask.Withheld, err)
			}
			res := b.run(ctx, a)
			got := strings.Split(strings.TrimSpace(b.bytes(res)), "\n")
			// the shell's own
			got = slices.DeleteFunc(got, func(kv string) bool {
				return strings.HasPrefix(kv, "_=") || strings.HasPrefix(kv, "SHLVL=")
			})
			slices.Sort(got)
			slices.Sort(x.want)
			if !slices.Equal(got, x.want) {
				t.Errorf("got  %q\nwant %q", got, x.want)
			}
			if res.SessionLog != x.log {
				t.Errorf("the card says %q", res.SessionLog)
			}
		})
	}
}

func TestShell(t *testing.T) {
	for configured, want := range map[string]string{"": "sh", "/usr/sbin/nologin": "sh",
		"/bin/false": "sh", "/bin/bash": "/bin/bash"} {
		if got := shell(configured); got != want {
			t.Errorf("%q: %s", configured, got)
		}
	}
	b := newBench(t, func(c *Config) { c.Shell = "/no/such/shell" })
	if res := b.call(RunCommand, "command", "echo hi"); res.Type != agent.Success ||
		b.bytes(res) != "hi\n" {
		t.Errorf("%+v", res)
	}
	dir := t.TempDir()
	mine := filepath.Join(dir, "mine")
	if err := os.WriteFile(mine, []byte("#!/bin/sh\necho \"mine $1 $2\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	b = newBench(t, func(c *Config) { c.Shell = mine })
	if got := b.bytes(b.call(RunCommand, "command", "a b")); got != "mine -c a b\n" {
		t.Errorf("%q", got)
	}
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		return !strings.Contains(string(b), ") Z ")
	}
	return syscall.Kill(pid, 0) == nil
}

func pids(t *testing.T, text string) (list []int) {
	t.Helper()
	for _, f := range strings.Fields(text) {
		if pid, err := strconv.Atoi(f); err == nil {
			list = append(list, pid)
		}
	}
	if len(list) == 0 {
		t.Fatalf("no process in %q", text)
	}
	return list
}

// marked are the command lines that hold mark, of all processes, where the system shows
// them as files.
func marked(t *testing.T, mark string) (lines []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if line, err := os.ReadFile(f); err == nil && strings.Contains(string(line), mark) {
			lines = append(lines, string(line))
		}
	}
	return lines
}

const stubborn = `trap '' TERM HUP; sleep 600 & echo $!; setsid sleep 600 & echo $!; echo $$; echo ready; sleep 600; sleep 600`

// THREATS 50: an abort leaves nothing of the tree.
func TestThreat50CommandAborted(t *testing.T) {
	b := newBench(t, nil)
	ctx, cancel := context.WithCancel(b.ctx())
	a := b.plan(RunCommand, "command", stubborn)
	var res agent.Result
	var err error
	done := make(chan struct{})
	id := make(chan string, 1)
	go func() {
		defer close(done)
		res, err = a.Run(ctx, func(p agent.ProgressReport) {
			select {
			case id <- p.OutputID:
			default:
			}
		})
	}()
	o, gerr := b.store.Get(outputs.ID(<-id))
	if gerr != nil {
		t.Fatal(gerr)
	}
	for f := o.Follow(0); o.TotalLines() < 4; {
		if _, err := f.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if o.Complete() {
		t.Error("the output of a running command is complete")
	}
	cancel()
	<-done
	if err != nil || res.Type != agent.Failed || res.Code() != "aborted" ||
		!strings.HasPrefix(res.TextForModel, "Command stopped after ") ||
		!strings.HasPrefix(res.Error, "stopped after 0:0") ||
		!strings.HasSuffix(res.Error, " processes ended") {
		t.Errorf("%+v, %v", res, err)
	}
	m := b.output(res).Meta()
	if !o.Complete() || m.ExitCode != nil || m.TimedOut || res.Telemetry.ExitCode != nil {
		t.Errorf("%+v", m)
	}
	for _, pid := range pids(t, b.bytes(res)) {
		if alive(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
}

func TestCommandTimesOut(t *testing.T) {
	b := newBench(t, func(c *Config) { c.CommandTimeout = 300 * time.Millisecond })
	mark := fmt.Sprintf("600.%d", time.Now().UnixNano())
	res := b.call(RunCommand, "command", "sleep "+mark+
		` & trap 'exit 0' TERM; while :; do sleep 0.01; done`)
	if res.Type != agent.Failed || res.Code() != "timeout" ||
		!strings.HasPrefix(res.TextForModel, "Command timed out after ") ||
		!strings.HasPrefix(res.Error, "timed out after ") {
		t.Errorf("%+v", res)
	}
	if m := b.output(res).Meta(); !m.TimedOut || m.ExitCode != nil {
		t.Errorf("%+v", m)
	}
	if left := marked(t, mark); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	ctx, cancel := context.WithTimeout(b.ctx(), 50*time.Millisecond)
	defer cancel()
	if res := b.run(ctx, b.plan(RunCommand, "command", "sleep 600")); res.Code() != "timeout" {
		t.Errorf("the caller's deadline: %+v", res)
	}
}

// THREATS 50: what a command left running ends with the session.
func TestThreat50LeftRunningEndsWithTheSession(t *testing.T) {
	b := newBench(t, nil)
	res := b.call(RunCommand, "command", `setsid sleep 601 >/dev/null & echo $!; sleep 602 & echo $!`)
	if res.Type != agent.Success || res.TextForModel != "Command completed (exit 0, 2 lines)" {
		t.Errorf("%+v", res)
	}
	list := pids(t, b.bytes(res))
	for _, want := range []string{"Left running, to be ended with this session:", "sleep 601",
		"sleep 602", strconv.Itoa(list[1])} {
		if !strings.Contains(res.SessionLog, want) {
			t.Errorf("%q is not in %q", want, res.SessionLog)
		}
	}
	b.call(RunCommand, "command", "true") // does not disturb them
	for _, pid := range list {
		if !alive(pid) {
			t.Errorf("process %d did not stay", pid)
		}
	}
	if err := b.set.Close(); err != nil {
		t.Error(err)
	}
	for _, pid := range list {
		if alive(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
	if got := b.refused(RunCommand, "command", "true"); !strings.Contains(got, "closed") {
		t.Error(got)
	}
}

func TestEndedByThemselvesAreForgotten(t *testing.T) {
	b := newBench(t, nil)
	b.call(RunCommand, "command", `(while [ ! -e go ]; do sleep 0.01; done) &`)
	b.write("go", "")
	for n := 1; n > 0; n = len(b.set.jobs()) {
		b.set.forgetEnded()
	}
}

func TestCloseEndsWhatRuns(t *testing.T) {
	b := newBench(t, nil)
	a := b.plan(RunCommand, "command", `echo $$; sleep 600; sleep 600`)
	done := make(chan agent.Result)
	started := make(chan struct{}, 100)
	go func() {
		res, err := a.Run(b.ctx(), func(p agent.ProgressReport) {
			select {
			case started <- struct{}{}:
			default:
			}
		})
		if err != nil {
			t.Error(err)
		}
		done <- res
	}()
	<-started
	closed := make(chan error)
	go func() { closed <- b.set.Close() }()
	res := <-done
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if res.Type != agent.Failed || res.Code() != "aborted" {
		t.Errorf("%+v", res)
	}
}

func TestFlood(t *testing.T) {
	b := newBench(t, func(c *Config) {
		store, err := outputs.New(outputs.Config{TTL: time.Hour, Budget: 8 << 20})
		if err != nil {
			t.Fatal(err)
		}
		c.Outputs = store
	})
	res := b.call(RunCommand, "command", "echo first; yes | head -c 67108864; echo last")
	o := b.output(res)
	m := o.Meta()
	if !m.Truncated || m.Gap == nil || o.Size() != 67108864+11 || res.Telemetry.Bytes != o.Size() ||
		m.TotalLines != 33554432+2 {
		t.Errorf("%+v of %d bytes", m, o.Size())
	}
	if got := b.bytes(res); !strings.HasPrefix(got, "first\ny\n") ||
		!strings.HasSuffix(got, "y\nlast\n") {
		t.Errorf("%.20q", got)
	}
	if !strings.HasPrefix(res.SessionLog, "Left out: 6") ||
		res.TextForModel != "Command completed (exit 0, 33554434 lines)" ||
		cost(t, res.TextForModel) > 15 {
		t.Errorf("%+v", res)
	}
	if !res.Telemetry.TokensEstimated || res.Telemetry.TokensShown == 0 {
		t.Errorf("%+v", res.Telemetry)
	}
}

func TestNoBudget(t *testing.T) {
	b := newBench(t, func(c *Config) {
		store, err := outputs.New(outputs.Config{TTL: time.Hour, Budget: outputs.MinBudget})
		if err != nil {
			t.Fatal(err)
		}
		c.Outputs = store
	})
	b.write("f", "x")
	for {
		w, err := b.store.Create(outputs.Meta{Type: outputs.Terminal}, outputs.Limits{})
		if err != nil {
			break
		}
		defer w.Complete(nil)
	}
	if got := b.refused(RunCommand, "command", "touch ran"); !strings.HasPrefix(got,
		"The command was not run: ") {
		t.Error(got)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "ran")); err == nil {
		t.Error("it ran all the same")
	}
	if got := b.refused(RenderFile, "path", "f"); !strings.HasPrefix(got, "f could not be shown: ") {
		t.Error(got)
	}
}

func TestWords(t *testing.T) {
	for d, want := range map[time.Duration]string{80 * time.Millisecond: "80 ms",
		1400 * time.Millisecond: "1 s", 10*time.Minute + 100*time.Millisecond: "10 min",
		75 * time.Second: "1:15 min"} {
		if got := short(d); got != want {
			t.Errorf("%v: %s", d, got)
		}
	}
}

func BenchmarkCommand(b *testing.B) {
	bench := newBench(b, nil)
	bench.call(RunCommand, "command", "echo") // the vocabulary is built once
	for b.Loop() {
		bench.call(RunCommand, "command", "echo")
	}
}
