package policy

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"webchat/internal/agent"
)

// Bounds of one look at what a search may find.
const (
	maxSearched  = 200_000         // entries of folders
	maxSearching = 2 * time.Second // for all of them
	maxHits      = 100             // sensitive files
)

// SearchHits returns the sensitive files among those whose contents a search may
// show: relative to the workspace, or absolute where they are outside. A search by
// names shows no contents, so nothing is among its hits. complete is false if there
// may be more: at most 200,000 entries are looked at, for 2 s or until ctx ends,
// and 100 files are returned.
//
// What is ignored by git counts all the same, links below the folder do not: the
// searches of agents (ripgrep) do not follow them. Where a glob is not understood
// it is taken to match, and its negation not to.
func (p *Policy) SearchHits(ctx context.Context,
	s agent.Search) (sensitive []string, complete bool) {
	if s.Names {
		return nil, true
	}
	root, err := p.searched(s.Path)
	if err != nil {
		return nil, errors.Is(err, fs.ErrNotExist) // a missing file has no hits
	}
	ctx, cancel := context.WithTimeout(ctx, maxSearching)
	defer cancel()
	w := searchWalk{p: p, root: root, workspace: root, left: maxSearched, glob: newSearchGlob(s.Glob)}
	if real, err := filepath.EvalSymlinks(p.workspace); err == nil {
		w.workspace = real
	}
	complete = w.run(ctx)
	return w.found, complete
}

// searched returns where the path of a search leads: as the system walks it, so
// that ".." behind a link leaves what the link leads to.
func (p *Policy) searched(name string) (string, error) {
	switch {
	case name == "":
		name = p.workspace
	case !filepath.IsAbs(name):
		name = p.workspace + string(filepath.Separator) + filepath.FromSlash(name)
	}
	return filepath.EvalSymlinks(name)
}

// searchWalk looks for sensitive files.
type searchWalk struct {
	p         *Policy
	root      string
	workspace string // globs are relative to it
	glob      searchGlob
	left      int // entries that may still be looked at
	found     []string
}

// run reports whether it saw everything.
func (w *searchWalk) run(ctx context.Context) (complete bool) {
	st, err := os.Stat(w.root)
	if err != nil {
		return false
	}
	if !st.IsDir() { // a file that is named is searched whatever the glob
		return w.look(w.root, st)
	}
	complete = true
	for folders := []string{w.root}; len(folders) > 0; folders = folders[1:] {
		f, err := os.Open(folders[0])
		if err != nil {
			continue // the search cannot read it either
		}
		for err == nil && complete {
			var entries []fs.DirEntry
			entries, err = f.ReadDir(indexedBatch)
			w.left -= len(entries)
			complete = w.left >= 0 && ctx.Err() == nil
			for _, e := range entries {
				name := filepath.Join(folders[0], e.Name())
				switch {
				case !complete:
				case e.IsDir() && !w.glob.excludes(w.relative(name)):
					folders = append(folders, name)
				case e.Type().IsRegular() && w.glob.reaches(w.relative(name)):
					if st, err := e.Info(); err == nil {
						complete = w.look(name, st)
					}
				}
			}
		}
		f.Close()
		if !complete {
			return false
		}
	}
	return true
}

// look notes a file if it is sensitive, and reports whether there is room for more.
func (w *searchWalk) look(name string, st fs.FileInfo) bool {
	if slash := filepath.ToSlash(name); !w.p.own(slash) && w.p.secretAt(slash) == "" &&
		!SensitiveFile(name) {
		if _, linked := w.p.links.Sensitive(st); !linked {
			return true
		}
	}
	if len(w.found) == maxHits {
		return false
	}
	w.found = append(w.found, w.relative(name))
	return true
}

// relative is the name of a file as globs and people know it.
func (w *searchWalk) relative(name string) string {
	if rel, ok := strings.CutPrefix(name, strings.TrimSuffix(w.workspace, string(filepath.Separator))+
		string(filepath.Separator)); ok {
		name = rel
	}
	return filepath.ToSlash(name)
}
