package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
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

// resolve turns what a prompt names into what an agent gets.
func (s *Session) resolve(ctx context.Context, named []event.Attachment) ([]agent.Attachment, error) {
	var out []agent.Attachment
	for i, n := range named {
		a, err := s.resolveOne(ctx, n)
		if err != nil {
			return nil, fmt.Errorf("attachment %d: %w", i+1, err)
		}
		if n.Name != "" {
			a.Name = n.Name
		}
		out = append(out, a)
	}
	return out, nil
}

func (s *Session) resolveOne(ctx context.Context, n event.Attachment) (agent.Attachment, error) {
	set := 0
	for _, v := range []string{n.ID, n.Path, n.OutputID} {
		if v != "" {
			set++
		}
	}
	switch {
	case set != 1 || (n.Lines != "" || n.Mention) && n.OutputID == "":
		return agent.Attachment{}, fmt.Errorf("%w: name one of id, path and outputId (with lines or mention)", eventlog.ErrInvalid)
	case n.Path != "":
		return workspaceFile(s.cfg.Workspace, n.Path)
	case n.ID != "" && s.cfg.Attachments != nil:
		mediaType, data, err := s.cfg.Attachments.Get(string(s.id), n.ID)
		if err != nil {
			return agent.Attachment{}, fmt.Errorf("attachment %s: %w; upload it again", n.ID, eventlog.ErrNotFound)
		}
		return agent.Attachment{MimeType: mediaType, Data: data}, nil
	case n.Mention && s.cfg.Outputs != nil:
		return s.mention(ctx, n)
	case n.OutputID != "" && s.cfg.Outputs != nil:
		return s.cfg.Outputs.Read(ctx, s.id, n.OutputID, n.Lines)
	}
	return agent.Attachment{}, eventlog.ErrNotFound
}

// mention says what the user looks at, and gives nothing of its content.
func (s *Session) mention(ctx context.Context, n event.Attachment) (agent.Attachment, error) {
	line, _, _ := strings.Cut(n.Lines, "-")
	a, err := s.cfg.Outputs.Read(ctx, s.id, n.OutputID, line)
	if err != nil && (!errors.Is(err, eventlog.ErrInvalid) || a.Name == "") { // what is too large to be read can be named
		return agent.Attachment{}, err
	}
	text := "The user is looking at " + a.Name
	if n.Lines != "" {
		text += ", lines " + n.Lines
	}
	return agent.Attachment{Name: a.Name, MimeType: "text/plain", Data: []byte(text + ". You were not given its content.")}, nil
}

// workspaceFile finds a regular file inside the workspace; links that leave it are
// refused.
func workspaceFile(workspace, name string) (agent.Attachment, error) {
	rel := filepath.FromSlash(name)
	if filepath.IsAbs(rel) {
		r, err := filepath.Rel(workspace, rel)
		if err != nil {
			return agent.Attachment{}, fmt.Errorf("%w: %s is outside the workspace", eventlog.ErrInvalid, name)
		}
		rel = r
	}
	rel = filepath.Clean(rel)
	if !filepath.IsLocal(rel) || strings.ContainsRune(rel, 0) {
		return agent.Attachment{}, fmt.Errorf("%w: %s is outside the workspace", eventlog.ErrInvalid, name)
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return agent.Attachment{}, fmt.Errorf("open the workspace: %w", err)
	}
	defer root.Close()
	info, err := root.Stat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return agent.Attachment{}, fmt.Errorf("file %s: %w", name, eventlog.ErrNotFound)
	case errors.Is(err, fs.ErrPermission):
		return agent.Attachment{}, fmt.Errorf("%w: webchat is not allowed to read %s", eventlog.ErrInvalid, name)
	case err != nil: // os.Root has no error of its own for a link that leads outside
		return agent.Attachment{}, fmt.Errorf("%w: %s is outside the workspace, or leads back to itself", eventlog.ErrInvalid, name)
	case !info.Mode().IsRegular():
		return agent.Attachment{}, fmt.Errorf("%w: %s is not a regular file", eventlog.ErrInvalid, name)
	}
	return agent.Attachment{Name: filepath.Base(rel), Path: filepath.Join(workspace, rel)}, nil
}
