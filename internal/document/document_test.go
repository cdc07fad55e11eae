package document

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// Readers beside two writers find one of the texts whole, and nothing else stays in the folder.
func TestReadersFindATextWhole(t *testing.T) {
	name := filepath.Join(t.TempDir(), "list.json")
	texts := [2][]string{{strings.Repeat("a", 100_000)}, {strings.Repeat("b", 50_000)}}
	if err := WriteJSON(name, texts[0]); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for _, text := range texts {
		writers.Go(func() {
			for range 20 {
				// Windows refuses to replace a file that is open.
				if err := WriteJSON(name, text); err != nil && runtime.GOOS != "windows" {
					t.Error(err)
				}
			}
		})
	}
	for range 100 {
		got, moved, err := ReadJSON[[]string](name)
		if err != nil && runtime.GOOS == "windows" {
			continue
		}
		if err != nil || moved != "" || len(got) != 1 || got[0] != texts[0][0] && got[0] != texts[1][0] {
			t.Fatalf("%d texts, moved to %q, %v", len(got), moved, err)
		}
	}
	writers.Wait()
	if left, err := os.ReadDir(filepath.Dir(name)); err != nil || len(left) != 1 && runtime.GOOS != "windows" {
		t.Errorf("%v, %v", left, err)
	}
	if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestDamagedTextIsSetAside(t *testing.T) {
	name := filepath.Join(t.TempDir(), "list.json")
	if got, moved, err := ReadJSON[[]string](name); got != nil || moved != "" || err != nil {
		t.Errorf("no file: %v, %q, %v", got, moved, err)
	}
	const damaged = `["a", 1]` // its first element fits
	if err := os.WriteFile(name, []byte(damaged), 0o600); err != nil {
		t.Fatal(err)
	}
	got, moved, err := ReadJSON[[]string](name)
	if got != nil || moved != name+".damaged" || err != nil {
		t.Errorf("%v, %q, %v", got, moved, err)
	}
	if text, err := os.ReadFile(moved); string(text) != damaged {
		t.Errorf("%q, %v", text, err)
	}
}

func TestFailedWriteLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(name, "full"), 0o700); err != nil { // no file can replace it
		t.Fatal(err)
	}
	if err := Write(name, []byte("x")); err == nil {
		t.Error("a folder was replaced")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}
