package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Bounds of snapshots.
const (
	maxKept      = 64 << 20 // bytes of one file; a larger one is left out
	maxSnapshot  = 2 << 30  // bytes that one snapshot adds
	maxNames     = 200_000  // files that one snapshot adds
	maxLeftOut   = 1000     // files left out that are remembered
	longestTake  = time.Minute
	afterFailure = 5 * time.Minute // until a folder that was too large or slow is tried again
)

// Errors of a snapshot that was not taken, besides I/O errors.
var (
	// ErrNoSnapshot: that snapshot is not kept, or not any longer.
	ErrNoSnapshot = errors.New("no such snapshot is kept")
	// ErrNoTurn: a session has no such turn.
	ErrNoTurn = errors.New("the session has no such turn")
	// ErrNoGit: git is not installed.
	ErrNoGit = errors.New("snapshots need git")
	// ErrTooMuch: the folder is over 2 GB, or 200,000 files, that are not ignored.
	ErrTooMuch = errors.New("the folder is too large for snapshots")
)

// SnapshotsConfig is what Snapshots need.
type SnapshotsConfig struct {
	Dir string   // where they are kept: a folder of ours
	Env []string // for git, as in [Config]
	// Secret reports files that no snapshot holds, by their absolute paths. nil: none.
	Secret func(path string) bool
	Now    func() time.Time // nil: time.Now
	// Most is how many bytes those of one workspace may take on disk; 0: 2 GiB.
	Most int64
}

// Snapshots keep what workspaces were: the files that git would offer to add there and those it
// tracks, and of a repository HEAD, refs and what is staged, but none of its objects. What is
// ignored, files that may hold secrets, those over 64 MiB, pipes and other repositories below are
// not in them.
//
// Each workspace has a git folder below Dir with an index of its own, so that what did not change
// is only looked at. No configuration but the user's list of ignored files is read, and nothing
// runs that files of the workspace name. What is kept is read here, below the workspace, by no
// link.
//
// All methods may be called from any goroutine.
type Snapshots struct {
	cfg SnapshotsConfig

	mu      sync.Mutex        // guards what follows
	shelves map[string]*shelf // by workspace
}

// NewSnapshots returns snapshots that are kept in a folder. It makes nothing before the first.
func NewSnapshots(c SnapshotsConfig) *Snapshots {
	if c.Most == 0 {
		c.Most = 2 << 30
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Env = gitEnv(c.Env)
	return &Snapshots{cfg: c, shelves: map[string]*shelf{}}
}

// snapshot is what is kept of one, beside the trees.
type snapshot struct {
	At    time.Time        `json:"at"`             // no file of it is older
	Left  map[string]stamp `json:"left,omitempty"` // what is left out, by path
	files string           // the tree of the workspace
	git   string           // the tree of its repository; empty: none
}

// stamp shows, without reading it, whether a file was changed.
type stamp struct {
	Size    int64 `json:"size"`
	Written int64 `json:"written"` // in nanoseconds
}

// Take keeps what a workspace is now, for a session, under an id that is unique in it. The errors
// are [ErrNoGit], [ErrTooMuch], that of ctx, and those of git and the disk.
func (s *Snapshots) Take(ctx context.Context, workspace, session, id string) error {
	return s.look(ctx, workspace, func(ctx context.Context, p *shelf) error {
		snap := snapshot{At: s.cfg.Now()}
		err := p.gather(ctx, &snap)
		if err == nil {
			err = p.keep(snap, session, id)
		}
		if err == nil {
			err = p.bound(ctx, s.cfg.Most)
		}
		return err
	})
}

// Warm looks at a workspace if this process did not yet, so that the next snapshot only has to take
// in what changes until then. The errors are those of [Snapshots.Take].
func (s *Snapshots) Warm(ctx context.Context, workspace string) error {
	return s.look(ctx, workspace, func(ctx context.Context, p *shelf) error {
		if p.files != "" {
			return nil
		}
		return p.gather(ctx, &snapshot{})
	})
}

// look has a caller look at a workspace, unless that just failed.
func (s *Snapshots) look(ctx context.Context, workspace string,
	at func(context.Context, *shelf) error) error {
	p, leave, err := s.enter(ctx, workspace)
	if err != nil {
		return err
	}
	defer leave()
	if time.Now().Before(p.until) {
		return p.failed
	}
	limited, cancel := context.WithTimeout(ctx, longestTake)
	defer cancel()
	err = at(limited, p)
	if errors.Is(err, ErrTooMuch) || err != nil && limited.Err() != nil && ctx.Err() == nil {
		p.failed, p.until = ErrTooMuch, time.Now().Add(afterFailure)
	}
	if err != nil {
		return fmt.Errorf("take a snapshot of %s: %w", workspace, err)
	}
	return nil
}

// enter gives a caller the shelf of a workspace alone.
func (s *Snapshots) enter(ctx context.Context,
	workspace string) (_ *shelf, leave func(), err error) {
	p := s.shelf(workspace)
	select {
	case p.busy <- struct{}{}:
		return p, func() { <-p.busy }, nil
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
}

func (s *Snapshots) shelf(workspace string) *shelf {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.shelves[workspace]
	if p == nil {
		sum := sha256.Sum256([]byte(workspace))
		p = &shelf{
			workspace: workspace,
			dir:       filepath.Join(s.cfg.Dir, hex.EncodeToString(sum[:12])),
			secret:    s.cfg.Secret,
			env:       s.cfg.Env,
			busy:      make(chan struct{}, 1),
		}
		p.objects.dir = filepath.Join(p.dir, "objects")
		s.shelves[workspace] = p
	}
	return p
}

// DeleteSession deletes what is kept for a session of a workspace.
func (s *Snapshots) DeleteSession(ctx context.Context, workspace, session string) error {
	if !plainName(session) {
		return nil
	}
	p, leave, err := s.enter(ctx, workspace)
	if err != nil {
		return err
	}
	defer leave()
	if _, err := os.Lstat(p.refs(session)); err != nil {
		return nil
	}
	if err := os.RemoveAll(p.refs(session)); err != nil {
		return fmt.Errorf("delete the snapshots of session %s: %w", session, err)
	}
	return p.prune(ctx)
}

// keep writes what was gathered.
func (p *shelf) keep(snap snapshot, session, id string) error {
	if !plainName(session) || !plainName(id) {
		return fmt.Errorf("the snapshot %q of session %q: %w", id, session, os.ErrInvalid)
	}
	about, err := json.Marshal(snap)
	if err != nil {
		return err
	}
	blob, err := p.objects.put(blobKind, about)
	if err != nil {
		return err
	}
	entries := []treeEntry{{"about", version{plainMode, blob}}}
	for name, tree := range map[string]string{"files": snap.files, "git": snap.git} {
		if tree != "" {
			entries = append(entries, treeEntry{name, version{treeMode, tree}})
		}
	}
	tree, err := p.objects.putTree(entries)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.refs(session), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.refs(session), id), []byte(tree+"\n"), 0o600)
}

// load reads a snapshot of a session.
func (p *shelf) load(session, id string) (snap snapshot, err error) {
	if !plainName(session) || !plainName(id) {
		return snap, ErrNoSnapshot
	}
	name := firstLine(filepath.Join(p.refs(session), id))
	if name == "" {
		return snap, ErrNoSnapshot
	}
	entries, err := p.objects.tree(name)
	if err != nil {
		return snap, err
	}
	for _, e := range entries {
		switch e.name {
		case "about":
			about, err := p.objects.get(blobKind, e.hash)
			if err == nil {
				err = json.Unmarshal(about, &snap)
			}
			if err != nil {
				return snap, errors.Join(ErrNoSnapshot, err)
			}
		case "files":
			snap.files = e.hash
		case "git":
			snap.git = e.hash
		}
	}
	return snap, nil
}

// refs is the folder of a session's snapshots, each a ref, so that git keeps its objects.
func (p *shelf) refs(session string) string {
	return filepath.Join(p.dir, "refs", "webchat",
		session)
}

// plainName reports whether a name is that of one file and of a ref of git.
func plainName(name string) bool {
	return name != "" && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "-") &&
		!strings.HasSuffix(name, ".lock") && !strings.Contains(name, "..") &&
		strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}
