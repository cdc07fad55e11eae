package cage

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"webchat/internal/proc"
)

// tree is one that runs.
type tree struct {
	child *proc.Child
	door  *door
	spec  *spec
	agent bool // it is an agent's, else of one command
}

// Open gives the trees of the workspace that run what [proc.Hold] returned, at its path, to be read
// or also written. The user's folder, what holds it, and webchat's own are not opened. The caller
// closes held. end takes it away again from those that still run.
func (c *Cage) Open(held *os.File, write bool) (end func() error, err error) {
	p := held.Name()
	if isIn(c.cfg.Home, p) || c.cfg.Policy.Hidden(p) {
		return nil, fmt.Errorf("open %s: it is or holds the folder of the user, or webchat's own", p)
	}
	access := proc.Readable
	if write {
		access = proc.Writable
	}
	var ends []func() error
	end = func() (err error) {
		for _, shut := range slices.Backward(ends) {
			err = errors.Join(err, shut())
		}
		return err
	}
	for _, t := range c.running() {
		shut, bad := t.child.Open(held, access)
		if bad != nil {
			return nil, errors.Join(bad, end())
		}
		ends = append(ends, shut)
	}
	return end, nil
}

// openHost opens a host, named as in [Settings], to the trees of the workspace: those that run and
// those that start until end is called. That ends the connections to it.
func (c *Cage) openHost(named string) (end func(), err error) {
	if err := CheckHost(named); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastOpened++
	id := c.lastOpened
	c.opened[id] = named
	return func() {
		c.mu.Lock()
		delete(c.opened, id)
		c.mu.Unlock()
		for _, t := range c.running() {
			t.door.cut()
		}
	}, nil
}

// openHosts are those of [Cage.openHost].
func (c *Cage) openHosts() (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, named := range c.opened {
		all = append(all, named)
	}
	return all
}

// running are the trees that run.
func (c *Cage) running() []tree {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.trees)
}

func (c *Cage) started(t tree) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trees = append(c.trees, t)
}

func (c *Cage) ended(d *door) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trees = slices.DeleteFunc(c.trees, func(t tree) bool { return t.door == d })
}
