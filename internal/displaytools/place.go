package displaytools

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/policy"
)

// place is a file as a call was planned for it. What is opened later has to be
// this very file, since this is what was judged and approved.
type place struct {
	asked string      // as given
	rel   string      // where it leads, relative to the workspace
	found fs.FileInfo // of the file that was there
}

// check resolves a path and opens it to see that it can be shown.
func (w *workspace) check(ctx context.Context, path string) (place, error) {
	p := place{asked: path}
	rel, err := w.resolve(path)
	if err == nil {
		var f *os.File
		if f, p.found, err = w.open(rel); err == nil {
			f.Close()
		}
	}
	p.rel = rel
	return p, w.explain(ctx, path, err)
}

// reopen opens what was planned, and nothing else.
func (w *workspace) reopen(p place) (*os.File, fs.FileInfo, error) {
	name := called(p.asked)
	gone := say("%s was deleted or renamed after it was asked for. Nothing was read.", name)
	rel, err := w.resolve(p.asked)
	switch {
	case errors.Is(err, errMissing):
		return nil, nil, gone
	case err != nil:
		return nil, nil, err
	case rel != p.rel:
		return nil, nil, say("%s leads to another file than when it was asked for. Nothing was read; ask for it again.", name)
	}
	f, st, err := w.open(rel)
	switch {
	case errors.Is(err, errMissing):
		return nil, nil, gone
	case err != nil:
		return nil, nil, err
	case !os.SameFile(st, p.found):
		f.Close()
		return nil, nil, say("%s was replaced by another file after it was asked for. Nothing was read; ask for it again.", name)
	}
	return f, st, nil
}

// folder resolves the path of a folder one may run commands in; empty is the
// workspace.
func (w *workspace) folder(path string) (p place, err error) {
	if p = (place{asked: path, rel: "."}); path != "" {
		p.rel, err = w.resolve(path)
	}
	if err == nil {
		if p.found, err = w.root.Stat(p.rel); err != nil {
			err = refusal(called(p.rel), err)
		}
	}
	said, ok := errors.AsType[sentence](err)
	switch {
	case errors.Is(err, errMissing):
		err = say("There is no folder %s in %s. Nothing was run.", called(path), w.shown())
	case ok: // what it says of files holds for folders
		err = sentence(strings.Replace(string(said), "Nothing was read.", "Nothing was run.", 1))
	case err == nil && !p.found.IsDir():
		err = say("cwd must be a folder, and %s is a file. Nothing was run.", called(p.rel))
	}
	return p, err
}

// secret says as an action to be asked about that the file may hold secrets; empty
// if nothing hints at that.
func (w *workspace) secret(p place) string {
	if policy.Sensitive(p.asked) || policy.SensitiveFile(filepath.Join(w.real, p.rel)) {
		return "show a file that may hold secrets"
	}
	if other, ok := w.links.Sensitive(p.found); ok {
		return "show a file that is also named " + printable(filepath.ToSlash(other)) + " and may hold secrets"
	}
	return ""
}

// reads is what a tool does that shows a file.
func (s *Set) reads(ctx context.Context, tool, action string, p place, digest string) *agent.Permission {
	return &agent.Permission{ToolCallID: agent.CallFrom(ctx).ToolCallID, ToolName: tool, Kind: agent.KindRead, Action: action,
		Resource: p.asked, Target: filepath.Join(s.work.real, p.rel), Cwd: s.work.real, Digest: digest}
}
