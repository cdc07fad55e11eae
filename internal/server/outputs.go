package server

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"webchat/internal/event"
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
	Metadata   anyJSON      `json:"metadata"`
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

func (s *Server) listOutputs(w http.ResponseWriter, r *http.Request) error {
	one, err := s.session(r)
	if err != nil {
		return err
	}
	type row struct {
		outputRow
		Metadata outputs.Meta `json:"metadata"`
	}
	list := []row{}
	for _, o := range s.Outputs.Session(string(one.ID())) {
		if one.Looks(string(o.ID)) || o.Meta.Earlier {
			continue
		}
		x := row{Metadata: o.Meta, outputRow: outputRow{ID: o.ID, ToolCallID: o.Meta.ToolCallID, Type: o.Meta.Type,
			Size: o.Size, Complete: o.Complete, Pinned: o.Pinned, CreatedAt: event.Time(o.CreatedAt)}}
		if !o.ExpiresAt.IsZero() {
			t := event.Time(o.ExpiresAt)
			x.ExpiresAt = &t
		}
		list = append(list, x)
	}
	return reply(w, http.StatusOK, struct {
		Outputs []row `json:"outputs"`
	}{list})
}

// openOutput notes that the user looked at an output.
func (s *Server) openOutput(w http.ResponseWriter, r *http.Request) error {
	one, err := s.session(r)
	if err == nil {
		err = one.Open(r.Context(), chi.URLParam(r, "outputId"))
	}
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, empty{})
}

// keepOutput makes a preview a display.
func (s *Server) keepOutput(w http.ResponseWriter, r *http.Request) error {
	one, err := s.session(r)
	if err == nil {
		err = one.Keep(r.Context(), chi.URLParam(r, "outputId"))
	}
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, empty{})
}

// ownOutput is the session and the output of an address; [outputs.ErrExpired] for an
// output of another session.
func (s *Server) ownOutput(r *http.Request) (*session.Session, *outputs.Output, error) {
	one, err := s.session(r)
	if err != nil {
		return nil, nil, err
	}
	o, err := s.Outputs.Get(outputs.ID(chi.URLParam(r, "outputId")))
	if err == nil && o.Meta().SessionID != string(one.ID()) {
		err = outputs.ErrExpired
	}
	return one, o, err
}

// deleteOutput ends the life of an output now.
func (s *Server) deleteOutput(w http.ResponseWriter, r *http.Request) error {
	one, o, err := s.ownOutput(r)
	if err != nil {
		return err
	}
	if err := one.DeleteOutput(r.Context(), string(o.ID())); err != nil {
		return err
	}
	s.Outputs.Drop(o.ID())
	w.WriteHeader(http.StatusNoContent)
	return nil
}

type pinRequest struct {
	Pinned bool `json:"pinned"`
}

type pinReply struct {
	Pinned    bool        `json:"pinned"`
	ExpiresAt *event.Time `json:"expiresAt"` // null while it grows
}

// pinOutput keeps an output of the session beyond its life, or no longer.
func (s *Server) pinOutput(w http.ResponseWriter, r *http.Request) error {
	in, err := decode[pinRequest](r)
	if err != nil {
		return err
	}
	_, o, err := s.ownOutput(r)
	if err != nil {
		return err
	}
	if err := s.Outputs.Pin(o.ID(), in.Pinned); err != nil {
		return err
	}
	out := pinReply{Pinned: in.Pinned}
	if at := o.ExpiresAt(); !at.IsZero() {
		out.ExpiresAt = new(event.Time(at))
	}
	return reply(w, http.StatusOK, out)
}
