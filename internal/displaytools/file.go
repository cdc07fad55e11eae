package displaytools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/outputs"
	"webchat/internal/render/code"
)

// fileTool is render_file_contents.
type fileTool struct{ set *Set }

// fileCall is a planned call.
type fileCall struct {
	set      *Set
	place    place
	from, to int // lines, 0: from the start, to the end
	language string
	detect   bool       // language is not given
	was      outputs.ID // what the file was; empty: that is not asked for, or not known
}

// Spec implements [agent.Tool].
func (fileTool) Spec() agent.ToolSpec { return specOf(RenderFile) }

// Plan implements [agent.Tool].
func (t fileTool) Plan(ctx context.Context, raw json.RawMessage) (agent.Action, error) {
	var args struct {
		Path      string `json:"path"`
		StartLine int32  `json:"startLine"`
		EndLine   int32  `json:"endLine"`
		Highlight string `json:"highlight"`
		Final     bool   `json:"final"` // for the agent's backend, which ends the turn
	}
	err := decode(RenderFile, raw, &args)
	if err == nil {
		err = needed("path", args.Path)
	}
	c := &fileCall{set: t.set, from: int(args.StartLine), to: int(args.EndLine)}
	switch {
	case err != nil:
		return agent.Action{}, err
	case c.from < 0 || c.to < 0:
		return agent.Action{}, errors.New("startLine and endLine must be numbers from 1")
	case c.to > 0 && c.to < c.from:
		return agent.Action{}, agent.Errorf(event.KindBadArguments,
			"endLine %d is before startLine %d. Swap them.", c.to, c.from)
	}
	if c.language, c.detect, err = language(args.Highlight); err != nil {
		return agent.Action{}, err
	}
	if c.place, err = t.set.work.check(ctx, args.Path); err != nil {
		return agent.Action{}, err
	}
	if c.place.found.IsDir() && (c.from > 0 || c.to > 0) {
		return agent.Action{}, agent.Errorf(event.KindBadArguments,
			"%s is a folder, so it has no lines. Leave out startLine and endLine.", called(args.Path))
	}
	a := agent.Action{Digest: digest(RenderFile, t.set.work.Path, c.place.rel, raw), Run: c.run}
	a.About = t.set.reads(ctx, RenderFile, "show a file", c.place, a.Digest)
	if c.place.ask != "" {
		a.Ask = a.About
		a.Ask.Action, a.Ask.Sensitive = c.place.ask, true
	}
	return a, nil
}

// language reads the highlight argument.
func language(highlight string) (name string, detect bool, err error) {
	switch strings.ToLower(strings.TrimSpace(highlight)) {
	case "":
		return "", true, nil
	case "text", "txt", "plain", "plaintext", "plain text", "none":
		return "", false, nil
	}
	if name = code.LanguageNamed(highlight); name == "" {
		return "", false, agent.Errorf(event.KindBadArguments,
			"webchat does not know the language %q. Leave out highlight to have it detected.", highlight)
	}
	return name, false, nil
}

// digest identifies what a call will do.
func digest(parts ...any) string {
	b, err := json.Marshal(parts)
	if err != nil {
		panic(err) // strings and JSON that was parsed before
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func (c *fileCall) run(ctx context.Context, report agent.Progress) (agent.Result, error) {
	f, st, err := c.set.work.reopen(ctx, c.place)
	if err != nil {
		return agent.FailedBy(err, event.KindInternal), nil
	}
	defer f.Close()
	if st.IsDir() {
		return c.list(ctx, f), nil
	}
	most := st.Size() // a log that grows while it is read has an end for us
	if most == 0 {
		most = sizeless
	}
	r := &reading{
		call:  c,
		meta:  c.set.meta(outputs.File, agent.CallFrom(ctx)),
		from:  max(c.from, 1),
		to:    c.to,
		size:  st.Size(),
		until: time.Now().Add(c.set.readTime),
	}
	r.meta.Disk = c.set.work.disk(c.place, st)
	r.meta.Path, r.meta.Was = filepath.ToSlash(c.place.rel), c.was
	r.stop = func() {}
	r.begun = func() { r.stop = watch(ctx, r.w, report, r.early()) }
	err = r.all(ctx, &sparse{f: f, size: most})
	return r.result(ctx, err), nil
}
