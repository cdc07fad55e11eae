package server

import (
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/session"
)

// openedShape is something that a session, or its workspace, has open beside what the sandbox
// gives.
type openedShape struct {
	ID       string         `json:"id"`
	Kind     event.OpenKind `json:"kind"`
	What     string         `json:"what"`               // as [event.SandboxOpened] has it
	ReadOnly bool           `json:"readOnly,omitempty"` // of a path
	Scope    event.Scope    `json:"scope"`
	By       event.Decider  `json:"by"`
	Since    event.Time     `json:"since"`
}

func shapeOfOpened(o eventlog.Opened) openedShape {
	since := event.Time(time.UnixMilli(o.At))
	return openedShape{o.ID, o.Kind, o.What, o.ReadOnly, o.Scope, o.By, since}
}

func openedOf(sess *session.Session) (all []openedShape) {
	for _, o := range sess.Opened().List() {
		all = append(all, shapeOfOpened(o))
	}
	return all
}

// open opens something to what the session runs confined.
func open(r *http.Request, sess *session.Session, in consent.Opening) (openedShape, error) {
	o, err := sess.Opened().Open(r.Context(), in)
	return shapeOfOpened(o), err
}

// closeOpened closes it, at once.
func closeOpened(r *http.Request, sess *session.Session, _ empty) (empty, error) {
	return empty{}, sess.Opened().Close(r.Context(), chi.URLParam(r, "openedId"))
}

// holdAgain takes back what was decided about what is held.
func holdAgain(r *http.Request, sess *session.Session, _ empty) (empty, error) {
	return empty{}, sess.Held().Again(r.Context(), chi.URLParam(r, "requestId"))
}
