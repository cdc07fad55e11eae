package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
	"webchat/internal/proc"
)

// What is supported. The version is a first look that needs no process; what counts is the protocol
// the running CLI states.
const (
	protocol   = 3
	minVersion = "1.0.102"

	supported = "supported are version " + minVersion + " and later with protocol 3"
	install   = "npm install -g @github/copilot"
)

// finding is a binary and its version.
type finding struct{ path, version string }

// Version returns the version of the binary that is found. It starts nothing but, where no
// package.json has the version, "copilot --version". The error wraps [agent.ErrUnavailable] and
// says what to do; the version is known all the same if it is too old.
func (p *Program) Version() (string, error) {
	f, err := p.find()
	return f.version, err
}

// find returns the native binary and its version. A binary that prints no version is asked once.
func (p *Program) find() (finding, error) {
	path, err := locate(p.cfg.Path, p.cfg.Env)
	if err != nil {
		return finding{}, fmt.Errorf("%w: %w", agent.ErrUnavailable, err)
	}
	version, err := p.version.Of(path, func() (string, error) { return p.versionOf(path) })
	f := finding{path, version}
	switch {
	case err != nil:
		return f, fmt.Errorf(
			"%w: GitHub Copilot CLI at %s does not print its version: %w; reinstall it (%s)",
			agent.ErrUnavailable, path, err, install)
	case slices.Compare(numbers(version), numbers(minVersion)) < 0:
		return f, fmt.Errorf("%w: GitHub Copilot CLI %s at %s is too old; %s; update it (%s)",
			agent.ErrUnavailable, version, path, supported, install)
	}
	return f, nil
}

// locate finds the native binary. In npm's layouts "copilot" is a script of node that starts the
// native binary and would leave it running when killed; the binary lies in a package of its own
// beside the script's.
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
		return "",
			fmt.Errorf(
				"%s is a script and the native binary of GitHub Copilot CLI is not beside it; reinstall it "+
					"(%s) or give --copilot-path", shim, install)
	case given != "":
		return "",
			fmt.Errorf("there is no GitHub Copilot CLI at %s; install it (%s) or correct --copilot-path",
				given, install)
	}
	return "",
		fmt.Errorf("GitHub Copilot CLI is not installed; install it (%s) or give --copilot-path", install)
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
	for _, below := range [][]string{{"npm_config_prefix"}, {"npm_config_prefix", "bin"},
		{"HOME", ".npm-global", "bin"}, {"HOME", ".local", "bin"}, {"APPDATA", "npm"}} {
		if base := getenv(env, below[0]); base != "" {
			dirs = append(dirs, filepath.Join(base, filepath.Join(below[1:]...)))
		}
	}
	return dirs
}

// isNative distinguishes a program from a script by its first bytes: ELF, Mach-O or PE.
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
	return string(b[:2]) == "MZ" || slices.Contains([]string{"\x7fELF", "\xcf\xfa\xed\xfe",
		"\xfe\xed\xfa\xcf", "\xca\xfe\xba\xbe"}, string(b[:]))
}

// besides looks for the native package near a shim: as a sibling of its package, below it, or, for
// a shim that is a copy (Windows), in node_modules beside it.
func besides(shim string) string {
	dir := filepath.Dir(shim)
	for up, i := dir, 0; i < 3; up, i = filepath.Dir(up), i+1 {
		for _, modules := range []string{"", "node_modules", "lib/node_modules",
			"node_modules/@github/copilot/node_modules",
			"lib/node_modules/@github/copilot/node_modules"} {
			for _, platform := range Platforms() {
				c := filepath.Join(up, filepath.FromSlash(modules), "@github", "copilot-"+platform,
					BinaryName())
				if isNative(c) {
					return c
				}
			}
		}
	}
	return ""
}

// Platforms are the names of the native packages that may run here, in node's words.
func Platforms() []string {
	arch := map[string]string{"amd64": "x64", "386": "ia32"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	switch runtime.GOOS {
	case "windows":
		return []string{"win32-" + arch}
	case "linux":
		names := []string{"linux-" + arch, "linuxmusl-" + arch}
		if musl, _ := filepath.Glob("/lib/ld-musl-*"); len(musl) > 0 {
			slices.Reverse(names)
		}
		return names
	}
	return []string{runtime.GOOS + "-" + arch}
}

var versionNumber = regexp.MustCompile(`\b(\d+)\.(\d+)\.(\d+)(?:-[0-9A-Za-z.]+)?\b`)

// numbers are the three of a version.
func numbers(version string) (n []int) {
	for _, part := range versionNumber.FindStringSubmatch(version)[1:] {
		i, _ := strconv.Atoi(part) // digits; one too large is as good as the largest
		n = append(n, i)
	}
	return n
}

// versionOf reads the version from the package the binary lies in, else has the binary print it.
func (p *Program) versionOf(path string) (string, error) {
	if raw, err := os.ReadFile(filepath.Join(filepath.Dir(path), "package.json")); err == nil {
		var pkg struct{ Name, Version string }
		if json.Unmarshal(raw, &pkg) == nil && strings.HasPrefix(pkg.Name, "@github/copilot") &&
			versionNumber.MatchString(pkg.Version) {
			return pkg.Version, nil
		}
	}
	text, err := convo.Printed(proc.Command{
		Args:  []string{path, "--version", "--no-auto-update"},
		Env:   p.environment(p.cfg.Home),
		Grace: time.Millisecond,
	})
	if v := versionNumber.FindString(text); v != "" {
		return v, nil
	}
	return "", cmp.Or(err, errors.New("it prints no version"))
}
