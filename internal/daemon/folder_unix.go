//go:build unix

package daemon

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// checkFolder refuses a folder that other users can change: a user who can put a
// token or a log there can act as its owner. A sticky one, such as the /data of a
// container, will do if everything in it is ours, since nobody else can replace
// that. The error names the command that mends it.
func checkFolder(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("the data folder %s cannot be read: %w; choose another with --data-dir", path, Plain(err))
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return fmt.Errorf("the data folder %s is a link that leads nowhere: choose another with --data-dir", path)
		}
		return fmt.Errorf("the data folder %s is a link, which could be made to lead elsewhere: name the folder itself with --data-dir %s", path, quoted(real))
	}
	me, owner := os.Geteuid(), ownerOf(info)
	shared, sticky := info.Mode().Perm()&0o022 != 0, info.Mode()&fs.ModeSticky != 0
	switch {
	case owner == me && !shared:
		return nil
	case sticky && shared && (owner == me || owner == 0):
		return checkEntries(path, me)
	case owner == me:
		return fmt.Errorf("other users can write to the data folder %s: run \"chmod go-w %s\"", path, quoted(path))
	}
	mend := fmt.Sprintf("sudo chown -R %d %s", me, quoted(path))
	if shared {
		mend += " && sudo chmod go-w " + quoted(path)
	}
	return fmt.Errorf("the data folder %s belongs to another user (%d): run \"%s\", or choose another with --data-dir", path, owner, mend)
}

// checkEntries refuses a sticky folder that holds anything of another user but
// what a file system keeps there for itself.
func checkEntries(path string, me int) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return fmt.Errorf("the data folder %s cannot be read: %w; choose another with --data-dir", path, Plain(err))
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || e.Name() == "lost+found" && ownerOf(info) == 0 {
			continue // it has gone, or nobody but root can use it
		}
		name := filepath.Join(path, e.Name())
		if owner := ownerOf(info); owner != me {
			return fmt.Errorf("%s belongs to another user (%d): run \"sudo chown -R %d %s\", or choose another folder with --data-dir", name, owner, me, quoted(name))
		}
	}
	return nil
}

func ownerOf(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return -1
}
