package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// read returns what the file lists. One that cannot be understood is set aside.
func readWorkspaces(file string) (list []kept, moved string, err error) {
	b, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", nil
	case err != nil:
		return nil, "", fmt.Errorf("read the list of workspaces: %w", err)
	}
	if json.Unmarshal(b, &list) == nil {
		return list, "", nil
	}
	moved = file + ".damaged"
	if err := os.Rename(file, moved); err != nil {
		return nil, "", fmt.Errorf("set the damaged list of workspaces aside: %w", err)
	}
	return nil, moved, nil
}

// save replaces the file whole. What cannot be saved holds until the server ends: a
// full disk must not keep anyone from working. The caller holds mu.
func (l *Workspaces) save() {
	if l.cfg.File == "" {
		return
	}
	b, err := json.MarshalIndent(l.known, "", "\t")
	if err == nil {
		err = replaceWorkspaces(l.cfg.File, append(b, '\n'))
	}
	if err != nil {
		l.cfg.Logger.Warn("the list of open folders was not saved: it is as before at the next start", "error", err)
	}
}

func replaceWorkspaces(file string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.tmp") // for its owner only
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
