package importtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A diff is read in one room: everybody else has its edits as data.
func TestOnePlaceReadsDiffs(t *testing.T) {
	for _, f := range files(t) {
		if f.test || f.room == "internal/event" || f.name == "internal/patch/unified.go" ||
			strings.HasSuffix(f.room, "test") {
			continue
		}
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(f.name)))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "@@ -") {
			t.Errorf("%s knows how a hunk begins, which is for internal/event", f.name)
		}
	}
}
