// Attachments of a prompt made of outputs, when the user says so.

package released

import (
	"bytes"
	"context"
	"fmt"

	"webchat/internal/agent"
	"webchat/internal/eventlog"
	"webchat/internal/outputs"
	"webchat/internal/wording"
)

// maxAttached is how many bytes of an output go to a model at most.
const maxAttached = 1 << 20

// Outputs are the outputs of sessions. It may be used concurrently.
type Outputs struct{ Store *outputs.Store }

// Read implements [session.AttachableOutputs].
func (s Outputs) Read(ctx context.Context, id eventlog.ID, outputID, lines,
	lifted string) (agent.Attachment, error) {
	o, err := s.Store.Get(outputs.ID(outputID))
	if err != nil || o.Meta().SessionID != string(id) {
		return agent.Attachment{},
			fmt.Errorf(
				"%w. The output was deleted, or is not of this session. Take it out of the prompt, or show "+
					"it again", eventlog.ErrNotFound)
	}
	o = o.Text()
	ranges, err := parseLines(lines)
	if err != nil {
		return agent.Attachment{}, err
	}
	shown, err := parseLines(lifted)
	if err != nil {
		return agent.Attachment{}, err
	}
	if lifted == "" {
		shown = nil
	}
	m := o.Meta()
	if err := lastLine(ranges, max(m.StartLine, 1), o.TotalLines()); err != nil {
		return agent.Attachment{}, err
	}
	a := agent.Attachment{Name: m.Path, MimeType: m.MimeType}
	switch {
	case m.Type == outputs.Terminal:
		a.Name, a.MimeType = m.Command, "text/plain"
	case m.MimeType == outputs.FolderType:
		a.MimeType = "text/plain"
	}
	b := limited{most: maxAttached}
	for _, r := range ranges {
		read := func() error { return o.CopyShown(ctx, &b, r[0], r[1], shown) }
		if m.Type == outputs.Image || m.Binary {
			read = func() error { return o.CopyLines(ctx, &b, r[0], r[1]) }
		}
		if err := read(); err != nil {
			if b.over {
				return a, fmt.Errorf("%w: output %s is over %d MiB; attach some of its lines",
					eventlog.ErrInvalid, outputID, maxAttached>>20)
			}
			return a, err
		}
	}
	a.Data = b.Bytes()
	return a, nil
}

// DeleteSession implements [session.AttachableOutputs].
func (s Outputs) DeleteSession(session string) { s.Store.DeleteSession(session) }

// parseLines reads ranges of lines in ascending order; nothing means all.
func parseLines(text string) ([][2]int, error) {
	if text == "" {
		return [][2]int{{}}, nil
	}
	all, err := wording.Ranges(text)
	if err != nil || !wording.Ascend(all) {
		return nil, fmt.Errorf("%w: lines %q are not of the form A-B,C-D in ascending order",
			eventlog.ErrInvalid, text)
	}
	return all, nil
}

// lastLine refuses ranges that ask for lines an output of so many lines, numbered from first, does
// not have.
func lastLine(ranges [][2]int, first, count int) error {
	last := first + count - 1
	for _, r := range ranges {
		switch {
		case r[0] == 0 || r[0] >= first && r[1] <= last:
		case count == 0:
			return fmt.Errorf("%w: the output is empty, so it has no line %d", eventlog.ErrInvalid, r[0])
		default:
			return fmt.Errorf("%w: lines %d to %d are not all there; the output has lines %d to %d",
				eventlog.ErrInvalid, r[0], r[1], first, last)
		}
	}
	return nil
}

// limited refuses more than most bytes.
type limited struct {
	bytes.Buffer
	most int
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > l.most {
		l.over = true
		return 0, fmt.Errorf("over %d bytes", l.most)
	}
	return l.Buffer.Write(p)
}
