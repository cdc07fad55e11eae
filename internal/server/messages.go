package server

import (
	"cmp"
	"context"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"webchat/internal/event"
	"webchat/internal/guard"
	"webchat/internal/session"
	"webchat/internal/sse"
)

type messageRequest struct {
	Content     string           `json:"content"`
	MessageID   string           `json:"messageId,omitempty"` // sent again, it is the same prompt
	Attachments []attachmentRef  `json:"attachments,omitempty"`
	Mode        session.SendMode `json:"mode,omitempty"`
}

// attachmentRef names what goes with a prompt: one of ID, Path and OutputID.
type attachmentRef struct {
	ID       string `json:"id,omitempty"`
	Path     string `json:"path,omitempty"`
	OutputID string `json:"outputId,omitempty"`
	Lines    string `json:"lines,omitempty"`
	// only the name and the numbers of the lines go with the prompt
	Mention bool `json:"mention,omitempty"`
	// Sensitive says that a file of Path, or an upload of that Name, is to go although it may hold
	// secrets.
	Sensitive bool   `json:"sensitive,omitempty"`
	Name      string `json:"name,omitempty"` // what people call it
}

type messageReply struct {
	MessageID string `json:"messageId"`
}

func (messageReply) Streams() string {
	return "With Accept: text/event-stream, the events of the turn. With wait=true, status 200 and " +
		"content, outputs and error too."
}

func (m messageRequest) message() session.Message {
	out := session.Message{ID: m.MessageID, Content: m.Content, Mode: m.Mode}
	for _, x := range m.Attachments {
		out.Attachments = append(out.Attachments, event.Attachment{
			ID:        x.ID,
			Path:      x.Path,
			OutputID:  x.OutputID,
			Lines:     x.Lines,
			Mention:   x.Mention,
			Sensitive: x.Sensitive,
			Name:      attachmentName(x.Name),
		})
	}
	return out
}

// messages takes prompts.
type messages struct {
	hub    *sse.Hub
	copies *copies
}

func (ms *messages) send(w http.ResponseWriter, r *http.Request, sess *session.Session) error {
	in, err := decode[messageRequest](r)
	if err != nil {
		return err
	}
	if in.Mode != "" && in.Mode != session.SendQueue && in.Mode != session.SendSteer {
		return invalid("invalid", "The mode must be queue or steer.")
	}
	if err := ms.copies.take(r, sess, in.Content); err != nil {
		return err
	}
	wait := r.URL.Query().Get("wait")
	waits := wait == "true" || wait == "1"
	if waits || acceptsStream(r) { // else it would be refused when the prompt is sent already
		if err := guard.Streaming(r, 1); err != nil {
			return err
		}
	}
	if acceptsStream(r) {
		return ms.streamTurn(w, r, sess, in.message())
	}
	id, err := sess.Send(r.Context(), in.message())
	if err != nil {
		return err
	}
	if !waits {
		return reply(w, http.StatusAccepted, messageReply{id})
	}
	result, err := sess.WaitTurn(r.Context(), id)
	if err != nil {
		return err
	}
	result.Outputs = listed(result.Outputs)
	return reply(w, http.StatusOK, result)
}

// streamTurn sends the events of the one turn that answers the message. The turn goes on when the
// client leaves.
func (ms *messages) streamTurn(w http.ResponseWriter, r *http.Request, sess *session.Session,
	m session.Message) error {
	live := sess.Subscribe()
	defer live.Close()
	after, again, err := sess.Place(r.Context(), m.ID)
	if err != nil {
		return err
	}
	id, err := sess.Send(r.Context(), m)
	if err != nil {
		return err
	}
	turn := turnOf{message: id, steers: m.Mode == session.SendSteer}
	return ms.hub.Stream(w, r, func(ctx context.Context, send func(sse.Frame) error) (int64, error) {
		for again && !turn.over { // what the log holds since the prompt was sent first
			entries, err := sess.Events(ctx, after, 0)
			if err != nil || len(entries) == 0 {
				return 0, err
			}
			after += int64(len(entries)) // the log has no holes
			for _, f := range turn.frames(entries) {
				if err := send(f); err != nil {
					return 0, err
				}
			}
		}
		return 0, nil
	}, func(ctx context.Context, publish func(...sse.Frame)) error {
		for !turn.over {
			entries, err := live.Next(ctx)
			if err != nil {
				return err
			}
			publish(turn.frames(slices.DeleteFunc(entries, func(e event.Entry) bool {
				return event.Logged(e.Event.Data) && e.Seq <= after
			}))...)
		}
		return nil
	})
}

// turnOf decides which events belong to the turn that answers one message: from its turn.start, or
// from the message itself if that joined a turn which ran already.
type turnOf struct {
	message string
	steers  bool // the message is to join a turn; only that turn's end says that it did
	inside  bool // between the turn's start and its end
	over    bool
	held    []event.Entry // what was logged since the message, if the turn is the one it joined
}

// frames returns those of the events that belong to the turn.
func (t *turnOf) frames(entries []event.Entry) (frames []sse.Frame) {
	for _, e := range entries {
		for _, own := range t.take(e) {
			frames = append(frames, frameOf(own))
		}
	}
	return frames
}

// take returns what is known by e to belong to the turn, in order.
func (t *turnOf) take(e event.Entry) []event.Entry {
	if t.over {
		return nil
	}
	list := []event.Entry{e}
	switch d := e.Event.Data.(type) {
	case event.UserMessageWithdrawn:
		if d.MessageID != t.message {
			break
		}
		t.message, t.over = cmp.Or(d.As, t.message), d.As == ""
		return list
	case event.UserMessage:
		if d.MessageID != t.message {
			return nil
		}
		t.held = []event.Entry{}
		return list
	case event.TurnStart:
		if t.inside = d.MessageID == t.message; t.inside {
			t.held = nil
		}
	case event.TurnEnd:
		joined := slices.Contains(d.Steered, t.message)
		if t.over = joined || d.MessageID == t.message; !t.over {
			t.held = nil
			return nil
		}
		if joined {
			return append(t.held, e)
		}
		return list
	}
	if t.inside {
		return list
	}
	if t.steers && t.held != nil && event.Logged(e.Event.Data) {
		t.held = append(t.held, e)
	}
	return nil
}

// abortRequest is the body of a stop; none stops the turn only.
type abortRequest struct {
	Tasks bool `json:"tasks,omitempty"` // everything in the background as well
}

func abort(r *http.Request, sess *session.Session, in abortRequest) (empty, error) {
	err := sess.Abort(r.Context(), "Stopped by the user.")
	if err == nil && in.Tasks {
		err = sess.AbortTasks(r.Context())
	}
	return empty{}, err
}

// taskList is what runs in the background.
type taskList struct {
	Tasks []session.Task `json:"tasks"`
}

func listTasks(_ *http.Request, sess *session.Session, _ empty) (taskList, error) {
	return taskList{sess.Tasks()}, nil
}

// waitingPatch is what changes of a prompt that waits: one of its fields is set.
type waitingPatch struct {
	Content *string `json:"content,omitempty"`
	Earlier bool    `json:"earlier,omitempty"` // it changes places with the one before it
}

// changeWaiting edits a prompt that waits, or has it sent earlier.
func changeWaiting(r *http.Request, sess *session.Session,
	in waitingPatch) (messageReply, error) {
	id := chi.URLParam(r, "messageId")
	var err error
	switch {
	case in.Earlier == (in.Content != nil):
		err = invalid("invalid", "Give either the new content or earlier.")
	case in.Earlier:
		id, err = sess.SendEarlier(r.Context(), id)
	default:
		id, err = sess.EditWaiting(r.Context(), id, *in.Content)
	}
	return messageReply{id}, err
}

// acceptsStream reports whether the client asked for text/event-stream by name.
func acceptsStream(r *http.Request) bool {
	for _, header := range r.Header.Values("Accept") {
		for word := range strings.SplitSeq(header, ",") {
			t, params, err := mime.ParseMediaType(word)
			if err == nil && t == "text/event-stream" && params["q"] != "0" {
				return true
			}
		}
	}
	return false
}
