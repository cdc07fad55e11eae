package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"webchat/internal/files"
)

// Change is a file that a session changed in its copy.
type Change struct {
	Path    string `json:"path"`
	Added   int    `json:"added"` // lines; of a binary file none
	Removed int    `json:"removed"`
	Also    bool   `json:"also,omitempty"`     // the checkout changed it, too
	Unfit   bool   `json:"unfitted,omitempty"` // both did at one place
}

// Back is what a bringing back did.
type Back struct {
	Files  []Change `json:"files"`            // in the checkout now
	Unfit  []Change `json:"unfitted"`         // left out: they do not fit
	Commit string   `json:"commit,omitempty"` // that has them
}

// ident is who makes commits that only we read.
var ident = []string{"GIT_AUTHOR_NAME=webchat", "GIT_AUTHOR_EMAIL=webchat@localhost",
	"GIT_COMMITTER_NAME=webchat", "GIT_COMMITTER_EMAIL=webchat@localhost"}

// snapshot keeps all that a work tree has and does not ignore as a commit on top of another.
func snapshot(ctx context.Context, repo *files.Repository, parent string) (string, error) {
	tmp, err := os.MkdirTemp("", "webchat-index-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	own, err := repo.Index(ctx, tmp)
	if err != nil {
		return "", err
	}
	if _, err := own.Run(ctx, nil, "add", "-A", "--", ":/"); err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnfit, err)
	}
	tree, err := own.Line(ctx, "write-tree")
	if err != nil {
		return "", err
	}
	return commit(ctx, repo, tree, parent)
}

func commit(ctx context.Context, repo *files.Repository, tree, parent string) (string, error) {
	return repo.With(ident...).Line(ctx, "commit-tree", "-m", "webchat", "-p", parent, tree)
}

// merged is what a copy and a checkout have together.
type merged struct {
	own, checkout *files.Repository
	theirs        string // the commit of what the copy is
	base          string // and of what the checkout is
	all           string // the tree of both, as far as it fits
	unfit         []string
	changes       []Change
}

// merge merges what a session did with the checkout, or with a commit of it.
func (t *Trees) merge(ctx context.Context, c *Copy, with string) (m *merged, err error) {
	if err := c.Usable(); err != nil {
		return nil, err
	}
	m = &merged{}
	if m.own, err = t.git.In(ctx, c.Root); err != nil {
		return nil, err
	}
	if m.checkout, err = t.git.In(ctx, c.Checkout); err != nil {
		return nil, err
	}
	if m.theirs, err = snapshot(ctx, m.own, c.Base); err != nil {
		return nil, err
	}
	if with == "" {
		m.base, err = snapshot(ctx, m.checkout, c.Base)
	} else {
		m.base, err = commit(ctx, m.checkout, with+"^{tree}", c.Base)
	}
	if err != nil {
		return nil, err
	}
	out, err := m.checkout.Run(ctx, nil, "merge-tree", "--write-tree", "-z", "--name-only",
		"--no-messages", m.base, m.theirs)
	if failed, ok := errors.AsType[*files.GitError](err); err != nil && !(ok && failed.Code == 1) {
		return nil, fmt.Errorf("%w: %w", ErrUnfit, err) // of git before 2.38, too
	}
	parts := strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	m.all, m.unfit = parts[0], parts[1:]
	if len(m.unfit) > 0 {
		if m.all, err = m.without(ctx, m.all, m.base); err != nil {
			return nil, err
		}
	}
	return m, m.count(ctx, c.Base)
}

// count lists what the session changed, but for what the checkout has already.
func (m *merged) count(ctx context.Context, base string) error {
	also, err := names(ctx, m.checkout, base, m.base)
	if err != nil {
		return err
	}
	differ, err := names(ctx, m.own, m.base, m.theirs)
	if err != nil {
		return err
	}
	out, err := m.own.Run(ctx, nil, "diff-tree", "-r", "-z", "--numstat", "--no-renames", base,
		m.theirs)
	if err != nil {
		return err
	}
	m.changes = []Change{}
	for record := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		parts := strings.SplitN(record, "\t", 3)
		if len(parts) < 3 || !slices.Contains(differ, parts[2]) {
			continue
		}
		change := Change{Path: parts[2], Also: slices.Contains(also, parts[2]),
			Unfit: slices.Contains(m.unfit, parts[2])}
		change.Added, _ = strconv.Atoi(parts[0]) // of a binary file "-"
		change.Removed, _ = strconv.Atoi(parts[1])
		m.changes = append(m.changes, change)
	}
	return nil
}

// names are the files that differ between two commits or trees.
func names(ctx context.Context, repo *files.Repository, from, to string) ([]string, error) {
	out, err := repo.Run(ctx, nil, "diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to)
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), err
}

// without returns a tree in which what does not fit is as in another one. What git named anew
// since it did not fit is not in it.
func (m *merged) without(ctx context.Context, tree, other string) (string, error) {
	tmp, err := os.MkdirTemp("", "webchat-index-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	repo, err := m.checkout.Index(ctx, tmp)
	if err != nil {
		return "", err
	}
	if _, err = repo.Run(ctx, nil, "read-tree", tree); err != nil {
		return "", err
	}
	known := map[string]bool{}
	for _, of := range []string{m.base, m.theirs} {
		all, err := repo.Run(ctx, nil, "ls-tree", "-r", "-z", "--name-only", of)
		if err != nil {
			return "", err
		}
		for name := range strings.SplitSeq(string(all), "\x00") {
			known[name] = true
		}
	}
	differ, err := names(ctx, repo, other, tree)
	if err != nil {
		return "", err
	}
	var in bytes.Buffer
	for _, name := range differ {
		if !slices.Contains(m.unfit, name) && known[name] {
			continue
		}
		fmt.Fprintf(&in, "0 %s\t%s\x00", strings.Repeat("0", len(m.base)), name)
		is, err := repo.Run(ctx, nil, "--literal-pathspecs", "ls-tree", "-z", other, "--", name)
		if err != nil {
			return "", err
		}
		in.Write(is)
	}
	if _, err = repo.Run(ctx, &in, "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	return repo.Line(ctx, "write-tree")
}

// Changes lists what a session changed in its copy since it began, or since that was brought back.
func (t *Trees) Changes(ctx context.Context, session string) ([]Change, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, err := t.Of(session)
	if err != nil {
		return nil, err
	}
	m, err := t.merge(ctx, c, "")
	if err != nil {
		return nil, err
	}
	return m.changes, nil
}

// BringBack changes the files of the checkout, not committed there, as the session did in its
// copy. What does not fit is left out and named.
func (t *Trees) BringBack(ctx context.Context, session string) (b Back, err error) {
	ctx = context.WithoutCancel(ctx) // what began to write ends
	_, err = t.change(session, func(c *Copy) error {
		m, err := t.merge(ctx, c, "")
		if err != nil {
			return err
		}
		b = m.back()
		if len(b.Files) == 0 {
			return nil
		}
		left, err := commit(ctx, m.checkout, m.all, m.base)
		if err != nil {
			return err
		}
		if err := apply(ctx, m.checkout, m.base, left); err != nil {
			return err
		}
		return m.done(ctx, c, Brought{Was: m.base, Left: left, Base: c.Base})
	})
	return b, err
}

// back says what is brought back.
func (m *merged) back() (b Back) {
	b = Back{Files: []Change{}, Unfit: []Change{}}
	for _, change := range m.changes {
		if change.Unfit {
			b.Unfit = append(b.Unfit, change)
		} else {
			b.Files = append(b.Files, change)
		}
	}
	return b
}

// done remembers what was brought back: what did not fit stays to be brought.
func (m *merged) done(ctx context.Context, c *Copy, last Brought) error {
	next := m.theirs
	if len(m.unfit) > 0 {
		tree, err := m.without(ctx, m.theirs+"^{tree}", c.Base)
		if err == nil {
			next, err = commit(ctx, m.own, tree, c.Base)
		}
		if err != nil {
			return err
		}
	}
	for name, commit := range map[string]string{"base": next, "was": last.Was, "left": last.Left,
		"before": last.Base} {
		if _, err := m.own.Run(ctx, nil, "update-ref", "refs/worktree/"+name, commit); err != nil {
			return err
		}
	}
	c.Base, c.Last = next, &last
	return nil
}

// apply changes the files of a work tree by what differs between two commits, all or none: each
// has to be there still as the first has it.
func apply(ctx context.Context, repo *files.Repository, from, to string) error {
	patch, err := repo.Run(ctx, nil, "diff-tree", "-p", "-r", "--binary", "--full-index",
		"--no-renames", "--no-ext-diff", "--no-textconv", from, to)
	if err != nil || len(patch) == 0 {
		return err
	}
	if _, err = repo.Run(ctx, bytes.NewReader(patch), "apply", "--whitespace=nowarn"); err != nil {
		return fmt.Errorf("%w: nothing was written: %w", ErrUnfit, err)
	}
	return nil
}

// Commit makes one commit of what the session did in its copy, on the branch it was made from. If
// something does not fit there is none, and what it is is returned. [ErrUnfit] where the checkout
// is on another branch, has something staged, or has changes in the same files.
func (t *Trees) Commit(ctx context.Context, session, message string) (b Back, err error) {
	ctx = context.WithoutCancel(ctx) // what began to write ends
	_, err = t.change(session, func(c *Copy) error {
		repo, err := t.git.In(ctx, c.Checkout)
		if err != nil {
			return err
		}
		if on, _ := repo.Line(ctx, "symbolic-ref", "-q", "--short", "HEAD"); on == "" || on != c.From {
			return fmt.Errorf("%w: %s is not on the branch %q", ErrUnfit, c.Checkout, c.From)
		}
		if _, err := repo.Run(ctx, nil, "diff-index", "--cached", "--quiet", "HEAD"); err != nil {
			return fmt.Errorf("%w: something is staged in %s; commit or unstage it first", ErrUnfit,
				c.Checkout)
		}
		head, err := repo.Line(ctx, "rev-parse", "HEAD")
		if err != nil {
			return err
		}
		m, err := t.merge(ctx, c, head)
		if err != nil {
			return err
		}
		if b = m.back(); len(b.Unfit) > 0 || len(b.Files) == 0 {
			b.Files = []Change{}
			return nil
		}
		made, err := repo.Run(ctx, strings.NewReader(message), "commit-tree", "-F", "-", "-p", head,
			m.all)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrUnfit, err)
		}
		b.Commit = strings.TrimSpace(string(made))
		if _, err := repo.Run(ctx, nil, "merge", "-q", "--ff-only", b.Commit); err != nil {
			return fmt.Errorf("%w: %w", ErrUnfit, err)
		}
		return m.done(ctx, c, Brought{Was: head, Left: b.Commit, Base: c.Base, Commit: true})
	})
	return b, err
}

// Undo takes back the last bringing back: files as far as they still are what was left, a commit
// as long as it is the last one.
func (t *Trees) Undo(ctx context.Context, session string) (*Copy, error) {
	ctx = context.WithoutCancel(ctx) // what began to write ends
	return t.change(session, func(c *Copy) error {
		if c.Last == nil {
			return fmt.Errorf("%w: nothing was brought back", ErrUnfit)
		}
		repo, err := t.git.In(ctx, c.Checkout)
		if err != nil {
			return err
		}
		if !c.Last.Commit {
			err = apply(ctx, repo, c.Last.Left, c.Last.Was)
		} else if head, _ := repo.Line(ctx, "rev-parse", "HEAD"); head != c.Last.Left {
			err = fmt.Errorf("%w: %s has other commits since", ErrUnfit, c.Checkout)
		} else if _, err = repo.Run(ctx, nil, "reset", "-q", "--keep", c.Last.Was); err != nil {
			err = fmt.Errorf("%w: %w", ErrUnfit, err)
		}
		if err != nil {
			return err
		}
		c.Base, c.Last = c.Last.Base, nil
		if own, err := t.git.In(ctx, c.Root); err == nil {
			return base(ctx, own, c.Base)
		}
		return nil
	})
}
