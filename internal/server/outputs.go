package server

import (
	"errors"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"webchat/internal/event"
	"webchat/internal/files"
	"webchat/internal/outputs"
	"webchat/internal/session"
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
	ExpiresAt  *event.Time  `json:"expiresAt"` // null while it grows
}

// output serves by id alone: who knows it was shown the output.
func (s *Server) output(w http.ResponseWriter, r *http.Request) error {
	s.outputs.ServeOutput(w, r, outputs.ID(chi.URLParam(r, "id")))
	return nil
}

func (s *Server) listOutputs(_ *http.Request, one *session.Session, _ empty) (outputList, error) {
	list := outputList{[]outputRow{}}
	for _, o := range s.Outputs.Session(string(one.ID())) {
		if one.Looks(string(o.ID)) || o.Meta.Earlier {
			continue
		}
		list.Outputs = append(list.Outputs, outputRow{ID: o.ID, ToolCallID: o.Meta.ToolCallID, Type: o.Meta.Type, Metadata: o.Meta,
			Size: o.Size, Complete: o.Complete, Pinned: o.Pinned, CreatedAt: event.Time(o.CreatedAt), ExpiresAt: timeOrNull(o.ExpiresAt)})
	}
	return list, nil
}

func timeOrNull(t time.Time) *event.Time {
	if t.IsZero() {
		return nil
	}
	return new(event.Time(t))
}

// ownOutput is the output that an address names; [outputs.ErrExpired] for one of another session.
func (s *Server) ownOutput(r *http.Request, one *session.Session) (*outputs.Output, error) {
	o, err := s.Outputs.Get(outputs.ID(chi.URLParam(r, "outputId")))
	if err == nil && o.Meta().SessionID != string(one.ID()) {
		err = outputs.ErrExpired
	}
	return o, err
}

// diskReply is which outputs are no longer as their files are.
type diskReply struct {
	Changed []outputs.ID `json:"changed"`
	Gone    []outputs.ID `json:"gone"`
}

// onDisk compares outputs with the files they were read from. What is not known has not changed.
func (s *Server) onDisk(r *http.Request, one *session.Session, _ empty) (diskReply, error) {
	out := diskReply{[]outputs.ID{}, []outputs.ID{}}
	asked := r.URL.Query()["output"]
	if len(asked) > 100 {
		return out, invalid("invalid", "Ask for at most 100 outputs at once.")
	}
	for _, id := range asked {
		o, err := s.Outputs.Get(outputs.ID(id))
		if err != nil || o.Meta().SessionID != string(one.ID()) {
			continue
		}
		switch o.Meta().Disk.Now() {
		case outputs.Changed:
			out.Changed = append(out.Changed, o.ID())
		case outputs.Gone:
			out.Gone = append(out.Gone, o.ID())
		}
	}
	return out, nil
}

type undoRequest struct {
	With   string `json:"with"`   // the output that holds the text before the change
	Change int    `json:"change"` // as the view of differences numbers them, from 1
}

// undo takes one change of a file back on disk, and shows the file again.
func (s *Server) undo(w http.ResponseWriter, r *http.Request) error {
	one, err := s.session(r)
	if err != nil {
		return err
	}
	in, err := decode[undoRequest](r)
	if err != nil {
		return err
	}
	o, err := s.ownOutput(r, one)
	if err != nil {
		return err
	}
	with, err := s.Outputs.Get(outputs.ID(in.With))
	if err != nil || with.Meta().SessionID != string(one.ID()) {
		return outputs.ErrExpired
	}
	text, err := s.views.Undo(r.Context(), o, with, in.Change)
	if refused, ok := errors.AsType[*outputs.Refusal](err); ok {
		return invalid(refused.Code, "%s", refused.Sentence)
	}
	if err != nil {
		return err
	}
	disk := o.Meta().Disk
	if disk == nil {
		return files.ErrChanged
	}
	if err := files.Replace(one.Summary().Workspace, disk.Name, text, func() bool { return disk.Now() == outputs.Same }); err != nil {
		return err
	}
	look, err := one.Reread(r.Context(), string(o.ID()), s.current)
	if err != nil { // the change is undone all the same, and the page finds that the file has changed
		return reply(w, http.StatusOK, displayReply{NotKept: true})
	}
	return replyLook(w, look)
}

// deleteOutput ends the life of an output now.
func (s *Server) deleteOutput(r *http.Request, one *session.Session, _ empty) (empty, error) {
	o, err := s.ownOutput(r, one)
	if err == nil {
		err = one.DeleteOutput(r.Context(), string(o.ID()))
	}
	if err == nil {
		s.Outputs.Drop(o.ID())
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

// pinOutput keeps an output of the session beyond its life, or no longer.
func (s *Server) pinOutput(r *http.Request, one *session.Session, in pinRequest) (out pinReply, err error) {
	o, err := s.ownOutput(r, one)
	if err == nil {
		err = s.Outputs.Pin(o.ID(), in.Pinned)
	}
	if err != nil {
		return out, err
	}
	return pinReply{in.Pinned, timeOrNull(o.ExpiresAt())}, nil
}
