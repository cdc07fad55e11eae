package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/adrg/xdg"

	"webchat/internal/daemon"
	"webchat/internal/guard"
)

// defaultListen has a port that is assigned to no service, that no system gives to outgoing
// connections and that development servers do not use: what another program once
// stored in the browser under this name and port would be read by our pages, and
// ours by its.
const defaultListen = "localhost:24287"

// options is what flags and environment say, checked as far as one can without
// touching anything.
type options struct {
	Listen    string   `default:"${listen}" placeholder:"ADDRESS" help:"where to listen; port 0 picks a free one, and the next free one is taken if the flag is not given (${default})"`
	Workspace []string `default:"." sep:"none" placeholder:"FOLDER" help:"a folder display tools may read and commands run in; may be given several times (${default})"`
	DataDir   string   `placeholder:"FOLDER" help:"where sessions and secrets are kept; by default one folder for you"`
	Backend   string   `default:"auto" predictor:"backend" placeholder:"NAME" help:"the kind of agent of new sessions (${default})"`
	Model     string   `placeholder:"NAME" help:"the model of new sessions"`
	Provider  struct {
		URL     string `name:"url" placeholder:"URL" help:"address of your own model"`
		Type    string `predictor:"provider" placeholder:"NAME" help:"its protocol"`
		KeyFile string `placeholder:"FILE" help:"file with its key (or WEBCHAT_PROVIDER_KEY)"`
	} `embed:"" prefix:"provider-"`
	CopilotLogin      bool          `help:"offer the models of your GitHub login beside your own; the GitHub Copilot CLI then works online"`
	CopilotPath       string        `placeholder:"FILE" help:"the GitHub Copilot CLI"`
	AutohandPath      string        `placeholder:"FILE" help:"the Autohand CLI"`
	OutputTTL         time.Duration `name:"output-ttl" default:"30m" help:"how long an output is kept once it is complete"`
	OutputBudget      size          `default:"256MiB" help:"memory for outputs; the least recently used go first"`
	KeepOutputs       age           `default:"0s" help:"how long outputs stay on disk after that, such as 30d; 0 keeps none"`
	MaxStreams        int           `default:"1024" help:"event streams and waiting requests open at once, half of them of one user; one more is answered 503"`
	MaxRequests       int           `default:"1024" help:"other requests at once, half of them of one user, a quarter without a sign-in"`
	AgentIdle         time.Duration `default:"10m" help:"close an agent's conversation after so long without a turn, a background task or an open page; the next prompt resumes it"`
	ReadOutput        string        `default:"on" enum:"on,off" placeholder:"on|off" help:"off: agents in the page get no tools to read and search what you let them read; they get it with your prompt only (${default})"`
	LargeResults      int           `default:"4000" placeholder:"TOKENS" help:"of a larger result of a tool an agent gets the first and last lines and tools that read the rest, and you see all; 0: it gets all (${default})"`
	Instructions      string        `default:"on" enum:"on,off" placeholder:"on|off" help:"off: agents do not load the workspace's instruction files, such as AGENTS.md, where they can be told (${default})"`
	Permissions       string        `default:"ask" enum:"ask,allow,deny" placeholder:"ask|allow|deny" help:"what happens when an agent wants to act: ask, allow or deny (${default})"`
	Sandbox           string        `default:"auto" enum:"auto,off,require" placeholder:"auto|off|require" help:"confine the commands that agents run, by the kernel; require: do not start where that cannot be done (${default})"`
	Budget            limits        `placeholder:"LIMIT" help:"what a session may take before it asks you to go on: tokens, such as 500k, or dollars, such as 5usd, where prices are set; with /day, all sessions on a day"`
	PermissionTimeout time.Duration `default:"5m" help:"how long a question stays open; then it is denied"`
	CommandTimeout    time.Duration `default:"10m" help:"how long a command may run; then it is stopped"`
	PublicURL         string        `name:"public-url" placeholder:"URL" help:"the one public URL behind a proxy"`
	MetricsListen     string        `placeholder:"ADDRESS" help:"serve /metrics to Prometheus on this address, without sign-in"`
	TokenFile         string        `placeholder:"FILE" help:"the API token, made at first start; by default in the data folder"`
	engineFlags
	identityFlags
	InsecureNoAuth bool   `help:"no sign-in; only on loopback"`
	NoOpen         bool   `help:"do not open the browser"`
	Config         string `placeholder:"FILE" help:"the configuration file; by default config.yaml in your configuration folder"`

	commandOptions `kong:"-"`
	listenGiven    bool
	configGiven    bool
	workspaceGiven bool
	given          []givenFlag       // all of them, in their order
	commands       []string          // the names of all there are
	flags          map[string]string // all there are, with their values
	env            []string
	container      bool
}

// engineFlags are of a database, and of several webchats on it.
type engineFlags struct {
	EngineFile string        `placeholder:"FILE" help:"a file with the address of a PostgreSQL database that keeps the sessions, instead of a file in the data folder"`
	PeerURL    string        `name:"peer-url" placeholder:"URL" help:"where the other webchats on the same database reach this one; it makes this one of several"`
	SharedDir  string        `placeholder:"FOLDER" help:"a folder that all of them see, for outputs and agents' homes"`
	Drain      time.Duration `placeholder:"DURATION" help:"how long turns may go on when the server is to stop, such as 10m; sessions that rest go to the other webchats on the database at once"`
}

// identityFlags are about people who sign in as themselves.
type identityFlags struct {
	Identity        string   `placeholder:"WHO" help:"people sign in as themselves, each with sessions of their own: header:NAME, as your proxy says who somebody is, or oidc:URL, an OpenID Connect provider"`
	IdentityKeyFile string   `placeholder:"FILE" help:"the key by which that proxy proves itself, made at first start, or the client's secret of that provider"`
	IdentityClient  string   `placeholder:"ID" help:"the client's id that the provider gave this server"`
	IdentityAllow   []string `placeholder:"WHO" help:"whom of its people to let in: @example.com by their address, or group:NAME; may be given several times"`
}

// commandOptions are of one command each.
type commandOptions struct {
	OlderThan age
	MCP, Own  bool
	Back      bool // from the database to the data folder
	Online    bool
	HTTP, Yes bool
	Client    string // that "mcp install" connects; of "mcp login", the server
	Shell     string // that "completion" is for
	Name      string // of what "show" shows
	Where     string // what is to be opened; empty: the workspaces
	Worktree  bool   // with a session in a worktree of its own
	Session   string // that "attach" follows; empty: the last one
	// what "verify" does with sessions of other programs, and how it is printed
	Replay, JSON bool
	User         string // whom "logout" signs out, empty: everybody; of whom "token" makes one
}

// absolute makes the names of files independent of where they are used later. A
// program without a slash is left to PATH.
func (o *options) absolute() error {
	for _, name := range []*string{&o.Config, &o.DataDir, &o.TokenFile, &o.EngineFile, &o.SharedDir,
		&o.IdentityKeyFile, &o.Provider.KeyFile, &o.CopilotPath, &o.AutohandPath} {
		program := name == &o.CopilotPath || name == &o.AutohandPath
		if *name == "" || program && !strings.ContainsRune(filepath.ToSlash(*name), '/') {
			continue
		}
		abs, err := filepath.Abs(*name)
		if err != nil {
			return fmt.Errorf("find the current folder: %w", err)
		}
		*name = abs
	}
	return nil
}

// boundConnections returns how many connections may be open. Where that is less than streams and
// requests together may be, these are fewer, so that half of them leaves room for others.
func (o *options) boundConnections() int {
	wanted := o.MaxStreams + o.MaxRequests
	most := mostConnections(wanted)
	o.MaxStreams = max(o.MaxStreams*most/wanted, 1)
	o.MaxRequests = max(o.MaxRequests*most/wanted, 1)
	return most
}

// check refuses what could never work, before anything is touched.
func (o *options) check() error {
	for name, d := range map[string]time.Duration{"output-ttl": o.OutputTTL,
		"permission-timeout": o.PermissionTimeout, "command-timeout": o.CommandTimeout,
		"agent-idle": o.AgentIdle} {
		if d <= 0 {
			return usage("--%s %v: it must be more than 0", name, d)
		}
	}
	for name, n := range map[string]int{"max-streams": o.MaxStreams, "max-requests": o.MaxRequests} {
		if n < 1 || n > 1e6 {
			return usage("--%s %d: it must be from 1 to 1000000", name, n)
		}
	}
	host, err := o.listenHost()
	if err != nil {
		return err
	}
	if o.MetricsListen != "" {
		host, err := hostOf("--metrics-listen", o.MetricsListen, "localhost:9464")
		if err != nil {
			return err
		}
		if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.Unmap().IsUnspecified() {
			return usage(
				"--metrics-listen %s: everybody who reaches this machine could read the metrics; name one of "+
					"its addresses, such as localhost:9464", o.MetricsListen)
		}
	}
	if err := o.identityFlags.check(o.InsecureNoAuth, o.PublicURL); err != nil {
		return err
	}
	switch {
	case o.InsecureNoAuth && !isLoopback(host):
		return usage(
			"--insecure-no-auth cannot be used with --listen %s: everybody who reaches it could run "+
				"commands as you", o.Listen)
	case o.InsecureNoAuth && o.PublicURL != "":
		return usage("--insecure-no-auth cannot be used with --public-url")
	case o.InsecureNoAuth && (o.container || boxed()):
		return usage(
			"--insecure-no-auth cannot be used in a container: its port may be published to everybody")
	}
	if o.PublicURL != "" {
		if _, err := guard.ParsePublicURL(o.PublicURL); err != nil {
			return &usageError{err.Error()}
		}
	}
	return o.checkReplica(false)
}

// base is the path of the public URL, usually none.
func (o *options) base() string {
	if o.PublicURL == "" {
		return ""
	}
	u, err := guard.ParsePublicURL(o.PublicURL)
	if err != nil {
		return "" // check has refused it
	}
	return u.Path
}

// boxed reports the mark of a container that does not call itself one. Its loopback
// is not the user's: what reaches it may come from anywhere.
func boxed() bool {
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(mark); err == nil {
			return true
		}
	}
	return false
}

// listenHost returns the name or address of --listen.
func (o *options) listenHost() (string,
	error) {
	return hostOf("--listen", o.Listen, defaultListen)
}

// hostOf returns the name or address of a flag's host:port.
func hostOf(flag, address, example string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", usage("%s %q: it must be host:port, such as %s", flag, address, example)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", usage("%s %q: the port must be a number from 0 to 65535", flag, address)
	}
	return host, nil
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// workspaceDirs returns the workspaces as absolute paths, however they were given.
func (o *options) workspaceDirs() (dirs []string, err error) {
	for _, name := range o.Workspace {
		dir, err := filepath.Abs(name)
		if err == nil {
			dir, err = filepath.EvalSymlinks(dir)
		}
		if err != nil {
			return nil, usage("--workspace %s: %v", name, daemon.Plain(err))
		}
		if !isFolder(dir) {
			return nil, usage("--workspace %s: it is not a folder", name)
		}
		dirs = append(dirs, dir)
	}
	if o.container && len(dirs) == 1 {
		return mounted(dirs[0]), nil
	}
	return dirs, nil
}

// mounted returns the folders that a container works in: its workspace, and each below
// a folder named workspaces beside it. Then a workspace that nothing was mounted at,
// which is empty, is none.
func mounted(workspace string) (dirs []string) {
	beside := filepath.Join(filepath.Dir(workspace), "workspaces")
	entries, err := os.ReadDir(beside)
	if err != nil {
		return []string{workspace}
	}
	if own, err := os.ReadDir(workspace); err == nil && len(own) > 0 {
		dirs = append(dirs, workspace)
	}
	for _, e := range entries {
		if dir, err := filepath.EvalSymlinks(filepath.Join(beside, e.Name())); err == nil &&
			e.Name()[0] != '.' && isFolder(dir) {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) == 0 {
		dirs = append(dirs, workspace)
	}
	return dirs
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// workspaceDir returns the first of them.
func (o *options) workspaceDir() (string, error) {
	dirs, err := o.workspaceDirs()
	if err != nil {
		return "", err
	}
	return dirs[0], nil
}

// dataPath says which data folder it is. The default is the user's.
func (o *options) dataPath() string {
	if o.DataDir != "" {
		return o.DataDir
	}
	return filepath.Join(xdg.DataHome, "webchat")
}

// mayOpen reports whether somebody sits before a browser here.
func (o *options) mayOpen() bool {
	if o.NoOpen || o.container {
		return false
	}
	has := func(name string) bool { v, ok := lookup(o.env, name); return ok && v != "" }
	if has("CI") || has("SSH_CONNECTION") {
		return false
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return true
	}
	return has("DISPLAY") || has("WAYLAND_DISPLAY")
}

func lookup(env []string, name string) (string, bool) {
	for i := len(env) - 1; i >= 0; i-- { // the last one counts
		if k, v, ok := strings.Cut(env[i], "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}

// size is a number of bytes.
type size int64

// String is s as the flag takes it.
func (s size) String() string {
	for i, unit := range []string{"GiB", "MiB", "KiB"} {
		if n := size(1) << (30 - 10*i); s >= n && s%n == 0 {
			return fmt.Sprintf("%d%s", s/n, unit)
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

var units = []struct {
	name string
	n    int64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9},
	{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"b", 1},
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *size) UnmarshalText(text []byte) error {
	number, factor := strings.ToLower(strings.TrimSpace(string(text))), int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(number, u.name); ok {
			number, factor = strings.TrimSpace(rest), u.n
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > (1<<62)/factor {
		return errors.New("it must be a size such as 256MiB")
	}
	*s = size(n * factor)
	return nil
}
