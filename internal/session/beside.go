package session

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"webchat/internal/agent"
	"webchat/internal/calls"
	"webchat/internal/event"
)

// Beside knows which files agents change in turns that overlap, as far as the agents ask about that
// or report it; what commands change is not known. The sessions of one user share it. All methods
// may be called concurrently.
type Beside struct {
	mu    sync.Mutex // guards what follows, and what is in turns
	clock int
	turns []*working
}

// working is a turn that runs, or that ended while one of those before it still runs.
type working struct {
	of           *core
	user, turn   string
	began, ended int // by the clock; ended 0: it runs
	changed      map[string]bool
	named        map[string]bool // of which others was logged already
}

// begin registers a turn that begins.
func (b *Beside) begin(s *core, turnID string) *working {
	user := s.events.Summary().User
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock++
	w := &working{of: s, user: user, turn: turnID, began: b.clock, changed: map[string]bool{},
		named: map[string]bool{}}
	b.turns = append(b.turns, w)
	return w
}

// end keeps what a turn changed for as long as a turn runs that began before its end.
func (b *Beside) end(w *working) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock++
	w.ended = b.clock
	first := b.clock
	for _, o := range b.turns {
		if o.ended == 0 {
			first = min(first, o.began)
		}
	}
	b.turns = slices.DeleteFunc(b.turns, func(o *working) bool {
		return o.ended != 0 && o.ended <= first
	})
}

// changes remembers files that a turn changed, by their absolute paths.
func (b *Beside) changes(w *working, files []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range files {
		w.changed[f] = true
	}
}

// others are the changes of files by turns of other sessions that overlap this one, each once.
func (b *Beside) others(w *working, files []string) (all []event.FileAlsoChanged) {
	var of []*core
	b.mu.Lock()
	for _, o := range b.turns {
		for _, f := range files {
			key := o.turn + " " + f
			if o.of == w.of || o.user != w.user || !o.changed[f] || w.named[key] {
				continue
			}
			w.named[key], of = true, append(of, o.of)
			all = append(all, event.FileAlsoChanged{File: f, SessionID: string(o.of.id), TurnID: o.turn})
		}
	}
	b.mu.Unlock()
	for i := range all { // no lock is held: each session has its own
		all[i].Title = of[i].events.Summary().Title
	}
	return all
}

// overlap is what a turn and [Beside] know of each other.
type overlap struct {
	*core
	turn    *working            // guarded by mu; nil: none runs
	allowed map[string][]string // guarded by mu: what calls may write, by their ids
	seen    atomic.Int64        // the last event whose edits are known
}

// begin has others know of a turn until the returned function is called.
func (s *overlap) begin(turnID string) (end func()) {
	w := s.cfg.Beside.begin(s.core, turnID)
	s.seen.Store(s.events.Summary().LastSeq)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn, s.allowed = w, map[string][]string{}
	return func() {
		s.mu.Lock()
		s.turn = nil
		s.mu.Unlock()
		s.cfg.Beside.end(w)
	}
}

// before logs, before an act is decided about, which of the files it writes are changed by turns
// of other sessions, too.
func (s *overlap) before(ctx context.Context, p agent.Permission) {
	files := s.written(p)
	s.mu.Lock()
	w := s.turn
	s.mu.Unlock()
	if w != nil && len(files) > 0 {
		s.say(ctx, p.ToolCallID, s.cfg.Beside.others(w, files))
	}
}

// mayWrite remembers what an act that was allowed writes, until its call succeeds.
func (s *overlap) mayWrite(p agent.Permission) {
	files := s.written(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.turn == nil || len(files) == 0:
	case p.ToolCallID == "":
		s.cfg.Beside.changes(s.turn, files)
	default:
		s.allowed[p.ToolCallID] = append(s.allowed[p.ToolCallID], files...)
	}
}

// after takes the end of a call of the agent's own: it has others know of the files that the call
// changed, and logs which of them they change, too. What a command printed does not show that.
func (s *overlap) after(ctx context.Context, d event.ToolExecutionComplete) {
	s.mu.Lock()
	w, files := s.turn, s.allowed[d.ToolCallID]
	delete(s.allowed, d.ToolCallID)
	s.mu.Unlock()
	if w == nil || !d.Success {
		return
	}
	err := s.events.Index(ctx, func(x *calls.Index) {
		for _, e := range x.Edits(s.seen.Swap(x.Last()) + 1) {
			files = append(files, s.edited(e)...)
		}
	})
	if err == nil && len(files) > 0 {
		s.cfg.Beside.changes(w, files)
		s.say(ctx, d.ToolCallID, s.cfg.Beside.others(w, files))
	}
}

// edited are the files that a call changed.
func (s *overlap) edited(e calls.Edit) (files []string) {
	names := e.Names
	switch {
	case e.Command:
		return nil
	case e.File != "" && len(names) <= 2:
		names = []string{e.File}
	}
	for _, name := range names {
		if name == event.NoFile {
			continue
		}
		if e.File == "" || len(names) > 1 {
			name = strings.TrimPrefix(strings.TrimPrefix(name, "a/"), "b/")
		}
		files = append(files, s.target(agent.Permission{Kind: agent.KindWrite, Resource: name}))
	}
	return files
}

func (s *overlap) say(ctx context.Context, call string, all []event.FileAlsoChanged) {
	data := make([]event.Data, 0, len(all))
	for _, change := range all {
		change.ToolCallID = call
		data = append(data, change)
	}
	if len(data) == 0 {
		return
	}
	if err := s.events.Persist(ctx, func() error { return s.events.Append(data...) }); err != nil {
		s.log().Warn("that another session changes a file was not logged", "error", err)
	}
}

// written are the files that an act writes.
func (s *overlap) written(p agent.Permission) (files []string) {
	for _, part := range p.Parts() {
		if part.Kind == agent.KindWrite {
			files = append(files, s.target(part))
		}
	}
	return files
}

// target is the absolute path of a file, without links where there is a policy.
func (s *overlap) target(p agent.Permission) string {
	if s.cfg.Policy != nil {
		if to := cmp.Or(p.Target, s.cfg.Policy.Target(p)); to != "" {
			return to
		}
	}
	if filepath.IsAbs(p.Resource) {
		return filepath.Clean(p.Resource)
	}
	return filepath.Join(s.cfg.Workspace, filepath.FromSlash(p.Resource))
}
