package files

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"webchat/internal/document"
)

// What callers may ask errors.Is about.
var (
	// ErrFolder: the path does not name a folder that can be worked in.
	ErrFolder = errors.New("not a folder")
	// ErrUnconfined: nothing can run in the folder as the settings want it, for the reason given.
	ErrUnconfined = errors.New("cannot be confined")
	// ErrMissing: the folder of a workspace was removed, unmounted or replaced.
	ErrMissing = errors.New("is not there")
	// ErrUnknown: no workspace with that id or path is open.
	ErrUnknown = errors.New("not open")
	// ErrLast: the only open workspace cannot be closed.
	ErrLast = errors.New("the only open folder")
)

// Workspace is a folder that sessions work in.
type Workspace struct {
	ID   string // names it in addresses
	Path string // absolute, without symbolic links
	Name string // as people read it: the last part of the path
	Used time.Time
}

// Available reports whether the folder is there now.
func (w Workspace) Available() bool { return CheckWorkspace(w.Path) == nil }

// CheckWorkspace returns an error that wraps [ErrMissing] and says what to do if the folder of a
// workspace is not there now.
func CheckWorkspace(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err == nil && real != path {
		return fmt.Errorf(
			"the folder %s %w: a link to another one is in its place; open that one instead", path,
			ErrMissing)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return fmt.Errorf("the folder %s %w: mount or restore it, then try again", path, ErrMissing)
	}
	return nil
}

// WorkspacesConfig is what a [Workspaces] is made of. First is needed.
type WorkspacesConfig struct {
	Documents document.Store // where the list is kept; nil: nowhere
	// the folders that are open from the start; the first is what requests without a workspace are
	// about
	First []string
	// an error is why nothing can be confined in a folder; nil: all can
	Confined func(path string) error
	Logger   *slog.Logger
	Now      func() time.Time // nil: time.Now
}

// Workspaces holds the folders that sessions work in: it resolves and admits them, and remembers
// which are open. Its methods may be called concurrently.
//
//   - A workspace's path is absolute and without symbolic links, so that one folder is one
//     workspace. Its id follows from its path and is the same at every start.
//   - Only [Workspaces.Open] admits a folder, and only one that exists and can be read. A folder
//     that is removed or unmounted later stays on the list, not available.
//   - A closed workspace is hidden, not forgotten: opened again, it is as it was.
type Workspaces struct {
	cfg   WorkspacesConfig
	first string
	known *document.Value[[]kept] // open and closed ones
}

const listName = "workspaces.json"

// kept is a folder as the document has it.
type kept struct {
	Path   string    `json:"path"`
	Used   time.Time `json:"used"` // when it was opened last
	Closed bool      `json:"closed,omitempty"`
}

// NewWorkspaces reads the list and opens the first folders.
func NewWorkspaces(c WorkspacesConfig) (*Workspaces, error) {
	if len(c.First) == 0 {
		return nil, errors.New("workspaces: a first folder is needed")
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
	if c.Now == nil {
		c.Now = time.Now
	}
	l := &Workspaces{cfg: c, known: document.Open[[]kept](c.Documents, listName, c.Logger)}
	for _, path := range c.First {
		w, _, err := l.Open(path)
		if err != nil {
			return nil, err
		}
		l.first = cmp.Or(l.first, w.Path)
	}
	return l, nil
}

// WorkspaceIn returns a list of one folder that is kept nowhere.
func WorkspaceIn(path string) (*Workspaces, error) {
	return NewWorkspaces(WorkspacesConfig{First: []string{path}})
}

// First is the path of the folder that requests are about which name none, and to which sessions
// belong whose log is damaged where it names theirs.
func (l *Workspaces) First() string { return l.first }

// Open admits a folder by its absolute path; added is false if it was open. The error wraps
// [ErrFolder] or [ErrUnconfined], and says what to do.
func (l *Workspaces) Open(path string) (w Workspace, added bool, err error) {
	real, err := resolveWorkspace(path)
	if err != nil {
		return Workspace{}, false, err
	}
	if l.cfg.Confined != nil {
		if err := l.cfg.Confined(real); err != nil {
			return Workspace{}, false, err
		}
	}
	now := l.cfg.Now().UTC()
	l.change(func(known []kept) []kept {
		i := indexOf(known, real)
		if added = i < 0 || known[i].Closed; i < 0 {
			i, known = len(known), append(known, kept{Path: real})
		}
		known[i].Closed, known[i].Used = false, now
		w = known[i].workspace()
		return known
	})
	return w, added, nil
}

// Add lists folders that sessions work in and that are not known, without looking at them.
func (l *Workspaces) Add(used map[string]time.Time) {
	l.change(func(known []kept) []kept {
		for _, path := range slices.Sorted(maps.Keys(used)) {
			if indexOf(known, path) < 0 && filepath.IsAbs(path) {
				known = append(known, kept{Path: path, Used: used[path].UTC()})
			}
		}
		return known
	})
}

// Close hides a workspace. The error wraps [ErrUnknown] or [ErrLast].
func (l *Workspaces) Close(id string) (err error) {
	l.change(func(known []kept) []kept {
		i := slices.IndexFunc(known, func(k kept) bool { return !k.Closed && WorkspaceID(k.Path) == id })
		switch {
		case i < 0:
			err = fmt.Errorf("workspace %s: %w; GET /api/workspaces lists those that are", id, ErrUnknown)
		case !slices.ContainsFunc(known, func(k kept) bool {
			return !k.Closed && WorkspaceID(k.Path) != id
		}):
			err = fmt.Errorf("%s is %w: open another one first", known[i].Path, ErrLast)
		default:
			err, known[i].Closed = nil, true
		}
		return known
	})
	return err
}

// All returns the open workspaces, the one opened last first.
func (l *Workspaces) All() []Workspace { return l.list(false) }

// Closed returns those that were closed, the one opened last first.
func (l *Workspaces) Closed() []Workspace { return l.list(true) }

func (l *Workspaces) list(closed bool) (all []Workspace) {
	for _, k := range l.all() {
		if k.Closed == closed {
			all = append(all, k.workspace())
		}
	}
	slices.SortFunc(all, func(a, b Workspace) int {
		return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(a.Path, b.Path))
	})
	return all
}

// Find returns the open workspace with that absolute path, or one that leads there; without a path
// the first, or if that is closed the one opened last. The error wraps [ErrUnknown].
func (l *Workspaces) Find(path string) (Workspace, error) {
	all := l.All()
	names := []string{filepath.Clean(path)}
	if path == "" {
		names = []string{l.first, all[0].Path} // there is always one that is open
	} else if real, err := filepath.EvalSymlinks(path); err == nil {
		names = append(names, real)
	}
	for _, name := range names {
		if i := slices.IndexFunc(all, func(w Workspace) bool { return w.Path == name }); i >= 0 {
			return all[i], nil
		}
	}
	return Workspace{}, fmt.Errorf("the folder %s is %w: open it first", path, ErrUnknown)
}

// ByID returns the open workspace of that id.
func (l *Workspaces) ByID(id string) (Workspace, bool) {
	all := l.All()
	i := slices.IndexFunc(all, func(w Workspace) bool { return w.ID == id })
	if i < 0 {
		return Workspace{}, false
	}
	return all[i], true
}

// all returns what is known, with one that is open: the list may have been taken away by hand.
func (l *Workspaces) all() []kept {
	known := l.known.Get()
	if !slices.ContainsFunc(known, func(k kept) bool { return !k.Closed }) {
		known = append(slices.Clone(known), kept{Path: l.first})
	}
	return known
}

// WorkspaceID names a folder in addresses.
func WorkspaceID(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:6])
}

func (k kept) workspace() Workspace {
	return Workspace{ID: WorkspaceID(k.Path), Path: k.Path, Name: filepath.Base(k.Path), Used: k.Used}
}

// indexOf finds a path among those that are known.
func indexOf(known []kept, path string) int {
	return slices.IndexFunc(known, func(k kept) bool { return k.Path == path })
}

// resolveWorkspace returns the one path of a folder that can be worked in.
func resolveWorkspace(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%w: %q is not an absolute path; give the whole one", ErrFolder, path)
	}
	real, err := filepath.EvalSymlinks(path)
	switch {
	case !utf8.ValidString(path + real):
		return "", fmt.Errorf("%w that can be opened: the name of %q is not UTF-8; rename it", ErrFolder,
			path)
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%w: there is no folder %s; check its name", ErrFolder, path)
	case err != nil:
		return "", fmt.Errorf("%w: %s cannot be opened; check who may read it", ErrFolder, path)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%w: %s is a file; give its folder", ErrFolder, path)
	}
	dir, err := os.Open(real)
	if err != nil {
		return "", fmt.Errorf("%w: %s cannot be opened; check who may read it", ErrFolder, path)
	}
	return real, dir.Close()
}

// Peek returns the paths of the list in a store, without changing anything. One that is not there
// or cannot be understood lists none.
func Peek(s document.Store) (open, all []string) {
	for _, k := range document.Open[[]kept](s, listName, nil).Get() {
		if all = append(all, k.Path); !k.Closed {
			open = append(open, k.Path)
		}
	}
	return open, all
}

// change changes the list. What cannot be saved holds until the server ends: a full disk must not
// keep anyone from working.
func (l *Workspaces) change(change func(known []kept) []kept) {
	if err := l.known.Hold(func(known []kept) []kept {
		return change(slices.Clone(known))
	}); err != nil {
		l.cfg.Logger.Warn("the list of open folders was not saved: it is as before at the next start",
			"error", err)
	}
}
