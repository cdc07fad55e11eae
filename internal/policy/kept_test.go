package policy

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/document"
	"webchat/internal/event"
)

// kept opens the grants of a file, as a start of the program does.
func kept(t *testing.T, file string) *Kept {
	t.Helper()
	dir, name := filepath.Split(file)
	if name != GrantsName {
		t.Fatal(name)
	}
	return OpenKept(document.Folder(dir), slog.New(slog.DiscardHandler))
}

func TestKeptGrants(t *testing.T) {
	file, ws, other := filepath.Join(t.TempDir(), "grants.json"), t.TempDir(), t.TempDir()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	g := event.Grant{ID: "g1", Text: "edits", Scope: event.ForWorkspace}
	w := kept(t, file).Workspace(ws, "")
	for i, want := range []bool{true, false} {
		if added, err := w.Keep(g, "s1", at); err != nil || added != want {
			t.Fatalf("%d: %v %v", i, added, err)
		}
	}
	if st, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st.Mode(), err)
	}
	again := kept(t, file)
	if got, ok := again.Workspace(ws, "").Held("g1"); !ok || got != g {
		t.Errorf("after a restart: %+v %v", got, ok)
	}
	if _, ok := again.Workspace(other, "").Held("g1"); ok {
		t.Error("it holds in another workspace")
	}
	if _, ok := again.Workspace(ws, "").Held("g2"); ok {
		t.Error("another grant holds")
	}
	list := again.List("")
	if len(list) != 1 || list[0].ID != "g1" || list[0].Session != "s1" || list[0].Workspace != ws ||
		!list[0].At.Equal(at) || list[0].Text != "edits" {
		t.Errorf("%+v", list)
	}
	if known, err := again.TakeBack("", "g1"); err != nil || !known {
		t.Errorf("%v %v", known, err)
	}
	if known, err := again.TakeBack("", "g1"); err != nil || known {
		t.Errorf("twice: %v %v", known, err)
	}
	if _, ok := again.Workspace(ws, "").Held("g1"); ok {
		t.Error("what was taken back holds")
	}
	if _, ok := kept(t, file).Workspace(ws, "").Held("g1"); ok {
		t.Error("what was taken back holds after a restart")
	}
}

// Another folder at the same path inherits nothing, and neither does the same folder
// at another path.
func TestGrantsAreBoundToTheFolder(t *testing.T) {
	dir := t.TempDir()
	ws, moved := filepath.Join(dir, "ws"), filepath.Join(dir, "moved")
	for _, name := range []string{ws, filepath.Join(dir, "new")} {
		if err := os.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	k := kept(t, filepath.Join(dir, "grants.json"))
	if _, err := k.Workspace(ws, "").Keep(event.Grant{ID: "g1"}, "s", time.Now()); err != nil {
		t.Fatal(err)
	}
	rename := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	rename(ws, moved)
	if _, ok := k.Workspace(ws, "").Held("g1"); ok {
		t.Error("it holds without a folder")
	}
	rename(filepath.Join(dir, "new"), ws)
	for _, k := range []*Kept{k, kept(t, filepath.Join(dir, "grants.json"))} {
		if _, ok := k.Workspace(ws, "").Held("g1"); ok || len(k.List("")) != 0 {
			t.Error("another folder at the path inherited it")
		}
		if _, ok := k.Workspace(moved, "").Held("g1"); ok {
			t.Error("it holds at another path")
		}
	}
	rename(ws, filepath.Join(dir, "new"))
	rename(moved, ws)
	if _, ok := k.Workspace(ws, "").Held("g1"); !ok {
		t.Error("the folder came back and lost its grant")
	}
	rename(ws, moved)
	rename(filepath.Join(dir, "new"), ws)
	if _, err := k.Workspace(ws, "").Keep(event.Grant{ID: "g2"}, "s", time.Now()); err != nil {
		t.Fatal(err)
	}
	if list := k.List(""); len(list) != 1 || list[0].ID != "g2" {
		t.Errorf("%+v", list)
	}
	if _, err := k.Workspace(filepath.Join(dir, "none"), "").Keep(event.Grant{ID: "g3"}, "s",
		time.Now()); err == nil {
		t.Error("a grant is kept for a folder that is not there")
	}
}

// What cannot be saved is not kept, and a damaged file allows nothing.
func TestKeptGrantsFail(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "grants.json")
	if err := os.WriteFile(file, []byte(`[{"id":"g1",`), 0o600); err != nil {
		t.Fatal(err)
	}
	k := kept(t, file)
	if list := k.List(""); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	if added, err := k.Workspace(dir, "").Keep(event.Grant{ID: "g2"}, "s", time.Now()); err != nil ||
		!added {
		t.Error(added, err)
	}
	if copies, err := filepath.Glob(file + ".damaged-*"); err != nil || len(copies) != 1 {
		t.Errorf("copies of what was damaged: %v, %v", copies, err)
	}
	gone := kept(t, filepath.Join(dir, "gone", "grants.json"))
	if added, err := gone.Workspace(dir, "").Keep(event.Grant{ID: "g1"}, "s",
		time.Now()); err == nil || added {
		t.Error("it was kept nowhere")
	}
	if _, ok := gone.Workspace(dir, "").Held("g1"); ok {
		t.Error("what could not be saved holds")
	}
}

// TestTwoProgramsShareGrants: what one program allows holds in another within two seconds, who
// waits for it is notified, and neither removes the other's grants.
func TestTwoProgramsShareGrants(t *testing.T) {
	file, ws := filepath.Join(t.TempDir(), "grants.json"), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		one, two := kept(t, file).Workspace(ws, ""), kept(t, file).Workspace(ws, "")
		both := func(id string, want bool) {
			t.Helper()
			time.Sleep(2 * time.Second)
			for i, w := range []Workspace{one, two} {
				if _, ok := w.Held(id); ok != want {
					t.Errorf("%s in program %d: %v", id, i+1, ok)
				}
			}
		}
		both("g1", false)
		given := two.Given()
		for i, w := range []Workspace{one, two, one} {
			id := fmt.Sprint("g", i+1)
			if added, err := w.Keep(event.Grant{ID: id}, "s", time.Now()); err != nil || !added {
				t.Fatal(added, err)
			}
		}
		for _, id := range []string{"g1", "g2", "g3"} {
			both(id, true)
		}
		select {
		case <-given:
		default:
			t.Error("who waits is not told")
		}
		if added, err := two.Keep(event.Grant{ID: "g1"}, "s", time.Now()); err != nil || added {
			t.Errorf("it is held, and was added: %v, %v", added, err)
		}
		if known, err := two.TakeBack("g1"); err != nil || !known {
			t.Error(known, err)
		}
		both("g1", false)
		both("g3", true)
	})
}
