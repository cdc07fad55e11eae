package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFind: the native binary is found in every layout npm has, from its shim,
// and the shim itself is never taken.
func TestFind(t *testing.T) {
	native, shim := "\x7fELF and the rest", "#!/usr/bin/env node\n"
	pkg := filepath.Join("@github", "copilot-"+Platforms()[0], BinaryName())
	for name, c := range map[string]struct {
		files map[string]string // path -> content, "->" a link
		path  string            // of PATH; empty: none
		given string
		want  string // empty: not found
		words string
	}{
		"global, hoisted": {files: map[string]string{"bin/copilot": "->../lib/node_modules/@github/copilot/npm-loader.js",
			"lib/node_modules/@github/copilot/npm-loader.js": shim, "lib/node_modules/" +
				pkg: native}, path: "bin", want: "lib/node_modules/" + pkg},
		"global, nested": {files: map[string]string{"bin/copilot": "->../lib/node_modules/@github/copilot/npm-loader.js",
			"lib/node_modules/@github/copilot/npm-loader.js":       shim,
			"lib/node_modules/@github/copilot/node_modules/" + pkg: native},
			path: "bin", want: "lib/node_modules/@github/copilot/node_modules/" + pkg},
		"local": {files: map[string]string{"node_modules/.bin/copilot": "->../@github/copilot/npm-loader.js",
			"node_modules/@github/copilot/npm-loader.js": shim, "node_modules/" +
				pkg: native}, given: "node_modules/.bin/copilot", want: "node_modules/" + pkg},
		"a folder": {
			files: map[string]string{"opt/copilot": native},
			given: "opt",
			want:  "opt/copilot",
		},
		"a binary": {
			files: map[string]string{"opt/copilot": native},
			path:  "opt",
			want:  "opt/copilot",
		},
		"a copied shim": {files: map[string]string{"npm/copilot": shim, "npm/node_modules/" +
			pkg: native}, path: "npm", want: "npm/node_modules/" + pkg},
		"home": {
			files: map[string]string{"home/.local/bin/copilot": native},
			path:  "bin",
			want:  "home/.local/bin/copilot",
		},
		"second in PATH": {files: map[string]string{"a/copilot": shim, "b/copilot": native},
			path: "a" + string(filepath.ListSeparator) + "b", want: "b/copilot"},
		"only a shim": {
			files: map[string]string{"bin/copilot": shim},
			path:  "bin",
			words: "native binary of GitHub Copilot CLI is not beside it",
		},
		"nothing":    {path: "bin", words: "is not installed; install it"},
		"wrong path": {given: "nowhere", words: "--copilot-path"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			if real, err := filepath.EvalSymlinks(root); err == nil {
				root = real
			}
			for file, content := range c.files {
				place := filepath.Join(root, filepath.FromSlash(file))
				if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
					t.Fatal(err)
				}
				if to, ok := strings.CutPrefix(content, "->"); ok {
					if err := os.Symlink(to, place); err != nil {
						t.Skip("no symbolic links here:", err)
					}
					continue
				}
				if err := os.WriteFile(place, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var dirs []string
			for _, d := range filepath.SplitList(c.path) {
				dirs = append(dirs, filepath.Join(root, d))
			}
			given := c.given
			if given != "" {
				given = filepath.Join(root, given)
			}
			env := []string{"PATH=" + strings.Join(dirs, string(filepath.ListSeparator)), "HOME=" +
				filepath.Join(root, "home")}
			got, err := locate(given, env)
			switch {
			case c.want != "" && (err != nil || got != filepath.Join(root, filepath.FromSlash(c.want))):
				t.Errorf("found %q, %v; want %s", got, err, c.want)
			case c.want == "" && (err == nil || !strings.Contains(err.Error(), c.words)):
				t.Errorf("found %q, %v; want an error that says %q", got, err, c.words)
			}
		})
	}
}

// TestEnvironment: the CLI gets what is on the list, and what we say ourselves.
func TestEnvironment(t *testing.T) {
	env := []string{"PATH=/bin", "HOME=/h", "LANG=C", "https_proxy=http://p", "COPILOT_ALLOW_ALL=true",
		"COPILOT_HOME=/theirs", "COPILOT_GITHUB_TOKEN=t",
		"GITHUB_TOKEN=g", "OPENAI_API_KEY=k", "WEBCHAT_PROVIDER_KEY=w", "AWS_SECRET_ACCESS_KEY=a",
		"NODE_OPTIONS=--require=x", "LD_PRELOAD=x"}
	own := New(Config{
		Home:          "/state",
		Env:           env,
		ProviderURL:   "http://m/v1",
		ProviderModel: "small",
	}).environment("/state")
	want := []string{"PATH=/bin", "HOME=/h", "LANG=C", "https_proxy=http://p", "COPILOT_HOME=/state",
		"COPILOT_AUTO_UPDATE=false", "COPILOT_DISABLE_LOGIN_SHELL_ENV=true",
		"COPILOT_OFFLINE=true", "COPILOT_DISABLE_KEYTAR=1", "COPILOT_PROVIDER_BASE_URL=http://m/v1",
		"COPILOT_MODEL=small"}
	if !slices.Equal(own, want) {
		t.Errorf("with a provider: %q", own)
	}
	login := New(Config{Home: "/state", Env: env}).environment("/state")
	want = []string{"PATH=/bin", "HOME=/h", "LANG=C", "https_proxy=http://p", "COPILOT_GITHUB_TOKEN=t",
		"GITHUB_TOKEN=g", "COPILOT_HOME=/state", "COPILOT_AUTO_UPDATE=false",
		"COPILOT_DISABLE_LOGIN_SHELL_ENV=true"}
	if !slices.Equal(login, want) {
		t.Errorf("under a login: %q", login)
	}
}
