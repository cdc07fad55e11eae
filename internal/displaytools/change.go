package displaytools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/kind"
	"webchat/internal/outputs"
	"webchat/internal/render/code"
)

// Before says what a file of the workspace was when the session began. It may be called
// concurrently.
type Before func(ctx context.Context, path string) (Earlier, error)

// Earlier is what a file was.
type Earlier struct {
	Data  []byte
	Found bool // false: there was no such file
	Known bool // false: what it was is not known
}

// errHuge is how large a file is that is not compared.
const errHuge = "%s is too large to be compared. Show the file itself."

// changeTool is show_change: a file as it is, with what it was when the session began,
// for the view that compares them.
type changeTool struct{ set *Set }

// Spec implements [agent.Tool].
func (changeTool) Spec() agent.ToolSpec { return specOf(ShowChange) }

// Plan implements [agent.Tool].
func (t changeTool) Plan(ctx context.Context, raw json.RawMessage) (agent.Action, error) {
	var args struct {
		Path string `json:"path"`
		From string `json:"from"`
	}
	err := decodeOwn(ctx, ShowChange, raw, &args)
	if err == nil {
		err = errors.Join(needed("path", args.Path), plain("from", args.From))
	}
	if err != nil {
		return agent.Action{}, err
	}
	c := &changeCall{
		fileCall: fileCall{set: t.set, detect: true},
		path:     args.Path,
		from:     cmp.Or(args.From, args.Path),
	}
	if err := c.find(ctx); err != nil {
		return agent.Action{}, err
	}
	a := agent.Action{
		Digest: digest(ShowChange, t.set.work.Path, c.place.rel, c.gone, raw),
		Run:    c.show,
	}
	a.About = t.set.reads(ctx, ShowChange, "show a file", c.place, a.Digest)
	if c.place.ask != "" {
		a.Ask = a.About
		a.Ask.Action, a.Ask.Sensitive = c.place.ask, true
	}
	return a, nil
}

// changeCall is a planned call.
type changeCall struct {
	fileCall
	path, from string
	gone       bool // the file was deleted
}

// find looks for the file, which may be deleted, and judges both sides of the change.
func (c *changeCall) find(ctx context.Context) (err error) {
	w := c.set.work
	if c.place, err = w.check(ctx, c.path); err == nil && c.place.found.IsDir() {
		return agent.Errorf(event.KindNotRegular, "%s is a folder. Show the changes of a file.",
			called(c.path))
	}
	for _, name := range []string{c.path, c.from} {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return agent.Errorf(event.KindOutside,
				"%s is not a path from the top of the workspace. Give it as the list of changes names it.",
				called(name))
		}
	}
	var f *agent.Fault
	if errors.As(err, &f) && f.Kind == event.KindNotFound {
		c.gone = true
		c.place = place{asked: c.path, rel: filepath.Clean(filepath.FromSlash(c.path))}
		c.place.ask, err = w.judge(nil, c.path, c.place.rel)
	}
	if err != nil {
		return err
	}
	was, err := w.judge(nil, c.from, filepath.FromSlash(c.from))
	c.place.ask = cmp.Or(c.place.ask, was)
	return err
}

func (c *changeCall) show(ctx context.Context, report agent.Progress) (agent.Result, error) {
	name := called(c.path)
	was, err := c.set.before(ctx, filepath.ToSlash(c.from))
	switch {
	case ctx.Err() != nil:
		return agent.Failure(event.KindAborted, "Stopped while %s was read.", name), nil
	case err != nil:
		return agent.Failure(event.KindTooLarge, errHuge, name), nil
	case c.gone && !was.Found:
		return agent.Failure(event.KindNotFound,
			"%s is not there, and what it was is not known. Restore it, then ask again.", name), nil
	}
	head := was.Data[:min(len(was.Data), readSize)]
	if text := kind.Charset(head); was.Known && kind.Wide(text) == nil && !kind.Binary(head) {
		meta := c.set.meta(outputs.File, agent.CallFrom(ctx))
		meta.Path, meta.Earlier, meta.MimeType = filepath.ToSlash(c.from), true, "text/plain; charset="+
			text
		meta.Highlight = code.Language(c.from, head)
		if c.was, err = c.set.out.Put(meta, was.Data); err != nil {
			return agent.Failure(event.KindTooLarge, errHuge, name), nil
		}
	}
	if !c.gone {
		return c.run(ctx, report)
	}
	return c.deleted(ctx, head), nil
}

// deleted shows that nothing is left of a file.
func (c *changeCall) deleted(ctx context.Context, head []byte) agent.Result {
	name := called(c.path)
	if c.was == "" {
		return agent.Failure(event.KindBinary, "%s is deleted, and it was no text. Restore it to see it.",
			name)
	}
	meta := c.set.meta(outputs.File, agent.CallFrom(ctx))
	meta.Path, meta.Was, meta.MimeType, meta.Highlight = filepath.ToSlash(c.path), c.was,
		"text/plain; charset=utf-8", code.Language(c.path, head)
	w, err := c.set.out.Create(meta, outputs.Limits{})
	if err != nil {
		return agent.Failure(event.KindInternal, "%s could not be shown: %v", name, err)
	}
	w.Complete(nil)
	confirmation := confirm("Displayed %s to user (deleted)", c.path)
	return agent.Result{
		Type:         agent.Success,
		TextForModel: confirmation,
		Telemetry:    telemetry(w.Output(), outputs.File, 0, confirmation),
	}
}
