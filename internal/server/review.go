package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"webchat/internal/calls"
	"webchat/internal/event"
	"webchat/internal/files"
	"webchat/internal/outputs"
	"webchat/internal/page"
	"webchat/internal/session"
	"webchat/internal/views"
)

// mostHunks is how many changes a review draws.
const mostHunks = 300

// reviews draws what agents changed.
type reviews struct {
	changes *changes
	edits   *edits
	outputs *outputs.Store
	views   *views.Views
	pages   *page.Pages
	copies  *copies
}

// page draws what the agent changed, for the Desk.
func (rv *reviews) page(w http.ResponseWriter, r *http.Request, sess *session.Session) error {
	if message := r.URL.Query().Get("back"); message != "" {
		return rv.lost(w, r, sess, message)
	}
	of, err := reviewOf(r)
	if err != nil {
		return err
	}
	source, err := rv.changes.of(sess)
	if err != nil {
		return err
	}
	found, err := source.Review(r.Context(), of)
	if err != nil {
		return err
	}
	view, err := rv.reviewed(r.Context(), sess, source, found)
	if err != nil {
		return err
	}
	return writePage(w, r, http.StatusOK, func(b *bytes.Buffer) error {
		return rv.pages.Review(b, view)
	})
}

func reviewOf(r *http.Request) (of files.ReviewOf, err error) {
	q := r.URL.Query()
	if of.From, err = eventOf(q, "from"); err != nil {
		return of, err
	}
	switch q.Get("since") {
	case "", "turn":
	case "prompt":
		of.On = true
	case "commit":
		of = files.ReviewOf{Commit: true}
	default:
		return of, invalid("bad_query", "since is turn, prompt or commit.")
	}
	return of, nil
}

// reviewed compares the files of a review. Both texts are kept as outputs, so that changes can be
// taken back, and seen to be, for as long as outputs live.
func (rv *reviews) reviewed(ctx context.Context, sess *session.Session, source files.ChangeSource,
	found files.Review) (v page.Review, err error) {
	v = page.Review{
		Since:  "turn",
		From:   found.Of.From,
		Commit: found.Git,
		Began:  found.Began,
		More:   found.More,
		Unkept: found.Unkept,
	}
	if found.Of.Commit {
		v.Since = "commit"
	} else if found.Of.On {
		v.Since = "prompt"
	}
	if v.HalfDone = files.HalfDone(source.Workspace); v.Since == "turn" {
		if v.Kept, err = keptBySandbox(ctx, sess, found.Of.From, source.Workspace); err != nil {
			return v, err
		}
	}
	if found.Turn != "" {
		v.Turn = found.Turn
		for again, way := range map[bool]*bool{false: &v.Undo, true: &v.Redo} {
			dry, err := sess.Rewind(ctx, session.RewindOf{TurnID: found.Turn, Again: again, Dry: true})
			if err != nil {
				return v, err
			}
			*way = len(dry.Written)+len(dry.Deleted) > 0
		}
	}
	for _, t := range found.Turns {
		v.Turns = append(v.Turns, page.ReviewTurn{From: t.From, Prompt: t.Line, At: t.At})
	}
	of := strconv.FormatInt(found.Of.From, 10) // since then; 0: since the commit
	kept := map[string]*outputs.Output{}
	for _, l := range rv.outputs.Session(string(sess.ID())) {
		if m := l.Meta; m.Review != nil && m.Review.Of == of {
			if o, err := rv.outputs.Get(l.ID); err == nil {
				kept[m.Path] = o
			}
		}
	}
	if found.Of.Commit { // what was taken back whole does not differ from the commit
		for path, o := range kept {
			if !found.Has(path) {
				found.Add(files.Reviewed{Path: path, Edits: o.Meta().Review.Edits, Why: files.ReviewChanged})
			}
		}
	}
	left := mostHunks
	for _, f := range found.Files {
		file, err := rv.file(ctx, sess, source, f, of, kept[f.Path], found.Of.Commit, &left)
		if err != nil {
			return v, err
		}
		v.Files = append(v.Files, file)
	}
	err = rv.copies.compare(ctx, sess, &v)
	return v, err
}

// keptBySandbox are the files of the workspace that the sandbox kept from being written to in a
// turn.
func keptBySandbox(ctx context.Context, sess *session.Session, from int64,
	workspace string) (kept []string, err error) {
	var turns []calls.Turn
	if err := sess.Index(ctx, func(x *calls.Index) { turns = x.Turns() }); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(turns, func(t calls.Turn) bool { return t.From == from })
	if i < 0 {
		return nil, nil
	}
	for _, seq := range turns[i].Refused {
		e, err := sess.At(ctx, seq)
		if err != nil {
			return kept, err
		}
		d, _ := e.Event.Data.(event.SandboxRefused)
		rel, err := filepath.Rel(workspace, d.What)
		if err == nil && filepath.IsLocal(rel) && rel != ".git" && !strings.HasPrefix(rel, ".git/") {
			kept = append(kept, rel)
		}
	}
	return kept, nil
}

func (rv *reviews) file(ctx context.Context, sess *session.Session, source files.ChangeSource,
	f files.Reviewed, of string, kept *outputs.Output, commit bool, left *int) (out page.ReviewFile,
	err error) {
	out = page.ReviewFile{
		Path:      f.Path,
		Added:     f.Added,
		Removed:   f.Removed,
		Why:       string(f.Why),
		Runs:      f.Runs,
		Held:      f.Held,
		Edits:     f.Reported,
		Committed: f.Committed,
		Size:      f.Size,
	}
	kept, with, now := rv.still(ctx, source, &f, kept, commit)
	if kept == nil {
		if f.Why != "" {
			return out, ctx.Err()
		}
		if kept, with, err = rv.keep(sess, source, f, of); err != nil {
			out.Why = string(files.ReviewLarge) // they do not fit among the outputs
			if errors.Is(err, files.ErrChanged) {
				out.Why = string(files.ReviewChanged)
			}
			return out, ctx.Err()
		}
		if now, err = rv.edits.present(ctx, source.Workspace, kept, with); err != nil {
			return out, err
		}
	}
	out.Output, out.With, out.Why, out.Edits = string(kept.ID()), string(with.ID()), "", nil
	if !now.known {
		out.Why = string(files.ReviewChanged)
	}
	m := kept.Meta().Review
	out.New, out.Gone, out.Undone = m.New, m.Gone, now.undone
	if *left <= 0 {
		out.Why, out.Output = string(files.ReviewLarge), ""
		return out, nil
	}
	out.Hunks, err = rv.views.Hunks(ctx, kept, with)
	*left -= len(out.Hunks)
	if _, refused := errors.AsType[*outputs.Refusal](err); refused {
		out.Why, out.Output, err = string(files.ReviewLarge), "", nil
	}
	return out, err
}

// still returns a review of a file that was kept, what the file was then, and what is on disk; none
// if the file has changed since, which drops it.
func (rv *reviews) still(ctx context.Context, source files.ChangeSource, f *files.Reviewed,
	kept *outputs.Output, commit bool) (is, with *outputs.Output, now presence) {
	if kept == nil {
		return nil, nil, now
	}
	with, err := rv.outputs.Get(kept.Meta().Was)
	if err == nil && f.Why != files.ReviewClosed {
		now, err = rv.edits.present(ctx, source.Workspace, kept, with)
	}
	// Against a commit, edits do not say that the agent changed it again.
	again := kept.Meta().Review.Edits != f.Edits || commit && !now.known
	// the edits do not fit what was undone between them
	if err == nil && f.Edits > kept.Meta().Review.Edits && f.Why == files.ReviewChanged {
		goOn(source, f, kept, with)
	}
	if err != nil || f.Why == files.ReviewClosed || again {
		rv.outputs.Drop(kept.ID())
		kept = nil
	}
	return kept, with, now
}

// goOn takes what a file was from the review before the agent edited it again.
func goOn(source files.ChangeSource, f *files.Reviewed, kept, with *outputs.Output) {
	m := kept.Meta()
	now, st, err := files.Present(source.Workspace, m.Disk.Name, files.MaxReviewed)
	was := make([]byte, with.Size())
	if _, readErr := with.ReadAt(was, 0); err != nil || readErr != nil && readErr != io.EOF {
		return
	}
	f.Why, f.Was, f.Now = "", was, append([]byte{}, now...)
	if m.Review.New {
		f.Was = nil
	}
	if st == nil {
		f.Now = nil
	}
}

// keep keeps what a file was and what the agent made of it.
func (rv *reviews) keep(sess *session.Session, source files.ChangeSource, f files.Reviewed,
	of string) (o, with *outputs.Output, err error) {
	name, err := source.Absolute(f.Path)
	if err != nil {
		return nil, nil, err
	}
	text := files.Text(f.Was) && files.Text(f.Now)
	with, err = rv.put(string(sess.ID()), outputs.Meta{}, f.Path, f.Was, text)
	if err != nil {
		return nil, nil, err
	}
	o, err = rv.put(string(sess.ID()), outputs.Meta{
		Was:    with.ID(),
		Disk:   &outputs.Disk{Name: name},
		Review: &outputs.Review{Of: of, Edits: f.Edits, New: f.Was == nil, Gone: f.Now == nil},
	}, f.Path, f.Now, text)
	if err != nil {
		rv.outputs.Drop(with.ID())
	}
	return o, with, err
}
