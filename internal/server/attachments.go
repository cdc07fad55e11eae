package server

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"webchat/internal/kind"
	"webchat/internal/policy"
	"webchat/internal/session"
)

type attachReply struct {
	ID        string `json:"id"`
	Sensitive bool   `json:"sensitive,omitempty"` // by its name it may hold secrets, so it goes only with "sensitive"
}

func (s *Server) attach(w http.ResponseWriter, r *http.Request) error {
	one, err := s.session(r)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return fmt.Errorf("read the attachment: %w", err)
	}
	if len(data) == 0 {
		return invalid("empty_attachment", "The attachment is empty; send the bytes of the file as the body.")
	}
	mediaType, ok := mediaTypeOf(data)
	if !ok {
		return invalid("not_attachable", "The attachment is neither an image nor text. Put the file into the workspace and name its path in the prompt instead.")
	}
	if token := s.Guard.Token(); token != "" && bytes.Contains(data, []byte(token)) {
		return invalid("own_secret", "The attachment holds webchat's API token, which is never sent to a model.")
	}
	id, err := one.Attach(mediaType, data)
	if err != nil {
		return err
	}
	return reply(w, http.StatusCreated, attachReply{id, policy.Sensitive(attachmentName(r.URL.Query().Get("name")))})
}

// filePrices is what names in a prompt lead to; those that lead nowhere are left out.
type filePrices struct {
	Files map[string]filePrice `json:"files"` // by the names that were asked for
}

// filePrice is what of a file or folder would go with a prompt, and what that costs.
type filePrice struct {
	Path      string                 `json:"path"`
	Lines     string                 `json:"lines,omitempty"`
	What      session.AttachmentKind `json:"what"`              // text, picture, folder; other: only its name goes
	Why       string                 `json:"why,omitempty"`     // of other
	Refused   string                 `json:"refused,omitempty"` // why such a prompt is refused
	Tokens    int                    `json:"tokens"`
	Estimated bool                   `json:"estimated,omitempty"`
	Sensitive bool                   `json:"sensitive,omitempty"` // it may hold secrets, so it goes only with "sensitive"
}

func (s *Server) filePrices(w http.ResponseWriter, r *http.Request) error {
	in, err := s.workspace(r)
	if err != nil {
		return err
	}
	names := r.URL.Query()["name"]
	if len(names) > askedNames {
		return invalid("invalid", "Ask for at most 100 names at once.")
	}
	room, err := s.Sessions.Room(in.Path)
	if err != nil {
		return err
	}
	out := filePrices{Files: map[string]filePrice{}}
	for _, name := range names {
		f, err := session.NamedAttachment(room.Policy, in.Path, name)
		if f == nil {
			continue
		}
		n, exact := f.Tokens()
		one := filePrice{Path: f.Path, Lines: f.Lines, What: f.What, Why: f.Why, Tokens: n, Estimated: !exact, Sensitive: f.Sensitive}
		if err != nil {
			one.Refused = messageOf(err)
		}
		out.Files[name] = one
	}
	return reply(w, http.StatusOK, out)
}

// mediaTypeOf trusts the bytes, not what the client called them. A model reads an SVG
// as the text that it is.
func mediaTypeOf(data []byte) (string, bool) {
	switch t := kind.Picture(data); {
	case t != "" && t != kind.SVG:
		return t, true
	case utf8.Valid(data) && !kind.Binary(data):
		return "text/plain", true
	}
	return "", false
}

// attachmentName is what a person is shown: the last element of a path, one line,
// not long.
func attachmentName(name string) string {
	name = name[strings.LastIndexAny(name, `/\\`)+1:]
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
