package server

import (
	"bytes"
	"errors"
	"net/http"

	"github.com/go-chi/chi/v5"

	"webchat/internal/outputs"
	"webchat/internal/page"
	"webchat/internal/session"
)

// desk draws what the Desk shows.
type desk struct {
	outputs     *outputs.Store
	projections *projections
	pages       *page.Pages
}

// pane draws an output, or what is left of it, as the Desk shows it; with rows=first in the query
// with the rows that a page reads first.
func (d *desk) pane(w http.ResponseWriter, r *http.Request, sess *session.Session) error {
	target, with := chi.URLParam(r, "output"), page.NoRows
	if r.URL.Query().Get("rows") == "first" {
		with = page.FirstRows
	}
	if look := sess.Looked(target); look != nil {
		return writePage(w, r, http.StatusOK, func(b *bytes.Buffer) error {
			return d.pages.Look(b, string(sess.ID()), target, with, look...)
		})
	}
	_, src, release, err := d.projections.of(r.Context(), sess)
	if err != nil {
		return err
	}
	defer release()
	draw := func(p *page.Projector) error {
		return writePage(w, r, http.StatusOK, func(b *bytes.Buffer) error {
			return p.Pane(b, target, with)
		})
	}
	if err = draw(src.projector); !errors.Is(err, page.ErrNoOutput) {
		return err
	}
	// it may be of a turn from before those that are kept
	whole := d.pages.ProjectorFrom(string(sess.ID()), 1)
	if _, err := (past{d.outputs, sess, whole}).catchUp(r.Context()); err != nil {
		return err
	}
	return draw(whole)
}
