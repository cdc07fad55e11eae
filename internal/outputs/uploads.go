package outputs

import (
	"crypto/rand"
	"fmt"
	"sync"
)

// Uploads keeps what users upload in memory within a budget of bytes; the oldest go first. What was
// uploaded is gone when the program ends. Its methods may be called concurrently.
type Uploads struct {
	budget int64

	mu    sync.Mutex // guards what follows
	size  int64
	order []uploadKey // oldest first
	kept  map[uploadKey]upload
}

type uploadKey struct{ session, id string }

type upload struct {
	mediaType string
	data      []byte
}

// NewUploads returns an empty store for budget bytes.
func NewUploads(budget int64) *Uploads {
	return &Uploads{budget: budget, kept: map[uploadKey]upload{}}
}

// Put keeps an upload of a session and returns the id that [Uploads.Get] takes. It owns data, and
// refuses more than its budget.
func (u *Uploads) Put(session, mediaType string, data []byte) (id string, err error) {
	n := int64(len(data))
	if n > u.budget {
		return "", fmt.Errorf("an attachment of %d bytes, the limit is %d", n, u.budget)
	}
	key := uploadKey{session, "up_" + rand.Text()}
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.size+n > u.budget {
		u.size -= int64(len(u.kept[u.order[0]].data))
		delete(u.kept, u.order[0])
		u.order = u.order[1:]
	}
	u.size += n
	u.order = append(u.order, key)
	u.kept[key] = upload{mediaType, data}
	return key.id, nil
}

// Get returns an upload of this very session. The error says that there is none of that id, or none
// any more.
func (u *Uploads) Get(session, id string) (mediaType string, data []byte, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	up, ok := u.kept[uploadKey{session, id}]
	if !ok {
		return "", nil, fmt.Errorf("no attachment %s", id)
	}
	return up.mediaType, up.data, nil
}

// DeleteSession drops all of a session's.
func (u *Uploads) DeleteSession(session string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	var rest []uploadKey
	for _, k := range u.order {
		if k.session != session {
			rest = append(rest, k)
			continue
		}
		u.size -= int64(len(u.kept[k].data))
		delete(u.kept, k)
	}
	u.order = rest
}
