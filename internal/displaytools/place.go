package displaytools

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/outputs"
	"webchat/internal/policy"
	"webchat/internal/wording"
	"webchat/internal/workspace"
)

// place is a file as a call was planned for it. What is opened later has to be
// this very file, since this is what was judged and approved.
type place struct {
	asked string      // as given
	rel   string      // where it leads, relative to the workspace
	found fs.FileInfo // of the file that was there
	ask   string      // an action to be asked about, since it may hold secrets; empty: it need not be
	held  *os.File    // open until the call ends, so that no new file is taken for this one
}

// workplace is the folder that a session's tools read, and what judges its files.
type workplace struct {
	*workspace.Folder
	policy *policy.Policy
}

func newWorkplace(path, home string, p *policy.Policy) (*workplace, error) {
	folder, err := workspace.New(path, home)
	if err != nil {
		return nil, err
	}
	if p == nil {
		p = policy.New(policy.Config{Workspace: folder.Path, Home: home})
	}
	return &workplace{folder, p}, nil
}

// shown is the folder as messages name it.
func (w *workplace) shown() string { return wording.Tilde(w.Path, w.Home) }

// check resolves a path, and opens and judges what is there.
func (w *workplace) check(ctx context.Context, path string) (place, error) {
	p := place{asked: path}
	err := w.Present()
	if err == nil {
		p.rel, err = w.Resolve(path)
	}
	if err == nil {
		if p.held, p.found, err = w.Open(p.rel); err == nil {
			p.hold(ctx)
			p.ask, err = w.judge(p.found, path, p.rel)
		}
	}
	return p, w.explain(ctx, path, err)
}

// hold closes the file that was there when the call ends. Until then the system
// gives its number to no other file.
func (p *place) hold(ctx context.Context) {
	context.AfterFunc(ctx, func() { p.held.Close() })
}

// reopen opens what was planned, and nothing else.
func (w *workplace) reopen(ctx context.Context, p place) (f *os.File, st fs.FileInfo, err error) {
	name := called(p.asked)
	rel, err := w.Resolve(p.asked)
	switch {
	case err == nil && rel != p.rel:
		return nil, nil, agent.Errorf(event.KindNotFound,
			"%s leads to another file than when it was asked for. Ask for it again to see what is there "+
				"now.", name)
	case err == nil:
		f, st, err = w.Open(rel)
	}
	switch {
	case errors.Is(err, workspace.Missing):
		return nil, nil, agent.Errorf(event.KindNotFound,
			"%s was deleted or renamed after it was asked for, so it was not shown.", name)
	case err != nil:
		return nil, nil, w.explain(ctx, p.asked, err)
	case !os.SameFile(st, p.found):
		f.Close()
		return nil, nil, agent.Errorf(event.KindNotFound,
			"%s was replaced after it was asked for. Ask for it again to see what is there now.", name)
	}
	return f, st, nil
}

// disk is what an output remembers of the file it was read from; nil if it has no size, so that it
// cannot be seen to change.
func (w *workplace) disk(p place, st fs.FileInfo) *outputs.Disk {
	if !st.Mode().IsRegular() {
		return nil
	}
	name := filepath.FromSlash(p.rel)
	if !filepath.IsAbs(name) {
		name = filepath.Join(w.Path, name)
	}
	return &outputs.Disk{Name: name, Modified: st.ModTime(), Size: st.Size()}
}

// folder resolves the path of a folder to run commands in; empty means the
// workspace.
func (w *workplace) folder(ctx context.Context, path string) (p place, err error) {
	p = place{asked: path, rel: "."}
	root, err := w.Root()
	if err != nil {
		return p, w.explain(ctx, path, err)
	}
	defer root.Close()
	if path != "" {
		p.rel, err = w.Resolve(path)
	}
	if err == nil {
		p.found, err = w.Stat(p.rel)
	}
	switch {
	case errors.Is(err, workspace.Missing):
		return p, agent.Errorf(event.KindNotFound,
			"There is no folder %s in %s. Give cwd as a folder in it, or leave it out.", called(path),
			w.shown())
	case errors.Is(err, workspace.Outside):
		return p, agent.Errorf(event.KindOutside,
			"That path leaves the workspace. Commands run in folders inside %s only.", w.shown())
	case err != nil:
		return p, w.explain(ctx, path, err)
	case !p.found.IsDir():
		return p, agent.Errorf(event.KindNotRegular,
			"%s is a file, and commands run in folders. Give cwd as a folder, or leave it out.",
			called(p.rel))
	}
	if _, err := os.Stat(filepath.Join(w.Path, p.rel) + "/."); errors.Is(err, fs.ErrPermission) {
		return p, agent.Errorf(event.KindDenied,
			"webchat is not allowed to enter %s. Change its permissions, or run the command in another "+
				"folder.", called(p.rel))
	}
	if p.held, err = root.Open(p.rel); err == nil {
		p.hold(ctx) // one that may be entered and not read is known by its number only
	}
	return p, nil
}

// judge says as an action to be asked about that a file may hold secrets; empty if nothing
// hints at that. The error is about what is never shown. rel is its path relative to the
// workspace and found the file that was there, if there was one.
func (w *workplace) judge(found fs.FileInfo, asked, rel string) (action string, err error) {
	full := filepath.Join(w.Path, rel)
	switch r := w.policy.File(found, asked, full); {
	case r.Decision == event.Deny:
		return "", agent.Errorf(event.KindDenied, "%s", wording.Name(r.Reason))
	case !r.Sensitive:
		return "", nil
	}
	if other, ok := w.policy.HardLinked(full); ok {
		return "show a file that is also named " + wording.Name(filepath.ToSlash(other)) +
			" and may hold secrets", nil
	}
	return "show a file that may hold secrets", nil
}

// reads is what a tool does that shows a file.
func (s *Set) reads(ctx context.Context, tool, action string, p place,
	digest string) *agent.Permission {
	return &agent.Permission{
		ToolCallID: agent.CallFrom(ctx).ToolCallID,
		ToolName:   tool,
		Kind:       agent.KindRead,
		Action:     action,
		Resource:   p.asked,
		Target:     filepath.Join(s.work.Path, p.rel),
		Cwd:        s.work.Path,
		Digest:     digest,
	}
}
