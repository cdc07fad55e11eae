package copilot_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"webchat/internal/agent/copilot"
	"webchat/internal/agent/copilot/copilottest"
)

// Of a session that was forgotten no word is left in what the CLI keeps.
func TestRealForgetsEverything(t *testing.T) {
	b := sharing(t, real(t, copilottest.New(t)))
	other, gone := open(t, b, fresh("other"), false), fresh("gone")
	if err := other.say("hello keptcanary"); err != nil {
		t.Fatal(err)
	}
	k := open(t, b, gone, false)
	for _, prompt := range []string{"hello gonecanary",
		`call bash {"command":"echo gonecanary two","description":"look"}`, "think gonecanary three",
		`call sql {"description":"list","query":"INSERT INTO todos (id, title) VALUES ('a', 'gonecanary four')"}`} {
		if err := k.say(prompt); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.conn.Close(); err != nil {
		t.Fatal(err)
	}
	if found := holding(t, copilot.Home(b), "gonecanary"); len(found) == 0 {
		t.Fatal("the CLI keeps nothing of a session: the test sees nothing")
	}
	if err := b.Forget(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	if found := holding(t, copilot.Home(b), "gonecanary"); len(found) > 0 {
		t.Errorf("words of a deleted session are in %q", found)
	}
	if found := holding(t, copilot.Home(b), "keptcanary"); len(found) == 0 {
		t.Error("the words of another session are gone as well")
	}
}

// holding returns the files below dir that hold a word.
func holding(t *testing.T, dir, word string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(name)
		if bytes.Contains(raw, []byte(word)) {
			found = append(found, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
