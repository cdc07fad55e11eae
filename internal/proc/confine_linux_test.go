package proc

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cell is a workspace and the confinement of a tree that may write there.
type cell struct {
	t    *testing.T
	work string
	Confinement
}

// newCell makes one; where nothing can be confined it checks that nothing is started.
func newCell(t *testing.T, files ...string) *cell {
	t.Helper()
	c := &cell{t: t, work: realTemp(t), Confinement: Confinement{
		Private: realTemp(t),
		Links:   map[string]string{},
	}}
	c.Places = []Place{{Path: c.work, Access: Writable}}
	for _, top := range []string{"/usr", "/etc", "/bin", "/sbin", "/lib", "/lib64"} {
		if to, err := os.Readlink(top); err == nil {
			c.Links[top] = to
		} else {
			c.Places = append(c.Places, Place{Path: top})
		}
	}
	for _, name := range files {
		c.write(name, name)
	}
	if why := Confines(); why != nil {
		if _, err := Start(Command{Args: []string{"true"}, Confine: &c.Confinement}); err == nil {
			t.Fatalf("a command was started, although nothing can be confined here: %v", why)
		}
		t.Skip("nothing can be confined here, and nothing is started:", why)
	}
	return c
}

func realTemp(t *testing.T) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func (c *cell) write(name, text string) {
	c.t.Helper()
	full := filepath.Join(c.work, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cell) hold(a Access, names ...string) {
	for _, name := range names {
		c.Places = append(c.Places, Place{Path: filepath.Join(c.work, name), Access: a})
	}
}

func (c *cell) command(script string) Command {
	return Command{
		Args:    []string{"sh", "-c", script},
		Dir:     c.work,
		Env:     []string{"PATH=/usr/bin:/bin", "W=" + c.work},
		Confine: &c.Confinement,
	}
}

// run returns what a script prints.
func (c *cell) run(script string) string {
	c.t.Helper()
	var out bytes.Buffer
	cmd := c.command(script)
	cmd.Output = &out
	if _, err := Run(c.t.Context(), cmd); err != nil {
		c.t.Fatalf("%v: %s", err, out.String())
	}
	return strings.TrimSpace(out.String())
}

// listing lists all below a folder, with what is in it.
func listing(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := d.Info()
		list = append(list, st.Mode().String()+" "+p)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// A tree finds what it was given and nothing else, and nothing is made to hold it.
func TestConfinedPlaces(t *testing.T) {
	c := newCell(t, "a/keep", "b/x", ".env", ".git/config", ".git/hooks/pre-commit", "secrets/k",
		"cache/there")
	outside := realTemp(t)
	if err := os.WriteFile(filepath.Join(outside, "shown"), []byte("by another name"),
		0o600); err != nil {
		t.Fatal(err)
	}
	c.hold(Pinned, ".git")
	c.hold(Frozen, ".git/config", ".git/hooks", "not/there")
	c.hold(Covered, ".env", "secrets", "nor/this")
	c.hold(Layered, "cache")
	c.Places = append(c.Places, Place{Path: "/srv/deep/shown", From: outside + "/shown"},
		Place{Path: "/srv/missing"},
		Place{Path: c.work + "/below/what/is/given"})
	before := listing(t, c.work)
	sh := c.ask()
	for _, one := range [][2]string{
		{"echo 1 >new && cat new && rm new", "1"},
		{"mv a/keep b/keep && mv b/keep a/keep && echo moved", "moved"}, // between folders
		{"cat .env secrets/k 2>&1 | grep -c denied", "2"},
		{"chmod 600 .env; rm -f .env; mv .env x; echo >.env; ls -d .env x", ".env"},
		{"rm -rf .git/hooks; mv .git x; mv .git/hooks .git/x; ls -A .git", "config\nhooks"},
		{"echo x >.git/config; echo >.git/hooks/new; cat .git/config", ".git/config"},
		{"echo >.git/index; rm .git/index; ls -A .git", "config\nhooks"},
		{"cat /srv/deep/shown; ls /srv", "by another namedeep"},
		{"echo >/srv/x; mkdir /y; echo >/etc/x; echo >/proc/self/comm; ls -d /srv/x /y /etc/x", ""},
		{"cat cache/there; rm cache/there; echo 2 >cache/more; ls cache", "cache/theremore"},
		{"ls -A /.held; ls -A /tmp/.. | grep -c old", "0"},
		{"ls /root /home /var /run", ""},
		{"echo 3 >/tmp/t; cat /tmp/t; echo 4 >/dev/shm/s; cat /dev/shm/s; echo 5 >/dev/null; ls -A " +
			"/dev/pts", "3\n4\nptmx"},
	} {
		if got := strings.TrimSpace(sh.run("{ " + one[0] + "; } 2>/dev/null")); got != one[1] {
			t.Errorf("%s: %q, not %q", one[0], got, one[1])
		}
	}
	if got := c.run("cat cache/more"); got != "2" { // the private folder is the same
		t.Errorf("the next tree finds %q", got)
	}
	if after := listing(t, c.work); !slices.Equal(before, after) {
		t.Errorf("the workspace was\n%s\nand is\n%s", strings.Join(before, "\n"),
			strings.Join(after, "\n"))
	}
}

// What cannot be held is not started.
func TestConfinedAllOrNothing(t *testing.T) {
	c := newCell(t, "real/file")
	if err := os.Symlink("real", filepath.Join(c.work, "link")); err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(c.work, "ran")
	places := c.Places
	for name, change := range map[string]func(){
		"a link on the way":  func() { c.hold(Frozen, "link/file") },
		"a link to be given": func() { c.hold(Writable, "link") },
		"a relative path":    func() { c.Places = append(c.Places, Place{Path: "etc"}) },
		"a cover from outside": func() {
			c.Places = append(c.Places, Place{Path: "/usr/x", From: "/etc", Access: Covered})
		},
		"no such access":    func() { c.hold(Covered+1, "real") },
		"no private folder": func() { c.Private = "/proc/nowhere" },
		"a port in use":     func() { c.Ports = []int{4000, 4000} },
	} {
		private := c.Private
		c.Places = slices.Clone(places)
		change()
		if child, err := Start(c.command("echo >ran")); err == nil {
			child.Stop(t.Context())
			t.Errorf("%s: it was started", name)
		}
		c.Private, c.Ports = private, nil
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a command ran that could not be confined")
	}
}

// A confined process has nothing of the rights that made its root, and reaches no other
// process of its user.
func TestConfinedProcess(t *testing.T) {
	c := newCell(t)
	status := c.run("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status | tr -d '\\t'")
	if want :=
		"CapInh:0000000000000000 CapPrm:0000000000000000 CapEff:0000000000000000 " +
			"CapBnd:0000000000000000 CapAmb:0000000000000000 NoNewPrivs:1 " +
			"Seccomp:2"; strings.Join(strings.Fields(status), " ") != want {
		t.Errorf("its status is %s", status)
	}
	if got := c.run(
		"cat /proc/$PPID/environ /proc/$PPID/maps; ls /proc/$PPID/root /proc/$PPID/fd; unshare -U "+
			"true; mount -t tmpfs x /tmp") + "."; strings.Count(got, "\n") < 5 {
		t.Errorf("it reaches its helper: %s", got)
	}
	if !HoldsSignals() {
		return
	}
	victim := exec.Command("sleep", "600")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	defer victim.Wait()
	defer victim.Process.Kill()
	for _, pid := range []string{"$PPID", strconv.Itoa(os.Getpid()),
		strconv.Itoa(victim.Process.Pid)} {
		if got := c.run("kill -9 " + pid + " && echo killed; kill -STOP " + pid +
			" && echo stopped; echo alive"); !strings.HasSuffix(got, "alive") || strings.Contains(got,
			"killed") || strings.Contains(got, "stopped") {
			t.Errorf("signals to %s: %s", pid, got)
		}
	}
	if got := c.run("sleep 600 & kill $! && wait; echo ended"); got != "ended" {
		t.Errorf("signals to its own: %s", got)
	}
}

// Its network is its loopback and what the caller listens at.
func TestConfinedListeners(t *testing.T) {
	c := newCell(t)
	c.Ports = []int{4001, 4002}
	cmd := c.command(`exec 3<>/dev/tcp/127.0.0.1/4002 && cat <&3; exec 4<>/dev/tcp/127.0.0.1/` +
		portOf(t))
	cmd.Args[0] = "bash"
	var out bytes.Buffer
	cmd.Output = &out
	child, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer child.Stop(t.Context())
	if n := len(child.Listeners()); n != 2 {
		t.Fatalf("%d listeners", n)
	}
	conn, err := child.Listeners()[1].Accept()
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(conn, "from outside\n")
	conn.Close()
	for _, l := range child.Listeners() {
		l.Close()
	}
	exit, err := child.Wait()
	if err != nil || exit.Code == 0 || !strings.HasPrefix(out.String(), "from outside\n") ||
		!strings.Contains(out.String(), "refused") {
		t.Errorf("%v, %v: %s", exit, err, out.String())
	}
}

// portOf is a port at which this process listens, outside.
func portOf(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// dialogue is a confined shell that runs one line after the other.
type dialogue struct {
	t     *testing.T
	child *Child
}

func (c *cell) ask() *dialogue {
	c.t.Helper()
	cmd := c.command(`while read -r line; do eval "$line" 2>&1; echo " ."; done`)
	cmd.Pipes = true
	child, err := Start(cmd)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { child.Stop(context.Background()) })
	return &dialogue{c.t, child}
}

func (a *dialogue) run(line string) string {
	a.t.Helper()
	io.WriteString(a.child.Stdin(), line+"\n")
	var got []byte
	for b := make([]byte, 1); !bytes.HasSuffix(got, []byte(" .\n")); {
		if _, err := a.child.Stdout().Read(b); err != nil {
			a.t.Fatalf("%q, then %v", got, err)
		}
		got = append(got, b[0])
	}
	return strings.TrimSuffix(string(got), " .\n")
}

func (a *dialogue) open(path string, access Access) func() error {
	a.t.Helper()
	held, err := Hold(path)
	if err != nil {
		a.t.Fatal(err)
	}
	defer held.Close()
	end, err := a.child.Open(held, access)
	if err != nil {
		a.t.Fatal(err)
	}
	return end
}

// A tree that runs is opened further, and has then again what it had.
func TestConfinedOpens(t *testing.T) {
	c := newCell(t, ".env", "frozen/f")
	c.hold(Covered, ".env")
	c.hold(Frozen, "frozen")
	other := realTemp(t)
	if err := os.MkdirAll(other+"/in", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other+"/in/f", []byte("elsewhere"), 0o600); err != nil {
		t.Fatal(err)
	}
	sh := c.ask()
	closed := func(line string) {
		t.Helper()
		if got := sh.run(line); !strings.Contains(got, "denied") &&
			!strings.Contains(got, "No such file") && !strings.Contains(got, "Read-only") {
			t.Errorf("%s is open: %s", line, got)
		}
	}
	is := func(line, want string) {
		t.Helper()
		if got := sh.run(line); got != want {
			t.Errorf("%s: %q, not %q", line, got, want)
		}
	}
	closed("cat .env")
	closed("echo 1 >frozen/f")
	endEnv := sh.open(c.work+"/.env", Readable)
	endFrozen := sh.open(c.work+"/frozen", Writable)
	is("cat .env", ".env")
	closed("echo >.env")
	is("echo 1 >frozen/f; cat frozen/f", "1\n")
	for _, end := range []func() error{endEnv, endFrozen, endEnv} {
		if err := end(); err != nil {
			t.Error(err)
		}
	}
	closed("cat .env")
	closed("echo 2 >frozen/f")
	// Out of /tmp, which is the tree's own, into a place that was not there.
	endOuter := sh.open("/var", Readable)
	is("ls -d /var/tmp", "/var/tmp\n")
	if err := endOuter(); err != nil {
		t.Error(err)
	}
	closed("ls -d /var/tmp")
	outer, inner := sh.open(other, Readable), sh.open(other+"/in/f", Writable)
	is("cat "+other+"/in/f", "elsewhere")
	if err := outer(); err != nil {
		t.Error(err)
	}
	// what was opened by itself stays
	is("echo 3 >"+other+"/in/f; cat "+other+"/in/f; ls "+other, "3\nin\n")
	if err := inner(); err != nil {
		t.Error(err)
	}
	is("test -s "+other+"/in/f || echo gone", "gone\n")
	if _, err := sh.child.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if held, err := Hold(c.work + "/.env"); err != nil {
		t.Error(err)
	} else if _, err := sh.child.Open(held, Readable); err == nil {
		t.Error("a tree that has ended was opened")
	}
	if err := endEnv(); err != nil {
		t.Error(err)
	}
}

// What was shown is what opens, or nothing.
func TestConfinedOpensWhatWasShown(t *testing.T) {
	c := newCell(t, "d/shown", "secret/shown")
	c.hold(Covered, "secret")
	outside, err := os.MkdirTemp("", "elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(outside)
	shown, secret := filepath.Join(outside, "shown"), filepath.Join(outside, "secret")
	for _, name := range []string{shown, secret} {
		if err := os.WriteFile(name, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sh := c.ask()
	held, err := Hold(shown)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := os.Rename(secret, shown); err != nil {
		t.Fatal(err)
	}
	if _, err := sh.child.Open(held, Readable); err == nil {
		t.Error("another file was opened")
	}
	inside, err := Hold(c.work + "/d/shown")
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	sh.run("mv d e; ln -s secret d")
	if _, err := sh.child.Open(inside, Readable); err == nil {
		t.Error("a link was followed")
	}
	if _, err := Hold(c.work + "/d/shown"); err == nil {
		t.Error("a link was followed to what is shown")
	}
	// A link in the tree's own /tmp leads the mount nowhere else.
	again, err := Hold(outside)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	sh.run("ln -s " + c.work + " " + outside)
	if _, err := sh.child.Open(again, Readable); err == nil {
		t.Error("something was mounted where a link of the tree leads")
	}
}

// A file that is covered is covered again when it is replaced outside.
func TestConfinedCoverAfterReplacement(t *testing.T) {
	c := newCell(t, ".env", "notes", ".envrc")
	c.hold(Covered, ".env")
	c.hold(Frozen, ".envrc")
	sh := c.ask()
	for _, name := range []string{".env", ".envrc"} {
		c.write("new", "saved anew")
		if err := os.Rename(c.work+"/new", filepath.Join(c.work, name)); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the new files are held", func() bool {
		return strings.Contains(sh.run("cat .env"), "denied") &&
			strings.Contains(sh.run("echo x >.envrc"), "Read-only")
	})
	// What a folder covers stays so.
	if got := sh.run("cat notes .envrc"); got != "notessaved anew" {
		t.Error(got)
	}
}

// Confined again, nothing is: a system that refuses namespaces gets a reason.
func TestConfinedInConfined(t *testing.T) {
	c := newCell(t)
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	self := filepath.Join(c.work, "self")
	if err := os.WriteFile(self, program, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := c.command("")
	var out bytes.Buffer
	cmd.Args, cmd.Output = []string{self, "-test.run=^TestConfinedPlaces$", "-test.v"}, &out
	if exit, err := Run(t.Context(), cmd); err != nil || exit.Code != 0 ||
		!strings.Contains(out.String(), "nothing can be confined here, and nothing is started") {
		t.Errorf("%v, %v: %s", exit, err, out.String())
	}
}

// All of it holds for a user without rights, whose process is closed to others.
func TestConfinedWithoutRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("runs as it should already")
	}
	dir := realTemp(t)
	for p := dir; p != "/" && p != filepath.Clean(os.TempDir()); p = filepath.Dir(p) {
		if err := os.Chmod(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(dir, 1000, 1000); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestConfined", "-test.v")
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "TMPDIR=")
	}), "TMPDIR="+dir, "CONCEALED=1")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1000, Gid: 1000}}
	if out, err := cmd.CombinedOutput(); err != nil ||
		!strings.Contains(string(out), "--- PASS: TestConfinedPlaces") && Confines() == nil {
		t.Errorf("%v: %s", err, out)
	}
}

// BenchmarkConfined runs a command beside one that is not confined, in turns.
func BenchmarkConfined(b *testing.B) {
	c := benchCell(b)
	var took [2][]time.Duration
	for b.Loop() {
		for i, confine := range []*Confinement{nil, c} {
			began := time.Now()
			child, err := Start(Command{Args: []string{"/usr/bin/true"}, Confine: confine})
			if err != nil {
				b.Fatal(err)
			}
			child.Wait()
			took[i] = append(took[i], time.Since(began))
			child.Stop(context.Background())
		}
	}
	for i := range took {
		slices.Sort(took[i])
	}
	plain, confined := took[0][len(took[0])/2], took[1][len(took[1])/2]
	b.ReportMetric(float64((confined-plain).Microseconds())/1000, "more-ms")
	b.ReportMetric(float64(confined)/float64(plain), "ratio")
}

func BenchmarkOpenConfined(b *testing.B) {
	child, err := Start(Command{Args: []string{"/usr/bin/sleep", "600"}, Confine: benchCell(b)})
	if err != nil {
		b.Fatal(err)
	}
	defer child.Stop(context.Background())
	held, err := Hold(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer held.Close()
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		end, err := child.Open(held, Writable)
		took = append(took, time.Since(began))
		if err == nil {
			err = end()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "open-ms")
}

func benchCell(b *testing.B) *Confinement {
	if err := Confines(); err != nil {
		b.Skip(err)
	}
	c := &Confinement{
		Private: b.TempDir(),
		Links:   map[string]string{},
		Places:  []Place{{Path: b.TempDir(), Access: Writable}},
	}
	for _, top := range []string{"/usr", "/etc", "/lib", "/lib64"} {
		if to, err := os.Readlink(top); err == nil {
			c.Links[top] = to
		} else {
			c.Places = append(c.Places, Place{Path: top})
		}
	}
	return c
}
