//go:build unix

package displaytools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/agent"
)

// A link that leads outside is refused, by a sentence that reveals nothing of its target.
func TestThreat78OutsideIsRefused(t *testing.T) {
	b := newBench(t, nil)
	outside := real(t, t.TempDir())
	if err := os.WriteFile(filepath.Join(outside, "there.png"), []byte("CANARY"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.write("sub/in.txt", "inside")
	b.link(filepath.Join(outside, "there.png"), "file")
	b.link(filepath.Join(outside, "missing.png"), "dangling")
	b.link(outside, "folder")
	b.link("../folder", "sub/far")
	b.link("dangling", "to-dangling")
	b.link(outside+"/no/such/folder", "nowhere")
	for _, path := range []string{"file", "dangling", "to-dangling", "folder", "folder/there.png",
		"folder/missing.png", "sub/far/there.png", "sub/far/no/x.png",
		"nowhere", "nowhere/x", filepath.Join(outside, "there.png"),
		filepath.Join(outside, "missing.png"), b.dir + "/folder/missing.png"} {
		for _, tool := range []string{RenderFile, DisplayImage} {
			if got := b.refused(tool, "path", path); !strings.HasPrefix(got,
				"That path leaves the workspace.") {
				t.Errorf("%s %s: %s", tool, path, got)
			}
		}
		if got := b.refused(RunCommand, "command", "pwd", "cwd", path); !strings.HasPrefix(got,
			"That path leaves the workspace.") {
			t.Errorf("cwd %s: %s", path, got)
		}
	}
	b.link("sub/later.txt", "early")
	if got := b.refused(RenderFile, "path",
		"early"); got != "early is a link to sub/later.txt, which does not exist. Create that file or "+
		"mend the link." {
		t.Error(got)
	}
}

// A hard link to a sensitive file asks, and says why.
func TestThreat78HardLinkAsks(t *testing.T) {
	b := newBench(t, nil)
	b.write(".env", "CANARY")
	b.write("notes", "x")
	for from, to := range map[string]string{".env": "a.txt", "notes": "b.txt"} {
		if err := os.Link(filepath.Join(b.dir, from), filepath.Join(b.dir, to)); err != nil {
			t.Skip("no hard links here:", err)
		}
	}
	a := b.plan(RenderFile, "path", "a.txt")
	if a.Ask == nil || !a.Ask.Sensitive || a.Ask.Resource != "a.txt" ||
		a.Ask.Target != filepath.Join(b.dir, "a.txt") || !strings.Contains(a.Ask.Action, ".env") {
		t.Errorf("%+v", a.Ask)
	}
	if a := b.plan(RenderFile, "path", "b.txt"); a.Ask != nil {
		t.Errorf("a harmless hard link is asked about: %+v", a.Ask)
	}
}

// What was approved is what is shown: a name that means another file when the
// answer comes shows nothing.
func TestThreat78SwappedBetweenPlanAndRun(t *testing.T) {
	for what, swap := range map[string]func(dir, path string) error{
		"a link": func(_, path string) error { return os.Symlink("secret", path) },
		"a hard link": func(dir, path string) error {
			return os.Link(filepath.Join(dir, "secret"), path)
		},
		"another file": func(dir, path string) error {
			return os.Rename(filepath.Join(dir, "secret"), path)
		},
		"a folder": func(_, path string) error { return os.Mkdir(path, 0o755) },
		"deleted":  func(_, path string) error { return nil },
		"a folder on a way": func(dir, path string) error {
			return os.Rename(filepath.Join(dir, "other"), filepath.Dir(path))
		},
	} {
		b := newBench(t, nil)
		b.write("secret", picturePNG(1, 1)+"CANARY")
		b.write("other/pic.png", picturePNG(2, 2)+"CANARY")
		for tool, kv := range map[string][]any{
			RenderFile:   {"path", "way/pic.png"},
			DisplayImage: {"path", "way/pic.png"},
		} {
			path := b.write("way/pic.png", picturePNG(3, 3))
			a := b.plan(tool, kv...)
			if err := os.RemoveAll(filepath.Dir(path)); err != nil {
				t.Fatal(err)
			}
			if what != "a folder on a way" {
				if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := swap(b.dir, path); err != nil {
				t.Fatal(what, err)
			}
			res := b.run(b.ctx(), a)
			if res.Type != agent.Failed || res.Telemetry != nil || strings.Contains(res.Error, "CANARY") {
				t.Errorf("%s, %s: %+v", what, tool, res)
			}
			_ = os.RemoveAll(filepath.Dir(path))
			b.write("secret", picturePNG(1, 1)+"CANARY")
			b.write("other/pic.png", picturePNG(2, 2)+"CANARY")
		}
		if n := b.store.Stats().Outputs; n != 0 {
			t.Errorf("%s: %d outputs were made", what, n)
		}
	}
}

// The same for the folder of a command, in which another file of the same name
// would be run.
func TestThreat78FolderSwappedBetweenPlanAndRun(t *testing.T) {
	b := newBench(t, nil)
	b.write("good/run.sh", "echo good")
	b.write("evil/run.sh", "echo evil >"+filepath.Join(b.dir, "canary"))
	a := b.plan(RunCommand, "command", "sh run.sh", "cwd", "good")
	for _, names := range [][2]string{{"good", "away"}, {"evil", "good"}} {
		if err := os.Rename(filepath.Join(b.dir, names[0]), filepath.Join(b.dir, names[1])); err != nil {
			t.Fatal(err)
		}
	}
	if res := b.run(b.ctx(), a); res.Type != agent.Failed ||
		!strings.Contains(res.Error, "nothing was run") {
		t.Errorf("%+v", res)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "canary")); err == nil {
		t.Error("the command ran in a folder that was put in place of the approved one")
	}
}
