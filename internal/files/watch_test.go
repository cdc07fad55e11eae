package files

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func put(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// folder is one by its name without links.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// notified waits until a reader is notified.
func notified(t testing.TB, r *Follower) {
	t.Helper()
	select {
	case <-r.C:
	case <-time.After(30 * time.Second):
		t.Fatal("nothing was reported")
	}
}

// quiet makes sure that a reader has not heard of what another one has.
func quiet(t testing.TB, r *Follower) {
	t.Helper()
	select {
	case <-r.C:
		t.Error("a file that is not followed was reported")
	default:
	}
}

func TestChangesAreReported(t *testing.T) {
	dir := folder(t)
	name, aside := filepath.Join(dir, "a.txt"), filepath.Join(dir, "a.new")
	put(t, name, "one\n")
	put(t, filepath.Join(dir, "b.txt"), "one\n")
	var w Watcher
	a, b := w.Follow([]string{name}), w.Follow([]string{filepath.Join(dir, "b.txt")})
	defer b.Close()
	if a.Blind(name) || b.Blind(filepath.Join(dir, "b.txt")) {
		t.Fatal("a folder of this machine cannot be watched")
	}
	if n := len(w.fs.WatchList()); n != 1 {
		t.Errorf("%d watches of one folder", n)
	}
	steps := []struct {
		what string
		do   func() error
	}{
		{"written", func() error { put(t, name, "two\n"); return nil }},
		{"replaced by rename", func() error { put(t, aside, "three\n"); return os.Rename(aside, name) }},
		{"written after that", func() error { put(t, name, "four\n"); return nil }},
		{"moved away", func() error { return os.Rename(name, aside) }},
		{"moved back", func() error { return os.Rename(aside, name) }},
		{"deleted", func() error { return os.Remove(name) }},
		{"made anew", func() error { put(t, name, "five\n"); return nil }},
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			t.Fatal(s.what, err)
		}
		notified(t, a)
		quiet(t, b)
		end := w.Follow([]string{name}) // its report comes after all that came before
		put(t, name, "end\n")
		notified(t, end)
		end.Close()
		select {
		case <-a.C:
		default:
		}
	}
	a.Close()
	put(t, name, "nobody looks\n")
	put(t, filepath.Join(dir, "b.txt"), "somebody does\n")
	notified(t, b)
	select {
	case <-a.C:
		t.Error("a reader was notified after its end")
	default:
	}
}

// What cannot be watched says so, and what can is watched beside it.
func TestWhatCannotBeWatched(t *testing.T) {
	dir := folder(t)
	name := filepath.Join(dir, "a.txt")
	var w Watcher
	away := filepath.Join(dir, "gone", "b.txt")
	r := w.Follow([]string{name, away})
	if !r.Blind(away) || r.Blind(name) {
		t.Errorf("of %s and %s, the first is watched: %v, the second: %v", name, away, !r.Blind(name),
			!r.Blind(away))
	}
	put(t, name, "one\n")
	notified(t, r)
	r.Close()
	if w.fs != nil || len(w.folders) != 0 {
		t.Errorf("%d folders are watched though nobody follows anything", len(w.folders))
	}
}

func TestFoldersAreBounded(t *testing.T) {
	dir := folder(t)
	var w Watcher
	var names []string
	for i := range maxWatched + 1 {
		sub := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.Join(sub, "a.txt"))
	}
	all := w.Follow(names)
	defer all.Close()
	if len(w.folders) != maxWatched || len(all.in) != maxWatched {
		t.Errorf("%d folders are watched", len(w.folders))
	}
}

// Readers come and go while files change.
func TestReadersComeAndGo(t *testing.T) {
	dir := folder(t)
	var w Watcher
	done := make(chan struct{})
	for i := range 8 {
		go func() {
			defer func() { done <- struct{}{} }()
			name := filepath.Join(dir, fmt.Sprint(i))
			for n := range 20 {
				r := w.Follow([]string{name})
				if err := os.WriteFile(name, []byte(fmt.Sprint(n)), 0o600); err != nil {
					t.Error(err)
				}
				if !r.Blind(name) {
					<-r.C
				}
				r.Close()
			}
		}()
	}
	for range 8 {
		<-done
	}
	if w.fs != nil {
		t.Error("something is watched though nobody follows anything")
	}
}
