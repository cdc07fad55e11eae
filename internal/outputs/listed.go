package outputs

import (
	"cmp"
	"slices"
	"time"
)

// Listed is an output in a list.
type Listed struct {
	ID                   ID
	Meta                 Meta
	Size                 int64 // bytes written so far, those left out included
	Complete             bool
	Pinned               bool
	CreatedAt, ExpiresAt time.Time // ExpiresAt is zero while it grows
}

// called is when its call began, or if that is not said, when it was created.
func (l *Listed) called() time.Time {
	if l.Meta.Called.IsZero() {
		return l.CreatedAt
	}
	return l.Meta.Called
}

// Session lists the outputs of a session in the order of their calls, those on disk included:
// listing reads no content into memory.
func (s *Store) Session(sessionID string) []Listed {
	s.mu.Lock()
	var held []*Output
	for _, o := range s.sessions[sessionID] {
		if !s.expired(o) {
			held = append(held, o)
		}
	}
	s.mu.Unlock()
	all, seen := make([]Listed, 0, len(held)), map[ID]bool{}
	for _, o := range held {
		seen[o.id] = true
		all = append(all, Listed{ID: o.id, Meta: o.Meta(), Size: o.Size(), Complete: o.Complete(), Pinned: o.Pinned(), CreatedAt: o.CreatedAt(), ExpiresAt: o.ExpiresAt()})
	}
	if s.keeper != nil {
		all = append(all, slices.DeleteFunc(s.keeper.session(sessionID), func(l Listed) bool { return seen[l.ID] })...)
	}
	slices.SortFunc(all, func(a, b Listed) int {
		return cmp.Or(a.called().Compare(b.called()), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// DeleteSession ends the lives of a session's outputs, growing ones included.
func (s *Store) DeleteSession(sessionID string) {
	if s.keeper != nil {
		defer s.keeper.drop(sessionID) // after the lock is given back
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.sessions[sessionID] {
		s.remove(o)
	}
}
