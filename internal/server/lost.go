package server

import (
	"bytes"
	"context"
	"errors"
	"net/http"

	"webchat/internal/files"
	"webchat/internal/outputs"
	"webchat/internal/page"
	"webchat/internal/session"
	"webchat/internal/views"
)

// lost draws what going back to before a prompt would write, for the Desk.
func (rv *reviews) lost(w http.ResponseWriter, r *http.Request, sess *session.Session,
	message string) error {
	q := r.URL.Query()
	would, err := sess.Rewind(r.Context(), session.RewindOf{
		MessageID: message,
		FilesOnly: true,
		Also:      q["also"],
		Dry:       true,
		Texts:     true,
	})
	if err != nil {
		return err
	}
	view := page.Review{Since: "back", Began: would.Since}
	left := mostHunks
	for _, t := range would.Texts {
		f, err := rv.rewritten(r.Context(), string(sess.ID()), t, &left)
		if err != nil {
			return err
		}
		view.Files = append(view.Files, f)
	}
	return writePage(w, r, http.StatusOK, func(b *bytes.Buffer) error {
		return rv.pages.Review(b, view)
	})
}

func (rv *reviews) rewritten(ctx context.Context, id string, t files.Rewritten,
	left *int) (f page.ReviewFile, err error) {
	f = page.ReviewFile{Path: t.Path, New: t.Now == nil, Gone: t.Then == nil, Why: string(t.Why)}
	if *left <= 0 {
		f.Why = string(files.ReviewLarge)
	}
	if f.Why != "" {
		return f, nil
	}
	text := files.Text(t.Now) && files.Text(t.Then)
	now, err := rv.put(id, outputs.Meta{}, t.Path, t.Now, text)
	if err != nil {
		return f, err
	}
	defer rv.outputs.Drop(now.ID())
	then, err := rv.put(id, outputs.Meta{Was: now.ID()}, t.Path, t.Then, text)
	if err != nil {
		return f, err
	}
	defer rv.outputs.Drop(then.ID())
	f.Hunks, err = rv.views.Hunks(ctx, then, now)
	*left -= len(f.Hunks)
	if _, refused := errors.AsType[*outputs.Refusal](err); refused {
		f.Why, err = string(files.ReviewLarge), nil
	}
	return f, err
}

// put keeps a version of a file, to compare it with another. about has what is known of it beside
// its text.
func (rv *reviews) put(session string, about outputs.Meta, path string, data []byte,
	text bool) (*outputs.Output, error) {
	m := views.TextMeta(session, path, data)
	m.Was, m.Disk, m.Review = about.Was, about.Disk, about.Review
	if !text {
		m.Binary, m.MimeType, m.Highlight = true, "application/octet-stream", ""
	}
	id, err := rv.outputs.Put(m, data)
	if err != nil {
		return nil, err
	}
	return rv.outputs.Get(id)
}
