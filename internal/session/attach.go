package session

import (
	"fmt"

	"webchat/internal/eventlog"
)

// Attach keeps an upload for a later prompt of this session. It owns data.
func (s *Session) Attach(mediaType string, data []byte) (attachmentID string, err error) {
	if s.cfg.Attachments == nil {
		return "", fmt.Errorf("%w: uploads are not set up", eventlog.ErrInvalid)
	}
	if len(data) == 0 {
		return "", fmt.Errorf("%w: the attachment is empty", eventlog.ErrInvalid)
	}
	s.mu.Lock()
	err = s.checkUsable()
	s.mu.Unlock()
	if err != nil {
		return "", err
	}
	attachmentID, err = s.cfg.Attachments.Put(string(s.id), mediaType, data)
	if err != nil {
		return "", fmt.Errorf("%w: %w", eventlog.ErrInvalid, err)
	}
	return attachmentID, nil
}
