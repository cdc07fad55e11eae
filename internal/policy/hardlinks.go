package policy

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Bounds of one index of hard links.
const (
	maxIndexed   = 200_000         // entries of folders
	maxIndexing  = 2 * time.Second // for all of them
	maxIndexAge  = time.Minute     // then folders may have been renamed
	clockMargin  = time.Second     // how far a file system's clock may be behind ours
	indexedBatch = 1024            // entries read at a time
)

// HardLinks reports whether a file is another name of a sensitive file in the same
// folder tree: a hard link, which no resolving of symbolic links finds.
//
// Only files with more than one name are looked for, in an index of the sensitive
// files that have more than one, too. The index is made by a walk of at most
// 200,000 entries and 2 s, folders near the top first; node_modules and git's
// objects are left out. What lies beyond, and a hard link to a file outside of the
// folder, is not found. Where the system does not tell how many names a file has
// (Windows), none is.
//
// A HardLinks may be used from any goroutine; while one makes the index, others
// wait for it.
type HardLinks struct {
	root string

	mu    sync.Mutex
	index map[fileID]string // guarded by mu: the sensitive file, relative to root
	made  time.Time         // guarded by mu: before the walk began
}

// fileID identifies a file on this machine, whatever its names.
type fileID struct{ device, inode uint64 }

// NewHardLinks returns the hard links of a folder, given by its absolute path.
func NewHardLinks(root string) *HardLinks { return &HardLinks{root: root} }

// Sensitive returns the sensitive file, relative to the folder, that the described
// file is another name of.
func (h *HardLinks) Sensitive(st fs.FileInfo) (name string, ok bool) {
	id, names, changed := identity(st)
	if names < 2 || !st.Mode().IsRegular() {
		return "", false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	// Giving a file one more name changes the file. So an index that is younger
	// than the file's last change knows all of its names.
	if h.index == nil || !changed.Before(h.made.Add(-clockMargin)) ||
		time.Since(h.made) > maxIndexAge {
		h.made = time.Now()
		h.index = indexLinks(h.root, h.made.Add(maxIndexing))
	}
	name, ok = h.index[id]
	return name, ok
}

// indexLinks finds the sensitive files below root that have more than one name.
func indexLinks(root string, until time.Time) map[fileID]string {
	found, left := map[fileID]string{}, maxIndexed
	for folders := []string{""}; len(folders) > 0; folders = folders[1:] {
		f, err := os.Open(filepath.Join(root, folders[0]))
		if err != nil {
			continue // it cannot be read by its other names either
		}
		for err == nil {
			var entries []fs.DirEntry
			entries, err = f.ReadDir(indexedBatch)
			if left -= len(entries); left < 0 || time.Now().After(until) {
				f.Close()
				return found
			}
			for _, e := range entries {
				name := filepath.Join(folders[0], e.Name())
				switch {
				case e.IsDir() && !leftOut(name):
					folders = append(folders, name)
				case e.Type().IsRegular() && SensitiveFile(filepath.Join(root, name)):
					if st, err := e.Info(); err == nil {
						if id, names, _ := identity(st); names > 1 {
							found[id] = name
						}
					}
				}
			}
		}
		f.Close()
	}
	return found
}

// leftOut reports whether a folder is too large and too dull to be walked.
func leftOut(folder string) bool {
	base := filepath.Base(folder)
	return base == "node_modules" || base == "objects" && filepath.Base(filepath.Dir(folder)) == ".git"
}

// HardLinked returns the sensitive file of the workspace, relative to it, that the
// file with this name is a hard link to. Symbolic links are followed first.
func (p *Policy) HardLinked(name string) (sensitive string, ok bool) {
	st, err := os.Stat(filepath.FromSlash(p.absolute(name)))
	if err != nil {
		return "", false
	}
	return p.links.Sensitive(st)
}
