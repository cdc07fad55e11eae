//go:build linux || darwin

package proc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func start(t *testing.T, c Command) *Child {
	t.Helper()
	child, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := child.Stop(context.Background()); err != nil {
			t.Log(err)
		}
	})
	return child
}

// shell runs script to its end and returns what it wrote.
func shell(t *testing.T, script string, env ...string) (string, Exit) {
	t.Helper()
	var out bytes.Buffer
	exit, err := start(t, Command{Args: []string{"sh", "-c", script}, Env: env, Output: &out}).Wait()
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), exit
}

func TestExit(t *testing.T) {
	for script, want := range map[string]Exit{
		"exit 0":        {},
		"exit 3":        {Code: 3},
		"kill -9 $$":    {Code: 137, Signal: "SIGKILL"},
		"kill -TERM $$": {Code: 143, Signal: "SIGTERM"},
	} {
		if _, got := shell(t, script); got != want {
			t.Errorf("%s: %+v, want %+v", script, got, want)
		}
	}
}

// Run returns how a command ended, and stops one whose context ends.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	exit, err := Run(t.Context(), Command{
		Args:   []string{"sh", "-c", "echo said; exit 3"},
		Env:    os.Environ(),
		Output: &out,
	})
	if err != nil || exit.Code != 3 || out.String() != "said\n" {
		t.Errorf("%+v, %v, it printed %q", exit, err, out.String())
	}
	ctx, cancel := context.WithCancel(t.Context())
	stopping := writer(cancel) // once it runs
	if _, err := Run(ctx, Command{
		Args:   []string{"sh", "-c", "echo runs; sleep 600"},
		Env:    os.Environ(),
		Output: stopping,
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped, it returns %v", err)
	}
}

// writer calls a function when something is written.
type writer func()

func (w writer) Write(b []byte) (int, error) { w(); return len(b), nil }

func TestOutputInTheOrderWritten(t *testing.T) {
	want := ""
	for range 50 {
		want += "out\nerr\n"
	}
	got, _ := shell(t, "i=0; while [ $i -lt 50 ]; do echo out; echo err >&2; i=$((i+1)); done")
	if got != want {
		t.Errorf("got %q", got)
	}
}

func TestNothingToRead(t *testing.T) {
	if got, exit := shell(t, "cat; echo end"); got != "end\n" || exit.Code != 0 {
		t.Errorf("got %q, %+v", got, exit)
	}
}

func TestEnvironmentExactly(t *testing.T) {
	t.Setenv("SECRET_OF_PARENT", "x")
	var out bytes.Buffer
	env := []string{"A=1", "B=\xff\xfe two\nlines", "EMPTY=", "_odd name=é"}
	if _, err := start(t, Command{Args: []string{"env"}, Env: env, Output: &out}).Wait(); err != nil {
		t.Fatal(err)
	}
	if want := strings.Join(env, "\n") + "\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	out.Reset()
	if _, err := start(t, Command{Args: []string{"env"}, Output: &out}).Wait(); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 0 {
		t.Errorf("a nil environment has %q", out.String())
	}
}

func TestDirAndRelativeProgram(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "here"), []byte("#!/bin/sh\npwd -P\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := start(t, Command{
		Args:   []string{"./here"},
		Dir:    dir,
		Output: &out,
	}).Wait(); err != nil {
		t.Fatal(err)
	}
	if out.String() != dir+"\n" {
		t.Errorf("ran in %q, want %q", out.String(), dir)
	}
}

func TestPathOfTheGivenEnvironment(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "only-here"), []byte("#!/bin/sh\necho found\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := Command{
		Args:   []string{"only-here"},
		Env:    []string{"PATH=/nowhere", "PATH=.:" + dir},
		Output: &out,
	}
	if _, err := start(t, c).Wait(); err != nil || out.String() != "found\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
	c.Dir, c.Env = dir, []string{"PATH=."}
	if _, err := Start(c); !errors.Is(err, ErrNotFound) {
		t.Errorf("a program of the working directory ran: %v", err)
	}
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, test := range map[string]struct {
		c    Command
		want string
	}{
		"no name": {Command{}, "no name given"},
		"missing": {Command{Args: []string{"no-such-program-x"}},
			"start no-such-program-x: program not found in "},
		"missing path": {Command{Args: []string{dir + "/nope"}}, dir + "/nope: program not found"},
		"not for us":   {Command{Args: []string{write("plain", "x", 0o644)}}, "may not be executed"},
		"interpreter": {Command{Args: []string{write("odd", "#!/no/such/thing\n", 0o755)}},
			"or the interpreter its first line names"},
		"not a program": {Command{Args: []string{write("text", "hello", 0o755)}},
			"is not a program of this system"},
		"directory": {Command{Args: []string{"sh"}, Dir: dir + "/nope"}, "the directory " + dir +
			"/nope is not there"},
		"too long": {Command{Args: []string{"sh", "-c", strings.Repeat("x", 4<<20)}}, "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			child, err := Start(test.c)
			if err == nil {
				child.Stop(context.Background())
				t.Fatal("it started")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %q does not say %q", err, test.want)
			}
		})
	}
}

func TestPipes(t *testing.T) {
	child := start(t, Command{Args: []string{"sh", "-c", "cat; echo end >&2"}, Pipes: true})
	if _, err := io.WriteString(child.Stdin(), "ping"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4)
	if _, err := io.ReadFull(child.Stdout(), b); err != nil || string(b) != "ping" {
		t.Fatalf("read %q, %v", b, err)
	}
	child.Stdin().Close()
	if b, err := io.ReadAll(child.Stderr()); err != nil || string(b) != "end\n" {
		t.Fatalf("read %q, %v", b, err)
	}
	if exit, err := child.Wait(); err != nil || exit.Code != 0 {
		t.Errorf("%+v, %v", exit, err)
	}
	if n, err := child.Stdout().Read(b); n != 0 || err != io.EOF {
		t.Errorf("after the end: %d, %v", n, err)
	}
	if n, err := child.Stderr().Read(b); n != 0 || err != io.EOF {
		t.Errorf("after the end was seen: %d, %v", n, err)
	}
}

func TestStopFreesAWriterWithoutReader(t *testing.T) {
	child := start(t, Command{Args: []string{"sleep", "600"}, Pipes: true})
	failed := make(chan error)
	go func() {
		_, err := child.Stdin().Write(make([]byte, 1<<20))
		failed <- err
	}()
	if _, err := child.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	if err := <-failed; err == nil {
		t.Error("a megabyte went to a program that does not read")
	}
}

type brokenWriter struct{ writes int }

func (w *brokenWriter) Write([]byte) (int, error) {
	w.writes++
	return 0, errors.New("full")
}

func TestOutputError(t *testing.T) {
	w := &brokenWriter{}
	exit, err := start(t, Command{Args: []string{"sh", "-c",
		"for i in 1 2 3; do echo line; sleep 0.01; done; exit 4"}, Output: w}).Wait()
	if err == nil || err.Error() != "full" || exit.Code != 4 || w.writes != 1 {
		t.Errorf("%+v, %v after %d writes", exit, err, w.writes)
	}
}

func TestWithoutMain(t *testing.T) {
	ready.Store(false)
	defer ready.Store(true)
	if _, err := Start(Command{Args: []string{"true"}}); err == nil ||
		!strings.Contains(err.Error(), "call Main") {
		t.Errorf("got %v", err)
	}
}
