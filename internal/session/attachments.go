package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/policy"
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
	// DeleteSession drops all of a session's.
	DeleteSession(session string)
}

// Outputs is what was shown. Its methods may be called concurrently.
type AttachableOutputs interface {
	// Read returns an output of this very session, whole or the lines "A-B" as
	// they are numbered on the card, as an attachment for a prompt; the error
	// wraps [eventlog.ErrNotFound] when it is unknown or expired.
	Read(ctx context.Context, id eventlog.ID, outputID, lines string) (agent.Attachment, error)
	// DeleteSession drops all of a session's.
	DeleteSession(session string)
}

// Keeper is an Outputs that takes what agents' own tools returned.
type OutputKeeper interface {
	// Keep stores w as an output of the session; readers are as of [agent.Keeper].
	Keep(id eventlog.ID, w agent.Whole) (outputID, readers string, err error)
}

// Judge judges the files of one workspace, as package policy does. Its methods may be
// called concurrently.
type Judge interface {
	// File rules on opening a file that is described, by its names.
	File(opened fs.FileInfo, names ...string) agent.Ruling
	// Hidden reports whether lists leave a path out.
	Hidden(path string) bool
}

// Resolver resolves for one session.
type AttachmentResolver struct {
	Session   eventlog.ID
	Workspace string            // absolute path
	Judge     Judge             // nil: one that knows none of webchat's own files
	Uploads   Uploads           // nil: there are none
	Outputs   AttachableOutputs // nil: they cannot be attached
}

// Resolve turns what a prompt names into what an agent gets.
func (r AttachmentResolver) Resolve(ctx context.Context, named []event.Attachment) ([]agent.Attachment, error) {
	var out []agent.Attachment
	for i, n := range named {
		a, err := r.resolveOne(ctx, n)
		if err != nil {
			return nil, fmt.Errorf("attachment %d: %w", i+1, err)
		}
		a.Name = cmp.Or(n.Name, a.Name, unnamed(i+1, a.MimeType))
		out = append(out, a)
	}
	return out, nil
}

// unnamed is what the agent calls the nth attachment of a prompt if it has no name: an
// upload over the API need not have one.
func unnamed(n int, mediaType string) string {
	ext := ".txt"
	if kind, ok := strings.CutPrefix(mediaType, "image/"); ok {
		ext = "." + strings.TrimSuffix(kind, "+xml")
	}
	return fmt.Sprintf("attachment-%d%s", n, ext)
}

func (r AttachmentResolver) resolveOne(ctx context.Context, n event.Attachment) (agent.Attachment, error) {
	set := 0
	for _, v := range []string{n.ID, n.Path, n.OutputID} {
		if v != "" {
			set++
		}
	}
	switch {
	case set != 1 || (n.Lines != "" || n.Mention) && n.ID != "" || n.Sensitive && n.OutputID != "":
		return agent.Attachment{}, fmt.Errorf("%w: name one of id, path and outputId (the latter two with lines or mention)", eventlog.ErrInvalid)
	case n.Path != "":
		return r.file(n)
	case n.ID != "" && policy.Sensitive(n.Name) && !n.Sensitive:
		return agent.Attachment{}, fmt.Errorf("%w: %s: %w; say that it is to go (sensitive), or leave it out", eventlog.ErrInvalid, n.Name, ErrSensitive)
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
func (r AttachmentResolver) mention(ctx context.Context, n event.Attachment) (agent.Attachment, error) {
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
