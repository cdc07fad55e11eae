package server

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"webchat/internal/calls"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/page"
	"webchat/internal/session"
)

// toolRows draws the inside of folded rows.
type toolRows struct {
	projections *projections
	pages       *page.Pages
}

// content answers with the inside of a folded row, for a page that opens it.
func (tr *toolRows) content(w http.ResponseWriter, r *http.Request, sess *session.Session) error {
	from, err := eventOf(r.URL.Query(), "from")
	if err != nil {
		return err
	}
	id := chi.URLParam(r, "toolCallId")
	if r.URL.RawPath != "" { // then the router matched the path as it was escaped
		if id, err = url.PathUnescape(id); err != nil {
			return invalid("bad_path", "Give the id of a call as the log has it.")
		}
	}
	_, src, release, err := tr.projections.of(r.Context(), sess)
	if err != nil {
		return err
	}
	defer release()
	content, ok := src.projector.Tool(id, from)
	if !ok {
		if content, err = tr.ofLog(r, sess, id, from); err != nil {
			return err
		}
	}
	return writePage(w, r, http.StatusOK, func(b *bytes.Buffer) error {
		b.WriteString(content)
		return nil
	})
}

// ofLog finds a call in the log that is no longer among those a page holds.
func (tr *toolRows) ofLog(r *http.Request, sess *session.Session, id string,
	from int64) (string, error) {
	var c calls.Call
	if err := sess.Index(r.Context(), func(x *calls.Index) { c, _ = x.Ended(id, from) }); err != nil {
		return "", err
	}
	if c.Start == 0 {
		return "", fmt.Errorf("tool call %s: %w", id, eventlog.ErrNotFound)
	}
	p := tr.pages.ProjectorFrom(string(sess.ID()), max(1, from))
	if c.Turn > 0 {
		began, err := sess.At(r.Context(), c.Turn)
		if err != nil {
			return "", err
		}
		p.Load(began)
	}
	err := eachPage(r.Context(), sess, c.Start-1, c.End, func(entries []event.Entry) error {
		p.Load(entries...)
		return nil
	})
	if err != nil {
		return "", err
	}
	content, ok := p.Tool(id, 0)
	if !ok {
		return "", fmt.Errorf("tool call %s: %w", id, eventlog.ErrNotFound)
	}
	return content, nil
}
