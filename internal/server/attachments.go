package server

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"unicode/utf8"

	"webchat/internal/agent"
	"webchat/internal/session"
)

// Attachments keeps what users upload for their prompts, in memory and bounded:
// the oldest go first. It implements session.Attachments.
type Attachments struct {
	budget int64

	mu   sync.Mutex // guards what follows
	used int64
	list []kept // oldest first
}

type kept struct {
	session session.ID
	id      string
	a       agent.Attachment
}

// NewAttachments returns an empty store of at most budget bytes.
func NewAttachments(budget int64) *Attachments { return &Attachments{budget: budget} }

// Put implements session.Attachments.
func (s *Attachments) Put(_ context.Context, id session.ID, a agent.Attachment) (string, error) {
	size := int64(len(a.Data))
	if size > s.budget {
		return "", fmt.Errorf("%w: an attachment of %d bytes is over the %d that are kept", session.ErrInvalid, size, s.budget)
	}
	name := "att_" + rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, kept{id, name, a})
	s.used += size
	for s.used > s.budget {
		s.used -= int64(len(s.list[0].a.Data))
		s.list[0] = kept{}
		s.list = s.list[1:]
	}
	return name, nil
}

// Get implements session.Attachments.
func (s *Attachments) Get(_ context.Context, id session.ID, name string) (agent.Attachment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.list {
		if k.id == name && k.session == id {
			return k.a, nil
		}
	}
	return agent.Attachment{}, fmt.Errorf("attachment %s: %w; upload it again", name, session.ErrNotFound)
}

// DeleteSession implements session.Attachments.
func (s *Attachments) DeleteSession(id session.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var rest []kept
	for _, k := range s.list {
		if k.session == id {
			s.used -= int64(len(k.a.Data))
		} else {
			rest = append(rest, k)
		}
	}
	s.list = rest
}

type attachReply struct {
	ID string `json:"id"`
}

func (s *Server) attach(w http.ResponseWriter, r *http.Request) error {
	one, err := s.session(r)
	if err != nil {
		return err
	}
	if s.Attachments == nil {
		return fmt.Errorf("attachments: %w", agent.ErrUnsupported)
	}
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return fmt.Errorf("read the attachment: %w", err)
	}
	if len(data) == 0 {
		return bad("empty_attachment", "The attachment is empty.")
	}
	mediaType, ok := mediaTypeOf(data)
	if !ok {
		return bad("not_attachable", "The bytes are neither a picture nor text.")
	}
	id, err := s.Attachments.Put(r.Context(), one.ID(), agent.Attachment{Name: attachmentName(r), MimeType: mediaType, Data: data})
	if err != nil {
		return err
	}
	return reply(w, http.StatusCreated, attachReply{id})
}

// mediaTypeOf trusts the bytes, not what the client called them.
func mediaTypeOf(data []byte) (string, bool) {
	mediaType, _, err := mime.ParseMediaType(http.DetectContentType(data))
	switch {
	case err == nil && strings.HasPrefix(mediaType, "image/"):
		return mediaType, true
	case utf8.Valid(data) && !strings.ContainsRune(string(data[:min(len(data), 8192)]), 0):
		return "text/plain", true
	}
	return "", false
}

// attachmentName is the last element of ?name=, shortened; it is only shown.
func attachmentName(r *http.Request) string {
	name := r.URL.Query().Get("name")
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return -1
		}
		return r
	}, name)
	if runes := []rune(name); len(runes) > 100 {
		name = string(runes[:100])
	}
	return name
}
