package cage

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"webchat/internal/proc"
)

// Facts are what a tree of the workspace may touch beside the workspace and its own /tmp. Paths are
// absolute and sorted.
type Facts struct {
	Workspace string
	// it is what a tree has that runs, as the kernel says; else what the next one gets
	Running  bool
	Programs []string // read: the system, what is on PATH, toolchains, and the agent itself
	Reads    []string
	Caches   []string // read, and written to where no other tree sees it
	Writes   []string
	Hidden   []string // seen and not opened
	Fixed    []string // in what is written to: read and not changed
	// was hidden when the tree started, and can be read since it was saved anew outside
	Saved []string
	Hosts []string // reached, as in [Settings]
	Own   []string // likewise, as in [Needs]
	// Configured are those of [Settings].
	Configured []string
}

// Facts returns what the trees of an agent may touch: the one that was started last, as it is now.
func (c *Cage) Facts(ctx context.Context, agent string) (Facts, error) {
	for _, t := range slices.Backward(c.running()) {
		if t.door.agent != agent {
			continue
		}
		places, err := t.child.Places()
		if err != nil {
			break // it has just ended
		}
		f := c.facts(places)
		f.Running, f.Hosts, f.Own = true, slices.Concat(t.door.hosts, c.openHosts()), t.door.own
		for _, p := range t.door.covered {
			_, gone := os.Lstat(p)
			if gone == nil && !slices.Contains(f.Hidden, p) &&
				!slices.ContainsFunc(places, func(g proc.Place) bool { return g.Path == p }) {
				f.Saved = append(f.Saved, p)
			}
		}
		return f, nil
	}
	c.mu.Lock()
	n := c.asked[agent]
	c.mu.Unlock()
	private, err := c.take()
	if err != nil {
		return Facts{}, err
	}
	defer c.giveBack(private)
	s, err := c.spec(ctx, private, n)
	if err != nil {
		return Facts{}, err
	}
	f := c.facts(s.all())
	f.Hosts, f.Own = slices.Concat(c.cfg.Hosts, n.Hosts, c.openHosts()), n.Own
	return f, nil
}

// remember keeps what the tree of an agent needs.
func (c *Cage) remember(n Needs) {
	if n.Agent == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked[n.Agent] = n
}

func (c *Cage) facts(places []proc.Place) Facts {
	f := Facts{
		Workspace: c.cfg.Workspace,
		Configured: slices.Concat((&spec{cfg: &c.cfg}).expanded(slices.Concat(c.cfg.Read, c.cfg.Write)),
			c.cfg.Hosts),
	}
	caches := c.cfg.caches()
	for i, p := range caches {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			caches[i] = real
		}
	}
	named := slices.Concat((&spec{cfg: &c.cfg}).expanded(c.cfg.Read),
		[]string{filepath.Join(c.cfg.Home, ".gitconfig")})
	named = append(named, c.cfg.Workspace)
	for _, p := range places {
		if p.Access == proc.Writable && p.Path != "/tmp" {
			named = append(named, p.Path)
		}
	}
	for _, p := range places {
		list := &f.Programs
		switch {
		case isIn(p.Path, ownFolder), p.Path == c.cfg.Workspace, p.Access == proc.Pinned:
			continue
		case p.Access == proc.Covered:
			list = &f.Hidden
		case p.Access == proc.Frozen && isIn(p.Path, c.cfg.Workspace):
			list = &f.Fixed
		case p.Access == proc.Layered, p.Access == proc.Writable && slices.Contains(caches, p.Path):
			list = &f.Caches
		case p.Access == proc.Writable:
			list = &f.Writes
		case slices.ContainsFunc(named, func(top string) bool { return isIn(p.Path, top) }):
			list = &f.Reads
		}
		*list = append(*list, p.Path)
	}
	for _, list := range []*[]string{&f.Programs, &f.Reads, &f.Caches, &f.Writes, &f.Hidden,
		&f.Fixed} {
		*list = outermost(*list)
	}
	return f
}

// outermost sorts paths, and leaves out those in others.
func outermost(paths []string) (all []string) {
	slices.Sort(paths)
	for _, p := range paths {
		if !slices.ContainsFunc(all, func(top string) bool { return isIn(p, top) }) {
			all = append(all, p)
		}
	}
	return all
}

// of are the paths of places that are held.
func (s *spec) of(a proc.Access) (paths []string) {
	for _, p := range s.held {
		if p.Access == a {
			paths = append(paths, p.Path)
		}
	}
	return paths
}
