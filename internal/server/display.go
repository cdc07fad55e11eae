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
	NotKept    bool       `json:"notKept,omitempty"` // it was shown, but the log could not be written
}

type displayed struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

// displayFailure says why nothing was shown. If that is not kept, no card says so.
type displayFailure struct {
	refusalBody
	NotKept bool `json:"notKept,omitempty"`
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
		return reply(w, http.StatusUnprocessableEntity, displayFailure{refusalBody{result.Error.Message, result.Error.Code}, result.NotKept})
	}
	out := displayReply{ToolCallID: result.ToolCallID, NotKept: result.NotKept}
	if result.Output != nil {
		out.Output = &displayed{result.Output.ID, result.Output.Type}
	}
	return reply(w, http.StatusOK, out)
}
