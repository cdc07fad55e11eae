package server

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/page"
	"webchat/internal/session"
)

// keptFilms is of how many sessions the film is kept, so that a step of a replay does not read the
// whole log.
const keptFilms = 4

// films are those of the sessions replayed last.
type films struct {
	mu   sync.Mutex
	list []*film // guarded by mu: the one used last is the last
}

type film struct {
	id eventlog.ID
	mu sync.Mutex
	page.Film
}

// of returns a session's film, which is used with its mu held.
func (f *films) of(id eventlog.ID) *film {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.list, func(one *film) bool { return one.id == id })
	one := &film{id: id}
	if i >= 0 {
		one = f.list[i]
		f.list = slices.Delete(f.list, i, i+1)
	}
	f.list = append(f.list, one)
	if over := len(f.list) - keptFilms; over > 0 {
		f.list = slices.Delete(f.list, 0, over)
	}
	return one
}

// follow feeds the film what the log has had since.
func (f *film) follow(ctx context.Context, one *session.Session) error {
	return eachPage(ctx, one, f.Last(), one.Summary().LastSeq, func(entries []event.Entry) error {
		f.Take(entries...)
		return nil
	})
}

// replay shows a session as it was after an event.
func (s *Server) replay(w http.ResponseWriter, r *http.Request, one *session.Session) error {
	q, ctx := r.URL.Query(), r.Context()
	f := s.films.of(one.ID())
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.follow(ctx, one); err != nil {
		return err
	}
	at, err := eventOf(q, "at")
	if err != nil {
		return err
	}
	at = min(cmp.Or(at, f.Last()), f.Last())
	sum := f.Before(at)
	err = eachPage(ctx, one, sum.LastSeq, at, func(entries []event.Entry) error {
		for _, e := range entries {
			sum = eventlog.Summarize(sum, e)
		}
		return nil
	})
	if err != nil {
		return err
	}
	p := s.Pages.pages.ForReplay(string(one.ID()))
	cut := p.Cut()
	sum.IncludeOpen(cut)
	if err := (past{s.Outputs, one, p}).load(ctx, cut, at, sum); err != nil {
		return err
	}
	return writePage(w, r, http.StatusOK, func(b *bytes.Buffer) error {
		return s.Pages.pages.Replay(b, &f.Film, at, q.Get("out"), p, q.Get("part") == "moment")
	})
}
