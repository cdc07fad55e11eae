package cage

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// openedElsewhere is how late what another program opened or closed for a workspace takes effect in
// trees that run.
const openedElsewhere = 5 * time.Second

// Cages are those of all workspaces. Their methods may be called concurrently.
type Cages struct {
	config func(workspace string) Config
	given  *walker // of what trees of all workspaces read

	mu   sync.Mutex
	made map[string]*Cage // guarded by mu
}

// NewCages returns cages that are made with what config returns, each when it is first asked for.
func NewCages(config func(workspace string) Config) *Cages {
	return &Cages{config: config, made: map[string]*Cage{},
		given: &walker{onlySecrets: true, known: map[string]*folder{}}}
}

// Of returns the cage of a workspace.
func (c *Cages) Of(workspace string) (*Cage, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if in := c.made[workspace]; in != nil {
		return in, nil
	}
	in, err := New(c.config(workspace))
	if err == nil {
		in.given = c.given
		c.made[workspace] = in
	}
	return in, err
}

// Follow has what is kept open for workspaces take effect in trees that run, until ctx ends.
// changed returns what is closed when that changes.
func (c *Cages) Follow(ctx context.Context, changed func() <-chan struct{}) {
	for ctx.Err() == nil {
		next := changed()
		c.mu.Lock()
		all := slices.Collect(maps.Values(c.made))
		c.mu.Unlock()
		for _, in := range all {
			in.Sync()
		}
		select {
		case <-ctx.Done():
		case <-next:
		case <-time.After(openedElsewhere):
		}
	}
}
