package document_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/document"
	"webchat/internal/document/documenttest"
)

func TestFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows refuses to replace a file that is open")
	}
	documenttest.Run(t, func(t *testing.T) func() document.Store {
		dir := t.TempDir()
		return func() document.Store { return document.Folder(dir) }
	})
}

// child names the environment variable that makes this test's program one that adds to a list.
const child = "WEBCHAT_DOCUMENT_CHILD"

// TestMain is a program that adds "begins" to a list, and numbers until it is killed.
func TestMain(m *testing.M) {
	dir := os.Getenv(child)
	if dir == "" {
		os.Exit(m.Run())
	}
	v := document.Open[[]string](document.Folder(dir), "list.json",
		slog.New(slog.NewTextHandler(os.Stdout, nil)))
	for i := 0; ; i++ {
		line := fmt.Sprintf("%d %d", os.Getpid(), i)
		if err := v.Change(func(all []string) []string {
			return append(slices.Clone(all), line)
		}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(line) // acknowledged
	}
}

// TestKilledPrograms: three programs that change one text are killed at any moment, with a fourth
// beside them. What they acknowledged is there, once and in order, and nothing else lies about.
func TestKilledPrograms(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows refuses to replace a file that is open")
	}
	dir := t.TempDir()
	acknowledged := map[string]bool{}
	for range 3 {
		var said []*bytes.Buffer
		var kill []func()
		for range 3 {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), child+"="+dir)
			out, err := c.StdoutPipe()
			if err == nil {
				err = c.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			kill = append(kill, func() { _, _ = c.Process.Kill(), c.Wait() })
			said = append(said, &bytes.Buffer{})
			if _, err := io.CopyN(said[len(said)-1], out, 40); err != nil { // some lines
				t.Error(err)
			}
		}
		for _, f := range kill {
			f()
		}
		for _, b := range said {
			lines := strings.Split(b.String(), "\n")
			for _, line := range lines[:len(lines)-1] {
				acknowledged[line] = true
			}
		}
	}
	v := document.Open[[]string](document.Folder(dir), "list.json", nil)
	if err := v.Change(func(all []string) []string {
		return append(slices.Clone(all), "the last")
	}); err != nil {
		t.Fatal(err)
	}
	seen, next := map[string]bool{}, map[string]int{}
	for _, line := range v.Get() {
		seen[line] = true
		var pid string
		var i int
		if _, err := fmt.Sscan(line, &pid, &i); err == nil {
			if next[pid] != i {
				t.Errorf("%s comes after %d", line, next[pid]-1)
			}
			next[pid]++
		}
	}
	for line := range acknowledged {
		if !seen[line] {
			t.Errorf("%q was acknowledged and is lost", line)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 || entries[0].Name() != "documents.lock" ||
		entries[1].Name() != "list.json" {
		t.Errorf("in the folder are %v, %v", entries, err)
	}
}

// TestChangesOfOthers: what one program changes holds in another within two seconds, and what
// waits for a change is notified.
func TestChangesOfOthers(t *testing.T) {
	dir := document.Folder(t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		one, two := document.Open[[]string](dir, "list.json", nil),
			document.Open[[]string](dir, "list.json", nil)
		changed := two.Changed()
		if got := two.Get(); len(got) != 0 {
			t.Fatal(got)
		}
		if err := one.Change(func([]string) []string { return []string{"one"} }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if got := two.Get(); !slices.Equal(got, []string{"one"}) {
			t.Errorf("after two seconds it has %q", got)
		}
		select {
		case <-changed:
		default:
			t.Error("what waited was not notified")
		}
		if err := two.Change(func(all []string) []string {
			return append(slices.Clone(all), "two")
		}); err != nil {
			t.Fatal(err)
		}
		if err := one.Change(func(all []string) []string {
			return append(slices.Clone(all), "three")
		}); err != nil {
			t.Fatal(err)
		}
		if got := one.Get(); !slices.Equal(got, []string{"one", "two", "three"}) {
			t.Errorf("one has %q", got)
		}
	})
}

// TestEditedByHand: a file that a person changed holds; one that is torn changes nothing, and is
// copied before it is replaced. Each is logged with its name.
func TestEditedByHand(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "list.json")
	edit := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		v := document.Open[[]string](document.Folder(dir), "list.json",
			slog.New(slog.NewTextHandler(&log, nil)))
		is := func(want ...string) {
			t.Helper()
			time.Sleep(2 * time.Second)
			if got := v.Get(); !slices.Equal(got, want) {
				t.Errorf("it is %q, want %q", got, want)
			}
		}
		edit(`["by hand"]`)
		is("by hand")
		const torn = `["by hand", "and`
		edit(torn)
		is("by hand")
		is("by hand")
		if n := strings.Count(log.String(), "list.json"); n != 1 || !strings.Contains(log.String(), dir) {
			t.Errorf("it was logged %d times: %s", n, &log)
		}
		edit(`["mended"]`)
		is("mended")
		edit(torn)
		if err := v.Change(func(all []string) []string {
			return append(slices.Clone(all), "more")
		}); err != nil {
			t.Error(err)
		}
		is("mended", "more")
		copies, err := filepath.Glob(file + ".damaged-*")
		if err != nil || len(copies) != 1 || !strings.Contains(log.String(), filepath.Base(copies[0])) {
			t.Fatalf("copies: %v, %v; logged: %s", copies, err, &log)
		}
		if text, err := os.ReadFile(copies[0]); string(text) != torn {
			t.Errorf("the copy is %q, %v", text, err)
		}
		if err := os.Remove(file); err != nil {
			t.Error(err)
		}
		is()
	})
}

// TestNothingIsSaved: where nothing can be written or read, a change is refused with the name of
// the file; what has to hold does, and is saved with the next change that can be.
func TestNothingIsSaved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	v := document.Open[[]string](document.Folder(dir), "list.json", nil)
	add := func(word string) func([]string) []string {
		return func(all []string) []string { return append(slices.Clone(all), word) }
	}
	if err := v.Change(add("lost")); err == nil ||
		!strings.Contains(err.Error(), filepath.Join(dir, "list.json")) {
		t.Errorf("the error is %v", err)
	}
	if got := v.Get(); len(got) != 0 {
		t.Errorf("after an error it is %q", got)
	}
	if err := v.Hold(add("held")); err == nil {
		t.Error("it was saved in no folder")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := v.Change(add("saved")); err != nil {
		t.Fatal(err)
	}
	if got := document.Open[[]string](document.Folder(dir), "list.json", nil).Get(); !slices.Equal(got,
		[]string{"held", "saved"}) {
		t.Errorf("saved are %q", got)
	}
	info, err := os.Stat(filepath.Join(dir, "list.json"))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	// A folder in its place can be neither read nor replaced.
	taken := filepath.Join(dir, "taken")
	if err := os.Mkdir(taken, 0o700); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	v = document.Open[[]string](document.Folder(dir), "taken",
		slog.New(slog.NewTextHandler(&log, nil)))
	if err := v.Change(add("x")); err == nil || !strings.Contains(err.Error(), taken) ||
		!strings.Contains(log.String(), taken) {
		t.Errorf("the error is %v, the log %s", err, &log)
	}
	if err := document.Write(taken, []byte("x")); err == nil {
		t.Error("a folder was replaced")
	}
	if left, err := filepath.Glob(taken + ".*"); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if none := document.Open[[]string](document.Folder(""), "list.json",
		nil); none.Change(add("here")) != nil || len(none.Get()) != 1 {
		t.Error("without a folder it is not in memory")
	}
}

// TestLockedByAnother: a program that does not let go is named by its file, and is not waited for
// without end.
func TestLockedByAnother(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		lock, err := document.Lock(filepath.Join(dir, "documents.lock"))
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Close()
		_, err = document.Folder(dir).Replace("list", "", []byte("x"))
		if !errors.Is(err, document.ErrLocked) || !strings.Contains(err.Error(), "documents.lock") {
			t.Errorf("%v", err)
		}
	})
}

// TestLinkedFile: a file that is a link is replaced where it leads, and so shared.
func TestLinkedFile(t *testing.T) {
	here, there := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(there, "shared.json"), []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(there, "shared.json"),
		filepath.Join(here, "list.json")); err != nil {
		t.Skip("no symbolic links here")
	}
	v := document.Open[[]string](document.Folder(here), "list.json", nil)
	if err := v.Change(func([]string) []string { return []string{"x"} }); err != nil {
		t.Fatal(err)
	}
	if got := document.Open[[]string](document.Folder(there), "shared.json",
		nil).Get(); !slices.Equal(got, []string{"x"}) {
		t.Errorf("there it is %q", got)
	}
}
