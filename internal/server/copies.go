package server

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"

	"webchat/internal/event"
	"webchat/internal/page"
	"webchat/internal/session"
	"webchat/internal/worktree"
)

// copyShape is the worktree that a session works in.
type copyShape struct {
	Branch   string     `json:"branch"`
	Path     string     `json:"path"`               // its top; absolute
	Base     string     `json:"base"`               // the commit that Files are compared with
	Checkout string     `json:"checkout"`           // what it is a worktree of
	From     string     `json:"from,omitempty"`     // the branch that had
	Thrown   event.Time `json:"thrownAt,omitzero"`  // it can be restored for 30 days
	Undoable bool       `json:"undoable,omitempty"` // what was brought back last
	// Files are those that differ from what it began with, or from what was brought back last.
	Files []worktree.Change `json:"files,omitempty"`
}

func shapeOfCopy(c *worktree.Copy) copyShape {
	return copyShape{Branch: c.Branch, Path: c.Root, Base: c.Base, Checkout: c.Checkout, From: c.From,
		Thrown: event.Time(c.Thrown), Undoable: c.Last != nil}
}

// copies are the worktrees of sessions.
type copies struct {
	trees *worktree.Trees // nil: there are none
	log   *slog.Logger
}

// of is a session's; [worktree.ErrNone] if it works in none.
func (cs *copies) of(sess *session.Session) (*worktree.Copy, error) {
	if cs.trees == nil {
		return nil, worktree.ErrNone
	}
	return cs.trees.Of(string(sess.ID()))
}

// fit reports whether one can be made of a folder.
func (cs *copies) fit(ctx context.Context, folder string) bool {
	return cs.trees != nil && cs.trees.Fits(ctx, folder) == nil
}

// take names the branch of a session after its first prompt. It returns why no prompt can be taken.
func (cs *copies) take(r *http.Request, sess *session.Session, prompt string) error {
	c, err := cs.of(sess)
	if errors.Is(err, worktree.ErrNone) {
		return nil
	} else if err == nil && c.Usable() != nil {
		return c.Usable()
	}
	c, err = cs.trees.Name(r.Context(), string(sess.ID()), prompt)
	if err == nil && c != nil {
		err = sess.Note(r.Context(), c.Fact())
	}
	if err != nil && cs.log != nil {
		cs.log.Warn("the branch of a worktree was not named", "session", string(sess.ID()), "error", err)
	}
	return nil
}

// show lists what a session changed in its worktree.
func (cs *copies) show(r *http.Request, sess *session.Session, _ empty) (out copyShape, err error) {
	c, err := cs.of(sess)
	if err != nil {
		return out, err
	}
	if out = shapeOfCopy(c); c.Thrown.IsZero() {
		out.Files, err = cs.trees.Changes(r.Context(), c.Session)
	}
	return out, err
}

// compare adds to a review what its session's worktree is compared with, and where the checkout
// changed the same.
func (cs *copies) compare(ctx context.Context, sess *session.Session, v *page.Review) error {
	c, err := cs.of(sess)
	if err != nil || !c.Thrown.IsZero() {
		return nil
	}
	if v.Checkout, v.Branch = c.Checkout, c.From; v.Since != "commit" {
		return nil
	}
	list, err := cs.trees.Changes(ctx, c.Session)
	if err != nil {
		return err
	}
	v.Files = slices.DeleteFunc(v.Files, func(r page.ReviewFile) bool {
		return c.Last != nil && !slices.ContainsFunc(list, isOf(c, r.Path)) // it is in the checkout
	})
	for i := range v.Files {
		if at := slices.IndexFunc(list, isOf(c, v.Files[i].Path)); at >= 0 {
			v.Files[i].Also, v.Files[i].Unfit = list[at].Also, list[at].Unfit
		}
	}
	return nil
}

// isOf finds a file of a session's workspace among what changed in its worktree.
func isOf(c *worktree.Copy, path string) func(worktree.Change) bool {
	return func(f worktree.Change) bool {
		return filepath.Join(c.Workspace, path) == filepath.Join(c.Root, f.Path)
	}
}

// backRequest says how what a session did is brought back.
type backRequest struct {
	As      string `json:"as"`                // changes, or commit
	Message string `json:"message,omitempty"` // of the commit; empty: the session's title
}

func (cs *copies) back(r *http.Request, sess *session.Session,
	in backRequest) (out worktree.Back, err error) {
	c, err := cs.resting(sess)
	switch {
	case err != nil:
		return out, err
	case in.As == "changes":
		out, err = cs.trees.BringBack(r.Context(), c.Session)
	case in.As == "commit":
		out, err = cs.trees.Commit(r.Context(), c.Session,
			cmp.Or(in.Message, sess.Summary().Title, c.Branch))
	default:
		return out, invalid("invalid", "It is brought back as changes or as commit.")
	}
	if err != nil || len(out.Files)+len(out.Unfit) == 0 {
		return out, err
	}
	d := event.WorktreeBroughtBack{Files: []string{}, Commit: out.Commit}
	for _, f := range out.Files {
		d.Files = append(d.Files, f.Path)
	}
	for _, f := range out.Unfit {
		d.Unfitted = append(d.Unfitted, f.Path)
	}
	return out, sess.Note(r.Context(), d)
}

// resting is the worktree of a session in which nothing runs.
func (cs *copies) resting(sess *session.Session) (*worktree.Copy, error) {
	c, err := cs.of(sess)
	if err == nil && sess.Summary().Open.Turn != "" {
		err = session.ErrWorking
	}
	return c, err
}

// changed answers with a worktree as it is now, and logs what happened to it.
func changed(r *http.Request, sess *session.Session, c *worktree.Copy, err error,
	d event.Data) (copyShape, error) {
	if err != nil {
		return copyShape{}, err
	}
	return shapeOfCopy(c), sess.Note(r.Context(), d)
}

func (cs *copies) undo(r *http.Request, sess *session.Session, _ empty) (copyShape, error) {
	c, err := cs.of(sess)
	if err == nil {
		c, err = cs.trees.Undo(r.Context(), c.Session)
	}
	return changed(r, sess, c, err, event.WorktreeBroughtBack{Files: []string{}, Undone: true})
}

func (cs *copies) throw(r *http.Request, sess *session.Session, _ empty) (empty, error) {
	c, err := cs.resting(sess)
	if err == nil {
		c, err = cs.trees.Throw(r.Context(), c.Session)
	}
	_, err = changed(r, sess, c, err, event.WorktreeThrown{})
	return empty{}, err
}

func (cs *copies) restore(r *http.Request, sess *session.Session, _ empty) (copyShape, error) {
	c, err := cs.of(sess)
	if err == nil {
		c, err = cs.trees.Restore(r.Context(), c.Session)
	}
	return changed(r, sess, c, err, event.WorktreeThrown{Restored: true})
}
