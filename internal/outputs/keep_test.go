package outputs

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func keeping(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := New(Config{TTL: 30 * time.Minute, Budget: 1 << 20, Keep: 48 * time.Hour, KeepDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t *testing.T, o *Output) []byte {
	t.Helper()
	b, err := io.ReadAll(o.Reader())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What is kept is the same after its life and in another process: bytes, gap, numbers and
// description; until it was kept long enough.
func TestKeptOutputs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "outputs")
		s := keeping(t, dir)
		file, err := s.Put(Meta{Type: File, SessionID: "s1", Path: "a.txt", StartLine: 3},
			[]byte("one\ntwo\nthree"))
		if err != nil {
			t.Fatal(err)
		}
		w, err := s.Create(Meta{Type: Terminal, SessionID: "s1", Command: "yes"},
			Limits{Head: 8 << 10, Tail: 16 << 10})
		if err != nil {
			t.Fatal(err)
		}
		for range 20_000 {
			if _, err := w.Write([]byte("a line of it\n")); err != nil {
				t.Fatal(err)
			}
		}
		code := 3
		w.Complete(func(m *Meta) { m.ExitCode = &code })
		other, err := s.Put(Meta{Type: File, SessionID: "s2"}, []byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		want := map[ID][]byte{}
		metas := map[ID]Meta{}
		for _, id := range []ID{file, w.ID(), other} {
			o, err := s.Get(id)
			if err != nil {
				t.Fatal(err)
			}
			want[id], metas[id] = read(t, o), o.Meta()
			if left := time.Until(o.ExpiresAt()); left < 47*time.Hour || left > 48*time.Hour {
				t.Errorf("%v are left", left)
			}
		}
		if fi, err := os.Stat(filepath.Join(dir, "s1", string(file))); err != nil ||
			fi.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", fi, err)
		}
		time.Sleep(24 * time.Hour)
		for name, s := range map[string]*Store{"later": s, "another process": keeping(t, dir)} {
			for id, bytesOf := range want {
				o, err := s.Get(id)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if got := read(t, o); !bytes.Equal(got, bytesOf) {
					t.Errorf("%s: %d bytes, want %d", name, len(got), len(bytesOf))
				}
				got, had := o.Meta(), metas[id]
				if got.Path != had.Path || got.StartLine != had.StartLine || got.TotalLines != had.TotalLines ||
					got.Truncated != had.Truncated ||
					(got.Gap == nil) != (had.Gap == nil) || got.Gap != nil && *got.Gap != *had.Gap ||
					(got.ExitCode == nil) != (had.ExitCode == nil) {
					t.Errorf("%s: it is %+v, was %+v", name, got, had)
				}
				if left := time.Until(o.ExpiresAt()); left < 23*time.Hour || left > 24*time.Hour {
					t.Errorf("%s: %v are left", name, left)
				}
			}
			if n := len(s.Session("s1")); n != 2 {
				t.Errorf("%s: the session has %d outputs", name, n)
			}
		}
		s.DeleteSession("s2")
		if _, err := s.Get(other); !errors.Is(err, ErrExpired) {
			t.Errorf("of a deleted session: %v", err)
		}
		time.Sleep(25 * time.Hour)
		if _, err := s.Get(file); !errors.Is(err, ErrExpired) {
			t.Errorf("after it was kept long enough: %v", err)
		}
		s.keeper.sweep()
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%v are left (%v)", left, err)
		}
	})
}

// Files that are no outputs, or broken ones, are never served.
func TestKeptFilesAreChecked(t *testing.T) {
	dir := t.TempDir()
	s := keeping(t, dir)
	id, err := s.Put(Meta{Type: File, SessionID: "s1"}, []byte(strings.Repeat("x", 100)))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s1", string(id))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"empty": nil, "cut": whole[:len(whole)-1],
		"no head": whole[10:], "more": append(bytes.Clone(whole), 'y')} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := keeping(t, dir).Get(id); !errors.Is(err, ErrExpired) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "s1", "passwd"), whole, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []ID{"passwd", "../s1/passwd", "s1/" + id} {
		if _, err := keeping(t, dir).Get(id); !errors.Is(err, ErrExpired) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// What comes back from the disk ends when its file does, not a life in memory later.
func TestRevivedEndsWithItsFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := keeping(t, filepath.Join(t.TempDir(), "outputs"))
		id, err := s.Put(Meta{Type: File, SessionID: "s1"}, []byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(48*time.Hour - time.Minute)
		o, err := s.Get(id)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(o.ExpiresAt()))
		if _, err := s.Get(id); !errors.Is(err, ErrExpired) || len(s.Session("s1")) != 0 {
			t.Errorf("%v after it expired, listed %v", err, s.Session("s1"))
		}
	})
}

// Listing a session reads no content into memory, so it evicts no other output.
func TestListingKeptOutputsEvictsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := keeping(t, filepath.Join(t.TempDir(), "outputs"))
		for range 40 {
			if _, err := s.Put(Meta{Type: File, SessionID: "old"}, make([]byte, 100<<10)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Hour)
		other, err := s.Put(Meta{Type: File, SessionID: "other"}, []byte("mine"))
		if err != nil {
			t.Fatal(err)
		}
		before := s.Stats()
		all := s.Session("old")
		if len(all) != 40 || all[0].Size != 100<<10 || !all[0].Complete {
			t.Fatalf("%d listed: %+v", len(all), all[0])
		}
		if after := s.Stats(); after.Used > before.Used {
			t.Errorf("listing took %d bytes of memory", after.Used-before.Used)
		}
		if !s.cache.Has(other) {
			t.Error("another session's output was evicted")
		}
	})
}

// Outputs are listed in the order of their calls, whichever was there first; also from the disk.
func TestListedInTheOrderOfCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "outputs")
		s := keeping(t, dir)
		began := time.Now()
		for _, name := range []string{"third", "first", "second"} {
			call := began.Add(map[string]time.Duration{"first": 1, "second": 2,
				"third": 3}[name] * time.Second)
			if _, err := s.Put(Meta{Type: File, SessionID: "s1", Path: name, Called: call},
				[]byte(name)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
		}
		for name, s := range map[string]*Store{"here": s, "another process": keeping(t, dir)} {
			got := ""
			for _, l := range s.Session("s1") {
				got += l.Meta.Path + " "
			}
			if got != "first second third " {
				t.Errorf("%s: %s", name, got)
			}
		}
	})
}

// What one program of several completed can be had in the others while it is kept, though they
// began before, and no longer: read, listed, deleted with its session, and pinned in the program
// that made it.
func TestSharedOutputs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "outputs")
		at := func(number int64) *Store {
			s, err := New(Config{
				TTL:        30 * time.Minute,
				Budget:     1 << 20,
				Keep:       30 * time.Minute,
				KeepDir:    dir,
				KeepShared: true,
				Maker:      func() int64 { return number },
			})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		put := func(s *Store, session string) ID {
			id, err := s.Put(Meta{Type: File, SessionID: session}, []byte("text of "+session))
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		there := func(s *Store, id ID) bool { _, err := s.Get(id); return err == nil }
		maker, other := at(7), at(12)
		id, gone, pinned := put(maker, "s1"), put(maker, "s2"), put(maker, "s3")
		if Maker(id) != 7 || !strings.HasSuffix(string(id), "_7") {
			t.Errorf("made by 7: %s", id)
		}
		time.Sleep(time.Second)
		o, err := other.Get(id)
		if err != nil || string(read(t, o)) != "text of s1" {
			t.Fatal(err)
		}
		if all := other.Session("s2"); len(all) != 1 || all[0].ID != gone {
			t.Errorf("listed: %+v", all)
		}
		other.DeleteSession("s2")
		if late := at(13); there(other, gone) || there(late, gone) || len(late.Session("s2")) != 0 {
			t.Error("an output of a session that another program deleted")
		}
		if err := maker.Pin(pinned); err != nil {
			t.Fatal(err)
		}
		time.Sleep(31 * time.Minute)
		if there(other, id) || there(at(14), id) {
			t.Error("there after its life")
		}
		other.keeper.sweep()
		if !there(at(15), pinned) {
			t.Error("a pinned one ended with its maker")
		}
		if err := maker.Unpin(pinned); err != nil {
			t.Fatal(err)
		}
		if there(at(16), pinned) {
			t.Error("one that is pinned no longer is kept")
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%v are left (%v)", left, err)
		}
	})
}

// The number in an id is its maker's, and only in an id.
func TestMaker(t *testing.T) {
	for id, want := range map[ID]int64{
		newID(0): 0, newID(1): 1, newID(12345678901): 12345678901, newID(3) + "_4": 0, newID(0) + "_": 0,
		newID(0) + "_04": 0,
		newID(0) + "_-4": 0, newID(0) + "_9999999999999999999": 0, "out_x_4": 0, "": 0,
		ID("x" + newID(5)): 0, newID(5) + "/..": 0,
	} {
		if got := Maker(id); got != want {
			t.Errorf("%s: %d, want %d", id, got, want)
		}
	}
}
