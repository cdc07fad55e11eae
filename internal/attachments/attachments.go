// Package attachments turns what a prompt names into what its agent gets: files of the
// workspace, uploads, and outputs or their names.
package attachments

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
	"webchat/internal/fold"
)

// Uploads keeps what users upload for their prompts. Its methods may be
// called concurrently.
type Uploads interface {
	// Put keeps data, which it owns then, and returns the id that Get takes. The
	// error says why it is refused.
	Put(session, mediaType string, data []byte) (id string, err error)
	// Get returns an attachment of this very session. The error says that there is
	// none of that id.
	Get(session, id string) (mediaType string, data []byte, err error)
}

// Outputs is what was shown. Its methods may be called concurrently.
type Outputs interface {
	// Read returns an output of this very session, whole or the lines "A-B" as
	// they are numbered on the card, as an attachment for a prompt; the error
	// wraps [eventlog.ErrNotFound] when it is unknown or expired.
	Read(ctx context.Context, id fold.ID, outputID, lines string) (agent.Attachment, error)
}

// Resolver resolves for one session.
type Resolver struct {
	Session   fold.ID
	Workspace string  // absolute path
	Uploads   Uploads // nil: there are none
	Outputs   Outputs // nil: they cannot be attached
}

// Resolve turns what a prompt names into what an agent gets.
func (r Resolver) Resolve(ctx context.Context, named []event.Attachment) ([]agent.Attachment, error) {
	var out []agent.Attachment
	for i, n := range named {
		a, err := r.resolveOne(ctx, n)
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

func (r Resolver) resolveOne(ctx context.Context, n event.Attachment) (agent.Attachment, error) {
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
		return workspaceFile(r.Workspace, n.Path)
	case n.ID != "" && r.Uploads != nil:
		mediaType, data, err := r.Uploads.Get(string(r.Session), n.ID)
		if err != nil {
			return agent.Attachment{}, fmt.Errorf("attachment %s: %w; upload it again", n.ID, eventlog.ErrNotFound)
		}
		return agent.Attachment{MimeType: mediaType, Data: data}, nil
	case n.Mention && r.Outputs != nil:
		return r.mention(ctx, n)
	case n.OutputID != "" && r.Outputs != nil:
		return r.Outputs.Read(ctx, r.Session, n.OutputID, n.Lines)
	}
	return agent.Attachment{}, eventlog.ErrNotFound
}

// mention says what the user looks at, and gives nothing of its content.
func (r Resolver) mention(ctx context.Context, n event.Attachment) (agent.Attachment, error) {
	line, _, _ := strings.Cut(n.Lines, "-")
	a, err := r.Outputs.Read(ctx, r.Session, n.OutputID, line)
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
		in, err := filepath.Rel(workspace, rel)
		if err != nil {
			return agent.Attachment{}, fmt.Errorf("%w: %s is outside the workspace", eventlog.ErrInvalid, name)
		}
		rel = in
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
