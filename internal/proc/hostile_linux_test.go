package proc

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func init() { roles["server"] = beServer }

// beServer runs the script in SCRIPT and obeys it line by line.
func beServer() {
	fail := func(err error) bool {
		if err != nil {
			fmt.Println(err)
		}
		return err != nil
	}
	if fail(Server()) {
		return
	}
	if script := os.Getenv("DETACH"); script != "" && fail(detached(script)) {
		return
	}
	silence, _ := time.ParseDuration(os.Getenv("SILENCE")) // not given: the default
	grace, _ := time.ParseDuration(os.Getenv("GRACE"))
	command := Command{
		Args:    []string{"sh", "-c", os.Getenv("SCRIPT")},
		Env:     os.Environ(),
		Grace:   grace,
		silence: silence,
	}
	ready := make(chan struct{})
	if os.Getenv("LOUD") != "" {
		command.Output = afterwards{ready}
	}
	child, err := Start(command)
	if fail(err) {
		return
	}
	fmt.Println("ready")
	close(ready)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch in.Text() {
		case "stop":
			_, err := child.Stop(context.Background())
			fmt.Println("stopped", err)
		case "wait":
			_, err := child.Wait()
			fmt.Println("waited", err)
		case "children":
			n := 0
			all, _ := processes()
			for _, p := range all {
				if p.parent == os.Getpid() {
					n++
				}
			}
			fmt.Println("children", n)
		}
	}
}

// afterwards writes to our standard output, what comes before it is ready then.
type afterwards struct{ ready <-chan struct{} }

func (w afterwards) Write(p []byte) (int, error) {
	<-w.ready
	return os.Stdout.Write(p)
}

// served is a server in a process of its own, with one command. Everything that
// belongs to the command has mark among its arguments.
type served struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.Writer
	out    *bufio.Reader
	mark   string
	helper process
}

// serve starts one. In scripts, MARK becomes a number of seconds to sleep that no
// other process has.
func serve(t *testing.T, script string, env ...string) *served {
	t.Helper()
	return serveAs(t, nil, script, env...)
}

func serveAs(t *testing.T, who *syscall.Credential, script string, env ...string) *served {
	t.Helper()
	started := filepath.Join(t.TempDir(), "started")
	s := &served{
		t:    t,
		cmd:  exec.Command("/proc/self/exe"),
		mark: fmt.Sprintf("600.%d%d", os.Getpid(), time.Now().UnixNano()),
	}
	s.cmd.Args = []string{"server"}
	s.cmd.Env = append(os.Environ(), "GO="+started, "SCRIPT="+
		strings.ReplaceAll(script, "MARK", s.mark))
	for _, kv := range env {
		s.cmd.Env = append(s.cmd.Env, strings.ReplaceAll(kv, "MARK", s.mark))
	}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out = bufio.NewReader(out)
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait() // it was killed
		for _, p := range s.alive() {
			p.signal(syscall.SIGKILL)
		}
	})
	if line := s.line(); line != "ready" {
		t.Fatalf("the server says %q", line)
	}
	all, _ := processes()
	for _, p := range all {
		if p.parent == s.cmd.Process.Pid && commandOf(p.pid) == helperName {
			s.helper = p
		}
	}
	if err := os.WriteFile(started, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *served) line() string {
	s.t.Helper()
	line, err := s.out.ReadString('\n')
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func (s *served) tell(order string) string {
	s.t.Helper()
	fmt.Fprintln(s.in, order)
	return s.line()
}

// alive lists what has the mark.
func (s *served) alive() (list []process) {
	all, err := processes()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, p := range all {
		if !p.zombie && p.pid != os.Getpid() && strings.Contains(commandOf(p.pid), s.mark) {
			list = append(list, p)
		}
	}
	return list
}

// await returns the processes that sleep for the mark when there are n of them.
func (s *served) await(n int, mark string) (list []process) {
	s.t.Helper()
	until(s.t, fmt.Sprintf("%d sleep for %s", n, mark), func() bool {
		list = nil
		all, _ := processes()
		for _, p := range all {
			if !p.zombie && commandOf(p.pid) == "sleep "+mark {
				list = append(list, p)
			}
		}
		return len(list) >= n
	})
	return list
}

// hostileFamily begins once the server knows that the command runs, and is plain,
// in another session, and forked twice.
const hostileFamily = `while [ ! -e "$GO" ]; do sleep 0.01; done
sleep MARK & setsid sleep MARK & (setsid sh -c 'sleep MARK & sleep MARK' &); `

// hostile are commands that do not want to be ended, and how many of the processes
// that sleep are there when they are.
var hostile = map[string]struct {
	script string
	least  int
}{
	"it stops its helper":          {hostileFamily + `kill -STOP $PPID; sleep MARK`, 5},
	"it stops its helper at once":  {`kill -STOP $PPID; setsid sleep MARK & sleep MARK`, 0},
	"it stops its helper and ends": {hostileFamily + `kill -STOP $PPID`, 4},
	"it stops its helper again and again": {hostileFamily +
		`trap '' TERM; while :; do kill -STOP $PPID; sleep 0.01; done`, 4},
	"it stops its helper when asked to end": {hostileFamily +
		`trap 'kill -STOP $PPID' TERM; while :; do sleep 0.01; done`, 4},
	"it kills its helper from elsewhere": {hostileFamily +
		`export HELPER=$PPID; setsid sh -c 'kill -9 $HELPER; sleep MARK' & sleep MARK`, untilKilled},
	"it freezes itself": {hostileFamily + `trap '' TERM; kill -STOP $$`, 4},
	"it freezes itself whenever it wakes up": {hostileFamily +
		`trap 'kill -STOP $$' TERM CONT; while :; do kill -STOP $$; done`, 4},
}

// untilKilled waits for the end of the helper instead: what it leaves has none to
// wait for.
const untilKilled = -1

func TestThreat79StopEndsTheHostile(t *testing.T) {
	for name, h := range hostile {
		t.Run(name, func(t *testing.T) {
			grace := "GRACE=1h" // a helper that does not react gets none
			if strings.Contains(name, "freezes itself") {
				grace = "GRACE=100ms"
			}
			s := serve(t, h.script, grace, "SILENCE=10m") // it is Stop that has to notice
			if h.least == untilKilled {
				until(t, "the helper is killed", func() bool { return dead([]process{s.helper}) })
			}
			s.await(h.least, s.mark)
			began := time.Now()
			if said := s.tell("stop"); said != "stopped <nil>" {
				t.Error(said)
			}
			t.Logf("ended after %v", time.Since(began))
			if left := s.alive(); len(left) > 0 {
				t.Errorf("%d survive: %+v", len(left), left)
			}
			if said := s.tell("children"); said != "children 0" {
				t.Errorf("the server has %s", said)
			}
		})
	}
}

// Without a stop, that the helper does not react is still noticed.
func TestThreat79WaitForACommandThatStopsItsHelper(t *testing.T) {
	s := serve(t, hostileFamily+`kill -STOP $PPID; exit 3`, "SILENCE=1s")
	if said := s.tell("wait"); !strings.Contains(said, "did not react and was killed") {
		t.Error(said)
	}
	if left := s.alive(); len(left) > 0 {
		t.Errorf("%d survive: %+v", len(left), left)
	}
}

func TestThreat79HelperOfAFrozenServer(t *testing.T) {
	s := serve(t, hostileFamily+`trap '' TERM; sleep MARK`, "SILENCE=1s")
	s.await(5, s.mark)
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	until(t, "the helper ends the tree", func() bool { return len(s.alive()) == 0 })
	if err := s.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if said := s.tell("stop"); said != "stopped <nil>" {
		t.Error(said)
	}
}

func TestThreat79HelpersAreGivenTheDefaultSilence(t *testing.T) {
	if got := newRequest("/bin/true", Command{}).Silence; got != 20*time.Second {
		t.Errorf("a helper waits %v for us", got)
	}
}

// The helper is stopped and its server killed at once: no other process is left.
func TestThreat79KilledServerOfAStoppedHelper(t *testing.T) {
	s := serve(t, hostileFamily+`kill -STOP $PPID; sleep MARK`, "SILENCE=10m")
	s.await(5, s.mark)
	until(t, "the helper is stopped", func() bool {
		p, ok := look(s.helper.pid)
		return ok && p.stopped
	})
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	until(t, "nothing of the tree is left", func() bool { return len(s.alive()) == 0 })
}

// What a detached program leaves behind is not of a tree, also when a helper dies.
func TestDetachedProgramsAreNotEnded(t *testing.T) {
	mark := fmt.Sprintf("601.%d", time.Now().UnixNano())
	s := serve(t, `sleep MARK`, "DETACH=(setsid sleep "+mark+" &)")
	detached := s.await(1, mark)
	t.Cleanup(func() { detached[0].signal(syscall.SIGKILL) })
	s.await(1, s.mark)
	s.helper.signal(syscall.SIGKILL)
	if said := s.tell("stop"); said != "stopped <nil>" {
		t.Error(said)
	}
	if dead(detached) {
		t.Error("a program that is the user's was ended")
	}
	detached[0].signal(syscall.SIGKILL)
	until(t, "the detached program and its detacher are gone", func() bool {
		return s.tell("children") == "children 0"
	})
}

// A process outside of the tree holds the command's output.
func TestPipesEndWithTheTree(t *testing.T) {
	child := start(t, Command{Args: []string{"sh", "-c", "echo hello; exec sleep 600"}, Pipes: true})
	held, err := os.OpenFile(filepath.Join("/proc", fmt.Sprint(child.PID()), "fd", "1"), os.O_WRONLY,
		0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	members(t, child, 1)
	if _, err := child.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(child.Stdout()); err != nil || string(b) != "hello\n" && len(b) > 0 {
		t.Errorf("read %q, %v", b, err)
	}
}

// A command can read neither its helper's nor its server's environment, nor take
// what they have opened. It could as root, so it is another user's.
func TestThreat84ServerAndHelperAreConcealed(t *testing.T) {
	var who *syscall.Credential
	if os.Getuid() == 0 {
		who = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	s := serveAs(t, who, `server=$(cut -d ' ' -f 4 /proc/$PPID/stat)
for p in $$ $PPID $server; do for look in 'cat /proc/'$p'/environ' 'cat /proc/'$p'/maps' 'ls /proc/'$p'/fd/'; do $look > /dev/null 2>&1 && echo open || echo closed; done; done`, "LOUD=1")
	for i := range 9 {
		if line, want := s.line(), map[bool]string{true: "open", false: "closed"}[i < 3]; line != want {
			t.Errorf("file %d is %s, want %s", i, line, want)
		}
	}
}

// A command cannot look into the parent of what was detached, which has the environment of that.
func TestThreat84ParentOfTheDetachedIsConcealed(t *testing.T) {
	var who *syscall.Credential
	if os.Getuid() == 0 {
		who = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	s := serveAs(t, who, "sleep MARK", "DETACH=exec sleep MARK")
	until(t, "the environment of the parent is closed", func() bool {
		all, _ := processes()
		i := slices.IndexFunc(all, func(p process) bool {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
			return strings.HasPrefix(string(line), detacherName+"\x00") &&
				strings.Contains(string(line), s.mark)
		})
		if i < 0 {
			return false
		}
		info, err := os.Stat(fmt.Sprintf("/proc/%d/environ", all[i].pid))
		// of a process that is closed to others they are root's
		return err == nil && info.Sys().(*syscall.Stat_t).Uid == 0
	})
}

func detached(script string) error {
	return Detach([]string{"sh", "-c", script}, os.Environ())
}
