package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/charlievieth/fastwalk"
)

// Bounds of a look at a workspace.
const (
	maxPaths   = 1_000_000
	maxBytes   = 64 << 20 // of all names together
	maxPath    = 4096     // bytes of one name
	maxDepth   = 64
	maxFolders = 256 // repositories below one another
)

// skipped folders hold what is not typed by hand.
var skipped = []string{".git", ".hg", ".svn", "node_modules", ".venv", "__pycache__"}

// errEnough ends a look that reached its bounds. What was found counts.
var errEnough = errors.New("enough")

// gathering is one look at a workspace.
type gathering struct {
	root  string
	env   []string
	named func(name string) bool

	top     *os.Root
	folders []string // still to look at, relative; each may be a repository

	mu    sync.Mutex // guards what follows: a walk has several goroutines
	paths []string
	bytes int
}

// all finds what there is. It returns nil also when it was cut short by a bound.
func (g *gathering) all(ctx context.Context) error {
	var err error
	if g.top, err = os.OpenRoot(g.root); err != nil {
		return err
	}
	defer g.top.Close()
	g.folders = []string{"."}
	for n := 0; n < len(g.folders) && n < maxFolders && err == nil; n++ {
		err = g.folder(ctx, g.folders[n])
	}
	if errors.Is(err, errEnough) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// folder looks at one folder, with git if it can.
func (g *gathering) folder(ctx context.Context, dir string) error {
	own := g.isRepository(dir)
	if own || dir == "." && RepositoryOf(g.root) != "" {
		before, bytes, folders := len(g.paths), g.bytes, len(g.folders)
		err := g.git(ctx, dir)
		if errors.Is(err, errEnough) || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		// A folder that the repository around it ignores is looked at because it is the user's
		// working folder.
		if err == nil && (own || len(g.paths) > before) {
			return nil
		}
		g.paths, g.bytes, g.folders = g.paths[:before], bytes, g.folders[:folders]
	}
	return g.walk(ctx, dir)
}

func (g *gathering) isRepository(dir string) bool {
	_, err := g.top.Lstat(path.Join(dir, ".git"))
	return err == nil
}

// walk finds every file below dir. It follows no links: they may lead out of the workspace, and in
// circles.
func (g *gathering) walk(ctx context.Context, dir string) error {
	start := filepath.Join(g.root, filepath.FromSlash(dir))
	return fastwalk.Walk(&fastwalk.Config{NumWorkers: 4, MaxDepth: maxDepth}, start,
		func(name string, d fs.DirEntry, err error) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err != nil {
				if name == g.root {
					return err
				}
				return nil // a folder that cannot be read completes nothing
			}
			rel, err := filepath.Rel(g.root, name)
			if err != nil {
				return err
			}
			rel = filepath.ToSlash(rel)
			switch {
			case !d.IsDir():
				if !d.Type().IsRegular() && d.Type() != fs.ModeSymlink {
					return nil
				}
				return g.add(rel)
			case rel == dir:
				return nil
			case slices.Contains(skipped, d.Name()):
				return filepath.SkipDir
			case g.isRepository(rel):
				g.mu.Lock()
				defer g.mu.Unlock()
				g.folders = append(g.folders, rel)
				return filepath.SkipDir
			}
			return nil
		})
}

// add takes a path, unless it could not be typed or read.
func (g *gathering) add(name string) error {
	if len(name) > maxPath || !writable(name) {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.paths) >= maxPaths || g.bytes+len(name) > maxBytes {
		return errEnough
	}
	g.paths = append(g.paths, name)
	g.bytes += len(name)
	return nil
}

// writable reports whether a name is text on one line.
func writable(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' ||
			unicode.Is(unicode.Bidi_Control, r)
	})
}
