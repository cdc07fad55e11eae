package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	workspacesFolder = "workspaces"    // of Home: the state of a confined CLI, by workspace
	stateFolder      = "session-state" // of a home: a folder for each session
	signInFile       = "config.json"   // of a home
)

// HomeOf returns the folder in which the CLI keeps the state of a workspace's sessions: a confined
// one has its own, so that it reaches those of its workspace only.
func (p *Program) HomeOf(workspace string) string {
	if p.cfg.Confine == nil || workspace == "" {
		return p.cfg.Home
	}
	sum := sha256.Sum256([]byte(workspace))
	return filepath.Join(p.cfg.Home, workspacesFolder, hex.EncodeToString(sum[:8]))
}

// Bring moves what the CLI kept of a session to the home of its workspace, if it lies in another:
// it was not confined before, or it was and is not now. It reports whether anything is kept.
func (p *Program) Bring(workspace, id string) (kept bool, err error) {
	root, err := os.OpenRoot(p.cfg.Home) // what agents write there leads nowhere else
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer root.Close()
	to, err := filepath.Rel(p.cfg.Home, filepath.Join(p.HomeOf(workspace), stateFolder, id))
	if err != nil {
		return false, err
	}
	if _, err := root.Lstat(to); err == nil {
		return true, nil
	}
	from := p.whereKept(root, id)
	if from == "" {
		return false, nil
	}
	if err := root.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return true, err
	}
	if !isOwnFolder(root, filepath.Dir(to)) {
		return true, fmt.Errorf("%s is a link", filepath.Dir(to))
	}
	return true, root.Rename(from, to)
}

// whereKept returns where in Home a session is kept; empty: nowhere.
func (p *Program) whereKept(root *os.Root, id string) string {
	homes := []string{"."}
	if list, err := fs.ReadDir(root.FS(), workspacesFolder); err == nil {
		for _, d := range list {
			homes = append(homes, filepath.Join(workspacesFolder, d.Name()))
		}
	}
	for _, home := range homes {
		at := filepath.Join(home, stateFolder, id)
		if isOwnFolder(root, filepath.Dir(at)) && isOwnFolder(root, at) {
			return at
		}
	}
	return ""
}

// isOwnFolder reports whether a path is a folder and no link, which an agent may have made.
func isOwnFolder(root *os.Root, name string) bool {
	st, err := root.Lstat(name)
	return err == nil && st.IsDir()
}

// copySignIn gives a workspace's home the sign-in of the user's. What a confined CLI writes there
// stays there.
func copySignIn(from, to string) error {
	b, err := os.ReadFile(filepath.Join(from, signInFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.WriteFile(signInFile, b, 0o600); err != nil {
		return fmt.Errorf("copy the sign-in: %w", err)
	}
	return nil
}
