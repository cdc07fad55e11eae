package server

import (
	"context"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"webchat/internal/event"
	"webchat/internal/session"
	"webchat/internal/sse"
)

type messageRequest struct {
	Content     string           `json:"content"`
	Attachments []attachmentRef  `json:"attachments,omitempty"`
	Mode        session.SendMode `json:"mode,omitempty"`
}

// attachmentRef names what goes with a prompt: one of ID, Path and OutputID.
type attachmentRef struct {
	ID       string `json:"id,omitempty"`
	Path     string `json:"path,omitempty"`
	OutputID string `json:"outputId,omitempty"`
	Lines    string `json:"lines,omitempty"`
	Name     string `json:"name,omitempty"` // what people call it
}

type messageReply struct {
	MessageID string `json:"messageId"`
}

func (messageReply) streams() string {
	return "With Accept: text/event-stream, the events of the turn. With wait=true, status 200 and content, outputs and error too."
}

func (m messageRequest) message() session.Message {
	out := session.Message{Content: m.Content, Mode: m.Mode}
	for _, x := range m.Attachments {
		out.Attachments = append(out.Attachments, event.Attachment{ID: x.ID, Path: x.Path, OutputID: x.OutputID, Lines: x.Lines, Name: attachmentName(x.Name)})
	}
	return out
}

func (s *Server) sendMessage(w http.ResponseWriter, r *http.Request) error {
	one, err := s.session(r)
	if err != nil {
		return err
	}
	in, err := decode[messageRequest](r)
	if err != nil {
		return err
	}
	if in.Mode != "" && in.Mode != session.SendQueue && in.Mode != session.SendSteer {
		return bad("invalid", "The mode must be queue or steer.")
	}
	if acceptsStream(r) {
		return s.streamTurn(w, r, one, in.message())
	}
	id, err := one.Send(r.Context(), in.message())
	if err != nil {
		return err
	}
	if wait := r.URL.Query().Get("wait"); wait != "true" && wait != "1" {
		return reply(w, http.StatusAccepted, messageReply{id})
	}
	result, err := one.WaitTurn(r.Context(), id)
	if err != nil {
		return err
	}
	if result.Outputs == nil {
		result.Outputs = []session.OutputRef{}
	}
	return reply(w, http.StatusOK, result)
}

// streamTurn sends the events of the one turn that answers the message. The turn
// goes on when the client leaves.
func (s *Server) streamTurn(w http.ResponseWriter, r *http.Request, one *session.Session, m session.Message) error {
	live := one.Subscribe()
	defer live.Close()
	id, err := one.Send(r.Context(), m)
	if err != nil {
		return err
	}
	return s.Hub.Stream(w, r, func(ctx context.Context, send func(sse.Frame) error) error {
		turn := turnOf{message: id}
		for !turn.over {
			entries, err := live.Next(ctx)
			if err != nil {
				return err
			}
			for _, e := range entries {
				if !turn.takes(e.Event.Data) {
					continue
				}
				if err := send(frameOf(e)); err != nil {
					return err
				}
				if turn.over {
					return nil
				}
			}
		}
		return nil
	})
}

// turnOf tells which events belong to the turn that answers one message: from its
// turn.start, or from the message itself if that joins a turn which runs.
type turnOf struct {
	message      string
	inside, over bool
}

func (t *turnOf) takes(d event.Data) bool {
	switch d := d.(type) {
	case event.UserMessage:
		return d.MessageID == t.message
	case event.TurnStart:
		t.inside = d.MessageID == t.message
	case event.TurnEnd:
		t.over = d.MessageID == t.message || slices.Contains(d.Steered, t.message)
		return t.over
	}
	return t.inside
}

func (s *Server) abort(w http.ResponseWriter, r *http.Request) error {
	one, err := s.session(r)
	if err != nil {
		return err
	}
	if err := one.Abort(r.Context(), "Stopped by the user."); err != nil {
		return err
	}
	return reply(w, http.StatusAccepted, empty{})
}

func (s *Server) abortTool(w http.ResponseWriter, r *http.Request) error {
	one, err := s.session(r)
	if err != nil {
		return err
	}
	if err := one.AbortTool(r.Context(), chi.URLParam(r, "toolCallId")); err != nil {
		return err
	}
	return reply(w, http.StatusAccepted, empty{})
}

// acceptsStream reports whether the client asked for text/event-stream by name.
func acceptsStream(r *http.Request) bool {
	for _, header := range r.Header.Values("Accept") {
		for one := range strings.SplitSeq(header, ",") {
			t, params, err := mime.ParseMediaType(one)
			if err == nil && t == "text/event-stream" && params["q"] != "0" {
				return true
			}
		}
	}
	return false
}
