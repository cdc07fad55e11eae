package outputs

import (
	"crypto/rand"
	"fmt"

	"github.com/jellydator/ttlcache/v3"
)

// Uploads keeps what users upload in memory within a budget of bytes; the least recently used go
// first. What was uploaded is gone when the program ends. Its methods may be called concurrently.
type Uploads struct {
	budget int64
	kept   *ttlcache.Cache[uploadKey, upload]
}

type uploadKey struct{ session, id string }

type upload struct {
	mediaType string
	data      []byte
}

// NewUploads returns an empty store for budget bytes.
func NewUploads(budget int64) *Uploads {
	return &Uploads{budget, ttlcache.New(ttlcache.WithMaxCost(uint64(budget),
		func(i ttlcache.CostItem[uploadKey, upload]) uint64 { return uint64(len(i.Value.data)) }))}
}

// Put keeps an upload of a session and returns the id that [Uploads.Get] takes. It owns data, and
// refuses more than its budget.
func (u *Uploads) Put(session, mediaType string, data []byte) (id string, err error) {
	if n := int64(len(data)); n > u.budget { // it would evict all, and then itself
		return "", fmt.Errorf("an attachment of %d bytes, the limit is %d", n, u.budget)
	}
	id = "up_" + rand.Text()
	u.kept.Set(uploadKey{session, id}, upload{mediaType, data}, ttlcache.NoTTL)
	return id, nil
}

// Get returns an upload of this very session. The error reports that there is none of that id, or
// that it has ended.
func (u *Uploads) Get(session, id string) (mediaType string, data []byte, err error) {
	item := u.kept.Get(uploadKey{session, id})
	if item == nil {
		return "", nil, fmt.Errorf("no attachment %s", id)
	}
	return item.Value().mediaType, item.Value().data, nil
}

// DeleteSession drops all of a session's.
func (u *Uploads) DeleteSession(session string) {
	for _, k := range u.kept.Keys() {
		if k.session == session {
			u.kept.Delete(k)
		}
	}
}
