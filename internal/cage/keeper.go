package cage

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// keeper knows which names that take effect later are in a workspace.
type keeper struct {
	cfg  *Config
	walk *walker

	mu      sync.Mutex // guards what follows, and is held while a look takes
	live    int        // trees that may run
	unseen  bool       // trees ran after the last look
	known   map[string]seen
	kept    map[string]string    // the prints of what was put back
	prints  map[string]bool      // of what trees could not change, wherever it is by now
	first   map[string]time.Time // when what was not settled was found first
	began   time.Time            // trees
	last    time.Time            // look
	counted int                  // of Left, since trees began
	deps    walker
	out     int // of counted: what git checked out
}

// seen is what is known of a name since the last look. Trees cannot change what was there when they
// began, as long as the folders on the path to it are the same, so changes to it come from outside.
type seen struct {
	print string
	held  bool
	way   string
}

func (k *keeper) seen(p string, n counts) seen { return seen{n.print, n.held, k.way(p)} }

// way identifies the folders on the path to a name, and the name itself if it is a folder.
func (k *keeper) way(p string) string {
	var all strings.Builder
	at := filepath.Dir(p)
	if st, err := os.Lstat(p); err == nil && st.IsDir() { // not of a file: saving replaces it
		at = p
	}
	for dir := at; dir != "/" && dir != k.cfg.Workspace; dir = filepath.Dir(dir) {
		if st, err := os.Lstat(dir); err == nil {
			id, _ := identify(st)
			fmt.Fprintln(&all, id.device, id.inode)
		}
	}
	return all.String()
}

// settled reports whether nothing was written to a file for a while, or it was watched for long.
func (k *keeper) settled(p string, n counts, now time.Time) bool {
	if k.first[p].IsZero() {
		k.first[p] = now
	}
	return now.Sub(n.changed) > settles || now.Sub(k.first[p]) > 5*settles
}

func (k *keeper) move(p string, n counts, l Look, now time.Time) (Made, error) {
	workspace := k.cfg.Workspace
	root := workspace
	if n.git != "" && !isIn(p, workspace) {
		root = n.git
	}
	name, err := filepath.Rel(root, p)
	if err != nil {
		return Made{}, err
	}
	was := k.last
	if st, err := os.Lstat(p); err == nil {
		if at := appeared(p, st); at.After(was) {
			was = at
		}
	}
	made := Made{
		Root:  root,
		Name:  filepath.ToSlash(name),
		Path:  filepath.ToSlash(name),
		Stood: max(0, now.Sub(was)),
	}
	if root != workspace {
		made.Path = p
	}
	if l.Aside != nil {
		made.ID, err = l.Aside(root, made.Name, was)
	}
	return made, err
}

// count counts what was made and stays since it was asked last: below folders of dependencies by
// when it was changed.
func (k *keeper) count(ctx context.Context) (int, error) {
	if k.deps.known == nil {
		k.deps = walker{policy: k.walk.policy, known: map[string]*folder{}}
	}
	n := k.out
	var below []string
	err := k.deps.visit(ctx, k.cfg.Workspace, func(p string, e entry) bool {
		if e.held == later && slices.ContainsFunc(strings.Split(strings.TrimPrefix(p, k.cfg.Workspace+
			"/"), "/"), isDependencies) {
			below = append(below, p)
		}
		return e.held == nothing || e.held == dependencies
	}, nil)
	for _, p := range below {
		if st, err := os.Lstat(p); err == nil && changed(st).After(k.began) {
			n++
		}
	}
	left := max(0, n-k.counted)
	k.counted = n
	return left, err
}
