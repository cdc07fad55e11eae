package server

import (
	"encoding/json"
	"net/http"
)

type displayRequest struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

type displayReply struct {
	Output     *displayed `json:"output"`
	ToolCallID string     `json:"toolCallId"`
}

type displayed struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

func (s *Server) display(w http.ResponseWriter, r *http.Request) error {
	one, err := s.session(r)
	if err != nil {
		return err
	}
	in, err := decode[displayRequest](r)
	if err != nil {
		return err
	}
	if in.Tool == "" {
		return bad("invalid", "The field \"tool\" is missing: render_file_contents, run_and_display or display_image.")
	}
	result, err := one.Display(r.Context(), in.Tool, in.Arguments)
	if err != nil {
		return err
	}
	if result.Error != nil {
		return reply(w, http.StatusUnprocessableEntity, refusalBody{result.Error.Message, result.Error.Code})
	}
	out := displayReply{ToolCallID: result.ToolCallID}
	if result.Output != nil {
		out.Output = &displayed{result.Output.ID, result.Output.Type}
	}
	return reply(w, http.StatusOK, out)
}
