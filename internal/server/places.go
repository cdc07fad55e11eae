package server

import (
	"context"
	"net/http"

	"webchat/internal/eventlog"
	"webchat/internal/sessions"
)

// places finds files of a session's workspace by the names that commands give them. It
// only looks whether they are there, and not beyond the workspace, by no link either.
type places struct {
	sessions *sessions.Manager // nil: there are no places
}

// Place implements views.Places.
func (p *places) Place(ctx context.Context, sessionID, cwd, name string) (string, bool) {
	if p.sessions == nil {
		return "", false
	}
	one, err := p.sessions.Get(ctx, eventlog.ID(sessionID))
	if err != nil {
		return "", false
	}
	room, err := p.sessions.Room(one.Summary().Workspace)
	if err != nil || room.Files == nil {
		return "", false
	}
	return room.Files.Place(ctx, cwd, name)
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
