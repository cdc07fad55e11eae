package server

import (
	"context"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"webchat/internal/fold"
	"webchat/internal/sessions"
)

// places finds files of a session's workspace by the names that commands give them. It
// only looks whether they are there, and not beyond the workspace, by no link either.
type places struct {
	sessions *sessions.Manager // nil: there are no places
}

// placeNames is how many names are looked at for a file that a command calls by the
// end of its path.
const placeNames = 20

// Place implements views.Places.
func (p *places) Place(ctx context.Context, sessionID, cwd, name string) (string, bool) {
	if p.sessions == nil {
		return "", false
	}
	one, err := p.sessions.Get(ctx, fold.ID(sessionID))
	if err != nil {
		return "", false
	}
	f := folder{root: one.Summary().Workspace}
	if room, err := p.sessions.Room(f.root); err == nil && room.Files != nil {
		f.complete = room.Files.Complete
	}
	return f.place(ctx, cwd, name)
}

// folder is a workspace that places are looked for in.
type folder struct {
	root     string                                                                   // an absolute path
	complete func(ctx context.Context, q string, limit int) (names []string, _ error) // nil: only names that lead to a file by themselves are found
}

func (f folder) place(ctx context.Context, cwd, name string) (string, bool) {
	if name == "" || len(name) > 1000 || strings.ContainsRune(name, 0) {
		return "", false
	}
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return "", false
	}
	defer root.Close()
	name = filepath.ToSlash(name)
	if inside, err := filepath.Rel(f.root, filepath.FromSlash(name)); err == nil && path.IsAbs(name) {
		name, cwd = filepath.ToSlash(inside), ""
	}
	for _, try := range []string{path.Join(filepath.ToSlash(cwd), name), path.Clean(name)} {
		if try = strings.TrimPrefix(try, "/"); !filepath.IsLocal(filepath.FromSlash(try)) {
			continue
		}
		if st, err := root.Stat(filepath.FromSlash(try)); err == nil && st.Mode().IsRegular() {
			return try, true
		}
	}
	return f.byEnd(ctx, path.Clean(name))
}

// byEnd finds the only file whose path ends with a name, as go test gives it.
func (f folder) byEnd(ctx context.Context, name string) (found string, ok bool) {
	if f.complete == nil || !filepath.IsLocal(name) {
		return "", false
	}
	list, err := f.complete(ctx, name, placeNames)
	if err != nil {
		return "", false
	}
	for _, one := range list {
		if strings.HasSuffix(one, "/"+name) {
			if ok {
				return "", false // several: it could be another
			}
			found, ok = one, true
		}
	}
	return found, ok
}

// placeList is which names lead to a file: its path in the workspace.
type placeList struct {
	Places map[string]string `json:"places"`
}

// askedNames is how many names one request may ask for.
const askedNames = 100

// namedPlaces says which names that a text gives lead to a file, so that they can be
// links. Nothing is read of the files.
func (s *Server) namedPlaces(w http.ResponseWriter, r *http.Request) error {
	one, err := s.session(r)
	if err != nil {
		return err
	}
	names := r.URL.Query()["name"]
	if len(names) > askedNames {
		return invalid("invalid", "Ask for at most 100 names at once.")
	}
	known := &places{s.Sessions}
	list := placeList{Places: map[string]string{}}
	for _, name := range names {
		if found, ok := known.Place(r.Context(), string(one.ID()), "", name); ok {
			list.Places[name] = found
		}
	}
	return reply(w, http.StatusOK, list)
}
