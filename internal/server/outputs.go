package server

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"webchat/internal/event"
	"webchat/internal/outputs"
)

type outputList struct {
	Outputs []outputRow `json:"outputs"`
}

type outputRow struct {
	ID         outputs.ID   `json:"id"`
	ToolCallID string       `json:"toolCallId"`
	Type       outputs.Type `json:"type"`
	Metadata   anything     `json:"metadata"`
	Size       int64        `json:"size"`
	Complete   bool         `json:"complete"`
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
		x := row{Metadata: o.Meta, outputRow: outputRow{ID: o.ID, ToolCallID: o.Meta.ToolCallID, Type: o.Meta.Type,
			Size: o.Size, Complete: o.Complete, CreatedAt: event.Time(o.CreatedAt)}}
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
