package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/policy"
)

// Uploads keeps what users upload for their prompts. Its methods may be called concurrently.
type Uploads interface {
	// Put keeps data, which it owns then, and returns the id that Get takes. The error says why it is
	// refused.
	Put(session, mediaType string, data []byte) (id string, err error)
	// Get returns an attachment of this very session. The error says that there is none of that id.
	Get(session, id string) (mediaType string, data []byte, err error)
	// DeleteSession drops all of a session's.
	DeleteSession(session string)
}

// AttachableOutputs is what was shown. Its methods may be called concurrently.
type AttachableOutputs interface {
	// Read returns an output of this very session, whole or the lines "A-B" as they are numbered on
	// the card, as an attachment for a prompt; the error wraps [eventlog.ErrNotFound] when it is
	// unknown or expired. What looks like a secret is dots, but in the lines lifted.
	Read(ctx context.Context, id eventlog.ID, outputID, lines, lifted string) (agent.Attachment, error)
	// DeleteSession drops all of a session's.
	DeleteSession(session string)
}

// OutputKeeper is an AttachableOutputs that takes what agents' own tools returned.
type OutputKeeper interface {
	// Keep stores w as an output of the session, if it is large; else t names none. short is as of
	// [agent.Keeper].
	Keep(id eventlog.ID, w agent.Whole) (t agent.Telemetry, short string, err error)
}

// Judge judges the files of one workspace, as package policy does. Its methods may be called
// concurrently.
type Judge interface {
	// File rules on opening a file that is described, by its names.
	File(opened fs.FileInfo, names ...string) agent.Ruling
	// Named rules on an open file that an act names, by its names and its content.
	Named(opened *os.File, names ...string) agent.Ruling
	// Hidden reports whether lists leave a path out.
	Hidden(path string) bool
}

// Attach keeps an upload for a later prompt of this session. It owns data.
func (s *Session) Attach(mediaType string, data []byte) (attachmentID string, err error) {
	s.mu.Lock()
	err = s.checkUsable()
	s.mu.Unlock()
	switch {
	case err != nil:
		return "", err
	case s.cfg.Attachments == nil:
		return "", fmt.Errorf("%w: uploads are not set up", eventlog.ErrInvalid)
	case len(data) == 0:
		return "", fmt.Errorf("%w: the attachment is empty", eventlog.ErrInvalid)
	}
	if attachmentID, err = s.cfg.Attachments.Put(string(s.id), mediaType, data); err != nil {
		return "", fmt.Errorf("%w: %w", eventlog.ErrInvalid, err)
	}
	return attachmentID, nil
}

// Resolve turns what a prompt of a session names into what an agent gets: the content of files of
// the workspace or of some of their lines, listings of folders, uploads, and outputs; or only the
// names of these.
func (c Config) Resolve(ctx context.Context, session eventlog.ID,
	named []event.Attachment) ([]agent.Attachment, error) {
	var out []agent.Attachment
	for i, n := range named {
		a, err := c.resolveOne(ctx, session, n)
		if err != nil {
			return nil, fmt.Errorf("attachment %d: %w", i+1, err)
		}
		a.Name = cmp.Or(n.Name, a.Name)
		if a.Name == "" { // an upload over the API need not have one
			ext := "txt"
			if kind, ok := strings.CutPrefix(a.MimeType, "image/"); ok {
				ext = strings.TrimSuffix(kind, "+xml")
			}
			a.Name = fmt.Sprintf("attachment-%d.%s", i+1, ext)
		}
		out = append(out, a)
	}
	return out, nil
}

func (c Config) resolveOne(ctx context.Context, session eventlog.ID,
	n event.Attachment) (agent.Attachment, error) {
	set := 0
	for _, v := range []string{n.ID, n.Path, n.OutputID} {
		if v != "" {
			set++
		}
	}
	switch {
	case set != 1 || (n.Lines != "" || n.Mention) && n.ID != "" || n.Sensitive && n.OutputID != "" ||
		n.Lifted != "" && n.OutputID == "":
		return agent.Attachment{},
			fmt.Errorf("%w: name one of id, path and outputId (the latter two with lines or mention)",
				eventlog.ErrInvalid)
	case n.Path != "":
		return c.attachFile(n)
	case n.ID != "" && c.Attachments != nil:
		mediaType, data, err := c.Attachments.Get(string(session), n.ID)
		if err != nil {
			return agent.Attachment{}, fmt.Errorf("attachment %s: %w; upload it again", n.ID,
				eventlog.ErrNotFound)
		}
		if looks := policy.Upload(n.Name, data); looks != "" && !n.Sensitive {
			return agent.Attachment{},
				fmt.Errorf("%w: %s: %w; say that it is to go (sensitive), or leave it out", eventlog.ErrInvalid,
					cmp.Or(n.Name, "the attachment"), suspicion(looks))
		}
		return agent.Attachment{MimeType: mediaType, Data: data}, nil
	case n.Mention && c.Outputs != nil:
		line, _, _ := strings.Cut(n.Lines, "-") // the first is enough to know what it is
		a, err := c.Outputs.Read(ctx, session, n.OutputID, line, "")
		// what is too large to be read can be named
		if err != nil && (!errors.Is(err, eventlog.ErrInvalid) || a.Name == "") {
			return agent.Attachment{}, err
		}
		return mention("is looking at", a.Name, n.Lines), nil
	case n.OutputID != "" && c.Outputs != nil:
		return c.Outputs.Read(ctx, session, n.OutputID, n.Lines, n.Lifted)
	}
	return agent.Attachment{}, eventlog.ErrNotFound
}

// file is what an agent gets of a file or folder.
func (c Config) attachFile(n event.Attachment) (agent.Attachment, error) {
	f, err := FindAttachment(c.Policy, c.Workspace, n.Path, n.Lines)
	switch {
	case err != nil:
		return agent.Attachment{}, err
	case n.Mention:
		return mention("points to", f.Path, f.Lines), nil
	case f.Sensitive && !n.Sensitive:
		return agent.Attachment{},
			fmt.Errorf("%w: %s: %w; send only its name (mention), or say that it is to go (sensitive)",
				eventlog.ErrInvalid, n.Path, suspicion(f.Looks))
	case f.large:
		return agent.Attachment{}, fmt.Errorf("%w: %s; send only its name (mention)", eventlog.ErrInvalid,
			strings.TrimSuffix(f.Why, "."))
	}
	return f.attachment(), nil
}

// mention names what the user looks at, and gives nothing of its content.
func mention(does, name, lines string) agent.Attachment {
	text := "The user " + does + " " + name
	if lines != "" {
		text += ", lines " + lines
	}
	return agent.Attachment{
		Name:     name,
		MimeType: "text/plain",
		Data:     []byte(text + ". You were not given its content."),
	}
}
