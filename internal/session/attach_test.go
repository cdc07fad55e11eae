package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/outputs"
)

// shown is Outputs that have any output.
type shown struct{ AttachableOutputs }

func (shown) Read(_ context.Context, _ eventlog.ID, id, lines, _ string) (agent.Attachment, error) {
	return agent.Attachment{Name: id, Data: []byte("lines " + lines)}, nil
}

func TestAttachments(t *testing.T) {
	play(t, func(r *rig, c *Config) {
		c.Attachments, c.Outputs = outputs.NewUploads(100), shown{}
		if err := os.WriteFile(filepath.Join(c.Workspace, "a.txt"), []byte("hi"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/etc/passwd", filepath.Join(c.Workspace, "link")); err != nil {
			t.Skip(err)
		}
	}, func(r *rig) {
		id, err := r.s.Attach("image/png", []byte("png"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.s.Attach("image/png", nil)
		is(t, err, eventlog.ErrInvalid)
		_, err = r.s.Attach("image/png", make([]byte, 101))
		is(t, err, eventlog.ErrInvalid)
		dir := r.cfg.Workspace
		message, err := r.s.Send(r.Context(), Message{Attachments: []event.Attachment{{ID: id},
			{Path: "a.txt"}, {Path: filepath.Join(dir, "a.txt"), Lines: "1"},
			{OutputID: "out_1", Lines: "1-2"},
			{OutputID: "out_1", Lines: "3-9", Mention: true}}})
		if err != nil {
			t.Fatal(err)
		}
		r.wait(message)
		got := r.backend.prompts[0].Attachments
		equal(t, "upload", string(got[0].Data)+got[0].MimeType+got[0].Path, "pngimage/png")
		equal(t, "file", got[1].Name+" "+string(got[1].Data), "a.txt hi")
		equal(t, "absolute, a line", got[2].Name+" "+string(got[2].Data), "a.txt:1 hi")
		equal(t, "output", string(got[3].Data), "lines 1-2")
		equal(t, "mention", string(got[4].Data),
			"The user is looking at out_1, lines 3-9. You were not given its content.")
		_, err = r.s.Send(r.Context(), Message{
			Content:     "x",
			Attachments: []event.Attachment{{ID: id, Mention: true}},
		})
		is(t, err, eventlog.ErrInvalid)
		for _, path := range []string{"link", "/etc/passwd", "..", "a.txt/../../x", "a\x00"} {
			if _, err := r.s.Send(r.Context(), Message{
				Content:     "x",
				Attachments: []event.Attachment{{Path: path}},
			}); !errors.Is(err, eventlog.ErrInvalid) {
				t.Errorf("%q: %v", path, err)
			}
		}
		other, err := r.create(r.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, err = other.Send(r.Context(), Message{Content: "x", Attachments: []event.Attachment{{ID: id}}})
		is(t, err, eventlog.ErrNotFound)
	})
}
