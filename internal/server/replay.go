package server

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/outputs"
	"webchat/internal/page"
	"webchat/internal/session"
)

// keptFilms is of how many sessions the film is kept, so that a step of a replay does not read the
// whole log.
const keptFilms = 4

const (
	// events that a replay is answered whole without; with more to read it says so first
	readAtOnce = 2_000
	readAhead  = 4 // pages of a log that are read at once
)

// films are those of the sessions replayed last.
type films struct {
	mu   sync.Mutex
	list []*film // guarded by mu: the one used last is the last
}

type film struct {
	id   eventlog.ID
	read atomic.Int64 // the last event that it has
	mu   sync.Mutex
	page.Film
}

// of returns a session's film, which is used with its mu held.
func (f *films) of(id eventlog.ID) *film {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.list, func(known *film) bool { return known.id == id })
	known := &film{id: id}
	if i >= 0 {
		known = f.list[i]
		f.list = slices.Delete(f.list, i, i+1)
	}
	f.list = append(f.list, known)
	if over := len(f.list) - keptFilms; over > 0 {
		f.list = slices.Delete(f.list, 0, over)
	}
	return known
}

// follow feeds the film what the log has had since. Pages are read and decoded beside each other,
// and taken in their order.
func (f *film) follow(ctx context.Context, sess *session.Session) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	type result struct {
		entries []event.Entry
		err     error
	}
	last, coming := sess.Summary().LastSeq, make(chan chan result, readAhead)
	var begun sync.WaitGroup
	defer begun.Wait()
	defer stop()
	begun.Go(func() {
		defer close(coming)
		for after := f.Last(); after < last; after += pageOfLog {
			read := make(chan result, 1)
			select {
			case coming <- read:
			case <-ctx.Done():
				return
			}
			begun.Go(func() {
				var p result
				p.err = eachPage(ctx, sess, after, min(after+pageOfLog, last),
					func(entries []event.Entry) error {
						p.entries = append(p.entries, entries...)
						return nil
					})
				read <- p
			})
		}
	})
	for read := range coming {
		p := <-read
		if p.err != nil {
			return p.err
		}
		f.Take(p.entries...)
		f.read.Store(f.Last())
	}
	return ctx.Err()
}

// replays shows sessions as they were.
type replays struct {
	outputs *outputs.Store
	films   *films
	pages   *page.Pages
}

// page shows a session as it was after an event.
func (rp *replays) page(w http.ResponseWriter, r *http.Request, sess *session.Session) error {
	q, ctx := r.URL.Query(), r.Context()
	f, now := rp.films.of(sess.ID()), sess.Summary()
	if left := now.LastSeq - f.read.Load(); q.Get("part") == "" && left > readAtOnce {
		return writePage(w, r, http.StatusOK, func(b *bytes.Buffer) error {
			return rp.pages.ReplayBegun(b, string(sess.ID()), now, left)
		})
	}
	return writePage(w, r, http.StatusOK, func(b *bytes.Buffer) error {
		f.mu.Lock() // not while it is sent: a reader may be slow
		defer f.mu.Unlock()
		return rp.moment(ctx, b, sess, f, q)
	})
}

// moment writes the part of a replay that is asked for. f is locked.
func (rp *replays) moment(ctx context.Context, b *bytes.Buffer, sess *session.Session, f *film,
	q url.Values) error {
	at, err := eventOf(q, "at")
	if err != nil {
		return err
	}
	if err := f.follow(ctx, sess); err != nil {
		return err
	}
	at = min(cmp.Or(at, f.Last()), f.Last())
	sum := f.Before(at)
	err = eachPage(ctx, sess, sum.LastSeq, at, func(entries []event.Entry) error {
		for _, e := range entries {
			sum = eventlog.Summarize(sum, e)
		}
		return nil
	})
	if err != nil {
		return err
	}
	part := q.Get("part")
	if part == "film" {
		return rp.pages.ReplayFilm(b, &f.Film, string(sess.ID()), at, sum)
	}
	p := rp.pages.ForReplay(string(sess.ID()))
	cut := p.Cut()
	sum.IncludeOpen(cut)
	if err := (past{rp.outputs, sess, p}).load(ctx, cut, at, sum); err != nil {
		return err
	}
	write := rp.pages.Replay
	if part == "moment" {
		write = rp.pages.ReplayMoment
	}
	return write(b, &f.Film, at, q.Get("out"), p)
}
