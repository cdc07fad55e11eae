package session_test

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/session"
	"webchat/internal/tokens"
)

func write(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	p := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// workspace is a folder with something of each kind.
func workspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "main.go", []byte("package main\n\nfunc main() {\n}"))
	write(t, dir, "latin.txt", []byte("Gr\xfc\xdfe\n"))
	write(t, dir, "wide.txt", []byte("\xff\xfeo\x00n\x00e\x00 \x00\x0a\x01\n\x00t\x00w\x00o\x00\n\x00"))
	write(t, dir, "bin", []byte("a\x00b"))
	write(t, dir, ".env", []byte("TOKEN=1\n"))
	write(t, dir, "empty", nil)
	write(t, dir, "sub/deep/x", nil)
	write(t, dir, "sub/a\nb", nil)
	write(t, dir, "huge.log", bytes.Repeat([]byte("0123456789abcde\n"), 1<<17))
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1024, 512))); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "logo.png", b.Bytes())
	return dir
}

// What a price says is what goes with the prompt, to the token.
func TestWhatGoesIsWhatIsPriced(t *testing.T) {
	dir := workspace(t)
	r := session.Config{Workspace: dir}
	for _, c := range []struct {
		path, lines string
		what        session.AttachmentKind
		name, data  string
	}{
		{"main.go", "", session.AttachedText, "main.go", "package main\n\nfunc main() {\n}"},
		{"./main.go", "1-3", session.AttachedText, "main.go:1-3", "package main\n\nfunc main() {\n"},
		{"main.go", "4", session.AttachedText, "main.go:4", "}"},
		{"main.go", "3-3", session.AttachedText, "main.go:3", "func main() {\n"},
		{"latin.txt", "", session.AttachedText, "latin.txt", "Grüße\n"},
		{"wide.txt", "", session.AttachedText, "wide.txt", "one Ċ\ntwo\n"},
		{"wide.txt", "2", session.AttachedText, "wide.txt:2", "two\n"},
		{"empty", "", session.AttachedText, "empty", ""},
		{"sub", "", session.AttachedFolder, "sub/", "deep/\na?b\n"},
		{"sub/", "", session.AttachedFolder, "sub/", "deep/\na?b\n"},
		{"huge.log", "2-3", session.AttachedText, "huge.log:2-3", "0123456789abcde\n0123456789abcde\n"},
		{"huge.log", "131072", session.AttachedText, "huge.log:131072", "0123456789abcde\n"},
	} {
		if runtime.GOOS == "windows" && strings.HasPrefix(c.path, "sub") {
			continue // names hold no line ends there
		}
		f, err := session.FindAttachment(nil, dir, c.path, c.lines)
		if err != nil {
			t.Errorf("%s:%s: %v", c.path, c.lines, err)
			continue
		}
		got, err := r.Resolve(t.Context(), "s", []event.Attachment{{Path: c.path, Lines: c.lines}})
		if err != nil || len(got) != 1 || got[0].Name != c.name || string(got[0].Data) != c.data ||
			got[0].Path != "" {
			t.Errorf("%s:%s goes as %+v, %v", c.path, c.lines, got, err)
			continue
		}
		n, exact := f.Tokens()
		if want, _ := tokens.Count(string(got[0].Data)); f.What != c.what || n != want || !exact {
			t.Errorf("%s:%s is %s and costs %d, exactly %v; want %d", c.path, c.lines, f.What, n, exact,
				want)
		}
	}
	f, err := session.FindAttachment(nil, dir, "logo.png", "")
	if err != nil {
		t.Fatal(err)
	}
	if n, exact := f.Tokens(); f.What != session.AttachedPicture || n != 85+170*2 || exact {
		t.Errorf("a picture is %s and costs %d", f.What, n)
	}
	got, err := r.Resolve(t.Context(), "s", []event.Attachment{{Path: "bin"}})
	if err != nil || got[0].Path != filepath.Join(dir, "bin") || got[0].Data != nil {
		t.Errorf("a file that is not text goes as %+v, %v", got, err)
	}
}

// Of what is only named nothing goes but its name.
func TestNameOnly(t *testing.T) {
	r := session.Config{Workspace: workspace(t)}
	for path, want := range map[string]string{"main.go": "The user points to main.go, lines 2-3. " +
		"You were not given its " +
		"content.", ".env": "The user points to .env, lines 1. You were not given its content."} {
		lines := "1"
		if path == "main.go" {
			lines = "2-3"
		}
		got, err := r.Resolve(t.Context(), "s", []event.Attachment{{
			Path:    path,
			Lines:   lines,
			Mention: true,
		}})
		if err != nil || string(got[0].Data) != want || got[0].Path != "" {
			t.Errorf("%s: %+v, %v", path, got, err)
		}
	}
}

// A file that may hold secrets goes only where the user said so, whichever its name.
func TestSensitiveNeedsASecondWord(t *testing.T) {
	dir := workspace(t)
	names := []string{".env", "./.env", filepath.Join(dir, ".env")}
	if err := os.Symlink(".env", filepath.Join(dir, "plain.txt")); err == nil {
		names = append(names, "plain.txt")
	}
	if err := os.Link(filepath.Join(dir, ".env"), filepath.Join(dir, "other.txt")); err == nil &&
		runtime.GOOS != "windows" {
		names = append(names, "other.txt")
	}
	r := session.Config{Workspace: dir}
	for _, name := range names {
		got, err := r.Resolve(t.Context(), "s", []event.Attachment{{Path: name}})
		if !errors.Is(err, session.ErrSensitive) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		got, err = r.Resolve(t.Context(), "s", []event.Attachment{{Path: name, Sensitive: true}})
		if err != nil || string(got[0].Data) != "TOKEN=1\n" {
			t.Errorf("%s, said twice: %+v, %v", name, got, err)
		}
	}
}

// Nor does one whose content looks like it, and the refusal says so.
func TestContentNeedsASecondWord(t *testing.T) {
	dir := workspace(t)
	uploads := putTexts{"u": "db:\n  password: hunter2-hunter2\n", "v": "nothing\n"}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte(uploads["u"]), 0o600); err != nil {
		t.Fatal(err)
	}
	r := session.Config{Workspace: dir, Attachments: uploads}
	for _, a := range []event.Attachment{{Path: "notes.txt"}, {Path: "notes.txt", Lines: "1"},
		{ID: "u", Name: "notes.txt"}, {ID: "u"}} {
		_, err := r.Resolve(t.Context(), "s", []event.Attachment{a})
		if !errors.Is(err, session.ErrSensitive) || !errors.Is(err, eventlog.ErrInvalid) ||
			!strings.Contains(err.Error(), "it holds what looks like a key or password") ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%+v: %v", a, err)
		}
		a.Sensitive = true
		if got, err := r.Resolve(t.Context(), "s", []event.Attachment{a}); err != nil ||
			!strings.HasPrefix(string(got[0].Data), "db:\n") {
			t.Errorf("%+v, said twice: %+v, %v", a, got, err)
		}
	}
	if f, err := session.FindAttachment(nil, dir, "notes.txt", ""); err != nil || !f.Sensitive ||
		f.Looks != "holds what looks like a key or password" {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := r.Resolve(t.Context(), "s", []event.Attachment{{ID: "v", Name: "notes.txt"},
		{Path: "notes.txt", Mention: true}}); err != nil {
		t.Error(err)
	}
}

// putTexts are texts by their ids.
type putTexts map[string]string

func (putTexts) Put(string, string, []byte) (string, error) {
	return "", errors.New("it takes nothing")
}
func (putTexts) DeleteSession(string) {}
func (u putTexts) Get(_, id string) (string, []byte, error) {
	return "text/plain", []byte(u[id]), nil
}

// What cannot go is refused with a sentence.
func TestRefusedFiles(t *testing.T) {
	dir := workspace(t)
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "out")); err != nil {
		t.Skip(err)
	}
	r := session.Config{Workspace: dir}
	for _, c := range []struct {
		a    event.Attachment
		says string
		kind error
	}{
		{event.Attachment{Path: "no.go"}, "no.go", eventlog.ErrNotFound},
		{event.Attachment{Path: "../x"}, "outside the workspace", eventlog.ErrInvalid},
		{event.Attachment{Path: "out"}, "outside the workspace", eventlog.ErrInvalid},
		{event.Attachment{Path: "out/x"}, "outside the workspace", eventlog.ErrInvalid},
		{event.Attachment{Path: "main.go", Lines: "3-9"}, "its last line is 4", eventlog.ErrInvalid},
		{event.Attachment{Path: "empty", Lines: "1"}, "is empty", eventlog.ErrInvalid},
		{event.Attachment{Path: "main.go", Lines: "0"}, "not of the form", eventlog.ErrInvalid},
		{event.Attachment{Path: "main.go", Lines: "4-3"}, "not of the form", eventlog.ErrInvalid},
		{event.Attachment{Path: "bin", Lines: "1"}, "has no lines", eventlog.ErrInvalid},
		{event.Attachment{Path: "logo.png", Lines: "1"}, "has no lines", eventlog.ErrInvalid},
		{event.Attachment{Path: "sub", Lines: "1"}, "has no lines", eventlog.ErrInvalid},
		{event.Attachment{Path: "huge.log"}, "huge.log:1-200", eventlog.ErrInvalid},
		{event.Attachment{Path: "huge.log", Lines: "1-131072"}, "Name fewer lines", eventlog.ErrInvalid},
		{event.Attachment{ID: "x", Lines: "1"}, "name one of", eventlog.ErrInvalid},
		{event.Attachment{OutputID: "x", Sensitive: true}, "name one of", eventlog.ErrInvalid},
	} {
		_, err := r.Resolve(t.Context(), "s", []event.Attachment{c.a})
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c.a, err)
		}
	}
}
