package agenttest

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/agent"
)

// checkAttached gives the agent a text, a picture and a file with a prompt. It may say that it
// sees no pictures, and goes on.
func checkAttached(tb testing.TB, b agent.Backend, o Options) {
	o.Workspace = o.workspace(tb)
	r := open(tb, b, o, nil)
	defer r.close()
	const picture = "\x89PNG\r\n\x1a\n" +
		"\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89" +
		"\x00\x00\x00\nIDATx\x9cc\x00\x01\x00\x00\x05\x00\x01\r\n-\xb4\x00\x00\x00\x00IEND\xaeB`\x82"
	for _, a := range []agent.Attachment{{
		Name:     "notes.txt",
		MimeType: "text/plain",
		Data:     []byte("a note\xff"),
	},
		{Name: "go.mod", Path: filepath.Join(o.Workspace, "go.mod")},
		{Name: "dot.png", MimeType: "image/png", Data: []byte(picture)}} {
		p := agent.Prompt{
			MessageID:   "attached-" + a.Name,
			Content:     o.Answer,
			Attachments: []agent.Attachment{a},
		}
		r.host.Begin()
		err := r.inTime("Prompt with "+a.Name, func() error { return r.conn.Prompt(tb.Context(), p) })
		r.host.End(err)
		if errors.Is(err, agent.ErrDied) || err != nil && !strings.HasPrefix(a.MimeType, "image/") {
			tb.Errorf("Prompt with %s: %v", a.Name, err)
		}
	}
	r.mustAnswer(o, "after it was given files")
}

// checkDied has the agent's program end in a turn. The turn ends with an error for people, and
// the conversation goes on in another.
func checkDied(tb testing.TB, b agent.Backend, o Options) {
	if o.Die == "" {
		return
	}
	r := open(tb, b, o, nil)
	defer r.close()
	r.mustAnswer(o, "at its first prompt")
	ended := r.start(tb.Context(), o.Die)
	err := r.inTime("Prompt, whose agent died,", func() error { return <-ended })
	if !errors.Is(err, agent.ErrDied) || err.Error() == agent.ErrDied.Error() {
		tb.Errorf("a Prompt whose agent died returned %v", err)
	}
	if err := r.inTime("Close", r.conn.Close); err != nil {
		tb.Errorf("Close: %v", err)
	}
	r.opts.Resume = b.Info(tb.Context()).CanResume
	if r.conn, err = b.Open(tb.Context(), r.opts, r.host); err != nil {
		r.closed = true
		tb.Fatalf("Open, after the agent died: %v", err)
	}
	r.mustAnswer(o, "in another conversation after it died")
}
