package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
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
	"webchat/internal/session"
)

// options is what flags and environment say, checked as far as one can without
// touching anything.
type options struct {
	listen       string
	listenGiven  bool
	workspace    string
	dataDir      string
	backend      string
	model        string
	provider     struct{ url, kind, keyFile string }
	copilotPath  string
	outputTTL    time.Duration
	outputBudget size
	keepOutputs  age
	maxStreams   int
	maxRequests  int
	olderThan    age
	permissions  string
	instructions string
	askTimeout   time.Duration
	runTimeout   time.Duration
	publicURL    string
	tokenFile    string
	noAuth       bool
	noOpen       bool
	mcp          bool
	http, yes    bool
	client       string // that "mcp install" connects
	configFile   string
	configGiven  bool

	env       []string
	container bool
}

// newFlags is the table of flags.
func newFlags() (*flag.FlagSet, *options) {
	o := &options{outputBudget: 256 << 20}
	f := flag.NewFlagSet("webchat", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&o.listen, "listen", defaultListen, "where to listen; port 0 picks a free one, and the next free one is taken if the flag is not given")
	f.StringVar(&o.workspace, "workspace", ".", "the folder display tools may read and commands run in")
	f.StringVar(&o.dataDir, "data-dir", "", "where sessions and secrets are kept; by default a folder per workspace")
	f.StringVar(&o.backend, "backend", "auto", "the kind of agent of new sessions")
	f.StringVar(&o.model, "model", "", "the model of new sessions")
	f.StringVar(&o.provider.url, "provider-url", "", "address of your own model")
	f.StringVar(&o.provider.kind, "provider-type", "", "its protocol")
	f.StringVar(&o.provider.keyFile, "provider-key-file", "", "file with its key (or WEBCHAT_PROVIDER_KEY)")
	f.StringVar(&o.copilotPath, "copilot-path", "", "the GitHub Copilot CLI")
	f.DurationVar(&o.outputTTL, "output-ttl", 30*time.Minute, "life of an output, from the moment it is complete")
	f.Var(&o.outputBudget, "output-budget", "memory for outputs; the least recently used go first")
	f.Var(&o.keepOutputs, "keep-outputs", "keep outputs on disk so long after their life, such as 30d; 0 keeps none")
	f.IntVar(&o.maxStreams, "max-streams", 1024, "open event streams; one more is answered 503")
	f.IntVar(&o.maxRequests, "max-requests", 1024, "other requests at work; a quarter of them for those who are not signed in")
	f.Var(&o.olderThan, "older-than", "for \"sessions prune\": delete sessions not used for so long, such as 90d")
	f.StringVar(&o.instructions, "instructions", "on", "off: agents do not load the workspace's instruction files, such as AGENTS.md, where they can be told")
	f.StringVar(&o.permissions, "permissions", "ask", "what happens when an agent wants to act: ask, allow or deny")
	f.DurationVar(&o.askTimeout, "permission-timeout", 5*time.Minute, "how long a question stays open; then it is denied")
	f.DurationVar(&o.runTimeout, "command-timeout", 10*time.Minute, "how long a command may run; then it is stopped")
	f.StringVar(&o.publicURL, "public-url", "", "the one public URL behind a proxy")
	f.StringVar(&o.tokenFile, "token-file", "", "the API token, made at first start; by default in the data folder")
	f.BoolVar(&o.noAuth, "insecure-no-auth", false, "no sign-in; only on loopback")
	f.BoolVar(&o.noOpen, "no-open", false, "do not open the browser")
	f.BoolVar(&o.http, "http", false, "for \"mcp install\": by the address of the running server instead of as a program")
	f.BoolVar(&o.yes, "yes", false, "for \"mcp install\": do not ask")
	f.BoolVar(&o.mcp, "mcp", false, "for \"token\": print the one for MCP alone")
	f.StringVar(&o.configFile, "config", "", "the configuration file; by default config.yaml in your configuration folder")
	return f, o
}

// parseOptions reads flags, then the environment for those not given.
func parseOptions(args, env []string) (*options, error) {
	f, o := newFlags()
	o.env = env
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		return nil, usage("%v; webchat -h lists the flags", err)
	}
	if f.NArg() > 0 {
		return nil, usage("unexpected argument %q; webchat -h lists the flags", f.Arg(0))
	}
	given := map[string]bool{}
	f.Visit(func(x *flag.Flag) { given[x.Name] = true })
	var bad error
	f.VisitAll(func(x *flag.Flag) {
		name := "WEBCHAT_" + strings.ToUpper(strings.ReplaceAll(x.Name, "-", "_"))
		value, ok := lookup(env, name)
		if !ok || value == "" || given[x.Name] || bad != nil {
			return
		}
		given[x.Name] = true
		if err := f.Set(x.Name, value); err != nil {
			bad = usage("invalid value %q of %s: %v", value, name, err)
		}
	})
	if bad != nil {
		return nil, bad
	}
	o.listenGiven, o.configGiven = given["listen"], given["config"]
	if err := o.absolute(); err != nil {
		return nil, err
	}
	c, _ := lookup(env, "WEBCHAT_CONTAINER")
	o.container = c != "" && c != "0"
	return o, o.check()
}

// absolute makes the names of files independent of where they are used later. A
// program without a slash is left to PATH.
func (o *options) absolute() error {
	for _, name := range []*string{&o.configFile, &o.tokenFile, &o.provider.keyFile, &o.copilotPath} {
		program := name == &o.copilotPath
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

// check refuses what could never work, before anything is touched.
func (o *options) check() error {
	switch session.Mode(o.permissions) {
	case session.ModeAsk, session.ModeAllow, session.ModeDeny:
	default:
		return usage("--permissions %q: it must be ask, allow or deny", o.permissions)
	}
	if o.instructions != "on" && o.instructions != "off" {
		return usage("--instructions %q: it must be on or off", o.instructions)
	}
	for name, d := range map[string]time.Duration{"output-ttl": o.outputTTL, "permission-timeout": o.askTimeout, "command-timeout": o.runTimeout} {
		if d <= 0 {
			return usage("--%s %v: it must be more than 0", name, d)
		}
	}
	for name, n := range map[string]int{"max-streams": o.maxStreams, "max-requests": o.maxRequests} {
		if n < 1 || n > 1e6 {
			return usage("--%s %d: it must be from 1 to 1000000", name, n)
		}
	}
	host, err := o.listenHost()
	if err != nil {
		return err
	}
	switch {
	case o.noAuth && !isLoopback(host):
		return usage("--insecure-no-auth cannot be used with --listen %s: everybody who reaches it could run commands as you", o.listen)
	case o.noAuth && o.publicURL != "":
		return usage("--insecure-no-auth cannot be used with --public-url")
	case o.noAuth && (o.container || boxed()):
		return usage("--insecure-no-auth cannot be used in a container: its port may be published to everybody")
	}
	if o.publicURL != "" {
		if _, err := guard.ParsePublicURL(o.publicURL); err != nil {
			return &usageError{err.Error()}
		}
	}
	return nil
}

// base is the path of the public URL, usually none.
func (o *options) base() string {
	if o.publicURL == "" {
		return ""
	}
	u, err := guard.ParsePublicURL(o.publicURL)
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
func (o *options) listenHost() (string, error) {
	host, port, err := net.SplitHostPort(o.listen)
	if err != nil {
		return "", usage("--listen %q: it must be host:port, such as %s", o.listen, defaultListen)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n > 65535 {
		return "", usage("--listen %q: the port must be a number from 0 to 65535", o.listen)
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

// workspaceDir returns the workspace as one absolute path, however it was given.
func (o *options) workspaceDir() (string, error) {
	dir, err := filepath.Abs(o.workspace)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", usage("--workspace %s: %v", o.workspace, daemon.Plain(err))
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", usage("--workspace %s: it is not a folder", o.workspace)
	}
	return dir, nil
}

// dataPath says which data folder it is. The default is one per workspace.
func (o *options) dataPath(workspace string) (string, error) {
	if o.dataDir != "" {
		return filepath.Abs(o.dataDir)
	}
	return filepath.Join(xdg.DataHome, "webchat", daemon.NameFor(workspace)), nil
}

// mayOpen reports whether somebody sits before a browser here.
func (o *options) mayOpen() bool {
	if o.noOpen || o.container {
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

// String implements [flag.Value].
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
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"b", 1},
}

// Set implements [flag.Value].
func (s *size) Set(text string) error {
	number, factor := strings.ToLower(strings.TrimSpace(text)), int64(1)
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
