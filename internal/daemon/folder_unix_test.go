//go:build unix

package daemon

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func somebody(t *testing.T, name string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to somebody else")
	}
	if err := os.Lchown(name, 12345, -1); err != nil {
		t.Fatal(err)
	}
}

// THREATS 83: a data folder that others can change is refused, and what the refusal
// says to run mends it.
func TestSharedDataFolders(t *testing.T) {
	for name, c := range map[string]struct {
		mode  os.FileMode
		more  func(t *testing.T, dir string)
		wants string // empty: it will do
	}{
		"own":                   {0o700, nil, ""},
		"own, others may read":  {0o755, nil, ""},
		"everybody":             {0o777, nil, "other users can write to the data folder"},
		"a group":               {0o770, nil, "other users can write to the data folder"},
		"others":                {0o702, nil, "other users can write to the data folder"},
		"sticky":                {0o777 | os.ModeSticky, nil, "other users can write to the data folder"},
		"somebody's":            {0o755, somebody, "belongs to another user (12345)"},
		"somebody's, everybody": {0o777, somebody, "belongs to another user (12345)"},
		"somebody's, sticky":    {0o777 | os.ModeSticky, somebody, "belongs to another user (12345)"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "with a space")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if c.more != nil {
				c.more(t, dir)
			}
			if err := os.Chmod(dir, c.mode); err != nil {
				t.Fatal(err)
			}
			err := MakeFolder(dir)
			if c.wants == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.wants) {
				t.Fatalf("%v", err)
			}
			mend := regexp.MustCompile(`run "([^"]+)"`).FindStringSubmatch(err.Error())
			if mend == nil {
				t.Fatalf("it does not say what to run: %v", err)
			}
			if out, err := exec.Command("sh", "-c", strings.ReplaceAll(mend[1], "sudo ",
				"")).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v %s", mend[1], err, out)
			}
			if err := MakeFolder(dir); err != nil {
				t.Errorf("after %q: %v", mend[1], err)
			}
		})
	}
}

// THREATS 83: what a group was given of a container's data folder is taken back, and what
// another user put there meanwhile is refused.
func TestReclaim(t *testing.T) {
	for name, c := range map[string]struct {
		plant func(t *testing.T, token, elsewhere string) error
		wants string // empty: it will do
	}{
		"our token": {func(_ *testing.T, token, _ string) error {
			return os.WriteFile(token, nil, 0o660)
		}, ""},
		"our link": {func(_ *testing.T, token, elsewhere string) error {
			return os.Symlink(elsewhere, token)
		}, ""},
		"their token": {func(t *testing.T, token, _ string) error {
			defer somebody(t, token)
			return os.WriteFile(token, nil, 0o660)
		}, "/token belongs to another user (12345)"},
		"their link": {func(t *testing.T, token, elsewhere string) error {
			defer somebody(t, token)
			return os.Symlink(elsewhere, token)
		}, "/token belongs to another user (12345)"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere")
			token := filepath.Join(dir, "token")
			if err := errors.Join(os.WriteFile(elsewhere, nil, 0o600), os.Chmod(elsewhere, 0o664),
				c.plant(t, token, elsewhere), os.Chmod(dir, 0o770|os.ModeSetgid)); err != nil {
				t.Fatal(err)
			}
			err := Reclaim(dir)
			if c.wants != "" {
				for range 2 { // another start does not make it ours
					if err == nil || !strings.Contains(err.Error(), c.wants) {
						t.Errorf("%v, want %q", err, c.wants)
					}
					err = Reclaim(dir)
				}
				return
			}
			if err = errors.Join(err, MakeFolder(dir)); err != nil {
				t.Error(err)
			}
			if info, err := os.Lstat(token); err != nil || info.Mode().IsRegular() &&
				info.Mode().Perm() != 0o600 {
				t.Errorf("the token: %v %v", info, err)
			}
			if info, err := os.Stat(elsewhere); err != nil || info.Mode().Perm() != 0o664 {
				t.Errorf("what a link leads to: %v %v", info, err)
			}
		})
	}
}

// THREATS 83: a link is not followed to wherever it leads by now.
func TestLinkedDataFolder(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := MakeFolder(real); err != nil {
		t.Fatal(err)
	}
	for to, want := range map[string]string{real: "--data-dir " + real,
		filepath.Join(dir, "none"): "leads nowhere"} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
		if err := MakeFolder(link); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a link to %s: %v", to, err)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
}

// The place of a socket outside of the data folder can be guessed: one that another user
// can change is not used, and does not get the token.
func TestSharedPlaceOfTheSocket(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 100))
	place := sockets(dir)[1]
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Mkdir(filepath.Dir(place), 0o700),
		os.Chmod(filepath.Dir(place), 0o777)); err != nil {
		t.Fatal(err)
	}
	if c, err := Listen(t.Context(), ControlConfig{Dir: dir}); err == nil {
		t.Errorf("it listens in a folder that everybody can change: %v", c.Close())
	}
	other, err := net.Listen("unix", place)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if conn, err := (Client{Dir: dir, Token: "secret"}).dial(t.Context()); err == nil {
		t.Errorf("it asks another user's server: %v", conn.Close())
	}
}
