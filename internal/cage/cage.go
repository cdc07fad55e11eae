// Package cage decides what the processes of commands and agents may touch, and keeps the
// door through which they reach the network. Package proc holds them to it, by the kernel.
//
// # What a tree gets
//
// The workspace, writable; the system, what is on PATH and toolchains by name, readable;
// caches by name, whose writes stay private; a /tmp of its own. Of the user's folder
// nothing else is there. In the workspace, what takes effect later by itself and is there
// when a tree starts is frozen, and what may hold keys or passwords is covered, unless git
// has it as it is: then it can be read there too. Nothing is ever made in a workspace.
//
// Its network is its loopback and the door: a proxy that reaches the hosts that were named
// and answers any other name with 403 at once.
//
// # Concurrency
//
// A [Cage] may be used from any goroutine, for any number of trees at once.
//
// # Usage
//
//	c, err := cage.New(cage.Config{Workspace: dir, Home: home, Env: env, Scratch: folder})
//	cmd, err := c.Confine(ctx, proc.Command{Args: args, Dir: dir, Env: env}, cage.Needs{})
//	child, err := proc.Start(cmd)
//	...
//	child.Stop(ctx) // the door closes with the tree
package cage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/http/httpproxy"

	"webchat/internal/policy"
	"webchat/internal/proc"
)

// Config is what the trees of one workspace get. Workspace, Home and Scratch are needed,
// as absolute paths.
type Config struct {
	Workspace string
	Home      string
	Env       []string // where PATH, and folders that are not in their usual place, are found
	// Scratch is a folder of webchat's own for what trees write that must not last. [Clear]
	// empties it when the server starts.
	Scratch string
	// Worktrees is the folder of webchat's own worktrees: of their repositories only what they need is
	// written. Empty: there are none.
	Worktrees string
	// Policy knows webchat's own files, which are never given, and the user's rules about paths: what
	// they deny or ask about is covered if it is about reading, and frozen if it is about changing.
	// nil: there are none.
	Policy *policy.Policy
	// Tracked returns which of some files, relative to a folder, git has as they are.
	Tracked func(ctx context.Context, dir string, names []string) ([]string, error)
	// ConfigNames returns the names of the settings in a file of git's, none of which is followed.
	ConfigNames func(ctx context.Context, text []byte) ([]string, error)
	// Committed reports whether files of the workspace have the bytes that they have in a commit that
	// some commits reach, each at its path.
	Committed func(ctx context.Context, workspace string, since, names []string) (bool, error)
	// Kept returns what is opened for the workspace until the user closes it; see [Cage.Sync]. nil:
	// nothing is.
	Kept func() []policy.Opening
	// Ask asks the user whether the trees of the workspace may reach a host that is not open, and the
	// private address that it leads to, if it does; a yes has opened it. nil: it is refused.
	Ask func(ctx context.Context, host, address string) bool
	Settings
	Logger *slog.Logger
}

// Settings are the user's: paths and hosts given to every tree.
type Settings struct {
	Read  []string // paths, absolute or from ~
	Write []string // likewise
	Hosts []string // names, with a port or for 80 and 443; "*.name" is all below a name
}

// Needs are what one kind of tree gets beside that.
type Needs struct {
	// Agent is whose tree it is, for [Cage.Facts]; empty: a command's.
	Agent       string
	Read, Write []string // absolute paths
	// Programs are absolute paths of what is run, each given with what lies beside it.
	Programs []string
	State    []State
	// Home is a folder that is the tree's HOME and is kept, with links to what is given of the user's;
	// empty: the user's is, read-only.
	Home  string
	Hosts []string // as in Settings
	// Own are the host and port of the tree's model. They are reached wherever they are, on this
	// machine's loopback too.
	Own []string
	// Lent is the address of webchat's MCP for the tree, http://host:port/path. It is reached
	// at the same path of [Lent], and nothing else of the server is.
	Lent string
	Env  []string // beside what the command has
}

// Ports of the doors inside. They are not among those that systems give by themselves.
const (
	doorPort = 61080
	lentPort = 61081
)

// Lent is where a tree finds the MCP that [Needs].Lent is.
const Lent = "http://127.0.0.1:61081"

// Cage confines the trees of one workspace.
type Cage struct {
	cfg   Config
	walk  walker
	given *walker // of what else trees read, which all cages of a server share
	keep  keeper

	mu   sync.Mutex
	free []string // guarded by mu: private folders that no tree uses
	// trackedIs is git's answer to the question trackedBy. Guarded by mu.
	trackedBy string
	trackedIs map[string]bool
	read      map[string]bool // guarded by mu: sensitive files that trees could read, by fileOf

	asked map[string]Needs // guarded by mu: what the trees of agents needed last

	trees  []*tree    // guarded by mu: those that run
	opened []*opening // guarded by mu: the oldest first

	questions map[string]*question // guarded by mu: by host and private address
	putting   sync.WaitGroup
	private   map[string]bool // guarded by mu: private addresses that were allowed, by host

	syncing sync.Mutex
	kept    map[policy.Opening]func() error // guarded by syncing: what ends those of Config.Kept
}

// New returns the cage of a workspace. It makes nothing yet.
func New(c Config) (*Cage, error) {
	for name, p := range map[string]string{"workspace": c.Workspace, "user's folder": c.Home,
		"folder for scratch files": c.Scratch} {
		if !filepath.IsAbs(p) {
			return nil, fmt.Errorf("confine: the %s %q is not an absolute path", name, p)
		}
	}
	real, err := filepath.EvalSymlinks(c.Workspace)
	if err != nil {
		return nil, fmt.Errorf("confine: %w", err)
	}
	if real == "/" {
		return nil,
			errors.New("it is the whole machine; open a folder of it, or start webchat with --sandbox off")
	}
	if home, err := filepath.EvalSymlinks(c.Home); err == nil && isIn(home, real) {
		return nil,
			errors.New("it is or holds your home folder, where too many files run by themselves " +
				"to be held; open a folder of it, or start webchat with --sandbox off")
	}
	c.Workspace = real
	if c.Policy == nil {
		c.Policy = policy.New(policy.Config{Workspace: real, Home: c.Home})
	}
	for i, list := range [][]string{c.Read, c.Write} {
		for _, p := range list {
			if !filepath.IsAbs(c.expand(p)) {
				return nil, fmt.Errorf("sandbox, %s: %q is not an absolute path, and does not begin with ~/",
					[]string{"read", "write"}[i], p)
			}
		}
	}
	cage := &Cage{
		cfg:       c,
		asked:     map[string]Needs{},
		questions: map[string]*question{},
		private:   map[string]bool{},
		read:      map[string]bool{},
		kept:      map[policy.Opening]func() error{},
		walk: walker{
			policy: c.Policy,
			ruled:  len(c.Policy.WithheldBelow()) > 0,
			known:  map[string]*folder{},
		},
		given: &walker{onlySecrets: true, known: map[string]*folder{}},
	}
	cage.keep.cfg, cage.keep.walk = &cage.cfg, &cage.walk
	return cage, nil
}

// Runs reports whether trees run, or ran since the last look.
func (c *Cage) Runs() bool { return c.keep.runs() }

// Look finds what was made in the workspace while trees ran that takes effect later by itself, or
// that git would obey, and moves it aside. Each is found once. What was there when the trees began
// they cannot change. An error says what could not be moved or compared; the rest was.
func (c *Cage) Look(ctx context.Context, l Look) (Looked, error) { return c.keep.look(ctx, l) }

// Restore has put bring back a file below root that the user kept, and return its path there; no
// look finds it meanwhile. It is found later if a running tree changes it, and also if it has not
// the content that was shown.
func (c *Cage) Restore(root string, put func() (name string, err error),
	shown func(name string) bool) error {
	return c.keep.restore(root, put, shown)
}

// Unheld is [policy.Policy.Unheld] of the user's rules.
func (c *Cage) Unheld() int { return c.cfg.Policy.Unheld() }

// proxy is how this server itself reaches the network.
func (c *Config) proxy() func(*url.URL) (*url.URL, error) {
	of := func(name string) string {
		return cmp.Or(c.variable(name), c.variable(strings.ToLower(name)))
	}
	p := httpproxy.Config{
		HTTPProxy:  of("HTTP_PROXY"),
		HTTPSProxy: of("HTTPS_PROXY"),
		NoProxy:    of("NO_PROXY"),
	}
	return p.ProxyFunc()
}

func (c *Config) variable(name string) string {
	for _, kv := range slices.Backward(c.Env) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// expand has a path of the settings begin at the user's folder.
func (c *Config) expand(p string) string {
	if rest, ok := strings.CutPrefix(p, "~/"); ok {
		return filepath.Join(c.Home, rest)
	}
	return filepath.Clean(p)
}

// Clear empties the folder for scratch files, when no tree of this server runs.
func Clear(scratch string) error {
	if _, err := os.Lstat(scratch); errors.Is(err, fs.ErrNotExist) {
		return nil // a disk that is read-only would refuse to remove even that
	}
	return remove(scratch)
}

// remove removes a folder of a tree's, whatever it made of its rights.
func remove(dir string) error {
	_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700) // if it cannot be, removing fails below
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// Confine returns cmd, an agent's program, to be started confined. A command that is not started is
// given back to [proc.Confinement].Ended all the same.
func (c *Cage) Confine(ctx context.Context, cmd proc.Command, n Needs) (proc.Command, error) {
	cmd, _, err := c.confine(ctx, cmd, n, true)
	return cmd, err
}

// ConfineCommand is [Cage.Confine] of one command, with what it gets.
func (c *Cage) ConfineCommand(ctx context.Context, cmd proc.Command) (proc.Command, *Given, error) {
	return c.confine(ctx, cmd, Needs{}, false)
}

func (c *Cage) confine(ctx context.Context, cmd proc.Command, n Needs,
	agent bool) (proc.Command, *Given, error) {
	c.Sync()
	private, err := c.take()
	if err != nil {
		return cmd, nil, err
	}
	s, err := c.spec(ctx, private, n)
	if err != nil {
		c.giveBack(private)
		return cmd, nil, err
	}
	if err := c.keep.begins(ctx); err != nil {
		c.giveBack(private)
		return cmd, nil, err
	}
	d := &door{
		hosts:   slices.Concat(c.cfg.Hosts, n.Hosts),
		own:     n.Own,
		lent:    n.Lent,
		opened:  c.openHosts,
		ask:     c.ask,
		through: c.cfg.proxy(),
		logger:  c.cfg.Logger,
	}
	d.agent, d.covered = n.Agent, s.of(proc.Covered)
	c.remember(n)
	ports := []int{doorPort}
	if d.lends() {
		ports = append(ports, lentPort)
	}
	d.forward = localPorts(n.Own)
	ports = append(ports, d.forward...)
	cmd.Env = s.environment(cmd.Env, n)
	began, openings := c.openings(s)
	cmd.Confine = &proc.Confinement{
		Private:  private,
		Places:   s.all(),
		Openings: openings,
		Links:    s.links,
		Ports:    ports,
		Started: func(child *proc.Child) {
			d.serve(child.Listeners())
			c.started(&tree{child, d, s, agent, began})
		},
		Ended: func() { c.ended(d); d.close(); c.giveBack(private); c.keep.ended() },
	}
	return cmd, &Given{s, c, d}, nil
}

// localPorts are those of this machine's loopback among addresses.
func localPorts(addresses []string) (ports []int) {
	for _, a := range addresses {
		host, port, err := net.SplitHostPort(a)
		n, bad := strconv.Atoi(port)
		if err != nil || bad != nil || !isLocal(host) || slices.Contains(ports, n) {
			continue
		}
		ports = append(ports, n)
	}
	return ports
}

func isLocal(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || host == "localhost"
}

// take returns a private folder that no tree uses. One that was used keeps what its tree
// wrote over caches, which makes the next one's work faster.
func (c *Cage) take() (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.free); n > 0 {
		private := c.free[n-1]
		c.free = c.free[:n-1]
		return private, nil
	}
	if err := os.MkdirAll(c.cfg.Scratch, 0o700); err != nil {
		return "", fmt.Errorf("confine: %w", err)
	}
	private, err := os.MkdirTemp(c.cfg.Scratch, "tree-")
	if err != nil {
		return "", fmt.Errorf("confine: %w", err)
	}
	return private, nil
}

func (c *Cage) giveBack(private string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free = append(c.free, private)
}
