package server

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"sync"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/guard"
	"webchat/internal/outputs"
	"webchat/internal/page"
	"webchat/internal/session"
	"webchat/internal/sse"
)

// pageSource folds a session for all who look at it, and publishes what changes.
type pageSource struct {
	past
	live  *eventlog.Subscription
	topic *sse.Topic
	ready chan struct{} // closed when the projector holds all that was before
	err   error         // why it does not; read after ready
	disk  diskFollower

	mu   sync.Mutex // guards what follows, and the order in which it is published
	news *sse.Frame // of the disk; nil: none was looked at yet
}

func (p *pageSource) Run(ctx context.Context) {
	defer p.live.Close()
	from, err := p.catchUp(ctx)
	p.err = err
	close(p.ready)
	var disk sync.WaitGroup
	ctx, end := context.WithCancel(ctx)
	defer disk.Wait()
	defer end()
	disk.Go(func() { p.disk.run(ctx, p.publishNews) })
	for err == nil {
		entries, next := p.live.Next(ctx)
		if next != nil {
			return // no reader is left, or the readers have to come back
		}
		for len(entries) > 0 && entries[0].Pos <= from {
			entries = entries[1:]
		}
		if f, ok := p.projector.Feed(entries...); ok {
			p.topic.Publish(sse.Frame{ID: f.Seq, Pos: f.Pos, Data: f.Data()})
		}
		if slices.ContainsFunc(entries, func(e event.Entry) bool { return !e.Event.Ephemeral }) {
			select {
			case p.disk.stir <- struct{}{}:
			default:
			}
		}
	}
}

func (p *pageSource) publishNews(n diskNews) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := n.frame()
	p.news = &f
	p.topic.Publish(f)
}

// lastNews is what a page that joins has to know of the disk.
func (p *pageSource) lastNews() *sse.Frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.news
}

// projections has the one projector of each session that is looked at.
type projections struct {
	hub     *sse.Hub
	pumps   *topicPumps
	outputs *outputs.Store
	watch   files.Watcher // of the files that readers have open
	pages   *page.Pages
}

// of gives the one projector of a session that is looked at. It has all
// that was logged when projected was called: who has the answer to a request finds
// what it did on the page asked for next.
func (ps *projections) of(ctx context.Context,
	sess *session.Session) (_ context.Context, src *pageSource, release func(), err error) {
	name, logged := "page/"+string(sess.ID()), sess.Summary().LastSeq
	for {
		begun := false
		pumped, x, release, err := ps.pumps.Acquire(ctx, name, func() pumpSource {
			begun = true
			p := ps.pages.Projector(string(sess.ID()))
			return &pageSource{
				past:  past{ps.outputs, sess, p},
				live:  sess.Subscribe(),
				topic: ps.hub.Topic(name),
				ready: make(chan struct{}),
				disk: diskFollower{watch: &ps.watch, wrote: p.Wrote, stir: make(chan struct{}, 1),
					list: func() []outputs.Listed { return ps.outputs.Session(string(sess.ID())) }},
			}
		})
		if err != nil {
			return nil, nil, nil, err
		}
		src = x.(*pageSource)
		err = src.await(pumped, logged)
		if err == nil {
			return pumped, src, release, nil
		}
		release()
		if begun || pumped.Err() == nil || ctx.Err() != nil {
			return nil, nil, nil, err
		}
		// A pump that ran before has ended short of it; a new one begins with the log.
	}
}

// await waits until the projector has the log up to seq, or the pump has ended.
func (p *pageSource) await(pump context.Context, seq int64) error {
	select {
	case <-p.ready:
	case <-pump.Done():
		return context.Cause(pump)
	}
	if p.err != nil {
		return p.err
	}
	return p.projector.Await(pump, seq)
}

// sessionPages draws the pages of sessions, and follows them.
type sessionPages struct {
	find        finder
	outputs     *outputs.Store
	sandboxes   Sandboxes
	layout      *layout
	projections *projections
	pages       *page.Pages
}

func (sp *sessionPages) stream(w http.ResponseWriter, r *http.Request,
	sess *session.Session) error {
	after, ok, _ := sse.ParseLastEventID(r)
	if !ok {
		after = -1 // no place: everything is built anew
	}
	ctx, src, release, err := sp.projections.of(r.Context(), sess)
	if err != nil {
		return err
	}
	defer release()
	if err := guard.Streaming(r, 1); err != nil {
		return err
	}
	return src.topic.Serve(w, r.WithContext(ctx),
		func(_ context.Context, send func(sse.Frame) error) (int64, error) {
			f, pos := src.projector.Join(after)
			err := send(sse.Frame{ID: f.Seq, Data: f.Data()})
			if news := src.lastNews(); news != nil && err == nil {
				err = send(*news)
			}
			return pos, err
		})
}

func (sp *sessionPages) page(w http.ResponseWriter, r *http.Request, sess *session.Session) error {
	sum := sess.Summary()
	view, err := sp.layout.view(r.Context(), sidebarWish{Workspace: sum.Workspace, Short: true})
	if err != nil {
		return err
	}
	view.Backend, view.Model = sum.Backend, sum.Model
	view.Stays = sp.sandboxes.stays(sess, sum.Backend, sum.Workspace)
	if q := r.URL.Query(); q.Get("before") != "" || q.Get("from") != "" {
		return sp.past(w, r, sess, view)
	}
	_, src, release, err := sp.projections.of(r.Context(), sess)
	if err != nil {
		return err
	}
	defer release()
	return writePage(w, r, http.StatusOK, func(b *bytes.Buffer) error {
		return sp.pages.Session(b, view, src.projector)
	})
}

// past shows the turns before an event, or everything from the turn of an event on: what a
// search found may lie far before the last turns.
func (sp *sessionPages) past(w http.ResponseWriter, r *http.Request, sess *session.Session,
	view page.View) error {
	before, err := eventOf(r.URL.Query(), "before")
	if err != nil {
		return err
	}
	from, err := eventOf(r.URL.Query(), "from")
	if err != nil {
		return err
	}
	p := sp.pages.Projector(string(sess.ID()))
	if before > 0 {
		sum := sess.Summary()
		err = (past{sp.outputs, sess, p}).load(r.Context(), p.Cut(), min(before-1, sum.LastSeq), sum)
	} else {
		p = sp.pages.ProjectorFrom(string(sess.ID()), from)
		_, err = (past{sp.outputs, sess, p}).catchUp(r.Context())
	}
	if err != nil {
		return err
	}
	return writePage(w, r, http.StatusOK, func(b *bytes.Buffer) error {
		return sp.pages.Session(b, view, p)
	})
}
