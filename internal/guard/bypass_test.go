package guard_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// THREATS 47: the checks of the standard library are used whole, of a version that
// has its own holes mended. (Whether others are known by now, scripts/vuln.sh asks.)
func TestNoBypassOfTheStandardLibrary(t *testing.T) {
	root, bypass := filepath.Join("..", ".."), "AddInsecure"+"BypassPattern"
	seen := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != root {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		if d.IsDir() || filepath.Ext(name) != ".go" {
			return nil
		}
		b, err := os.ReadFile(name)
		if seen++; strings.Contains(string(b), bypass) {
			t.Errorf("%s uses %s", name, bypass)
		}
		return err
	})
	if err != nil || seen < 100 {
		t.Fatalf("%d files, %v", seen, err)
	}
	b, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^(?:go|toolchain go)\s*1\.(\d+)\.(\d+)$`).FindSubmatch(b)
	if m == nil {
		t.Fatal("go.mod does not say which version of Go it needs, to the last number")
	}
	minor, _ := strconv.Atoi(string(m[1]))
	patch, _ := strconv.Atoi(string(m[2]))
	if minor < 26 || minor == 26 && patch < 1 {
		t.Errorf("go.mod takes Go 1.%d.%d, want 1.26.1 or later", minor, patch)
	}
}
