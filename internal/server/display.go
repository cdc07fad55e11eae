package server

import (
	"encoding/json"
	"net/http"

	"github.com/go-chi/chi/v5"

	"webchat/internal/displays"
	"webchat/internal/event"
	"webchat/internal/outputs"
	"webchat/internal/session"
)

type displayRequest struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Preview   bool            `json:"preview,omitempty"`
	// of a text that is looked at: a picture, shown like a preview and beside it
	Part bool `json:"part,omitempty"`
}

type displayReply struct {
	Output     *displayed `json:"output"`
	ToolCallID string     `json:"toolCallId"`
	// of a command that was stopped or took too long: output is what it printed
	Error *displayError `json:"error,omitempty"`
	// it was shown, but the log does not have it: it could not be written, or it is a preview
	NotKept bool `json:"notKept,omitempty"`
	// of a preview: the file may hold secrets, so it was not shown
	Sensitive bool `json:"sensitive,omitempty"`
}

type displayError struct {
	Message string          `json:"message"`
	Kind    event.ErrorKind `json:"kind"`
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

// looker shows users what they ask for.
type looker struct {
	shown   *shownOutputs
	outputs *outputs.Store
}

func (lk *looker) display(w http.ResponseWriter, r *http.Request, sess *session.Session) error {
	in, err := decode[displayRequest](r)
	if err != nil {
		return err
	}
	if in.Tool == "" {
		return invalid("invalid", "The field \"tool\" is missing: %s.", displays.Offered("or"))
	}
	var look session.Look
	switch {
	case in.Part:
		look, err = sess.Part(r.Context(), in.Tool, in.Arguments)
	case in.Preview:
		look, err = sess.Preview(r.Context(), in.Tool, in.Arguments)
		for _, id := range look.Replaced {
			lk.outputs.Drop(outputs.ID(id))
		}
	default:
		look.DisplayResult, err = sess.Display(r.Context(), in.Tool, in.Arguments)
	}
	if err != nil {
		return err
	}
	return replyLook(w, look)
}

// reread shows a file again whose output is gone, or which has changed on disk since.
func (lk *looker) reread(w http.ResponseWriter, r *http.Request, sess *session.Session) error {
	look, err := sess.Reread(r.Context(), chi.URLParam(r, "outputId"), lk.shown.current)
	if err != nil {
		return err
	}
	if look.Output != nil && look.Output.Type == "" { // it was there
		if o, err := lk.outputs.Get(outputs.ID(look.Output.ID)); err == nil {
			look.Output.Type = string(o.Meta().Type)
		}
	}
	return replyLook(w, look)
}

// runOutside runs the command of a call for the user, not confined.
func runOutside(w http.ResponseWriter, r *http.Request, sess *session.Session) error {
	if _, err := decode[empty](r); err != nil {
		return err
	}
	result, err := sess.RunOutside(r.Context(), chi.URLParam(r, "toolCallId"))
	if err != nil {
		return err
	}
	return replyLook(w, session.Look{DisplayResult: result})
}

// current reports whether an output is there and, if it shows a file, still as the file is.
func (so *shownOutputs) current(id string) bool {
	o, err := so.outputs.Get(outputs.ID(id))
	return err == nil && o.Meta().Disk.Now() != outputs.Changed
}

func replyLook(w http.ResponseWriter, look session.Look) error {
	result := look.DisplayResult
	if look.Sensitive {
		return reply(w, http.StatusOK, displayReply{
			ToolCallID: result.ToolCallID,
			NotKept:    true,
			Sensitive:  true,
		})
	}
	if result.Error != nil && result.Output == nil {
		return reply(w, http.StatusUnprocessableEntity,
			displayFailure{refusalBody{result.Error.Message, result.Error.Code}, result.NotKept})
	}
	out := displayReply{ToolCallID: result.ToolCallID, NotKept: result.NotKept}
	if result.Output != nil {
		out.Output = &displayed{result.Output.ID, result.Output.Type}
	}
	if result.Error != nil {
		out.Error = &displayError{result.Error.Message, result.Error.Kind}
	}
	return reply(w, http.StatusOK, out)
}
