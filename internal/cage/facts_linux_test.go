package cage

import (
	"context"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"webchat/internal/proc"
)

// What a running tree may touch is read back from it, and is what was said before it started; what
// is opened or saved anew outside shows.
func TestFacts(t *testing.T) {
	y := newYard(t, ".bashrc", ".rustup/toolchains/tool", ".npm/x", "notes/n", "shared/s",
		"code/proj/a", "code/proj/deploy.key", "code/proj/.git/config", "code/proj/.git/hooks/x",
		"code/proj/.vscode/tasks.json", ".mine/settings", ".gitconfig")
	y.write("code/proj/.env", "KEY=1")
	y.Read, y.Write, y.Hosts = []string{"~/notes"}, []string{"~/shared"}, []string{"proxy.example"}
	c, err := New(y.Config)
	if err != nil {
		t.Fatal(err)
	}
	n := Needs{
		Agent: "mine",
		Hosts: []string{"api.example"},
		Own:   []string{"127.0.0.1:61099"},
		State: []State{{Path: y.home + "/.mine", From: y.home + "/kept", Read: []string{"settings"}}},
	}
	cmd, err := c.Confine(t.Context(), proc.Command{
		Args:  []string{"sh", "-c", "read -r x"},
		Dir:   y.work,
		Env:   y.Env,
		Pipes: true,
	}, n)
	if err != nil {
		t.Fatal(err)
	}
	facts := func(agent string) Facts {
		t.Helper()
		f, err := c.Facts(t.Context(), agent)
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range [][]string{f.Programs, f.Reads, f.Caches, f.Writes, f.Hidden, f.Fixed} {
			for i := range list {
				list[i] = strings.TrimPrefix(strings.TrimPrefix(list[i], y.work+"/"), y.home+"/")
			}
		}
		f.Hidden = slices.DeleteFunc(f.Hidden, func(p string) bool {
			return strings.HasPrefix(p, "/etc/")
		})
		return f
	}
	before := facts("mine")
	if !slices.Contains(before.Programs, "/usr") || !slices.Contains(before.Programs, ".rustup") ||
		!slices.Contains(before.Caches, ".npm") {
		t.Errorf("it has %+v", before)
	}
	want := Facts{
		Workspace:  y.work,
		Programs:   before.Programs,
		Caches:     before.Caches,
		Reads:      []string{".gitconfig", ".mine/settings", "notes"},
		Writes:     []string{".mine", "shared"},
		Hidden:     []string{".env", "deploy.key"},
		Fixed:      []string{".git/config", ".git/hooks", ".vscode"},
		Hosts:      []string{"proxy.example", "api.example"},
		Own:        n.Own,
		Configured: []string{y.home + "/notes", y.home + "/shared", "proxy.example"},
	}
	if !reflect.DeepEqual(before, want) {
		t.Errorf("before it starts:\n%+v, want\n%+v", before, want)
	}
	child, err := proc.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer child.Stop(context.Background())
	want.Running = true
	if got := facts("mine"); !reflect.DeepEqual(got, want) {
		t.Errorf("running:\n%+v, want\n%+v", got, want)
	}
	if got := facts("other"); got.Running || len(got.Own) > 0 {
		t.Errorf("of another agent: %+v", got)
	}
	held, err := proc.Hold(y.home + "/.bashrc")
	if err != nil {
		t.Fatal(err)
	}
	end, err := c.Open(held, proc.Readable)
	if err != nil {
		t.Fatal(err)
	}
	if got := facts("mine"); !slices.Contains(append(got.Reads, got.Programs...), ".bashrc") {
		t.Errorf("opened: %+v", got)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if err := os.Remove(y.work + "/.env"); err != nil {
		t.Fatal(err)
	}
	// as if it had been, and were saved anew
	c.trees[0].door.covered = append(c.trees[0].door.covered, y.work+"/a")
	if got := facts("mine"); !slices.Equal(got.Saved, []string{y.work + "/a"}) ||
		!slices.Equal(got.Hidden, []string{"deploy.key"}) {
		t.Errorf("removed outside: %+v", got)
	}
}
