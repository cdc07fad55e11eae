package server

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"webchat/internal/guard"
	"webchat/internal/kind"
	"webchat/internal/policy"
	"webchat/internal/session"
)

type attachReply struct {
	ID string `json:"id"`
	// by its name or content it may hold secrets, so it goes only with "sensitive"
	Sensitive bool   `json:"sensitive,omitempty"`
	Looks     string `json:"looks,omitempty"` // why
}

// attachments takes what a prompt will be sent with.
type attachments struct {
	guard *guard.Guard // whose token is never sent to a model
}

func (a *attachments) attach(w http.ResponseWriter, r *http.Request, sess *session.Session) error {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return fmt.Errorf("read the attachment: %w", err)
	}
	if len(data) == 0 {
		return invalid("empty_attachment",
			"The attachment is empty; send the bytes of the file as the body.")
	}
	mediaType, ok := mediaTypeOf(data)
	if !ok {
		return invalid("not_attachable",
			"The attachment is neither an image nor text. Put the file into the workspace and name its "+
				"path in the prompt instead.")
	}
	if token := a.guard.Token(); token != "" && bytes.Contains(data, []byte(token)) {
		return invalid("own_secret",
			"The attachment holds webchat's API token, which is never sent to a model.")
	}
	id, err := sess.Attach(mediaType, data)
	if err != nil {
		return err
	}
	looks := policy.Upload(attachmentName(r.URL.Query().Get("name")), data)
	return reply(w, http.StatusCreated, attachReply{id, looks != "", looks})
}

// mediaTypeOf trusts the bytes, not what the client called them. A model reads an SVG as the text
// that it is.
func mediaTypeOf(data []byte) (string, bool) {
	switch t := kind.Picture(data); {
	case t != "" && t != kind.SVG:
		return t, true
	case utf8.Valid(data) && !kind.Binary(data):
		return "text/plain", true
	}
	return "", false
}

// attachmentName is what a person is shown: the last element of a path, one line, not long.
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
