// Package worktree keeps copies of git repositories in which sessions work: worktrees of git in a
// folder of ours, each on a branch of its own. What a session did in one is brought back to the
// checkout it was made of, as changes or as one commit.
//
// # Guarantees
//
//   - All is made and merged by git, with everything off that a repository could have it run; see
//     [files.Git].
//   - What is brought back is merged with what the checkout has meanwhile. A file that does not fit
//     is left as it is, and named; one that changes while it is written stops all.
//   - A copy that is thrown away is moved aside, and can be restored for [UndoThrow].
//
// # Concurrency
//
// All methods may be called at any time from any goroutine. Those of one copy follow each other.
//
// # Usage
//
//	t := worktree.New(worktree.Config{Dir: dir, Env: env})
//	made, err := t.Make(ctx, worktree.Wish{Session: id, Workspace: folder, Words: "mend the pump"})
//	back, err := t.BringBack(ctx, id)
package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"webchat/internal/event"
	"webchat/internal/files"
)

// What callers may ask errors.Is about.
var (
	// ErrNone: the session works in no copy, or not any longer.
	ErrNone = errors.New("the session has no worktree")
	// ErrUnfit: no copy can be made, or it cannot be brought back in that way, for a reason that is
	// said.
	ErrUnfit = errors.New("git cannot do that")
)

// Config is what [Trees] need.
type Config struct {
	Dir string           // where copies are: a folder of ours
	Env []string         // for git
	Now func() time.Time // nil: time.Now
}

// Trees are all copies.
type Trees struct {
	cfg Config
	git *files.Git
	mu  sync.Mutex // held while a copy is worked on
}

// New returns the copies in a folder. It makes nothing before the first.
func New(c Config) *Trees {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Trees{cfg: c, git: files.NewGit(c.Env)}
}

// Copy is one copy, as it is kept beside it.
type Copy struct {
	Session   string `json:"session"`
	Workspace string `json:"workspace"` // where the session works: Root, or the folder of it
	Root      string `json:"root"`      // of the copy
	Checkout  string `json:"checkout"`  // what it is a copy of
	From      string `json:"from"`      // the branch that had; empty: none
	Branch    string `json:"branch"`    // of the copy
	Named     bool   `json:"named"`     // after a prompt
	// Base is the commit of what the copy began with, or what of it was brought back last.
	Base   string    `json:"base"`
	Thrown time.Time `json:"thrown,omitzero"` // when it was thrown away
	Gone   bool      `json:"gone,omitempty"`  // the session is
	Last   *Brought  `json:"last,omitempty"`  // what was brought back last, and not undone
}

// Brought is what one bringing back did.
type Brought struct {
	Was  string `json:"was"`  // the commit of what the checkout was
	Left string `json:"left"` // and of what it is since
	Base string `json:"base"` // the base before
	// Commit says that Left is the commit of a branch.
	Commit bool `json:"commit,omitempty"`
}

// Wish is what a copy is made of.
type Wish struct {
	Session   string
	Workspace string // in a checkout; absolute
	Words     string // it is named by the first of these
	// Along takes along what is not committed there.
	Along bool
}

func (t *Trees) about(session string) string {
	return filepath.Join(t.cfg.Dir, filepath.Base(session), "copy.json")
}

// Of returns the copy of a session; [ErrNone] if it has none.
func (t *Trees) Of(session string) (*Copy, error) {
	data, err := os.ReadFile(t.about(session))
	if errors.Is(err, fs.ErrNotExist) || session != filepath.Base(session) {
		return nil, ErrNone
	}
	var c Copy
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		return nil, fmt.Errorf("the worktree of session %s: %w", session, err)
	}
	return &c, nil
}

// All returns the copies that are there, those that were thrown away too.
func (t *Trees) All() (all []*Copy) {
	list, _ := os.ReadDir(t.cfg.Dir) // there may be none
	for _, d := range list {
		if c, err := t.Of(d.Name()); err == nil {
			all = append(all, c)
		}
	}
	return all
}

func (t *Trees) keep(c *Copy) error {
	data, err := json.MarshalIndent(c, "", "\t")
	if err != nil {
		return err
	}
	name := t.about(c.Session)
	if err := os.WriteFile(name+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// Make makes a copy for a session. [ErrUnfit] where git or the repository does not allow it.
func (t *Trees) Make(ctx context.Context, w Wish) (*Copy, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, repo, err := t.fits(ctx, w)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(t.about(w.Session))
	words := slug(w.Words)
	c.Named = words != ""
	if words == "" {
		words = "session"
	}
	c.Root = filepath.Join(dir, filepath.Base(c.Checkout)+"-"+words)
	c.Workspace = filepath.Join(c.Root, c.Workspace)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err = t.add(ctx, repo, c, words, w.Along); err == nil {
		err = t.keep(c)
	}
	if err != nil {
		t.remove(context.WithoutCancel(ctx), repo, c)
		return nil, err
	}
	return c, nil
}

// Fits returns why no copy of a folder can be made; nil: one can.
func (t *Trees) Fits(ctx context.Context, workspace string) error {
	_, _, err := t.fits(ctx, Wish{Workspace: workspace})
	return err
}

// fits returns the copy that can be made, with where the workspace is in the repository.
func (t *Trees) fits(ctx context.Context, w Wish) (*Copy, *files.Repository, error) {
	unfit := func(why string) (*Copy, *files.Repository, error) {
		return nil, nil, fmt.Errorf("%w: %s %s", ErrUnfit, w.Workspace, why)
	}
	repo, err := t.git.In(ctx, w.Workspace)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnfit, err)
	}
	c := &Copy{Session: w.Session}
	if c.Checkout, err = repo.Line(ctx, "rev-parse", "--show-toplevel"); err != nil {
		return unfit("is in no git repository")
	}
	if c.Workspace, err = repo.Line(ctx, "rev-parse", "--show-prefix"); err != nil {
		return nil, nil, err
	}
	if c.Base, err = repo.Line(ctx, "rev-parse", "--verify", "-q", "HEAD^{commit}"); err != nil {
		return unfit("is in a repository that has no commit yet")
	}
	if repo, err = t.git.In(ctx, c.Checkout); err != nil {
		return nil, nil, err
	}
	c.From, _ = repo.Line(ctx, "symbolic-ref", "-q", "--short", "HEAD") // it may be none
	if sparse, _ := repo.Line(ctx, "config", "--bool", "core.sparseCheckout"); sparse == "true" {
		return unfit("is a sparse checkout, of which no worktree is made")
	}
	staged, err := repo.Run(ctx, nil, "ls-files", "--stage", "-z")
	if err != nil {
		return nil, nil, err
	}
	for record := range strings.SplitSeq(string(staged), "\x00") {
		about, name, _ := strings.Cut(record, "\t")
		switch {
		case strings.HasPrefix(about, "160000 "):
			return unfit("has the submodule " + name + ", and no worktree is made of such a repository")
		case about != "" && !strings.HasSuffix(about, " 0"):
			return unfit("has a conflict in " + name + ": resolve it first")
		}
	}
	return c, repo, nil
}

// add makes the worktree.
func (t *Trees) add(ctx context.Context, repo *files.Repository, c *Copy, words string,
	along bool) (err error) {
	if c.Branch, err = free(ctx, repo, words); err != nil {
		return err
	}
	if along {
		if c.Base, err = snapshot(ctx, repo, c.Base); err != nil {
			return err
		}
	}
	if _, err = repo.Run(ctx, nil, "worktree", "add", "-q", "--no-track", "-b", c.Branch, c.Root,
		"HEAD"); err != nil {
		return fmt.Errorf("%w: %w", ErrUnfit, err)
	}
	own, err := t.git.In(ctx, c.Root)
	if err != nil {
		return err
	}
	if along {
		if _, err = own.Run(ctx, nil, "read-tree", "-u", "-m", "HEAD", c.Base); err == nil {
			_, err = own.Run(ctx, nil, "reset", "-q")
		}
		if err != nil {
			return err
		}
	}
	return base(ctx, own, c.Base)
}

// base has git keep the commit that a copy is compared with.
func base(ctx context.Context, own *files.Repository, commit string) error {
	_, err := own.Run(ctx, nil, "update-ref", "refs/worktree/base", commit)
	return err
}

// free returns a branch that is not there yet.
func free(ctx context.Context, repo *files.Repository, words string) (string, error) {
	for n := 1; n < 1000; n++ {
		name := "webchat/" + words
		if n > 1 {
			name += fmt.Sprintf("-%d", n)
		}
		_, err := repo.Run(ctx, nil, "rev-parse", "--verify", "-q", "refs/heads/"+name)
		if _, missing := errors.AsType[*files.GitError](err); missing {
			return name, nil
		} else if err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("%w: there are 1,000 branches webchat/%s", ErrUnfit, words)
}

// maxWords is how long the name of a branch is, beside what comes before.
const maxWords = 32

// slug is the first words of a text as they can stand in a branch; empty if there are none.
func slug(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !('a' <= r && r <= 'z' || '0' <= r && r <= '9')
	})
	name := ""
	for _, w := range words[:min(len(words), 6)] {
		if len(name)+len(w) >= maxWords {
			break
		}
		name = strings.TrimPrefix(name+"-"+w, "-")
	}
	return name
}

// Fact is the event that says so.
func (c *Copy) Fact() event.SessionWorktree {
	return event.SessionWorktree{Branch: c.Branch, Checkout: c.Checkout, From: c.From}
}

// Name names the branch of a session's copy by the first words of a prompt, once. It returns nil
// where there is nothing to name.
func (t *Trees) Name(ctx context.Context, session, prompt string) (*Copy, error) {
	unnamed := func() (*Copy, error) {
		c, err := t.Of(session)
		if errors.Is(err, ErrNone) || err == nil && (c.Named || !c.Thrown.IsZero()) {
			return nil, nil
		}
		return c, err
	}
	if c, err := unnamed(); c == nil || slug(prompt) == "" { // no prompt waits for another's worktree
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c, err := unnamed()
	if c == nil {
		return nil, err
	}
	own, err := t.git.In(ctx, c.Root)
	if err != nil {
		return nil, err
	}
	was := c.Branch
	if c.Branch, err = free(ctx, own, slug(prompt)); err != nil {
		return nil, err
	}
	if _, err := own.Run(ctx, nil, "branch", "-m", was, c.Branch); err != nil {
		return nil, err
	}
	c.Named = true
	return c, t.keep(c)
}

// change changes what is kept of a copy.
func (t *Trees) change(session string, f func(*Copy) error) (*Copy, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, err := t.Of(session)
	if err != nil {
		return nil, err
	}
	if err := f(c); err != nil {
		return nil, err
	}
	return c, t.keep(c)
}
