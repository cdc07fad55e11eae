package displaytools

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/wording"
	"webchat/internal/workspace"
)

const nearShown = 3 // names that are offered for one that is missing

// explain makes a sentence of what keeps a file from being opened, with the nearest names if no
// file has the requested one. Other errors are returned as they are.
func (w *workplace) explain(ctx context.Context, asked string, err error) error {
	var e *workspace.Error
	if !errors.As(err, &e) {
		return err
	}
	name := called(e.Name)
	switch e.Reason {
	case workspace.Missing:
		return w.missing(ctx, asked)
	case workspace.Outside:
		return agent.Errorf(event.KindOutside,
			"That path leaves the workspace. Only files inside %s are shown, and links are followed first.",
			w.shown())
	case workspace.Climbs:
		return agent.Errorf(event.KindOutside,
			`A path with ".." in it is not followed. Give the plain path from %s.`, w.shown())
	case workspace.Dangling:
		return agent.Errorf(event.KindNotFound,
			"%s is a link to %s, which does not exist. Create that file or mend the link.", name,
			wording.Name(e.Target))
	case workspace.Circular:
		return agent.Errorf(event.KindNotRegular,
			"%s is a link that leads back to itself. Mend the link.", name)
	case workspace.Forbidden:
		return agent.Errorf(event.KindDenied,
			"webchat is not allowed to read %s. Change its permissions, or those of the folder it is in.",
			name)
	case workspace.Special:
		return agent.Errorf(event.KindNotRegular,
			"%s is %s. webchat shows regular files and folders only.", name, special(e.Mode))
	case workspace.Replaced:
		return agent.Errorf(event.KindNotFound,
			"%s was replaced while it was opened. Ask for it again.", name)
	case workspace.FolderMissing:
		return agent.Errorf(event.KindNotFound,
			"The folder %s is not there. Mount or restore it, then ask again.", w.shown())
	case workspace.FolderReplaced:
		return agent.Errorf(event.KindOutside,
			"The folder %s was replaced by a link to another one. Open that folder in webchat instead.",
			w.shown())
	}
	return agent.Errorf(event.KindInternal, "%s cannot be opened: %v.", name, e.Err)
}

// special names what cannot be shown as a file.
func special(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something special"
}

func (w *workplace) missing(ctx context.Context, asked string) error {
	name := called(asked)
	if filepath.IsLocal(asked) { // a file of that name may be in another folder
		name = shorten(wording.Name(filepath.ToSlash(filepath.Clean(asked))), tryLength)
	}
	f := agent.Errorf(event.KindNotFound, "There is no %s in %s.", name, w.shown())
	f.Nearest = wording.Nearest(filepath.ToSlash(asked), w.names(ctx), nearShown)
	return f
}

// names are the files of the workspace that may be named in a list of names.
func (w *workplace) names(ctx context.Context) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		root, err := w.Root()
		if err != nil {
			return
		}
		defer root.Close()
		for name, entry := range workspace.Names(ctx, root.FS()) {
			switch {
			case !entry.Type().IsRegular(), w.policy.Hidden(filepath.Join(w.Path, name)):
			case wording.Name(name) != name, strings.Contains(name, ", "): // it would read as another
			case !yield(name):
				return
			}
		}
	}
}
