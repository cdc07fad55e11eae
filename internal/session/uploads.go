package session

import (
	"context"
	"fmt"
	"sync"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// Uploads keeps attachments in memory within a budget of bytes; the oldest go
// first. What was uploaded is gone when the program ends. It implements
// [Attachments].
type Uploads struct {
	budget int64

	mu    sync.Mutex // guards what follows
	size  int64
	order []uploadKey // oldest first
	kept  map[uploadKey]agent.Attachment
}

type uploadKey struct {
	session ID
	id      string
}

// NewUploads returns an empty store for budget bytes.
func NewUploads(budget int64) *Uploads {
	return &Uploads{budget: budget, kept: map[uploadKey]agent.Attachment{}}
}

// Put implements [Attachments].
func (u *Uploads) Put(_ context.Context, id ID, a agent.Attachment) (string, error) {
	n := int64(len(a.Data))
	if n > u.budget {
		return "", fmt.Errorf("%w: an attachment of %d bytes, the limit is %d", ErrInvalid, n, u.budget)
	}
	key := uploadKey{id, string(event.NewID())}
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.size+n > u.budget {
		u.size -= int64(len(u.kept[u.order[0]].Data))
		delete(u.kept, u.order[0])
		u.order = u.order[1:]
	}
	u.size += n
	u.order = append(u.order, key)
	u.kept[key] = a
	return key.id, nil
}

// Get implements [Attachments].
func (u *Uploads) Get(_ context.Context, id ID, attachmentID string) (agent.Attachment, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	a, ok := u.kept[uploadKey{id, attachmentID}]
	if !ok {
		return agent.Attachment{}, fmt.Errorf("attachment %s: %w; upload it again", attachmentID, ErrNotFound)
	}
	return a, nil
}

// DeleteSession implements [Attachments].
func (u *Uploads) DeleteSession(id ID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	var rest []uploadKey
	for _, k := range u.order {
		if k.session != id {
			rest = append(rest, k)
			continue
		}
		u.size -= int64(len(u.kept[k].Data))
		delete(u.kept, k)
	}
	u.order = rest
}
