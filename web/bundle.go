package web

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"
)

// The modules in static/js run in a browser as they are: it does so for pages of which localStorage
// has webchat.sources. Otherwise a page is served what esbuild makes of them, in app/: few files,
// without comments, each with a map to its sources. It is made in memory when one of its files is
// asked for first, and of nothing but what is embedded: no file of the current folder, of the user
// or of the system is looked for.

// bundler names what makes app/ of the sources. It is part of [Version], since the same sources
// come out otherwise with another one.
const bundler = "esbuild 0.28.2, 2"

// The files of app/ are made at three times, so that signing in does not wait for the rest: what
// runs before all else and is no module, scripts that are one file each, and the page's own, which
// begins with [Begins] and loads later.js when something in it is needed.
var (
	first   = made(api.FormatIIFE, "theme")
	scripts = made(api.FormatESModule, "signin", "worker", "replay")
	page    = made(api.FormatESModule, "main", later)
)

// Begins names the files of app/ that a page begins with, beside theme.js.
var Begins = []string{"main", "shared"}

// later names the module that has all that is imported by import(): one file, not one for each.
const later = "later"

// app returns a file of app/; nil if there is none.
func app(name string) []byte {
	script, _, _ := strings.Cut(name, ".")
	switch script {
	case "theme":
		return first()[name]
	case "signin", "worker", "replay":
		return scripts()[name]
	}
	return page()[name]
}

// made returns what makes files of entry points, once.
func made(format api.Format, entries ...string) func() map[string][]byte {
	return sync.OnceValue(func() map[string][]byte {
		files, err := bundle(FS, format, entries)
		if err != nil { // of sources that are embedded, and built by a test
			panic(err)
		}
		return files
	})
}

// bundle makes files of modules, by name. With [later] among the entries, what both need is
// shared.js.
func bundle(sources fs.FS, format api.Format, entries []string) (map[string][]byte, error) {
	points := make([]api.EntryPoint, len(entries))
	for i, name := range entries {
		points[i] = api.EntryPoint{InputPath: "./" + name + ".js", OutputPath: name}
	}
	split := slices.Contains(entries, later)
	built := api.Build(api.BuildOptions{
		EntryPointsAdvanced: points,
		Bundle:              true,
		Splitting:           split,
		Format:              format,
		Target:              api.ESNext,
		Outdir:              "/app",
		ChunkNames:          "shared",
		MinifyWhitespace:    true,
		MinifyIdentifiers:   true,
		MinifySyntax:        true,
		Sourcemap:           api.SourceMapLinked,
		SourcesContent:      api.SourcesContentExclude,
		LegalComments:       api.LegalCommentsNone,
		TsconfigRaw:         "{}",
		LogLevel:            api.LogLevelSilent,
		Plugins:             []api.Plugin{embedded(sources, split)},
	})
	var err error
	for _, m := range built.Errors {
		err = errors.Join(err, fmt.Errorf("bundle the scripts: %s", m.Text))
	}
	files := map[string][]byte{}
	for _, f := range built.OutputFiles {
		// A map is read beside the sources.
		files[path.Base(strings.ReplaceAll(f.Path, "\\", "/"))] = bytes.ReplaceAll(f.Contents,
			[]byte(`"static:`), []byte(`"../js/`))
	}
	return files, err
}

// embedded resolves and loads modules from static/js of a file system and from nowhere else.
func embedded(sources fs.FS, split bool) api.Plugin {
	return api.Plugin{Name: "embedded", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: ".*"},
			func(a api.OnResolveArgs) (api.OnResolveResult, error) {
				name, own := strings.CutPrefix(a.Path, "./")
				if !own || strings.Contains(name, "/") {
					return api.OnResolveResult{}, fmt.Errorf("%s imports %s, which is no module beside it",
						a.Importer, a.Path)
				}
				return api.OnResolveResult{Path: name, Namespace: "static"}, nil
			})
		b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "static"},
			func(a api.OnLoadArgs) (api.OnLoadResult, error) {
				if a.Path == later+".js" {
					text, err := allLater(sources)
					return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, err
				}
				b, err := fs.ReadFile(sources, "static/js/"+a.Path)
				if split { // what is imported by import() is in one file
					b = dynamic.ReplaceAll(b, []byte("import('./"+later+".js').then((all) => all.$1)"))
				}
				text := string(b)
				return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, err
			})
	}}
}

// dynamic matches an import(), and the name of what it imports.
var dynamic = regexp.MustCompile(`\bimport\('\./(\w+)\.js'\)`)

// allLater is a module that has each module which any imports by import(), by its name.
func allLater(sources fs.FS) (string, error) {
	names, err := fs.Glob(sources, "static/js/*.js")
	if err != nil {
		return "", err
	}
	var all strings.Builder
	known := map[string]bool{"film": true} // which only a replay has
	for _, source := range names {
		b, err := fs.ReadFile(sources, source)
		if err != nil {
			return "", err
		}
		for _, m := range dynamic.FindAllSubmatch(b, -1) {
			if name := string(m[1]); !known[name] {
				known[name] = true
				fmt.Fprintf(&all, "export * as %s from './%s.js'\n", name, name)
			}
		}
	}
	return all.String(), nil
}
