//go:build unix

package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"webchat/internal/wording"
)

// checkFolder refuses a folder that other users can change: a user who can put a
// token or a log there can act as its owner. The error names the command that mends
// it.
func checkFolder(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("the data folder %s cannot be read: %w; choose another with --data-dir", path,
			Plain(err))
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return fmt.Errorf(
				"the data folder %s is a link that leads nowhere: choose another with --data-dir", path)
		}
		return fmt.Errorf(
			"the data folder %s is a link, which could be made to lead elsewhere: name the folder itself "+
				"with --data-dir %s", path, wording.CommandLine(real))
	}
	me, owner, shared := os.Geteuid(), ownerOf(info), info.Mode().Perm()&0o022 != 0
	switch {
	case owner == me && !shared:
		return nil
	case owner == me:
		return fmt.Errorf("other users can write to the data folder %s: run \"chmod go-w %s\"", path,
			wording.CommandLine(path))
	}
	mend := fmt.Sprintf("sudo chown -R %d %s", me, wording.CommandLine(path))
	if shared {
		mend += " && sudo chmod go-w " + wording.CommandLine(path)
	}
	return fmt.Errorf(
		"the data folder %s belongs to another user (%d): run \"%s\", or choose another with --data-dir",
		path, owner, mend)
}

// Reclaim takes a data folder back from others who may write to it, and refuses one in
// which another user has put something. It is for containers, where what mounts a volume
// changes modes as well: Kubernetes has a group write to all of it, at each start.
func Reclaim(path string) error {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() || ownerOf(info) != os.Geteuid() {
		return nil // MakeFolder makes or judges it
	}
	if err := makePrivate(path, info); err != nil {
		return fmt.Errorf(
			"the data folder %s cannot be taken back from others: %w; choose another with --data-dir", path,
			Plain(err))
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return fmt.Errorf("the data folder %s cannot be read: %w; choose another with --data-dir", path,
			Plain(err))
	}
	for _, e := range entries {
		name := filepath.Join(path, e.Name())
		info, err := e.Info()
		if err == nil && ownerOf(info) != os.Geteuid() {
			return fmt.Errorf(
				"%s belongs to another user (%d): remove it, or choose another folder with --data-dir", name,
				ownerOf(info))
		}
		if err == nil {
			err = makePrivate(name, info)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf(
				"%s cannot be taken back from others: %w; choose another folder with --data-dir", name,
				Plain(err))
		}
	}
	return nil
}

// makePrivate takes all rights of others. What they have stays on a disk that can only be
// read.
func makePrivate(name string, info fs.FileInfo) error {
	mode := info.Mode()
	if mode&fs.ModeSymlink != 0 || mode.Perm()&0o077 == 0 {
		return nil
	}
	if err := os.Chmod(name, mode.Perm()&^0o077); !errors.Is(err, syscall.EROFS) {
		return err
	}
	return nil
}

func ownerOf(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return -1
}
