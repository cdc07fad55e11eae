package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/guard"
	"webchat/internal/outputs"
	"webchat/internal/session"
	"webchat/internal/sessions"
	"webchat/internal/views"
)

type outputList struct {
	Outputs []outputRow `json:"outputs"`
}

type outputRow struct {
	ID         outputs.ID   `json:"id"`
	ToolCallID string       `json:"toolCallId"`
	Type       outputs.Type `json:"type"`
	Metadata   any          `json:"metadata"` // of [outputs.Meta]
	Size       int64        `json:"size"`
	Complete   bool         `json:"complete"`
	Pinned     bool         `json:"pinned"`
	CreatedAt  event.Time   `json:"createdAt"`
	ExpiresAt  *event.Time  `json:"expiresAt"`      // null while it grows, and of what is gone
	Gone       goneBy       `json:"gone,omitempty"` // empty: it is there
}

// servedOutputs serves outputs by their ids.
type servedOutputs struct {
	outputs  *outputs.Store
	sessions *sessions.Manager
	guard    *guard.Guard
	views    *views.Views
	handler  *outputs.Handler
}

// of makes a handler of f, which answers a request about the output that the path names. Who
// knows the id was shown the output; where people sign in as themselves, only those of the user's
// sessions are there, and none for a stranger: it is then the id of none.
func (so *servedOutputs) of(f func(http.ResponseWriter, *http.Request, outputs.ID) error) handler {
	shared := so.guard.Shared()
	return func(w http.ResponseWriter, r *http.Request) error {
		id := outputs.ID(chi.URLParam(r, "id"))
		if shared && !so.sees(r, id) {
			id = ""
		}
		return f(w, r, id)
	}
}

func (so *servedOutputs) sees(r *http.Request, id outputs.ID) bool {
	_, known := guard.Visitor(r)
	o, err := so.outputs.Get(id)
	return err == nil && known && so.sessions.Sees(r.Context(), eventlog.ID(o.Meta().SessionID)) == nil
}

// forms are the routes of the forms of an output.
func (so *servedOutputs) forms() (rows []route) {
	for _, f := range outputs.Forms() {
		serve := so.of(func(w http.ResponseWriter, r *http.Request, id outputs.ID) error {
			return so.handler.ServeForm(w, r, id, f)
		})
		rows = append(rows, route{get, "/api/outputs/{id}/" + f.Name, guard.Output, serve, 200, nil,
			formBody(f), f.Query, f.About})
	}
	return rows
}

func formBody(f outputs.Form) any {
	if f.Reply != nil {
		return f.Reply
	}
	if body, ok := map[string]any{"text/plain": textBody("the lines"),
		"text/html": htmlPage("the rows")}[f.Type]; ok {
		return body
	}
	return bytesBody("the bytes")
}

// page is HTML for a frame.
func (so *servedOutputs) page(w http.ResponseWriter, r *http.Request, id outputs.ID) error {
	o, err := so.outputs.Get(id)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	cell, _ := strconv.Atoi(q.Get("cell")) // none: 0
	output, _ := strconv.Atoi(q.Get("output"))
	page, err := so.views.Page(r.Context(), o, cell, output)
	if errors.Is(err, views.ErrNoPage) {
		return invalid("no_page",
			"This output holds no HTML of at most 4 MiB that is quickly made a page. Ask for its source.")
	}
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, err = w.Write(page)
	return err
}

// shownOutputs is what sessions showed.
type shownOutputs struct {
	outputs *outputs.Store
	started time.Time // from when on outputs are in memory
}

// list lists what was shown in the order of the calls, also what is gone.
func (so *shownOutputs) list(r *http.Request, sess *session.Session,
	_ empty) (list outputList, err error) {
	there := map[outputs.ID]bool{}
	var all []calledRow
	for _, o := range so.outputs.Session(string(sess.ID())) {
		there[o.ID] = true
		if sess.Looks(string(o.ID)) || o.Meta.Earlier {
			continue
		}
		all = append(all, calledRow{o.Called(), outputRow{ID: o.ID, ToolCallID: o.Meta.ToolCallID,
			Type: o.Meta.Type, Metadata: o.Meta, Size: o.Size, Complete: o.Complete, Pinned: o.Pinned,
			CreatedAt: event.Time(o.CreatedAt), ExpiresAt: timeOrNull(o.ExpiresAt)}})
	}
	gone, err := so.gone(r.Context(), sess, there)
	if err != nil {
		return list, err
	}
	all = append(all, gone...)
	slices.SortStableFunc(all, func(a, b calledRow) int { return a.called.Compare(b.called) })
	list.Outputs = make([]outputRow, 0, len(all))
	for _, row := range all {
		list.Outputs = append(list.Outputs, row.outputRow)
	}
	return list, nil
}

func timeOrNull(t time.Time) *event.Time {
	if t.IsZero() {
		return nil
	}
	return new(event.Time(t))
}

// own is the output that an address names; [outputs.ErrExpired] for one of another session.
func (so *shownOutputs) own(r *http.Request, sess *session.Session) (*outputs.Output, error) {
	o, err := so.outputs.Get(outputs.ID(chi.URLParam(r, "outputId")))
	if err == nil && o.Meta().SessionID != string(sess.ID()) {
		err = outputs.ErrExpired
	}
	return o, err
}

type undoRequest struct {
	With string `json:"with"` // the output that holds the text before the changes
	// the changes that are then taken back, as the view of differences numbers them, from 1; the
	// others are as shown
	Undone []int `json:"undone"`
}

// edits takes changes of files back on disk, and brings them back.
type edits struct {
	shown   *shownOutputs
	outputs *outputs.Store
	views   *views.Views
}

// undo takes changes of a file back on disk or brings them back, and shows the file again. The file
// has to be as it is shown, but for changes that were taken back before.
func (e *edits) undo(w http.ResponseWriter, r *http.Request, sess *session.Session) error {
	in, err := decode[undoRequest](r)
	if err != nil {
		return err
	}
	o, err := e.shown.own(r, sess)
	if err != nil {
		return err
	}
	with, err := e.outputs.Get(outputs.ID(in.With))
	if err != nil || with.Meta().SessionID != string(sess.ID()) {
		return outputs.ErrExpired
	}
	if err := e.writeBack(r.Context(), sess.Summary().Workspace, o, with, in.Undone); err != nil {
		return err
	}
	if o.Meta().Review != nil { // which is drawn again as a whole
		return reply(w, http.StatusOK, displayReply{NotKept: true})
	}
	look, err := sess.Reread(r.Context(), string(o.ID()), e.shown.current)
	if err != nil { // the change is undone all the same, and the page finds that the file has changed
		return reply(w, http.StatusOK, displayReply{NotKept: true})
	}
	return replyLook(w, look)
}

// writeBack writes the file of o as it is without the undone changes since with.
func (e *edits) writeBack(ctx context.Context, workspace string, o, with *outputs.Output,
	undone []int) error {
	text, err := e.views.Undo(ctx, o, with, undone)
	if refused, ok := errors.AsType[*outputs.Refusal](err); ok {
		return invalid(refused.Code, "%s", refused.Sentence)
	}
	m := o.Meta()
	if err == nil && m.Disk == nil {
		err = files.ErrChanged
	}
	if err != nil {
		return err
	}
	now, err := e.present(ctx, workspace, o, with)
	if err != nil {
		return err
	}
	if !now.known {
		return files.ErrChanged
	}
	if m.Review != nil && len(text) == 0 && (m.Review.New || m.Review.Gone) {
		if now.disk == nil {
			return nil
		}
		text = nil
	}
	return files.Replace(workspace, m.Disk.Name, text, func() bool {
		if now.disk == nil {
			return m.Disk.Now() == outputs.Gone
		}
		return now.disk.Now() == outputs.Same
	})
}

// presence is what became of a file whose changes may be taken back.
type presence struct {
	known  bool  // it is as it was shown, but for changes that were taken back
	undone []int // those, from 1
	disk   *outputs.Disk
}

// present compares what a file is with what o and with hold of it.
func (e *edits) present(ctx context.Context, workspace string, o,
	with *outputs.Output) (p presence, err error) {
	m := o.Meta()
	text, st, err := files.Present(workspace, m.Disk.Name, o.Size()+with.Size()+1)
	switch {
	case errors.Is(err, files.ErrTooLarge), errors.Is(err, files.ErrChanged):
		return p, nil
	case err != nil:
		return p, err
	}
	if st != nil {
		p.disk = &outputs.Disk{Name: m.Disk.Name, Modified: st.ModTime(), Size: st.Size()}
	}
	p.undone, p.known, err = e.views.Undone(ctx, o, with, text)
	is := m.Review
	if is == nil {
		is = &outputs.Review{}
	}
	if here := st != nil; here && len(text) == 0 && (is.New || is.Gone) || !here && !is.New &&
		!is.Gone {
		p.known = false
	}
	return p, err
}

// delete ends the life of an output now.
func (so *shownOutputs) delete(r *http.Request, sess *session.Session, _ empty) (empty, error) {
	o, err := so.own(r, sess)
	if err == nil {
		err = sess.DeleteOutput(r.Context(), string(o.ID()))
	}
	if err == nil {
		so.outputs.Drop(o.ID())
	}
	return empty{}, err
}

type pinRequest struct {
	Pinned bool `json:"pinned"`
}

type pinReply struct {
	Pinned    bool        `json:"pinned"`
	ExpiresAt *event.Time `json:"expiresAt"` // null while it grows
}

// pin keeps an output of the session beyond its life, or ends that.
func (so *shownOutputs) pin(r *http.Request, sess *session.Session,
	in pinRequest) (out pinReply, err error) {
	o, err := so.own(r, sess)
	if err == nil {
		set := so.outputs.Unpin
		if in.Pinned {
			set = so.outputs.Pin
		}
		err = set(o.ID())
	}
	if err != nil {
		return out, err
	}
	return pinReply{in.Pinned, timeOrNull(o.ExpiresAt())}, nil
}
