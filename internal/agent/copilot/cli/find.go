package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/proc"
)

// What is supported. The version is a first look that needs no process; what
// counts is the protocol the running CLI states.
const (
	protocol   = 3
	minVersion = "1.0.75" // the lowest that was found to run turns, with its hooks of a workspace off
	tested     = "1.0.102"

	supported = "supported are version " + minVersion + " and later with protocol 3, tried with " + tested
	install   = "npm install -g @github/copilot"
)

// finding is a binary and its version, as they were when it was looked at.
type finding struct {
	path, version string
	size          int64
	changed       time.Time
}

// Version returns the version of the binary that is found. It starts nothing but,
// where nothing else tells the version, "copilot --version". The error wraps
// [agent.ErrUnavailable] and says what to do; the version is known all the same if
// it is too old.
func (p *Program) Version() (string, error) {
	f, err := p.find()
	return f.version, err
}

// find returns the native binary and its version. The error wraps
// [agent.ErrUnavailable] and says what to do.
func (p *Program) find() (finding, error) {
	path, err := locate(p.cfg.Path, p.cfg.Env)
	if err != nil {
		return finding{}, fmt.Errorf("%w: %w", agent.ErrUnavailable, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return finding{}, fmt.Errorf("%w: GitHub Copilot CLI cannot be read: %w", agent.ErrUnavailable, err)
	}
	f := finding{path: path, size: info.Size(), changed: info.ModTime()}
	p.mu.Lock()
	known := p.found
	p.mu.Unlock()
	if f.version = known.version; f != known {
		if f.version, err = p.versionOnce(f); err != nil {
			return f, fmt.Errorf("%w: GitHub Copilot CLI at %s does not tell its version: %w; reinstall it (%s)", agent.ErrUnavailable, path, err, install)
		}
		p.mu.Lock()
		p.found = f
		p.mu.Unlock()
	}
	if older(f.version, minVersion) {
		return f, fmt.Errorf("%w: GitHub Copilot CLI %s at %s is too old; %s; update it (%s)", agent.ErrUnavailable, f.version, path, supported, install)
	}
	return f, nil
}

// versionPatience is how long "copilot --version" may take: most of a second, and more
// on a busy machine.
const versionPatience = 5 * time.Second

// versionOnce is versionOf, asked once: what does not tell its version will not on
// the next page either.
func (p *Program) versionOnce(f finding) (string, error) {
	p.asking.Lock()
	defer p.asking.Unlock()
	if p.silence != nil && p.silent == f {
		return "", p.silence
	}
	ctx, cancel := context.WithTimeout(context.Background(), versionPatience)
	defer cancel()
	v, err := p.versionOf(ctx, f)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("it does not answer within %v", versionPatience)
	}
	p.silent, p.silence = f, err
	return v, err
}

// locate finds the native binary. In npm's layouts "copilot" is a script of node
// that starts the native binary and would leave it running when killed; the
// binary lies in a package of its own beside the script's.
func locate(given string, env []string) (string, error) {
	var candidates []string
	if given != "" {
		abs, err := filepath.Abs(given)
		if err != nil {
			return "", err
		}
		candidates = []string{abs, filepath.Join(abs, BinaryName())}
	} else {
		for _, dir := range append(filepath.SplitList(getenv(env, "PATH")), npmFolders(env)...) {
			if filepath.IsAbs(dir) { // what runs must not depend on where
				candidates = append(candidates, filepath.Join(dir, BinaryName()))
				if runtime.GOOS == "windows" {
					candidates = append(candidates, filepath.Join(dir, "copilot.cmd"))
				}
			}
		}
	}
	shim := ""
	for _, c := range candidates {
		if real, err := filepath.EvalSymlinks(c); err == nil {
			c = real
		}
		info, err := os.Stat(c)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if isNative(c) {
			return c, nil
		}
		if native := besides(c); native != "" {
			return native, nil
		}
		shim = c
	}
	switch {
	case shim != "":
		return "", fmt.Errorf("%s is a script and the native binary of GitHub Copilot CLI is not beside it; reinstall it (%s) or give --copilot-path", shim, install)
	case given != "":
		return "", fmt.Errorf("there is no GitHub Copilot CLI at %s; install it (%s) or correct --copilot-path", given, install)
	}
	return "", fmt.Errorf("GitHub Copilot CLI is not installed; install it (%s) or give --copilot-path", install)
}

// BinaryName is the name of the native binary here.
func BinaryName() string {
	if runtime.GOOS == "windows" {
		return "copilot.exe"
	}
	return "copilot"
}

// npmFolders are where npm puts programs that may not be in PATH.
func npmFolders(env []string) (dirs []string) {
	if prefix := getenv(env, "npm_config_prefix"); prefix != "" {
		dirs = append(dirs, prefix, filepath.Join(prefix, "bin"))
	}
	if home := getenv(env, "HOME"); home != "" {
		dirs = append(dirs, filepath.Join(home, ".npm-global", "bin"), filepath.Join(home, ".local", "bin"))
	}
	if data := getenv(env, "APPDATA"); data != "" {
		dirs = append(dirs, filepath.Join(data, "npm"))
	}
	return dirs
}

// isNative tells a program from a script by its first bytes: ELF, Mach-O or PE.
func isNative(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var b [4]byte
	if _, err := io.ReadFull(f, b[:]); err != nil {
		return false
	}
	switch string(b[:]) {
	case "\x7fELF", "\xcf\xfa\xed\xfe", "\xfe\xed\xfa\xcf", "\xca\xfe\xba\xbe":
		return true
	}
	return string(b[:2]) == "MZ"
}

// besides looks for the native package near a shim: as a sibling of its package,
// below it, or, for a shim that is a copy (Windows), in node_modules beside it.
func besides(shim string) string {
	dir := filepath.Dir(shim)
	roots := []string{filepath.Dir(dir), filepath.Join(dir, "node_modules", "@github")}
	for up, i := dir, 0; i < 3; up, i = filepath.Dir(up), i+1 {
		roots = append(roots, filepath.Join(up, "@github"), filepath.Join(up, "node_modules", "@github"),
			filepath.Join(up, "lib", "node_modules", "@github"), filepath.Join(up, "node_modules", "@github", "copilot", "node_modules", "@github"),
			filepath.Join(up, "lib", "node_modules", "@github", "copilot", "node_modules", "@github"))
	}
	for _, root := range roots {
		for _, platform := range Platforms() {
			c := filepath.Join(root, "copilot-"+platform, BinaryName())
			if isNative(c) {
				return c
			}
		}
	}
	return ""
}

// Platforms are the names of the native packages that may run here, in node's
// words.
func Platforms() []string {
	arch := map[string]string{"amd64": "x64", "386": "ia32"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	switch runtime.GOOS {
	case "windows":
		return []string{"win32-" + arch}
	case "linux":
		if musl, _ := filepath.Glob("/lib/ld-musl-*"); len(musl) > 0 {
			return []string{"linuxmusl-" + arch, "linux-" + arch}
		}
		return []string{"linux-" + arch, "linuxmusl-" + arch}
	}
	return []string{runtime.GOOS + "-" + arch}
}

var versionNumber = regexp.MustCompile(`\b(\d+)\.(\d+)\.(\d+)(?:-[0-9A-Za-z.]+)?\b`)

// versionOf reads the version from the package the binary lies in, else asks it.
func (p *Program) versionOf(ctx context.Context, f finding) (string, error) {
	if raw, err := os.ReadFile(filepath.Join(filepath.Dir(f.path), "package.json")); err == nil {
		var pkg struct{ Name, Version string }
		if json.Unmarshal(raw, &pkg) == nil && strings.HasPrefix(pkg.Name, "@github/copilot") && versionNumber.MatchString(pkg.Version) {
			return pkg.Version, nil
		}
	}
	if v := p.remembered(f); v != "" {
		return v, nil
	}
	v, err := p.askVersion(ctx, f.path)
	if err == nil {
		f.version = v
		p.remember(f)
	}
	return v, err
}

// remembered is the version of f as it was asked in an earlier process: that
// takes most of a second, and the server starts in less.
func (p *Program) remembered(f finding) string {
	raw, err := os.ReadFile(filepath.Join(p.cfg.Home, "webchat-found"))
	if key, version, ok := strings.Cut(string(raw), "\n"); err == nil && ok && key == f.key() {
		return versionNumber.FindString(version)
	}
	return ""
}

// remember keeps the version of f for the next process. That it could not is no
// failure.
func (p *Program) remember(f finding) {
	if os.MkdirAll(p.cfg.Home, 0o700) == nil {
		_ = os.WriteFile(filepath.Join(p.cfg.Home, "webchat-found"), []byte(f.key()+"\n"+f.version), 0o600)
	}
}

func (f finding) key() string {
	return fmt.Sprintf("%q %d %d", f.path, f.size, f.changed.UnixNano())
}

// askVersion has the binary print it.
func (p *Program) askVersion(ctx context.Context, path string) (string, error) {
	var out tail
	child, err := proc.Start(proc.Command{Args: []string{path, "--version", "--no-auto-update"}, Env: p.environment(), Output: &out, Grace: time.Millisecond})
	if err != nil {
		return "", err
	}
	stop := context.AfterFunc(ctx, func() { _, _ = child.Stop(ctx) }) // what Stop says, the second one says too
	_, err = child.Wait()
	stop()
	if _, e := child.Stop(context.WithoutCancel(ctx)); err == nil {
		err = e
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return "", err
	}
	v := versionNumber.FindString(out.String())
	if v == "" {
		return "", errors.New("it prints no version")
	}
	return v, nil
}

// older compares versions by their three numbers.
func older(v, than string) bool {
	a, b := versionNumber.FindStringSubmatch(v), versionNumber.FindStringSubmatch(than)
	if a == nil || b == nil {
		return false
	}
	for i := 1; i <= 3; i++ {
		x, errX := strconv.Atoi(a[i])
		y, errY := strconv.Atoi(b[i])
		if errX != nil || errY != nil {
			return false
		}
		if x != y {
			return x < y
		}
	}
	return false
}
