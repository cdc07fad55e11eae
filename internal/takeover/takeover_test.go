package takeover

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"webchat/internal/daemon"
)

// lists are logs of which a folder's webchat.db lists the sessions, one a line. What is
// behind a line "damaged" cannot be read.
type lists struct {
	dir string
	err error // of the user's folder
}

func (l lists) read(folder string) (ids []string, damaged error) {
	b, err := os.ReadFile(filepath.Join(folder, "webchat.db"))
	if err != nil {
		return nil, nil
	}
	before, _, found := strings.Cut(string(b), "damaged")
	if found {
		damaged = errors.New("the file is damaged")
	}
	return strings.Fields(before), damaged
}

func (l lists) write(folder string, ids []string) error {
	return os.WriteFile(filepath.Join(folder, "webchat.db"), []byte(strings.Join(ids, "\n")), 0o600)
}

func (l lists) Adopt(_ context.Context, folder string) (a Adopted, err error) {
	if l.err != nil {
		return a, l.err
	}
	own, _ := l.read(l.dir)
	theirs, damaged := l.read(folder)
	a.Here, a.Damaged = len(theirs), damaged
	for _, id := range theirs {
		if !slices.Contains(own, id) {
			own, a.New = append(own, id), a.New+1
		}
	}
	return a, l.write(l.dir, own)
}

func (l lists) DeleteIn(_ context.Context, folder, id string) error {
	ids, damaged := l.read(folder)
	if damaged != nil {
		return damaged
	}
	return l.write(folder, slices.DeleteFunc(ids, func(s string) bool { return s == id }))
}

// put writes files below a folder, dated age hours ago.
func put(t *testing.T, dir string, age int, files map[string]string) {
	t.Helper()
	at := time.Now().Add(-time.Duration(age) * time.Hour)
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600), os.Chtimes(name, at, at)); err != nil {
			t.Fatal(err)
		}
	}
}

// home makes the user's data folder with two old ones, of which relay was made first.
func home(t *testing.T) (dir, relay, tide string) {
	dir = filepath.Join(t.TempDir(), "webchat")
	relay, tide = filepath.Join(dir, "relay-0123456789ab"), filepath.Join(dir, "tide-ba9876543210")
	put(t, relay, 9, map[string]string{"token": "first", "signins": "[]", "webchat.db": "r1\nr2", "lock": "", "open.html": "link",
		"copilot/config.json": "older", "copilot/session-state/r1/events.jsonl": "memory of r1", "copilot/logs/a.log": "log", "webchat.db.corrupt-1": "kept",
		"grants.json": `[{"id":"g1","workspace":"/relay"}]`})
	put(t, tide, 5, map[string]string{"token": "second", "webchat.db": "t1", "copilot/config.json": "newer", "agents/gemini/t1": "native", "outputs/t1/out_A": "shown",
		"grants.json": `[{"id":"g2","workspace":"/tide"},{"id":"g1","workspace":"/relay"}]`})
	put(t, dir, 1, map[string]string{"copilot-notes/own": "not an old folder"})
	return dir, relay, tide
}

func takeOver(t *testing.T, dir string, s lists) (*Old, string) {
	t.Helper()
	s.dir = dir
	var said bytes.Buffer
	old, err := Run(t.Context(), Config{Dir: dir, Sessions: s, Logger: slog.New(slog.NewTextHandler(&said, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return old, said.String()
}

// holds compares files below dir; "" means that there is none.
func holds(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, want := range files {
		b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if want == "" && !errors.Is(err, fs.ErrNotExist) || want != "" && string(b) != want {
			t.Errorf("%s holds %q (%v), want %q", name, b, err, want)
		}
	}
}

func TestEverythingIsTakenOverOnceAndThenRemoved(t *testing.T) {
	dir, relay, tide := home(t)
	if err := Token(dir); err != nil {
		t.Fatal(err)
	}
	if _, said := takeOver(t, dir, lists{}); strings.Count(said, "was taken over") != 2 || !strings.Contains(said, "sessions=2") {
		t.Error(said)
	}
	brought := map[string]string{"token": "first", "signins": "[]", "webchat.db": "r1\nr2\nt1", "open.html": "", "copilot/config.json": "newer",
		"copilot/session-state/r1/events.jsonl": "memory of r1", "copilot/logs/a.log": "", "webchat.db.corrupt-1": "kept", "agents/gemini/t1": "native", "outputs/t1/out_A": "shown"}
	holds(t, dir, brought)
	var grants []struct{ ID, Workspace string }
	b, err := os.ReadFile(filepath.Join(dir, "grants.json"))
	if err == nil {
		err = json.Unmarshal(b, &grants)
	}
	if err != nil || len(grants) != 2 {
		t.Errorf("%+v, %v", grants, err)
	}
	holds(t, relay, map[string]string{"webchat.db": "r1\nr2", "copilot/session-state/r1/events.jsonl": "memory of r1"})
	if _, said := takeOver(t, dir, lists{}); strings.Count(said, "was removed") != 2 {
		t.Error(said)
	}
	for _, gone := range []string{relay, tide} {
		if _, err := os.Stat(gone); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", gone, err)
		}
	}
	if _, said := takeOver(t, dir, lists{}); said != "" {
		t.Error(said)
	}
	brought["takenover.json"], brought["copilot-notes/own"] = "", "not an old folder"
	holds(t, dir, brought)
}

func TestTheTokenThatIsThereStays(t *testing.T) {
	dir, _, _ := home(t)
	put(t, dir, 0, map[string]string{"token": "own"})
	if err := Token(dir); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, map[string]string{"token": "own", "signins": ""})
	if err := Token(filepath.Join(dir, "none")); err != nil {
		t.Errorf("without any folder: %v", err)
	}
}

func TestDeletionsReachOldFoldersUntilTheyAreRemoved(t *testing.T) {
	dir, relay, tide := home(t)
	old, _ := takeOver(t, dir, lists{})
	for _, id := range []string{"r1", "t1", "never", "../webchat.db"} {
		if err := old.Delete(t.Context(), id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	holds(t, relay, map[string]string{"webchat.db": "r2", "copilot/session-state/r1/events.jsonl": ""})
	holds(t, tide, map[string]string{"agents/gemini/t1": "", "outputs/t1/out_A": ""})
	if err := (&Old{}).Delete(t.Context(), "r1"); err != nil {
		t.Errorf("without old folders: %v", err)
	}
}

func TestWhatIsLostHereIsTakenAgain(t *testing.T) {
	dir, relay, _ := home(t)
	takeOver(t, dir, lists{})
	put(t, dir, 0, map[string]string{"webchat.db": "t1"}) // such as a file that was moved aside for damage
	if _, said := takeOver(t, dir, lists{}); strings.Count(said, "was removed") != 1 || strings.Count(said, "was taken over") != 1 {
		t.Error(said)
	}
	holds(t, dir, map[string]string{"webchat.db": "t1\nr1\nr2"})
	takeOver(t, dir, lists{})
	if _, err := os.Stat(relay); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestALockedFolderWaits(t *testing.T) {
	dir, relay, _ := home(t)
	server, err := daemon.Open(relay)
	if err != nil {
		t.Fatal(err)
	}
	if _, said := takeOver(t, dir, lists{}); !strings.Contains(said, "is in use by a webchat: end that, and the next start takes the folder over") || strings.Count(said, "was taken over") != 1 {
		t.Error(said)
	}
	holds(t, dir, map[string]string{"webchat.db": "t1"})
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	takeOver(t, dir, lists{})
	holds(t, dir, map[string]string{"webchat.db": "t1\nr1\nr2", "copilot/session-state/r1/events.jsonl": "memory of r1"})
}

func TestACutOffTakeoverGoesOn(t *testing.T) {
	dir, relay, _ := home(t)
	// What a start leaves that was killed while it copied the second file, and one whose disk was full.
	put(t, dir, 0, map[string]string{"copilot/session-state/r1/events.jsonl.tmp": "mem", "grants.json": `[{"id":"g1","workspace":"/relay"}]`})
	if _, said := takeOver(t, dir, lists{err: errors.New("the disk is full")}); strings.Count(said, "the disk is full") != 2 {
		t.Error(said)
	}
	if _, said := takeOver(t, dir, lists{}); strings.Count(said, "was taken over") != 2 {
		t.Error(said)
	}
	holds(t, dir, map[string]string{"webchat.db": "r1\nr2\nt1", "copilot/session-state/r1/events.jsonl": "memory of r1", "copilot/session-state/r1/events.jsonl.tmp": ""})
	holds(t, relay, map[string]string{"webchat.db": "r1\nr2"})
}

func TestADamagedFolderStays(t *testing.T) {
	dir, relay, _ := home(t)
	put(t, relay, 2, map[string]string{"webchat.db": "r1\ndamaged"})
	old, said := takeOver(t, dir, lists{})
	if !strings.Contains(said, "is damaged: what can be read was taken over, and it stays where it is") {
		t.Error(said)
	}
	holds(t, dir, map[string]string{"webchat.db": "r1\nt1", "copilot/session-state/r1/events.jsonl": "memory of r1"})
	if err := old.Delete(t.Context(), "r1"); err != nil {
		t.Errorf("a session that may be in a damaged folder cannot be deleted: %v", err)
	}
	takeOver(t, dir, lists{})
	if _, said := takeOver(t, dir, lists{}); said != "" {
		t.Error(said)
	}
	holds(t, relay, map[string]string{"webchat.db": "r1\ndamaged", "copilot/session-state/r1/events.jsonl": ""})
}
