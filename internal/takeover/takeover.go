// Package takeover brings what the version before kept in one data folder for each
// workspace into the one data folder of the user: sessions with the memory of their
// agents, outputs that were kept, what was allowed, and of the folder that was made
// first the API token and the sign-ins.
//
// # Guarantees
//
//   - Each old folder stays whole until a later start has found everything of it here;
//     then it is removed. A damaged one is never removed.
//   - A takeover that is cut off goes on at the next start, and brings nothing twice.
//   - A folder that a running server holds is left for the next start.
//   - A session that is deleted meanwhile is deleted in the old folders, too.
//
// # Concurrency
//
// [Run] needs the user's data folder locked and closed for everybody else; [Old.Delete]
// may be called from any goroutine.
//
// # Usage
//
//	err := takeover.Token(dir)
//	old, err := takeover.Run(ctx, takeover.Config{Dir: dir, Sessions: sessions, Logger: log})
package takeover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"webchat/internal/daemon"
)

// Sessions are the logs, here and in other folders.
type Sessions interface {
	// Adopt copies the sessions in another folder that are not here, and compares the
	// others. The error is not about what that folder holds.
	Adopt(ctx context.Context, folder string) (Adopted, error)
	// DeleteIn deletes a session from another folder, where it need not be.
	DeleteIn(ctx context.Context, folder, id string) error
}

// Adopted is what came of the sessions of another folder.
type Adopted struct {
	Here    int   // that are the same in both
	New     int   // of those, that were not here before
	Left    int   // that are not
	Damaged error // why there may be more; nil: there are none
}

// Config is what a takeover works with.
type Config struct {
	Dir      string // the user's data folder, which the old ones are in
	Sessions Sessions
	Logger   *slog.Logger
}

// record is what is known of an old folder that was taken over.
type record struct {
	At       time.Time `json:"at"`
	Sessions int       `json:"sessions"`
	Damaged  bool      `json:"damaged,omitempty"` // not everything could be read: it stays
}

// recordFile holds the records by the folders' names.
const recordFile = "takenover.json"

// Old are the old folders that are still there.
type Old struct {
	Config
	taken map[string]record

	mu sync.Mutex // one deletion at a time
}

// oldName is what a data folder of a workspace was called.
var oldName = regexp.MustCompile(`^(.+-)?[0-9a-f]{12}$`)

// folders finds the old folders, the one that was made first leading.
func folders(dir string) (paths []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	made := map[string]time.Time{}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !e.IsDir() || !oldName.MatchString(e.Name()) {
			continue
		}
		for _, name := range []string{"token", "webchat.db"} { // the token is written once, at the first start
			if info, err := os.Lstat(filepath.Join(path, name)); err == nil && made[path].IsZero() {
				made[path] = info.ModTime()
			}
		}
		if !made[path].IsZero() {
			paths = append(paths, path)
		}
	}
	slices.SortStableFunc(paths, func(a, b string) int { return made[a].Compare(made[b]) })
	return paths, nil
}

// Token brings the API token and the sign-ins of the folder that was made first, unless
// the user's folder has a token.
func Token(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, "token")); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	old, err := folders(dir)
	if err != nil {
		return fmt.Errorf("look for data folders of the version before: %w", err)
	}
	for _, folder := range old {
		if _, err := os.Lstat(filepath.Join(folder, "token")); err != nil {
			continue
		}
		for _, name := range []string{"signins", "token"} { // the token last: it says that this is done
			if err := copyMissing(filepath.Join(folder, name), filepath.Join(dir, name)); err != nil {
				return fmt.Errorf("bring the API token of %s: %w", folder, err)
			}
		}
		return nil
	}
	return nil
}

// Run takes over every old folder that was not yet, and removes those of which all is
// found here. What cannot be brought is said in the log and tried again at the next
// start; the error is of the user's folder.
func Run(ctx context.Context, c Config) (*Old, error) {
	o := &Old{Config: c, taken: map[string]record{}}
	list, err := folders(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("look for data folders of the version before: %w", err)
	}
	file := filepath.Join(c.Dir, recordFile)
	b, err := os.ReadFile(file)
	if len(list) == 0 {
		if err == nil {
			err = os.Remove(file)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			c.Logger.Warn("the list of old data folders was not removed; none is left", "error", err)
		}
		return o, nil
	}
	if err == nil && json.Unmarshal(b, &o.taken) != nil {
		o.taken = map[string]record{} // damaged: everything is compared again
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what was taken over: %w", err)
	}
	if err := o.newestLogin(list); err != nil {
		c.Logger.Warn("the agents' sign-in was not brought from an old data folder", "error", err)
	}
	for _, folder := range list {
		if err := o.one(ctx, folder); err != nil {
			c.Logger.Warn("an old data folder was not taken over: it is tried again at the next start", "folder", folder, "error", err)
		}
	}
	return o, nil
}

// one takes over a folder, or removes one that was.
func (o *Old) one(ctx context.Context, folder string) error {
	name := filepath.Base(folder)
	known, done := o.taken[name]
	if done && known.Damaged {
		return nil // the user decides
	}
	lock, err := daemon.Open(folder)
	if errors.Is(err, daemon.ErrInUse) {
		pid := 0
		if info, err := daemon.Read(folder); err == nil {
			pid = info.PID
		}
		o.Logger.Warn("an old data folder is in use by a webchat: end that, and the next start takes the folder over", "folder", folder, "pid", pid)
		return nil
	}
	if err != nil {
		return err
	}
	remove, err := o.locked(ctx, folder, done)
	if err = errors.Join(err, lock.Close()); err != nil || !remove {
		return err
	}
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("remove it: %w", err)
	}
	o.Logger.Info("an old data folder was removed: everything of it is in the new one", "folder", folder)
	return nil
}

// locked does the work on a folder that is locked. It reports whether everything of it
// was found here that an earlier start had brought.
func (o *Old) locked(ctx context.Context, folder string, done bool) (remove bool, err error) {
	if !done {
		if err := o.files(folder); err != nil {
			return false, err
		}
	}
	came, err := o.Sessions.Adopt(ctx, folder)
	if err != nil {
		return false, err
	}
	whole := came.Left == 0 && came.Damaged == nil
	if done && came.New == 0 && whole {
		return true, nil
	}
	now := record{At: time.Now().UTC(), Sessions: came.Here, Damaged: !whole}
	o.taken[filepath.Base(folder)] = now
	if err := writeJSON(filepath.Join(o.Dir, recordFile), o.taken); err != nil {
		return false, err
	}
	if !now.Damaged {
		o.Logger.Info("an old data folder was taken over", "folder", folder, "sessions", came.Here)
		return false, nil
	}
	o.Logger.Warn("an old data folder is damaged: what can be read was taken over, and it stays where it is", "folder", folder, "sessions", came.Here, "left", came.Left, "error", came.Damaged)
	return false, nil
}

// Delete deletes a session from the old folders that were taken over, with what its
// agents and outputs left there.
func (o *Old) Delete(ctx context.Context, id string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for name, r := range o.taken {
		folder := filepath.Join(o.Dir, name)
		if _, err := os.Lstat(folder); err != nil || !filepath.IsLocal(id) {
			continue
		}
		err := o.Sessions.DeleteIn(ctx, folder, id)
		if err != nil && r.Damaged {
			o.Logger.Warn("a deleted session may still be in a damaged old data folder: remove the folder yourself", "folder", folder, "error", err)
		} else if err != nil {
			return fmt.Errorf("delete it in the old data folder %s, too: %w", folder, err)
		}
		for _, pattern := range memories {
			found, err := filepath.Glob(filepath.Join(folder, pattern))
			if err != nil {
				return err
			}
			for _, in := range found {
				if err := os.RemoveAll(filepath.Join(in, filepath.Base(id))); err != nil {
					return fmt.Errorf("delete it in the old data folder %s, too: %w", folder, err)
				}
			}
		}
	}
	return nil
}

// memories are the folders in which each session has an entry of its name.
var memories = []string{"outputs", "copilot/session-state", "agents/*"}
