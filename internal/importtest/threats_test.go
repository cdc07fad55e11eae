package importtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// threats is how many rows docs/threats.md has.
const threats = 124

// TestThreatsHaveTests: docs/threats.md has each threat once, by its number, with at
// least one test, and every test it names exists in the room it names.
func TestThreatsHaveTests(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "threats.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| (\d+) \|.*\| (.*) \|$`)
	room := regexp.MustCompile("^`([a-z0-9/]+)` (`.*`)$")
	next := 1
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		if m[1] != strconv.Itoa(next) {
			t.Fatalf("row %s stands where %d should", m[1], next)
		}
		next++
		for group := range strings.SplitSeq(m[2], "; ") {
			in := room.FindStringSubmatch(group)
			if in == nil {
				t.Errorf("row %s: %q is not a room and its tests", m[1], group)
				continue
			}
			for name := range strings.SplitSeq(in[2], ", ") {
				if name = strings.Trim(name, "`"); !testExists(t, in[1], name) {
					t.Errorf("row %s: %s has no test %s", m[1], in[1], name)
				}
			}
		}
	}
	if next != threats+1 {
		t.Errorf("the page ends at row %d, want %d", next-1, threats)
	}
}

// testExists reports whether a room has a test function, or a script, of that name.
func testExists(t *testing.T, room, name string) bool {
	t.Helper()
	dir := filepath.Join("..", "..", filepath.FromSlash(room))
	if script, ok := strings.CutPrefix(name, "script "); ok {
		_, err := os.Stat(filepath.Join(dir, "testdata", "script", script+".txt"))
		return err == nil
	}
	sources, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}
