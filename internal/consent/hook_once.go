package consent

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"webchat/internal/event"
)

// remembered is how many decisions are kept.
const remembered = 512

// decisions makes each moment be decided once.
type decisions struct {
	mu    sync.Mutex // guards what follows
	made  map[string]*decision
	order []string // oldest first
}

// decision is one moment's, made or in the making.
type decision struct {
	asked [sha256.Size]byte // what was asked
	done  chan struct{}     // closed after what follows is set
	given [sha256.Size]byte // the same as the verdict changed it
	v     HookVerdict
	err   error
}

// do returns the verdict about c, and calls f for it the first time.
func (d *decisions) do(ctx context.Context, c HookCall, f func() (HookVerdict, error)) (HookVerdict, error) {
	if c.RequestID == "" {
		return f()
	}
	asked := content(c)
	d.mu.Lock()
	key := strings.Join([]string{c.SessionID, c.Within, string(c.Event), c.RequestID}, "\x00")
	if one := d.made[key]; one != nil {
		d.mu.Unlock()
		return one.again(ctx, asked)
	}
	one := &decision{asked: asked, done: make(chan struct{}), v: no("A hook failed.")}
	if d.made == nil {
		d.made = map[string]*decision{}
	}
	d.made[key] = one
	if d.order = append(d.order, key); len(d.order) > remembered {
		delete(d.made, d.order[0])
		d.order = slices.Delete(d.order, 0, 1)
	}
	d.mu.Unlock()
	defer close(one.done) // also when f panics: then it is a no
	v, err := f()
	if v.Arguments != nil {
		c.Arguments = v.Arguments
	}
	if v.Prompt != "" {
		c.Prompt = v.Prompt
	}
	one.given, one.v, one.err = content(c), v, err
	return v, err
}

// again answers a repeated question. A question about what the verdict made of
// it needs no further change.
func (one *decision) again(ctx context.Context, asked [sha256.Size]byte) (HookVerdict, error) {
	select {
	case <-one.done:
	case <-ctx.Done():
		return no("The hook was stopped before it answered."), nil
	}
	switch {
	case one.err != nil || !one.v.Allow, asked == one.asked:
		return one.v, one.err
	case asked == one.given:
		return HookVerdict{Allow: true}, nil
	}
	return no("It was asked about before, with other content."), nil
}

// content is the SHA-256 of everything c is about. JSON counts by its meaning.
func content(c HookCall) [sha256.Size]byte {
	parts := [][]byte{[]byte(c.Tool), event.Canonical(c.Arguments), event.Canonical(c.Result), []byte(c.Prompt)}
	b, err := json.Marshal(parts)
	if err != nil {
		return [sha256.Size]byte{}
	}
	return sha256.Sum256(b)
}
