package takeover

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// notBrought are the files of an old folder that are of a running server, or are
// brought in other ways. Agents' logs are of no use any more.
var notBrought = []string{"lock", "server.json", "control", "open.html", "token", "signins", grantsFile, "webchat.db", "webchat.db-wal", "webchat.db-shm", "copilot/logs"}

const grantsFile = "grants.json"

// files brings everything of an old folder that is a file, where there is none here.
func (o *Old) files(folder string) error {
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(folder, path)
		if err != nil || rel == "." {
			return err
		}
		if slices.Contains(notBrought, filepath.ToSlash(rel)) || strings.HasSuffix(rel, ".tmp") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		return copyMissing(path, filepath.Join(o.Dir, rel))
	})
	if err != nil {
		return fmt.Errorf("bring its files: %w", err)
	}
	return o.grants(filepath.Join(folder, grantsFile))
}

// loginFile is where the Copilot CLI notes who is signed in.
const loginFile = "copilot/config.json"

// newestLogin brings the agents' sign-in that was changed last, before the older ones.
func (o *Old) newestLogin(list []string) error {
	var newest string
	var at int64
	for _, folder := range list {
		name := filepath.Join(folder, filepath.FromSlash(loginFile))
		if info, err := os.Lstat(name); err == nil && info.ModTime().UnixNano() > at {
			newest, at = name, info.ModTime().UnixNano()
		}
	}
	if newest == "" {
		return nil
	}
	to := filepath.Join(o.Dir, filepath.FromSlash(loginFile))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return copyMissing(newest, to)
}

// grants adds what was allowed for the workspace to what is allowed here. A file that
// cannot be understood allows nothing.
func (o *Old) grants(old string) error {
	var add, all []map[string]any
	b, err := os.ReadFile(old)
	if errors.Is(err, fs.ErrNotExist) || err == nil && json.Unmarshal(b, &add) != nil || len(add) == 0 && err == nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("bring what was allowed: %w", err)
	}
	file := filepath.Join(o.Dir, grantsFile)
	if b, err = os.ReadFile(file); err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("bring what was allowed: %w", err)
	}
	for _, g := range add {
		if !slices.ContainsFunc(all, func(h map[string]any) bool { return h["id"] == g["id"] && h["workspace"] == g["workspace"] }) {
			all = append(all, g)
		}
	}
	return writeJSON(file, all)
}

// copyMissing copies a file, a link or an empty folder to where there is nothing, for
// its owner only. A file is there whole or not at all. What is nothing of these is left.
func copyMissing(from, to string) error {
	info, err := os.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.MkdirAll(to, 0o700)
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case !info.Mode().IsRegular():
		return nil
	}
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	return replace(to, func(f *os.File) error {
		_, err := io.Copy(f, source)
		if err == nil {
			err = f.Chmod(info.Mode().Perm() & 0o700)
		}
		return err
	}, func(name string) error { return os.Chtimes(name, info.ModTime(), info.ModTime()) })
}

func writeJSON(name string, v any) error {
	b, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return err
	}
	return replace(name, func(f *os.File) error {
		_, err := f.Write(append(b, '\n'))
		return errors.Join(err, f.Sync())
	}, func(string) error { return nil })
}

// replace writes a file whole; then does what is to be done to a closed file.
func replace(name string, write func(*os.File) error, closed func(string) error) error {
	// What was cut off leaves one file at most, which the next try writes anew.
	f, err := os.OpenFile(name+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = write(f)
	if err = errors.Join(err, f.Close()); err == nil {
		err = closed(f.Name())
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
