package files_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"webchat/internal/files"
	"webchat/internal/proc"
)

func TestMain(m *testing.M) {
	proc.Main()
	goleak.VerifyTestMain(m)
}

// workspace is a folder with an index of it.
type workspace struct {
	t   *testing.T
	dir string
	env []string
}

func newWorkspace(t *testing.T) *workspace {
	t.Helper()
	env := append(os.Environ(), "HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
	return &workspace{t: t, dir: t.TempDir(), env: env}
}

func (w *workspace) write(name, content string) {
	w.t.Helper()
	p := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *workspace) remove(name string) {
	w.t.Helper()
	if err := os.Remove(filepath.Join(w.dir, filepath.FromSlash(name))); err != nil {
		w.t.Fatal(err)
	}
}

// git runs git, which every machine that tests has.
func (w *workspace) git(dir string, args ...string) {
	w.t.Helper()
	var out bytes.Buffer
	child, err := proc.Start(proc.Command{Args: append([]string{"git", "-c", "user.name=a", "-c",
		"user.email=a@example.com"}, args...),
		Dir: filepath.Join(w.dir, dir), Env: w.env, Output: &out})
	if err != nil {
		w.t.Fatal(err)
	}
	exit, err := child.Wait()
	if _, stopErr := child.Stop(context.Background()); err != nil || stopErr != nil || exit.Code != 0 {
		w.t.Fatalf("git %v: %v %v %v: %s", args, exit, err, stopErr, out.String())
	}
}

// index makes an index that has not looked yet.
func (w *workspace) index() *files.Index {
	w.t.Helper()
	x, err := files.New(files.Config{Root: w.dir, Env: w.env})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(x.Close)
	return x
}

// expect waits until x answers q with exactly these, in any order.
func (w *workspace) expect(x *files.Index, q string, want ...string) {
	w.t.Helper()
	slices.Sort(want)
	var got []string
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		var err error
		if got, err = x.Complete(w.t.Context(), q, 100); err != nil {
			w.t.Fatal(err)
		}
		slices.Sort(got)
		if slices.Equal(got, want) {
			return
		}
		select {
		case <-w.t.Context().Done():
		case <-time.After(20 * time.Millisecond): // between two looks
		}
	}
	w.t.Fatalf("completing %q gives\n%s\nwant\n%s", q, strings.Join(got, "\n"),
		strings.Join(want, "\n"))
}

func TestWhatGitIgnoresStaysAway(t *testing.T) {
	w := newWorkspace(t)
	w.git(".", "init", "-q")
	w.write(".gitignore", "*.log\n/build/\n!keep.log\n")
	w.write("sub/.gitignore", "secret.txt\n!again.log\n")
	w.write(".git/info/exclude", "mine.txt\n")
	for _, name := range []string{"a.go", "x.log", "keep.log", "build/out.txt", "sub/build/in.txt",
		"sub/secret.txt", "sub/again.log", "sub/x.log",
		"mine.txt", "gone.go", "tracked.log", "deep/secret.txt"} {
		w.write(name, "x")
	}
	w.git(".", "add", "-f", "a.go", "gone.go", "tracked.log")
	w.remove("gone.go")
	w.expect(w.index(), "", ".gitignore", "sub/.gitignore", "a.go", "keep.log", "sub/build/in.txt",
		"sub/again.log", "tracked.log", "deep/secret.txt")
}

func TestOneFolderOfARepository(t *testing.T) {
	w := newWorkspace(t)
	w.git(".", "init", "-q")
	w.write(".gitignore", "*.log\nbuild/\n")
	for _, name := range []string{"top.go", "sub/a.go", "sub/a.log", "build/out.txt"} {
		w.write(name, "x")
	}
	w.git(".", "add", "sub/a.go")
	top := w.dir
	w.dir = filepath.Join(top, "sub")
	w.expect(w.index(), "", "a.go")
	w.dir = filepath.Join(top, "build") // ignored, but the workspace is here
	w.expect(w.index(), "", "out.txt")
}

func TestRepositoriesBelow(t *testing.T) {
	for _, repository := range []bool{true, false} {
		w := newWorkspace(t)
		if repository {
			w.git(".", "init", "-q")
		}
		for _, name := range []string{"top.txt", "other/in.txt", "other/out.log", "module/m.txt",
			"module/m.log"} {
			w.write(name, "x")
		}
		for _, dir := range []string{"other", "module"} {
			w.write(dir+"/.gitignore", "*.log\n.gitignore\n")
			w.git(dir, "init", "-q")
		}
		w.git("module", "add", ".")
		w.git("module", "commit", "-qm", "one")
		if repository {
			w.git(".", "add", "module") // as a submodule
		}
		w.expect(w.index(), "", "top.txt", "other/in.txt", "module/m.txt")
	}
}

func TestOutsideARepository(t *testing.T) {
	w := newWorkspace(t)
	for _, name := range []string{"a.txt", "b/c.txt", "node_modules/d/e.js", "b/node_modules/f.js",
		".hidden"} {
		w.write(name, "x")
	}
	w.expect(w.index(), "", "a.txt", "b/c.txt", ".hidden")
}

func TestWithoutGit(t *testing.T) {
	w := newWorkspace(t)
	w.git(".", "init", "-q")
	w.write("a.txt", "x")
	w.env = []string{"PATH=" + t.TempDir()}
	w.expect(w.index(), "", "a.txt")
}

func TestARepositoryRunsNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the monitor is a shell script")
	}
	w := newWorkspace(t)
	w.git(".", "init", "-q")
	w.write("a.txt", "x")
	w.git(".", "add", "a.txt")
	ran := filepath.Join(t.TempDir(), "ran")
	w.write(".git/monitor", "#!/bin/sh\ntouch '"+ran+"'\n")
	if err := os.Chmod(filepath.Join(w.dir, ".git/monitor"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.git(".", "config", "core.fsmonitor", filepath.Join(w.dir, ".git/monitor"))
	w.git(".", "config", "core.hooksPath", ".git")
	w.write("b.txt", "x")
	w.expect(w.index(), "", "a.txt", "b.txt")
	if _, err := os.Stat(ran); err == nil {
		t.Error("the repository's own program ran")
	}
	w.git(".", "status")
	if _, err := os.Stat(ran); err != nil {
		t.Error("the test proves nothing: git status did not run the monitor either")
	}
}

func TestLinks(t *testing.T) {
	for _, repository := range []bool{true, false} {
		w := newWorkspace(t)
		if repository {
			w.git(".", "init", "-q")
		}
		outside := t.TempDir()
		if err := os.WriteFile(filepath.Join(outside, "secret.txt"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		w.write("in/real.txt", "x")
		for name, to := range map[string]string{"out": outside,
			"secret": filepath.Join(outside, "secret.txt"), "within": filepath.Join("in", "real.txt"),
			"folder": "in", "circle": ".", "nowhere": "no"} {
			if err := os.Symlink(to, filepath.Join(w.dir, name)); err != nil {
				t.Skip("no links here:", err)
			}
		}
		x := w.index()
		w.expect(x, "", "in/real.txt", "within")
		w.expect(x, "out/secret.txt")
		w.expect(x, "../"+filepath.Base(outside)+"/secret.txt")
	}
}

func TestUnreadableNames(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this system refuses such names itself")
	}
	for _, repository := range []bool{true, false} {
		w := newWorkspace(t)
		if repository {
			w.git(".", "init", "-q")
		}
		for _, name := range []string{"fine ä 日本.txt", "line\nbreak.txt", "escape\x1b[31m.txt",
			"latin\xe4.txt", "turn\u202etxt.exe", "del\x7f.txt"} {
			w.write(name, "x")
		}
		x := w.index()
		w.expect(x, "", "fine ä 日本.txt")
		w.expect(x, "日本", "fine ä 日本.txt")
		w.expect(x, "Ä", "fine ä 日本.txt")
		w.expect(x, "line\nbreak.txt")
	}
}

func TestWhatIsTypedInFullIsFound(t *testing.T) {
	w := newWorkspace(t)
	w.git(".", "init", "-q")
	w.write(".gitignore", "*.log\n")
	w.write("out/a.log", "x")
	x := w.index()
	w.expect(x, "", ".gitignore")
	w.expect(x, "a.lo")
	w.expect(x, "out/a.log", "out/a.log")
	w.expect(x, "./out/a.log", "out/a.log")
	w.expect(x, `out\a.log`, "out/a.log")
	w.expect(x, "out")
}

func TestItStaysFresh(t *testing.T) {
	w := newWorkspace(t)
	w.git(".", "init", "-q")
	w.write("old.txt", "x")
	x := w.index()
	w.expect(x, "", "old.txt")
	w.remove("old.txt")
	if got, err := x.Complete(t.Context(), "old", 10); err != nil || len(got) > 0 {
		t.Errorf("a removed file is offered: %v %v", got, err)
	}
	w.write("new.txt", "x")
	w.expect(x, "", "new.txt")
}

func TestTheLikeliestFirst(t *testing.T) {
	w := newWorkspace(t)
	for _, name := range []string{"README.md", "docs/README.md", "internal/guard/guard.go",
		"internal/guard/body.go", "language/figure/audit.go", "cmd/mount/fs.go", "cmd/a/fs.go",
		"fs/fs.go"} {
		w.write(name, "x")
	}
	x := w.index()
	w.expect(x, "nothing like it")
	for q, want := range map[string]string{"README.md": "README.md",
		"docs/README.md": "docs/README.md", "guagu": "internal/guard/guard.go",
		"GUARD.GO": "internal/guard/guard.go", "fs.go": "fs/fs.go"} {
		got, err := x.Complete(t.Context(), q, 1)
		if err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%q gives %v %v, want %s", q, got, err, want)
		}
	}
}

func TestBounds(t *testing.T) {
	w := newWorkspace(t)
	w.write("a.txt", "x")
	x := w.index()
	w.expect(x, strings.Repeat("a", 201))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Complete(ctx, "a", 10); err == nil {
		t.Error("a question that was given up is answered")
	}
	x.Close()
	x.Close()
	if _, err := w.index().Complete(t.Context(), "\xff", 10); err != nil {
		t.Error(err)
	}
	if _, err := files.New(files.Config{Root: "here"}); err == nil {
		t.Error("a relative root is taken")
	}
	w.dir = filepath.Join(w.dir, "missing")
	if _, err := w.index().Complete(t.Context(), "a", 10); err == nil {
		t.Error("a workspace that is not there completes")
	}
}

func TestManyAskAtOnce(t *testing.T) {
	w := newWorkspace(t)
	w.git(".", "init", "-q")
	w.write("a.txt", "x")
	x := w.index()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				if _, err := x.Complete(t.Context(), "a", 10); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Go(x.Close)
	all.Wait()
}

func TestClosedWhileLooking(t *testing.T) {
	w := newWorkspace(t)
	w.git(".", "init", "-q")
	w.write("a.txt", "x")
	x := w.index()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, _ = x.Complete(ctx, "a", 10)
	x.Close() // goleak sees what it leaves
	if _, err := x.Complete(t.Context(), "a", 10); err != nil {
		t.Error(err)
	}
}
