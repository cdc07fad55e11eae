package cage

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"webchat/internal/proc"
	"webchat/internal/veil"
)

// What trees read of the system, and of the user's folder by name.
var (
	system = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt",
		"/sys", "/gnu",
		// beside them is the socket of a daemon that reaches the network
		"/nix/store", "/nix/var/nix/profiles"}

	toolchains = []string{".config/git", ".config/go", "go/bin", "sdk", ".cargo", ".rustup", ".pyenv",
		".nvm", ".volta", ".fnm", ".asdf",
		".bun", ".deno", ".sdkman", ".jenv", ".rbenv", ".rvm", ".gem", ".dotnet", ".ghcup", ".cabal",
		".stack", ".opam", ".elan", ".juliaup",
		".nix-profile", ".conda", "miniconda3", "anaconda3", "miniforge3", ".local/bin", ".local/lib",
		".local/share/uv", ".local/share/pipx",
		".local/share/mise", ".local/share/fnm", ".local/share/pnpm"}

	// caches are shared ones; what trees write over them is theirs.
	caches = []string{"go/pkg/mod", "go/pkg/sumdb", ".npm", ".yarn", ".cargo/registry", ".cargo/git",
		".m2/repository", ".gradle/caches", ".local/share/pnpm/store"}
	// below is where XDG_CACHE_HOME is.
	cachesBelow = []string{"go-build", "pip", "uv", "yarn", "pnpm", "deno", "node-gyp",
		"ms-playwright", "copilot"}
	// cacheVariables name folders of caches that are elsewhere.
	cacheVariables = []string{"GOCACHE", "GOMODCACHE", "PIP_CACHE_DIR", "UV_CACHE_DIR",
		"npm_config_cache", "YARN_CACHE_FOLDER"}
	// readVariables name files and folders that programs read.
	readVariables = []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
		"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GOROOT", "JAVA_HOME", "PYENV_ROOT", "NVM_DIR",
		"VOLTA_HOME", "FNM_DIR", "ASDF_DIR", "ASDF_DATA_DIR", "SDKMAN_DIR", "RBENV_ROOT",
		"RUSTUP_HOME", "BUN_INSTALL", "DOTNET_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX"}
	// homes are variables that name a toolchain's folder, and the parts of it that are given.
	homes = []struct {
		variable     string
		read, caches []string
	}{
		{"GOPATH", []string{"bin"}, []string{"pkg/mod", "pkg/sumdb"}},
		{"CARGO_HOME", []string{"bin"}, []string{"registry", "git"}},
	}
	// quiet keeps programs from looking for updates of themselves and from reporting their use,
	// whose hosts the user would be asked about.
	quiet = []string{"npm_config_update_notifier=false", "NO_UPDATE_NOTIFIER=1",
		"PIP_DISABLE_PIP_VERSION_CHECK=1", "DO_NOT_TRACK=1", "NEXT_TELEMETRY_DISABLED=1"}
)

const (
	// ownFolder is where a tree finds files of webchat's about it.
	ownFolder  = "/.webchat"
	ignoreFile = ownFolder + "/gitignore"
	// shallow is how far below what is read of HOME names are judged.
	shallow = 2
)

// spec is what one tree gets, while it is put together.
type spec struct {
	cfg     *Config
	private string
	given   map[string]proc.Place
	held    []proc.Place
	links   map[string]string
	covered []string // what is covered in the workspace
	written []string // what trees can write to, by where links lead
	above   bool     // the workspace is a folder of a repository
}

// spec decides what a tree gets.
func (c *Cage) spec(ctx context.Context, private string, n Needs) (*spec, error) {
	s := &spec{
		cfg:     &c.cfg,
		private: private,
		given:   map[string]proc.Place{},
		links:   map[string]string{"/var/tmp": "/tmp"},
	}
	s.written = append(c.openWritten(), c.cfg.Workspace)
	s.give(proc.Writable, slices.Concat(n.Write, s.expanded(c.cfg.Write))...)
	s.written = slices.AppendSeq(s.written, maps.Keys(s.given))
	s.place(proc.Place{Path: c.cfg.Workspace, Access: proc.Writable})
	s.give(proc.Readable, system...)
	s.give(proc.Readable, slices.Concat(n.Read, s.expanded(c.cfg.Read))...)
	s.giveHome()
	s.giveAbove()
	for _, p := range n.Programs {
		s.giveProgram(p)
	}
	if err := s.giveConfig(); err != nil {
		return nil, err
	}
	if err := s.giveState(n); err != nil {
		return nil, err
	}
	if err := c.hold(ctx, s); err != nil {
		return nil, err
	}
	return s, s.writeIgnored()
}

func (s *spec) expanded(list []string) (all []string) {
	for _, p := range list {
		all = append(all, s.cfg.expand(p))
	}
	return all
}

// giveHome gives what is on PATH, toolchains and caches.
func (s *spec) giveHome() {
	for _, p := range filepath.SplitList(s.cfg.variable("PATH")) {
		s.giveSmall(p)
	}
	for _, name := range readVariables {
		s.giveSmall(s.cfg.variable(name))
	}
	for _, name := range toolchains {
		s.give(proc.Readable, filepath.Join(s.cfg.Home, name))
	}
	for _, h := range homes {
		for _, dir := range filepath.SplitList(s.cfg.variable(h.variable)) {
			for _, name := range h.read {
				s.giveSmall(filepath.Join(dir, name))
			}
		}
	}
	for _, p := range s.cfg.caches() {
		s.giveCache(p)
	}
}

// caches are where the user's are.
func (c *Config) caches() (all []string) {
	for _, name := range caches {
		all = append(all, filepath.Join(c.Home, name))
	}
	below := cmp.Or(c.variable("XDG_CACHE_HOME"), filepath.Join(c.Home, ".cache"))
	for _, name := range cachesBelow {
		all = append(all, filepath.Join(below, name))
	}
	for _, name := range cacheVariables {
		if p := c.variable(name); filepath.IsAbs(p) {
			all = append(all, filepath.Clean(p))
		}
	}
	for _, h := range homes {
		for _, dir := range filepath.SplitList(c.variable(h.variable)) {
			for _, name := range h.caches {
				if filepath.IsAbs(dir) {
					all = append(all, filepath.Join(dir, name))
				}
			}
		}
	}
	return all
}

// giveSmall gives a folder that a variable names, but none that holds the user's folder,
// the workspace, or webchat's own.
func (s *spec) giveSmall(p string) {
	if !filepath.IsAbs(p) {
		return
	}
	p = filepath.Clean(p)
	real, err := filepath.EvalSymlinks(p)
	if err != nil {
		return
	}
	for _, inner := range []string{s.cfg.Home, s.cfg.Workspace, s.cfg.Scratch} {
		if isIn(inner, p) || isIn(inner, real) {
			return
		}
	}
	s.give(proc.Readable, p)
}

// giveCache gives a cache; one that is not there yet is an empty folder of the tree's.
func (s *spec) giveCache(p string) {
	if _, err := os.Stat(p); err == nil {
		s.give(proc.Layered, p)
		return
	}
	own := filepath.Join(s.private, "new", strings.ReplaceAll(p, "/", "%"))
	if at, ok := s.settle(p); ok && os.MkdirAll(own, 0o700) == nil {
		s.place(proc.Place{Path: at, From: own, Access: proc.Writable})
	}
}

// settle returns where a path leads whose last elements need not be there.
func (s *spec) settle(p string) (string, bool) {
	above, rest := p, ""
	for above != "/" {
		if _, err := os.Stat(above); err == nil {
			break
		}
		above, rest = filepath.Dir(above), filepath.Join(filepath.Base(above), rest)
	}
	real, ok := s.follow(above)
	return filepath.Join(real, rest), ok
}

// give gives what is at paths, and the links on the way there.
func (s *spec) give(a proc.Access, paths ...string) {
	for _, p := range paths {
		real, ok := s.follow(p)
		if ok && (a == proc.Writable || !s.cfg.Policy.Hidden(real)) {
			s.place(proc.Place{Path: real, Access: a})
		}
	}
}

// place adds a place. What is in the workspace is given by it, and of two for one path
// the first.
func (s *spec) place(p proc.Place) {
	if p.Path != s.cfg.Workspace && isIn(p.Path, s.cfg.Workspace) {
		return
	}
	if _, ok := s.given[p.Path]; !ok {
		s.given[p.Path] = p
	}
}

// follow returns where a path leads, and keeps the links that lead there. It follows none that an
// earlier tree may have made.
func (s *spec) follow(p string) (string, bool) {
	links := map[string]string{}
	at, rest := "/", strings.Split(strings.Trim(filepath.Clean(p), "/"), "/")
	for range 1000 {
		if len(rest) == 0 || rest[0] == "" {
			for at, to := range links {
				s.links[at] = to
			}
			return at, true
		}
		next := filepath.Join(at, rest[0])
		st, err := os.Lstat(next)
		if err != nil {
			return "", false
		}
		if rest = rest[1:]; st.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		to, err := os.Readlink(next)
		if err != nil || slices.ContainsFunc(s.written, func(dir string) bool {
			return isIn(next, dir)
		}) {
			return "", false
		}
		links[next] = to
		if !filepath.IsAbs(to) {
			to = filepath.Join(at, to)
		}
		at, rest = "/", append(strings.Split(strings.Trim(filepath.Clean(to), "/"), "/"), rest...)
	}
	return "", false
}

// giveConfig gives git's settings without what looks like a secret.
func (s *spec) giveConfig() error {
	name := filepath.Join(s.cfg.Home, ".gitconfig")
	if _, ok := s.follow(name); ok && !isIn(name, s.cfg.Workspace) {
		clean, err := s.cleaned(name, "gitconfig")
		if err != nil {
			return err
		}
		dir, _ := s.follow(s.cfg.Home)
		s.place(proc.Place{Path: filepath.Join(dir, ".gitconfig"), From: clean})
		delete(s.links, name)
	}
	return nil
}

// cleaned copies a file of settings, with dots for what looks like a secret.
func (s *spec) cleaned(name, as string) (string, error) {
	b := read(name)
	if b == nil {
		return "", nil // what cannot be read is not there inside
	}
	return s.own(as, []byte(veil.Hide(string(b))))
}

// own writes a file of webchat's about the tree.
func (s *spec) own(name string, text []byte) (string, error) {
	p := filepath.Join(s.private, name)
	if err := os.WriteFile(p, text, 0o600); err != nil {
		return "", fmt.Errorf("confine: %w", err)
	}
	return p, nil
}

// all returns the places, given and held.
func (s *spec) all() []proc.Place {
	all := slices.Clone(s.held)
	for _, p := range s.given {
		all = append(all, p)
	}
	return all
}

// isIn reports whether a path is dir or below it.
func isIn(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// writeIgnored writes what git is to ignore beside what the user has it ignore: a covered
// file that it does not track, which it would try to read.
func (s *spec) writeIgnored() error {
	if len(s.covered) == 0 {
		return nil
	}
	usual := filepath.Join(cmp.Or(s.cfg.variable("XDG_CONFIG_HOME"),
		filepath.Join(s.cfg.Home, ".config")), "git", "ignore")
	var text []byte // there may be none
	links := maps.Clone(s.links)
	if real, ok := s.follow(filepath.Clean(cmp.Or(excludesFile(s.cfg.Home), usual))); ok {
		text = head(real, mostRead)
	}
	s.links = links // only what it says is given
	for _, p := range s.covered {
		top := s.cfg.Workspace
		for dir := filepath.Dir(p); isIn(dir, top); dir = filepath.Dir(dir) {
			if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
				top = dir
				break
			}
		}
		rel, err := filepath.Rel(top, p)
		if err == nil {
			text = append(text, "\n/"+escapePattern(filepath.ToSlash(rel))...)
		}
	}
	from, err := s.own("gitignore", append(text, '\n'))
	s.place(proc.Place{Path: ignoreFile, From: from})
	return err
}

// escapePattern has git take a path for itself.
func escapePattern(p string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, " ", `\ `).Replace(p)
}

// excludesFile is what the user's settings of git name; empty: nothing.
func excludesFile(home string) string {
	b := read(filepath.Join(home, ".gitconfig"))
	for line := range strings.Lines(string(b)) {
		key, value, ok := strings.Cut(line, "=")
		if ok && strings.EqualFold(strings.TrimSpace(key), "excludesfile") {
			value = strings.Trim(strings.TrimSpace(value), `"`)
			if rest, ok := strings.CutPrefix(value, "~/"); ok {
				value = filepath.Join(home, rest)
			}
			return value
		}
	}
	return ""
}

// environment is what a command inherits, with what leads it to the door.
func (s *spec) environment(env []string, n Needs) []string {
	proxy := fmt.Sprintf("http://127.0.0.1:%d", doorPort)
	set := []string{"TMPDIR=/tmp", "HTTP_PROXY=" + proxy, "HTTPS_PROXY=" + proxy, "http_proxy=" +
		proxy, "https_proxy=" + proxy,
		"NO_PROXY=localhost,127.0.0.1,::1", "no_proxy=localhost,127.0.0.1,::1", "NODE_USE_ENV_PROXY=1",
		fmt.Sprintf(
			"JAVA_TOOL_OPTIONS=-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=%d -Dhttps.proxyHost=127.0.0.1 "+
				"-Dhttps.proxyPort=%d", doorPort, doorPort)}
	dropped := []string{"ALL_PROXY", "all_proxy", "FTP_PROXY", "ftp_proxy", "SSH_AUTH_SOCK",
		"DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "WAYLAND_DISPLAY", "DISPLAY"}
	out := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		k, _, _ := strings.Cut(kv, "=")
		return slices.Contains(dropped, k) || slices.ContainsFunc(set, func(kv string) bool {
			return strings.HasPrefix(kv, k+"=")
		})
	})
	out = append(out, set...)
	for _, kv := range quiet {
		k, _, _ := strings.Cut(kv, "=")
		if !slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, k+"=") }) {
			out = append(out, kv)
		}
	}
	if len(s.covered) > 0 && !slices.ContainsFunc(env, func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_CONFIG_COUNT=")
	}) {
		out = append(out, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.excludesFile",
			"GIT_CONFIG_VALUE_0="+ignoreFile)
	}
	if s.above { // whose folder is on another mount
		out = append(out, "GIT_DISCOVERY_ACROSS_FILESYSTEM=1")
	}
	if n.Home != "" {
		out = append(out, "HOME="+n.Home)
	}
	return append(out, n.Env...)
}
