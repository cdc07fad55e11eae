package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"webchat/internal/document"
	"webchat/internal/files"
)

// tree makes folders below a new one, without symbolic links in its path.
func folders(t *testing.T, names ...string) (top string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(top, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return top
}

func open(t *testing.T, c files.WorkspacesConfig) *files.Workspaces {
	t.Helper()
	l, err := files.NewWorkspaces(c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func paths(list []files.Workspace) (all []string) {
	for _, w := range list {
		all = append(all, w.Path)
	}
	return all
}

// TestList: one folder is one workspace, what was opened and closed is so at the next
// start, and a folder that went away stays listed.
func TestList(t *testing.T) {
	top := folders(t, "a", "b", "c", "data")
	in := func(name string) string { return filepath.Join(top, name) }
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := files.WorkspacesConfig{
		Documents: document.Folder(in("data")),
		First:     []string{in("a")},
		Now:       func() time.Time { now = now.Add(time.Second); return now },
	}
	l := open(t, c)
	if err := os.Symlink(in("b"), in("link")); err != nil {
		t.Skip("no symbolic links here")
	}
	b, added, err := l.Open(in("link"))
	if err != nil || !added || b.Path != in("b") || b.Name != "b" ||
		b.ID != files.WorkspaceID(in("b")) {
		t.Fatal(b, added, err)
	}
	if _, added, err := l.Open(in("b")); added || err != nil {
		t.Error("one folder is two", err)
	}
	l.Add(map[string]time.Time{in("c"): now.Add(-time.Hour), in("gone"): now.Add(-2 * time.Hour),
		"": now})
	want := []string{in("b"), in("a"), in("c"), in("gone")}
	for _, path := range []string{in("link"), in("b") + "/"} {
		if w, err := l.Find(path); err != nil || w.Path != in("b") {
			t.Errorf("%s: %v, %v", path, w, err)
		}
	}
	if got := paths(l.All()); !slices.Equal(got, want) {
		t.Errorf("open: %v, want %v", got, want)
	}
	if err := l.Close(b.ID); err != nil {
		t.Error(err)
	}
	if _, err := l.Find(in("b")); !errors.Is(err, files.ErrUnknown) {
		t.Error(err)
	}
	if err := l.Close(b.ID); !errors.Is(err, files.ErrUnknown) {
		t.Error(err)
	}
	c.First = []string{in("c")}
	l = open(t, c)
	if got, want := paths(l.All()), []string{in("c"), in("a"), in("gone")}; !slices.Equal(got, want) {
		t.Errorf("after a start: %v, want %v", got, want)
	}
	if got := paths(l.Closed()); !slices.Equal(got, []string{in("b")}) {
		t.Errorf("closed: %v", got)
	}
	if w, err := l.Find(""); err != nil || w.Path != in("c") || !w.Available() {
		t.Error("the first is", w, err)
	}
	if w, ok := l.ByID(files.WorkspaceID(in("gone"))); !ok || w.Available() {
		t.Error(w, ok)
	}
	for _, w := range l.All() {
		if w.Path != in("c") {
			if err := l.Close(w.ID); err != nil {
				t.Error(err)
			}
		}
	}
	if err := l.Close(files.WorkspaceID(in("c"))); !errors.Is(err, files.ErrLast) {
		t.Error("the last one was closed:", err)
	}
}

// TestRefused: what is not a folder, or not one by an absolute path, is not opened.
func TestRefused(t *testing.T) {
	top := folders(t, "a")
	l := open(t, files.WorkspacesConfig{First: []string{top}})
	if err := os.WriteFile(filepath.Join(top, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	strange := filepath.Join(top, "\xff") // which no JSON can hold
	_ = os.Mkdir(strange, 0o700)          // some systems refuse it, too
	for _, path := range []string{"", ".", "a", "~/a", filepath.Join(top, "none"),
		filepath.Join(top, "file"), filepath.Join(top, "file", "x"), top + "\x00", strange} {
		if w, _, err := l.Open(path); !errors.Is(err, files.ErrFolder) {
			t.Errorf("%q: %v, %v", path, w, err)
		}
	}
	if n := len(l.All()); n != 1 {
		t.Error(n, "are open")
	}
}

// TestDamaged: a list that cannot be read is kept aside and begun anew.
func TestDamaged(t *testing.T) {
	top := folders(t)
	file := filepath.Join(top, "workspaces.json")
	if err := os.WriteFile(file, []byte("[{"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, files.WorkspacesConfig{Documents: document.Folder(top), First: []string{top}})
	if got := paths(l.All()); !slices.Equal(got, []string{top}) {
		t.Error(got)
	}
	copies, err := filepath.Glob(file + ".damaged-*")
	if err != nil || len(copies) != 1 {
		t.Fatal(copies, err)
	}
	if b, err := os.ReadFile(copies[0]); err != nil || string(b) != "[{" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestWarn: what is unusual about a folder.
func TestWarn(t *testing.T) {
	home := folders(t, "code/relay/.git", "code/relay/internal", "notes")
	for name, want := range map[string]files.Warning{
		"code/relay": "", "code/relay/internal": files.WarnInside, "notes": files.WarnRepository,
		"code": files.WarnRepository,
		".":    files.WarnHome, "..": files.WarnHome,
	} {
		got := files.Warn(filepath.Join(home, name), home)
		if got != want || (got.Text() == "") != (want == "") {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := files.Warn(filepath.VolumeName(home)+string(filepath.Separator),
		home); got != files.WarnRoot {
		t.Errorf("the root: %q", got)
	}
}

// TestComplete: folders are offered below the home folder only, closed ones first.
func TestComplete(t *testing.T) {
	top := folders(t, "home/code/relay", "home/code/Reader", "home/.config/x", "base", "home/notes",
		"other/place", "old")
	home := filepath.Join(top, "home")
	if err := os.Symlink(filepath.Join(top, "other"), filepath.Join(home, "way")); err != nil {
		t.Skip("no symbolic links here")
	}
	l := open(t, files.WorkspacesConfig{First: []string{filepath.Join(top, "base")}})
	old, _, err := l.Open(filepath.Join(top, "old"))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(old.ID); err != nil {
		t.Fatal(err)
	}
	for q, want := range map[string][]string{
		"":                          {"base", "old", "home/code", "home/notes"},
		"~":                         {"base", "old", "home/code", "home/notes"},
		"co":                        {"home/code"},
		"~/code/re":                 {"home/code/Reader", "home/code/relay"},
		home + "/code/rel":          {"home/code/relay"},
		"code/relay":                {"home/code/relay"},
		".c":                        {"home/.config"},
		"../other/":                 {"other"},
		"way/":                      {"other"},
		"way/p":                     nil,
		filepath.Join(top, "oth"):   nil,
		filepath.Join(top, "other"): {"other"},
		"none/x":                    nil,
	} {
		var got []string
		for _, f := range l.Complete(home, q, 20) {
			rel, err := filepath.Rel(top, f.Path)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, filepath.ToSlash(rel))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", q, got, want)
		}
	}
	if got := l.Complete(home, "", 1); len(got) != 1 || !got[0].Known {
		t.Error(got)
	}
}
