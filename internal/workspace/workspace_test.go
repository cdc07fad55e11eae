package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/workspace"
)

// FuzzRelative: whatever a path looks like, what is opened by it is a file of the
// workspace, and is what the system itself finds there. The system decides twice:
// where the name leads from the workspace, and whether os.Root would go there.
func FuzzRelative(f *testing.F) {
	dir, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	outside := f.TempDir()
	for name, text := range map[string]string{
		filepath.Join(outside, "secret"): "CANARY",
		filepath.Join(dir, "a/b/deep"):   "deep",
		filepath.Join(dir, "top"):        "top",
		filepath.Join(dir, "..twice"):    "dots",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755),
			os.WriteFile(name, []byte(text), 0o600)); err != nil {
			f.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"inner":    "a/b",
		"outer":    outside,
		"round":    "../" + filepath.Base(dir) + "/top",
		"absolute": filepath.Join(outside, "secret"),
		"loop":     "loop",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			f.Skip(err)
		}
	}
	folder, err := workspace.New(dir, "")
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"top", "./top", "a/b/deep", "inner/deep", "a/../top", "../x", "..",
		"..twice", "/etc/passwd", dir + "/top", dir + "/../x", dir + "x/top",
		"outer/secret", "absolute", "round", "loop", "", ".", "top/", "top\x00.png", "a//b///deep",
		"~/top", "~root/x", `a\b\deep`, "top\n", "file:///etc/passwd",
		outside + "/secret", "a/b/../../../" + filepath.Base(dir) + "/top", "/proc/self/cwd/top",
		"//top", "con", strings.Repeat("a/", 3000) + "x"} {
		f.Add(s)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = root.Close() })
	f.Fuzz(func(t *testing.T, path string) {
		rel, err := folder.Resolve(path)
		if err != nil {
			return
		}
		if !filepath.IsLocal(rel) {
			t.Fatalf("%q leads to %q, which is not inside", path, rel)
		}
		near, _, err := folder.Open(rel)
		if err != nil {
			return
		}
		defer near.Close()
		st, err := near.Stat()
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := root.Open(rel)
		if err != nil {
			t.Fatalf("%q leads to %q, where os.Root does not go: %v", path, rel, err)
		}
		defer theirs.Close()
		same, err := theirs.Stat()
		if err != nil || !os.SameFile(st, same) {
			t.Fatalf("%q leads to %q, and os.Root finds another file there: %v", path, rel, err)
		}
		// What a person means by the path is what the system opens by it.
		plain := path
		if !filepath.IsAbs(plain) {
			plain = filepath.Join(dir, plain)
		}
		if want, err := os.Stat(plain); err == nil && !strings.HasPrefix(path, "~") &&
			!os.SameFile(st, want) {
			t.Fatalf("%q is another file than the one the system opens by it", path)
		}
	})
}
