package displaytools

import (
	"bytes"
	"context"
	"encoding/json"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/kind"
	"webchat/internal/outputs"
	"webchat/internal/render/code"
)

// Held returns what is held of the session under ids, of a folder all files as one text, and its
// path. The error is for the user. It may be called concurrently.
type Held func(ids string) (path string, text []byte, err error)

// heldTool is show_held: what an agent made and the user has not decided about.
type heldTool struct{ set *Set }

// Spec implements [agent.Tool].
func (heldTool) Spec() agent.ToolSpec { return specOf(ShowHeld) }

// Plan implements [agent.Tool].
func (t heldTool) Plan(ctx context.Context, raw json.RawMessage) (agent.Action, error) {
	var args struct {
		Held string `json:"held"`
		Path string `json:"path"` // for the row
	}
	err := decodeOwn(ctx, ShowHeld, raw, &args)
	if err == nil {
		err = needed("held", args.Held)
	}
	if err != nil {
		return agent.Action{}, err
	}
	return agent.Action{
		Digest: digest(ShowHeld, args.Held),
		Run: func(ctx context.Context, _ agent.Progress) (agent.Result, error) {
			path, text, err := t.set.held(args.Held)
			if err != nil {
				return agent.Failure(event.KindNotFound, "It was not shown: %v.", err), nil
			}
			return t.show(ctx, path, text), nil
		},
	}, nil
}

func (t heldTool) show(ctx context.Context, path string, text []byte) agent.Result {
	meta := t.set.meta(outputs.File, agent.CallFrom(ctx))
	head := text[:min(len(text), readSize)]
	meta.Path, meta.StartLine, meta.Binary = path, 1, kind.Binary(head)
	meta.MimeType = "text/plain; charset=" + kind.Charset(head)
	meta.Highlight = code.Language(path, head)
	if meta.Binary {
		meta.MimeType = kind.Unknown
	}
	w, err := t.set.out.Create(meta, outputs.Limits{})
	if err != nil {
		return agent.Failure(event.KindInternal, "%s could not be shown: %v", called(path), err)
	}
	_, err = w.Write(text)
	count := bytes.Count(text, []byte{'\n'})
	if len(text) > 0 && text[len(text)-1] != '\n' {
		count++
	}
	w.Complete(func(m *outputs.Meta) { m.EndLine, m.TotalLines = count, count })
	if err != nil {
		return agent.Failure(event.KindTooLarge, errHuge, called(path))
	}
	confirmation := confirm("Displayed %s to user ("+lines(int64(count))+")", path)
	return agent.Result{
		Type:         agent.Success,
		TextForModel: confirmation,
		Telemetry:    telemetry(w.Output(), outputs.File, int64(count), confirmation),
	}
}
