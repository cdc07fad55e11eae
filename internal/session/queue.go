package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"webchat/internal/agent"
	"webchat/internal/calls"
	"webchat/internal/consent"
	"webchat/internal/contain"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/wording"
)

const (
	// steerLimit is how long an agent may take to say whether a prompt joins its turn.
	steerLimit = 5 * time.Second
)

// messageID is what a sender may call a prompt.
var messageID = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// prompt is an accepted message whose turn has not ended.
type prompt struct {
	id          string
	was         []string // its ids before it was edited or moved
	content     string
	attachments []agent.Attachment
	given       []event.Attachment // the same, as the user named them
	own         *ownWork           // nil: the user's
}

// prompts takes what the user sends, and has it wait for its turn.
type prompts struct {
	*core
	*conversation
	*turns
}

// Send accepts a prompt: when it returns nil, the user.message is durable, and its turn comes when
// those before it are done. A prompt that is to steer goes into the running turn if the agent can
// take it, else into the queue. A prompt whose ID is in the log was sent before: nothing happens
// but the same answer. Errors: [ErrEmpty], [ErrTooLong], [eventlog.ErrInvalid],
// [eventlog.ErrNotFound] (an attachment), [ErrBusy], [eventlog.ErrLog], [eventlog.ErrClosed].
func (s *prompts) Send(ctx context.Context, msg Message) (messageID string, err error) {
	if err := validate(msg); err != nil {
		return "", err
	}
	if msg.ID != "" {
		if _, known, err := s.Place(ctx, msg.ID); known || err != nil {
			return msg.ID, err
		}
	}
	if err := files.CheckWorkspace(s.cfg.Workspace); err != nil {
		return "", err
	}
	attached, err := s.cfg.Resolve(ctx, s.id, msg.Attachments)
	if err != nil {
		return "", err
	}
	p := &prompt{
		id:          cmp.Or(msg.ID, string(event.NewID())),
		content:     msg.Content,
		attachments: attached,
		given:       msg.Attachments,
	}
	err = s.change(ctx, func() error {
		if msg.ID != "" { // it may have come twice at once
			if _, known, err := s.Place(ctx, msg.ID); known || err != nil {
				return err
			}
		}
		return s.acceptLocked(p, msg.Mode)
	})
	if err != nil {
		return "", err
	}
	return p.id, nil
}

func validate(msg Message) error {
	switch {
	case strings.TrimSpace(msg.Content) == "" && len(msg.Attachments) == 0:
		return ErrEmpty
	case len(msg.Content) > MaxPrompt:
		return fmt.Errorf("%w: it has %s, and may have %s; attach the text as a file", ErrTooLong,
			wording.Size(int64(len(msg.Content))), wording.Limit(MaxPrompt))
	case !utf8.ValidString(msg.Content):
		return fmt.Errorf("%w: the prompt is not UTF-8", eventlog.ErrInvalid)
	case msg.ID != "" && (len(msg.ID) > 64 || !messageID.MatchString(msg.ID)):
		return fmt.Errorf("%w: a messageId has 1 to 64 letters, digits, - and _", eventlog.ErrInvalid)
	case msg.Mode != "" && msg.Mode != SendQueue && msg.Mode != SendSteer:
		return fmt.Errorf("%w: the mode %q is neither %q nor %q", eventlog.ErrInvalid, msg.Mode,
			SendQueue, SendSteer)
	}
	return nil
}

// Place returns the sequence after which the log holds a prompt that this session accepted; false
// if there is none of that id.
func (s *prompts) Place(ctx context.Context, id string) (after int64, known bool, err error) {
	err = s.events.Index(ctx, func(x *calls.Index) {
		var p calls.Prompt
		if p, known = x.Prompt(id); p.Taken {
			known = false
		}
		after = p.Seq - 1
	})
	return after, known && err == nil, err
}

// acceptLocked logs a prompt and gives it its turn.
func (s *prompts) acceptLocked(p *prompt, mode SendMode) error {
	if s.rewinding {
		return fmt.Errorf("%w: the agent goes back to an earlier prompt; send this one again in a moment",
			ErrWorking)
	}
	if len(s.queue) >= MaxQueue {
		return fmt.Errorf("%w: %d of them; wait, or take one back", ErrBusy, len(s.queue))
	}
	data := []event.Data{event.UserMessage{MessageID: p.id, Content: p.content, Attachments: p.given}}
	sum := s.events.Summary()
	if title := wording.Title(p.content); title != "" &&
		(sum.Title == "" || sum.Title == s.titleOfLook && !s.titleChosen) {
		data = append(data, event.SessionTitleChanged{Title: title})
	}
	if err := s.beginLocked(data...); err != nil {
		return err
	}
	s.titleOfLook = ""
	switch {
	case s.turn != nil && mode == SendSteer && s.conn != nil && s.turn.joinLocked():
		s.steer(s.turn, s.conn, p)
		return nil
	case s.held && s.turn != nil: // it is stopping, and this is what the user wants instead
		s.queue = slices.Insert(s.queue, 0, p)
	default:
		s.enqueueLocked(p)
	}
	s.held = false
	return nil
}

// enqueueLocked gives p its turn now or behind the others.
func (s *prompts) enqueueLocked(p *prompt) {
	if s.turn != nil {
		s.queue = append(s.queue, p)
		return
	}
	t := s.newTurn(p)
	s.turn = t
	s.wg.Go(func() { // which turn is next is decided with the end of the one before
		for ; t != nil; t = s.run(t) {
		}
	})
}

// steer offers p to the running turn. The turn's end waits for the answer.
func (s *prompts) steer(t *turn, conn *liveConn, p *prompt) {
	s.wg.Go(func() {
		ctx, cancel := context.WithTimeout(t.ctx, steerLimit)
		defer cancel()
		_, silent, err := contain.CallWithGrace(ctx, s.runner(), "steering", func() (struct{}, error) {
			return struct{}{}, conn.Steer(ctx, agent.Prompt{
				MessageID:   p.id,
				Content:     p.content,
				Attachments: p.attachments,
			})
		}, nil)
		if err != nil && !errors.Is(err, agent.ErrUnsupported) {
			s.log().Warn("a prompt could not join the turn", "silent", silent, "error", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		defer t.joined.Done()
		switch {
		case s.turn != t || t.ending: // the turn could not wait for the answer
			s.enqueueLocked(p)
		case err == nil || silent: // silent: the agent may have it, so it is not asked again
			t.steered = append(t.steered, p.id)
		default:
			s.queue = slices.Insert(s.queue, 0, p) // it was the user's next wish
		}
	})
}

// WaitTurn waits until the turn of a message has ended, or the turn it joined, and returns what
// came of it, read from the log. [eventlog.ErrNotFound] for a message this session never accepted.
func (s *prompts) WaitTurn(ctx context.Context, messageID string) (eventlog.TurnResult, error) {
	live := s.events.Subscribe()
	defer live.Close()
	var p calls.Prompt
	known, whole := false, false
	err := s.events.Index(ctx, func(x *calls.Index) { p, known = x.Prompt(messageID) })
	if err == nil && !known {
		err = fmt.Errorf("message %s: %w", messageID, eventlog.ErrNotFound)
	}
	if err != nil {
		return eventlog.TurnResult{}, err
	}
	r, last := eventlog.NewResult(messageID), p.Seq-1
	take := func(e event.Entry) bool {
		last, whole = e.Seq, r.Add(e.Event.Data)
		return !whole
	}
	err = s.events.Scan(ctx, last, take)
	for err == nil && !whole {
		var entries []event.Entry
		entries, err = live.Next(ctx)
		for _, e := range entries {
			if !e.Event.Ephemeral && e.Seq > last && !whole {
				take(e)
			}
		}
	}
	switch {
	case whole:
		return r.TurnResult(), nil
	case errors.Is(err, eventlog.ErrClosed):
		return eventlog.TurnResult{},
			fmt.Errorf("the end of the turn of message %s is not in the log: %w", messageID, err)
	}
	return eventlog.TurnResult{}, err
}

// The order of the log is the order of sending, so a prompt that waits is edited or moved by taking
// it back and logging it again, with those that come after it.

// EditWaiting gives a prompt that waits another text and returns the id it has from then on; those
// that wait for the end of the old id wait for this one. [consent.ErrGone] for a prompt that does
// not wait, and the errors of [Session.Send] for the text.
func (s *prompts) EditWaiting(ctx context.Context, messageID,
	content string) (newID string, err error) {
	return s.changeWaiting(ctx, messageID, func(waits []*prompt, i int) ([]*prompt, error) {
		edited := *waits[i]
		edited.content = content
		waits[i] = &edited
		return waits[i:], validate(Message{Content: content, Attachments: edited.given})
	})
}

// SendEarlier has a prompt that waits change places with the one before it, or goes on with the
// queue at the first one after a stop, and returns the id it has from then on. [consent.ErrGone]
// for a prompt that does not wait.
func (s *prompts) SendEarlier(ctx context.Context, messageID string) (newID string, err error) {
	return s.changeWaiting(ctx, messageID, func(waits []*prompt, i int) ([]*prompt, error) {
		if i > 0 { // the one before goes behind it; it keeps its own place in the log
			return append([]*prompt{waits[i-1]}, waits[i+1:]...), nil
		}
		s.held = false
		if s.turn == nil {
			s.queue = slices.DeleteFunc(s.queue, func(p *prompt) bool { return p == waits[0] })
			s.enqueueLocked(waits[0])
		}
		return nil, nil
	})
}

// Withdraw takes back a prompt that waits: it has no turn. [consent.ErrGone] for a prompt that does
// not wait.
func (s *prompts) Withdraw(ctx context.Context, messageID string) error {
	return s.change(ctx, func() error {
		p, err := s.waitingLocked(messageID)
		if err != nil {
			return err
		}
		if err := s.beginLocked(event.UserMessageWithdrawn{MessageID: p.id}); err != nil {
			return err
		}
		s.queue = slices.DeleteFunc(s.queue, func(q *prompt) bool { return q == p })
		return nil
	})
}

// changeWaiting logs the prompts again that change returns, in that order; they wait at the end of
// the queue. It returns the id that the prompt has then.
func (s *prompts) changeWaiting(ctx context.Context, messageID string,
	change func(waits []*prompt, i int) (again []*prompt, err error)) (newID string, err error) {
	err = s.change(ctx, func() error {
		p, err := s.waitingLocked(messageID)
		if err != nil {
			return err
		}
		newID = p.id
		waits := slices.DeleteFunc(slices.Clone(s.queue), func(q *prompt) bool { return q.own != nil })
		again, err := change(waits, slices.Index(waits, p))
		if err != nil || len(again) == 0 {
			return err
		}
		var back, anew []event.Data
		var next []*prompt
		for _, q := range again {
			copied := *q
			copied.id, copied.was = string(event.NewID()), append(slices.Clone(q.was), q.id)
			if q.id == p.id {
				newID = copied.id
			}
			next = append(next, &copied)
			back = append(back, event.UserMessageWithdrawn{MessageID: q.id, As: copied.id})
			anew = append(anew, event.UserMessage{
				MessageID:   copied.id,
				Content:     copied.content,
				Attachments: copied.given,
			})
		}
		if err := s.beginLocked(append(back, anew...)...); err != nil {
			return err
		}
		s.queue = slices.DeleteFunc(s.queue, func(q *prompt) bool {
			return slices.ContainsFunc(again, func(a *prompt) bool { return a.id == q.id })
		})
		s.queue = append(s.queue, next...)
		return nil
	})
	return newID, err
}

// waitingLocked returns a prompt of the user that waits in the queue.
func (s *prompts) waitingLocked(messageID string) (*prompt, error) {
	i := slices.IndexFunc(s.queue, func(p *prompt) bool {
		return p.own == nil && (p.id == messageID || slices.Contains(p.was, messageID))
	})
	if i < 0 {
		return nil, fmt.Errorf("the prompt does not wait: it was sent or taken back: %w", consent.ErrGone)
	}
	return s.queue[i], nil
}

// keepWaitingLocked takes over the prompts that waited in an earlier process. They wait until the
// user goes on.
func (s *prompts) keepWaitingLocked(waiting []event.UserMessage) {
	for _, m := range waiting {
		s.queue = append(s.queue, &prompt{id: m.MessageID, content: m.Content, given: m.Attachments})
	}
	s.held = s.held || len(waiting) > 0
}
