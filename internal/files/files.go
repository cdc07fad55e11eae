// Package files knows the names of a workspace's files, for completing a path that the user types,
// and which of them differ from the last commit, or from what they were before an agent acted.
//
// # Guarantees
//
//   - In a git repository it names what git tracks or would offer to add, by asking git itself;
//     what is ignored stays away, in submodules and in other repositories below too. Elsewhere, or
//     without git, it names every file but those in folders like node_modules.
//   - Asking git runs nothing that a repository's own settings name: no file system monitor, no
//     hook, no filter, and no fetching.
//   - A file typed in full is found although it is ignored or new.
//   - What [Config.Hidden] reports is never named.
//   - A name is offered when a regular file is there at that moment, reached without leaving the
//     workspace by a link. Names that are not UTF-8 or hold control characters are never offered.
//   - At most 1,000,000 names of together 64 MiB are kept of a workspace, and of all that share a
//     [Budget] as many as it has room for.
//   - The first question waits for the end of the first look at the workspace. A later one waits
//     100 ms at most for a look under way, and not at all where looks take longer; then it is
//     answered with what is known.
//
// # Concurrency
//
// All methods of an [Index] may be called from any goroutine. It looks at the workspace in one
// goroutine, started by a question and waited for by Close.
//
// # Usage
//
//	x, err := files.New(files.Config{Root: dir, Env: os.Environ()})
//	…
//	defer x.Close()
//	names, err := x.Complete(ctx, "guagu", 20) // internal/guard/guard.go
//
// The process must have called proc.Main at its start.
package files

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	laterWait = 100 * time.Millisecond
	// fresh is how old a list may be. One that took long to make may be older: looking must not
	// take more than a fifth of a core.
	fresh     = 2 * time.Second
	freshness = 5
	// longestLook ends a look at a file system that does not answer; what it found counts.
	longestLook = time.Minute
)

// Config is what an Index needs.
type Config struct {
	Root string   // the workspace, an absolute path
	Env  []string // for git: PATH finds it, HOME its settings; GIT_ variables are left out
	// Hidden reports files that are never named, by their absolute paths, links followed. nil:
	// none.
	Hidden func(path string) bool
	Budget *Budget // of all workspaces; nil: there is none
}

// Index knows the files below a folder.
type Index struct {
	root   string
	env    []string
	hidden func(path string) bool
	budget *Budget
	ctx    context.Context
	end    context.CancelFunc
	wg     sync.WaitGroup

	mu     sync.Mutex    // guards what follows
	list   *list         // nil before the first look has ended; never changed, only replaced
	err    error         // of the last look
	at     time.Time     // when the last look ended
	took   time.Duration // and how long it was
	ended  chan struct{} // closed when the look under way ends; nil: none is
	closed bool
}

// New makes an Index. It looks at nothing before the first question.
func New(c Config) (*Index, error) {
	if !filepath.IsAbs(c.Root) {
		return nil, fmt.Errorf("files: the folder %q is not an absolute path", c.Root)
	}
	x := &Index{root: filepath.Clean(c.Root), env: gitEnv(c.Env), hidden: c.Hidden, budget: c.Budget}
	x.ctx, x.end = context.WithCancel(context.Background())
	return x, nil
}

// Close ends a look under way and waits for it. Questions that come later are answered with what is
// known.
func (x *Index) Close() {
	x.mu.Lock()
	x.closed = true
	x.mu.Unlock()
	x.end()
	x.wg.Wait()
	x.budget.forget(x)
}

func (x *Index) isClosed() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.closed
}

// letGo drops the names. The next question waits until they are listed anew.
func (x *Index) letGo() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.list = nil
}

// Complete returns up to limit files that a person may mean by q, the likeliest first: paths
// relative to the workspace, with slashes. Nothing typed gives the files at the top. The error is
// that of ctx, or that the workspace cannot be read.
func (x *Index) Complete(ctx context.Context, q string, limit int) ([]string, error) {
	q = strings.TrimPrefix(strings.ReplaceAll(strings.TrimSpace(q), `\`, "/"), "./")
	if len(q) > maxQuery {
		return []string{}, ctx.Err()
	}
	l, err := x.known(ctx)
	if err != nil {
		return nil, err
	}
	return l.complete(ctx, x.root, q, limit, x.named)
}

// Names returns the files of the workspace, those of one folder together, the shallow ones first.
// It is not to be changed, and none was looked at since it was listed: a name may be hidden, be a
// link, or be gone. The error is that of [Index.Complete].
func (x *Index) Names(ctx context.Context) ([]string, error) {
	l, err := x.known(ctx)
	if err != nil {
		return nil, err
	}
	return l.paths, nil
}

// named reports whether a file may be named, by its path in the workspace.
func (x *Index) named(name string) bool {
	if x.hidden == nil {
		return true
	}
	real, err := filepath.EvalSymlinks(filepath.Join(x.root, filepath.FromSlash(name)))
	if err != nil { // it is not there
		real = filepath.Join(x.root, filepath.FromSlash(name))
	}
	return !x.hidden(real)
}

// known returns the list to answer from, and sees to it that it does not stay old.
func (x *Index) known(ctx context.Context) (*list, error) {
	x.budget.use(x)
	for {
		l, err := x.ask(ctx)
		if l != nil || err != nil {
			return l, err
		}
	}
}

// ask is known once; it returns neither if the list was let go meanwhile.
func (x *Index) ask(ctx context.Context) (*list, error) {
	x.mu.Lock()
	gone := x.list == nil && x.err == nil // or never there
	if x.ended == nil && !x.closed && (gone || time.Since(x.at) > max(fresh, freshness*x.took)) {
		x.ended = make(chan struct{})
		x.wg.Go(x.look)
	}
	ended := x.ended
	var limit <-chan time.Time // never, for the first look
	if x.list != nil {
		timer := time.NewTimer(laterWait)
		defer timer.Stop()
		if limit = timer.C; x.took > laterWait {
			ended = nil
		}
	}
	x.mu.Unlock()
	if ended != nil {
		select {
		case <-ended:
		case <-limit:
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.list != nil:
		return x.list, nil
	case x.closed && x.err == nil:
		return &list{}, nil
	}
	return nil, x.err
}

func (x *Index) gathering() *gathering {
	return &gathering{root: x.root, env: x.env, named: x.named}
}

// look makes the list anew.
func (x *Index) look() {
	ctx, cancel := context.WithTimeout(x.ctx, longestLook)
	defer cancel()
	began := time.Now()
	g := x.gathering()
	err := g.all(ctx)
	var l *list
	if err == nil {
		l = newList(g.paths)
	}
	if err == nil {
		x.mu.Lock()
		x.list = l
		x.mu.Unlock()
		x.budget.keep(x, l.size())
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.err = err; errors.Is(err, context.Canceled) {
		x.err = nil // closed, which is not a failure
	}
	x.at, x.took = time.Now(), time.Since(began)
	close(x.ended)
	x.ended = nil
}
