package displaytools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzRelative: whatever a path looks like, what is opened by it is a file of the
// workspace, and is what the system itself finds there. The system decides twice:
// where the name leads from the workspace, and whether os.Root would go there.
func FuzzRelative(f *testing.F) {
	b := newBench(f, nil)
	outside := f.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("CANARY"), 0o600); err != nil {
		f.Fatal(err)
	}
	b.write("a/b/deep", "deep")
	b.write("top", "top")
	b.write("..twice", "dots")
	b.link("a/b", "inner")
	b.link(outside, "outer")
	b.link("../"+filepath.Base(b.dir)+"/top", "round")
	b.link(filepath.Join(outside, "secret"), "absolute")
	b.link("loop", "loop")
	for _, s := range []string{"top", "./top", "a/b/deep", "inner/deep", "a/../top", "../x", "..",
		"..twice", "/etc/passwd", b.dir + "/top", b.dir + "/../x", b.dir + "x/top",
		"outer/secret", "absolute", "round", "loop", "", ".", "top/", "top\x00.png", "a//b///deep",
		"~/top", "~root/x", `a\b\deep`, "top\n", "file:///etc/passwd",
		outside + "/secret", "a/b/../../../" + filepath.Base(b.dir) + "/top", "/proc/self/cwd/top",
		"//top", "con", strings.Repeat("a/", 3000) + "x"} {
		f.Add(s)
	}
	root, err := os.OpenRoot(b.dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = root.Close() })
	f.Fuzz(func(t *testing.T, path string) {
		rel, err := b.set.work.resolve(path)
		if err != nil {
			return
		}
		if !filepath.IsLocal(rel) {
			t.Fatalf("%q leads to %q, which is not inside", path, rel)
		}
		near, _, err := b.set.work.open(rel)
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
			plain = filepath.Join(b.dir, plain)
		}
		if want, err := os.Stat(plain); err == nil && !strings.HasPrefix(path, "~") &&
			!os.SameFile(st, want) {
			t.Fatalf("%q is another file than the one the system opens by it", path)
		}
	})
}
