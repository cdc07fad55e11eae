package outputs

import (
	"cmp"
	"slices"
	"time"
)

// ofSession returns a session's outputs that are in memory, growing ones included.
func (s *Store) ofSession(sessionID string) (list []*Output) {
	if sessionID == "" {
		return nil
	}
	return slices.DeleteFunc(s.inMemory(), func(o *Output) bool { return o.sessionID() != sessionID })
}

// inMemory returns all outputs that are in memory and whose life has not ended, in no order.
func (s *Store) inMemory() (list []*Output) {
	for _, i := range s.cache.Items() {
		if o := i.Value(); !s.expired(o) {
			list = append(list, o)
		}
	}
	return list
}

// DeleteSession ends the lives of a session's outputs, growing ones included.
func (s *Store) DeleteSession(sessionID string) {
	s.mu.Lock()
	for _, o := range s.ofSession(sessionID) {
		s.remove(o)
	}
	s.mu.Unlock()
	if s.keeper != nil {
		s.keeper.drop(sessionID)
	}
}

// Drop ends the life of an output now, with what its file was and what draws it, on disk as well.
func (s *Store) Drop(id ID) {
	if o, err := s.Get(id); err == nil {
		for _, with := range []ID{o.Meta().Was, o.Meta().App} {
			if with != "" {
				defer s.Drop(with)
			}
		}
		s.mu.Lock()
		s.remove(o)
		s.mu.Unlock()
	}
	if s.keeper != nil {
		s.keeper.forget(id)
	}
}

// Listed is an output in a list.
type Listed struct {
	ID                   ID
	Meta                 Meta
	Size                 int64 // bytes written so far, those left out included
	Complete             bool
	Pinned               bool
	CreatedAt, ExpiresAt time.Time // ExpiresAt is zero while it grows
}

// Called is when its call began, or if that is not known, when it was created.
func (l *Listed) Called() time.Time {
	if l.Meta.Called.IsZero() {
		return l.CreatedAt
	}
	return l.Meta.Called
}

// Session lists the outputs of a session in the order of their calls, those on disk included:
// listing reads no content into memory.
func (s *Store) Session(sessionID string) []Listed {
	all, seen := []Listed{}, map[ID]bool{}
	for _, o := range s.ofSession(sessionID) {
		seen[o.id] = true
		all = append(all, o.listed())
	}
	if s.keeper != nil {
		all = append(all, slices.DeleteFunc(s.keeper.session(sessionID), func(l Listed) bool {
			return seen[l.ID]
		})...)
	}
	slices.SortFunc(all, func(a, b Listed) int {
		return cmp.Or(a.Called().Compare(b.Called()), a.CreatedAt.Compare(b.CreatedAt),
			cmp.Compare(a.ID, b.ID))
	})
	return all
}

func (o *Output) listed() Listed {
	return Listed{
		ID:        o.id,
		Meta:      o.Meta(),
		Size:      o.Size(),
		Complete:  o.Complete(),
		Pinned:    o.Pinned(),
		CreatedAt: o.CreatedAt(),
		ExpiresAt: o.ExpiresAt(),
	}
}

// Live lists the outputs of all sessions that are in memory, the newest first.
func (s *Store) Live() []Listed {
	var all []Listed
	for _, o := range s.inMemory() {
		all = append(all, o.listed())
	}
	slices.SortFunc(all, func(a, b Listed) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return all
}
