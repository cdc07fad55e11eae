package cage

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"webchat/internal/policy"
	"webchat/internal/proc"
)

// tree is one that runs.
type tree struct {
	child *proc.Child
	door  *door
	spec  *spec
	agent bool       // it is an agent's, else of one command
	began []*opening // those that it started with, as it numbers them
}

// opening is something that all trees of the workspace are given beside what they get.
type opening struct {
	host string   // named as in [Settings]; empty: it is held
	held *os.File // what was shown
	as   proc.Access
	ends map[*proc.Child]func() error // by the tree that was opened
}

// Hold returns what is at a path, itself: no link on the way is followed. The path is absolute,
// from ~ or relative to the workspace. Of the user's folder, what holds it, and webchat's own
// nothing is held.
func (c *Cage) Hold(name string) (*os.File, error) {
	p := c.cfg.expand(name)
	if !filepath.IsAbs(p) {
		p = filepath.Join(c.cfg.Workspace, p)
	}
	if home, err := filepath.EvalSymlinks(c.cfg.Home); err == nil && isIn(p, c.cfg.Home) {
		p = filepath.Join(home, p[len(c.cfg.Home):])
	}
	if isIn(c.cfg.Home, p) || isIn(c.cfg.Workspace, p) || c.cfg.Policy.Hidden(p) {
		return nil,
			fmt.Errorf("open %s: it is or holds the folder of the user, the workspace, or webchat's own", p)
	}
	return proc.Hold(p)
}

// Open gives the trees of the workspace what [Cage.Hold] returned, at its path, to be read or also
// written: those that run and those that start until end is called, which takes it away again. The
// cage closes held.
func (c *Cage) Open(held *os.File, as proc.Access) (end func() error, err error) {
	o := &opening{held: held, as: as, ends: map[*proc.Child]func() error{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.trees {
		shut, bad := t.child.Open(held, o.as)
		if errors.Is(bad, proc.ErrEnded) {
			continue
		}
		if bad != nil {
			return nil, errors.Join(bad, o.end(), held.Close())
		}
		o.ends[t.child] = shut
	}
	c.opened = append(c.opened, o)
	return func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !slices.Contains(c.opened, o) {
			return nil
		}
		c.forget(o)
		return errors.Join(o.end(), o.held.Close())
	}, nil
}

// end ends an opening in the trees that run.
func (o *opening) end() (err error) {
	for _, shut := range o.ends {
		err = errors.Join(err, shut())
	}
	return err
}

// forget removes an opening. The caller holds c.mu.
func (c *Cage) forget(o *opening) {
	c.opened = slices.DeleteFunc(c.opened, func(is *opening) bool { return is == o })
}

// HostOf returns a host as [Cage.OpenHost] opens it, with its port unless it is for 80 and 443. One
// that is never reached, and a pattern, is an error.
func (c *Cage) HostOf(named string) (string, error) {
	if err := CheckHost(named); err != nil {
		return "", err
	}
	host, port, err := net.SplitHostPort(named)
	if err != nil {
		host, port = strings.Trim(named, "[]"), ""
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	ip, bad := netip.ParseAddr(host)
	switch {
	case strings.Contains(host, "*"):
		return "", fmt.Errorf("open %s: one host is opened, and this is a pattern", named)
	case isLocalName(host), bad == nil && near(ip) != "":
		return "", fmt.Errorf("open %s: %s", named, nearMachine)
	case port == "" || port == "80" || port == "443":
		return host, nil
	}
	return net.JoinHostPort(host, port), nil
}

// OpenHost opens a host, named as in [Settings], to the trees of the workspace: those that run and
// those that start until end is called. That ends the connections to it.
func (c *Cage) OpenHost(named string) (end func() error, err error) {
	if err := CheckHost(named); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	o := &opening{host: named}
	c.opened = append(c.opened, o)
	return func() error {
		c.mu.Lock()
		c.forget(o)
		c.closePrivate(named)
		c.mu.Unlock()
		for _, t := range c.running() {
			t.door.cut()
		}
		return nil
	}, nil
}

// openHosts are those of [Cage.OpenHost].
func (c *Cage) openHosts() (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.opened {
		if o.host != "" {
			all = append(all, o.host)
		}
	}
	return all
}

// openWritten returns the folders that were opened for writing.
func (c *Cage) openWritten() (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.opened {
		if o.host == "" && o.as == proc.Writable {
			all = append(all, o.held.Name())
		}
	}
	return all
}

// openings are the paths that a tree starts with. What was saved anew since, where no tree writes,
// is given as it is now.
func (c *Cage) openings(s *spec) (began []*opening, all []proc.Opening) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.opened {
		if o.host != "" {
			continue
		}
		if now, err := proc.Hold(o.held.Name()); err == nil {
			if !c.writesTo(s, now.Name()) {
				o.held, now = now, o.held
			}
			_ = now.Close() // it was only looked at
		}
		st, err := o.held.Stat()
		if err != nil {
			continue
		}
		id, _ := identify(st)
		began = append(began, o)
		all = append(all, proc.Opening{
			Path:   o.held.Name(),
			Access: o.as,
			Device: id.device,
			Inode:  id.inode,
		})
	}
	return began, all
}

// writesTo reports whether trees write to the folder of a path. The caller holds c.mu.
func (c *Cage) writesTo(s *spec, p string) bool {
	for at, g := range s.given {
		if g.Access == proc.Writable && p != at && isIn(p, at) {
			return true
		}
	}
	for _, o := range c.opened {
		if o.host == "" && o.as == proc.Writable && p != o.held.Name() && isIn(p, o.held.Name()) {
			return true
		}
	}
	return false
}

// Sync takes over what is opened for the workspace until the user closes it.
func (c *Cage) Sync() {
	if c.cfg.Kept == nil {
		return
	}
	c.syncing.Lock()
	defer c.syncing.Unlock()
	want := c.cfg.Kept()
	for o, end := range c.kept {
		if !slices.Contains(want, o) {
			delete(c.kept, o)
			c.note("close", o, end())
		}
	}
	for _, o := range want {
		if c.kept[o] != nil {
			continue
		}
		end, err := o.In(c)
		if c.note("open", o, err); err == nil {
			c.kept[o] = end
		}
	}
}

func (c *Cage) note(what string, o policy.Opening, err error) {
	if err != nil {
		c.cfg.Logger.Warn("what is opened for a workspace did not "+what,
			"workspace", c.cfg.Workspace, "path", o.Path, "host", o.Host, "error", err)
	}
}

// running are the trees that run.
func (c *Cage) running() []*tree {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.trees)
}

// started registers a tree that runs, and brings it up to what was opened and closed while it
// started.
func (c *Cage) started(t *tree) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trees = append(c.trees, t)
	for n, o := range t.began {
		shut := func() error { return t.child.Shut(n) }
		if !slices.Contains(c.opened, o) {
			_ = shut() // the tree has ended otherwise
			continue
		}
		o.ends[t.child] = shut
	}
	for _, o := range c.opened {
		if o.host != "" || o.ends[t.child] != nil {
			continue
		}
		if shut, err := t.child.Open(o.held, o.as); err == nil { // else it is gone
			o.ends[t.child] = shut
		}
	}
}

func (c *Cage) ended(d *door) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trees = slices.DeleteFunc(c.trees, func(t *tree) bool {
		if t.door != d {
			return false
		}
		for _, o := range c.opened {
			delete(o.ends, t.child)
		}
		return true
	})
}
