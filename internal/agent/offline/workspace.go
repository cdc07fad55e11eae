package offline

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	maxEntries = 20_000 // files and folders looked at in one turn
	maxShown   = 8      // files shown for one request
	maxNear    = 5      // names suggested
)

// skipped are folders whose files are never meant by a vague name.
var skipped = map[string]bool{
	".git": true, ".hg": true, ".svn": true, ".jj": true, "node_modules": true, "__pycache__": true, ".venv": true,
	"venv": true, ".tox": true, ".cache": true, ".next": true, ".idea": true, "target": true, ".terraform": true,
}

// workspace is the open folder during one turn. Nothing is read through a link
// that leaves it.
type workspace struct {
	root *os.Root
	path string // Config.Path

	walked bool
	files  []string // slash paths, the shallow ones first
	more   bool     // there were more than maxEntries
}

func openWorkspace(dir, path string) (*workspace, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	return &workspace{root: root, path: path}, nil
}

func (w *workspace) close() { w.root.Close() }

// list returns the files of the workspace, breadth first, walking once.
func (w *workspace) list(ctx context.Context) []string {
	if w.walked {
		return w.files
	}
	w.walked = true
	ignored := w.ignored()
	seen, fsys := 0, w.root.FS()
	for level := []string{"."}; len(level) > 0 && !w.more; {
		var deeper []string
		for _, dir := range level {
			// What cannot be read is as if it were not there.
			entries, _ := fs.ReadDir(fsys, dir)
			for _, e := range entries {
				if seen++; seen > maxEntries || ctx.Err() != nil {
					w.more = true
					return w.files
				}
				switch p := path.Join(dir, e.Name()); {
				case e.Type().IsRegular(), e.Type()&fs.ModeSymlink != 0:
					w.files = append(w.files, p)
				case e.IsDir() && !skipped[e.Name()] && !ignored[e.Name()] && !ignored["/"+p]:
					deeper = append(deeper, p)
				}
			}
		}
		level = deeper
	}
	return w.files
}

// ignored reads the plain folder names of the top .gitignore; patterns are not
// worth their weight here.
func (w *workspace) ignored() map[string]bool {
	names := map[string]bool{}
	b, err := w.readSmall(".gitignore")
	if err != nil {
		return names
	}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.ContainsAny(line, "*?[!#\\") {
			continue
		}
		line = strings.TrimSuffix(line, "/")
		if strings.Contains(line, "/") {
			line = "/" + strings.TrimPrefix(line, "/") // anchored
		}
		names[line] = true
	}
	return names
}

// found is what a name turned out to mean.
type found struct {
	paths []string // to be handed to the tool, at most maxShown
	total int      // how many there were
	near  []string // if there is no path: what may have been meant
	twins bool     // near are all of exactly that name
}

// find looks for what a person called by a name: an existing path, a pattern,
// several names, or a near miss. Paths it does not judge (outside, odd) are
// handed on as they are, so that the tool says what is wrong with them.
func (w *workspace) find(ctx context.Context, r request) found {
	for i, p := range []string{r.raw, r.text, strings.TrimRight(r.text, ".?!,;: ")} {
		if p != "" && (i > 0 && isForeign(p) || w.exists(p)) { // raw may be "me ../x"
			return found{paths: []string{p}, total: 1}
		}
	}
	name := strings.TrimRight(r.text, ".?!,;: ")
	if strings.ContainsAny(r.text, "*?[") {
		if hits := w.glob(ctx, r.text); len(hits) > 0 {
			return found{paths: hits[:min(len(hits), maxShown)], total: len(hits)}
		}
	}
	if several := w.several(ctx, name); several.total > 0 {
		return several
	}
	return w.byName(ctx, name)
}

// onlyPath reads a line that is nothing but a path, with lines or without: one that
// exists, or that only the tool can judge.
func (w *workspace) onlyPath(line string) (request, bool) {
	r := parseShow("show", line)
	switch {
	case !strings.ContainsAny(r.text, "./"), r.act != show, strings.ContainsAny(r.text, "\n"):
		return r, false
	case w.exists(r.text):
		return r, true
	}
	foreign := isForeign(r.text) && strings.Contains(r.text[1:], "/") // "/help" is a word
	return r, foreign && !strings.ContainsAny(r.text, " \t")
}

// isForeign reports whether p is a path no look into the workspace can settle.
func isForeign(p string) bool {
	slashed := filepath.ToSlash(p)
	return filepath.IsAbs(p) || strings.HasPrefix(slashed, "/") || slashed == ".." ||
		strings.HasPrefix(slashed, "../") || strings.Contains(slashed, "/../") || strings.HasSuffix(slashed, "/..")
}

// exists reports whether there is something at p, or a link on the way to it:
// where that leads is the tool's to judge.
func (w *workspace) exists(p string) bool {
	if _, err := w.root.Lstat(p); err == nil {
		return true
	}
	for dir := path.Dir(filepath.ToSlash(p)); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if fi, err := w.root.Lstat(dir); err == nil {
			return fi.Mode()&fs.ModeSymlink != 0
		}
	}
	return false
}

// several reads "a.go, b.go and c.go". At least one name has to be a file.
func (w *workspace) several(ctx context.Context, name string) found {
	names := regexp.MustCompile(`(?i)\s*,\s*(?:and\s+)?|\s+and\s+(?:the\s+)?|\s+&\s+`).Split(name, -1)
	if len(names) < 2 {
		names = strings.Fields(name)
		if len(names) < 2 || slices.ContainsFunc(names, func(n string) bool { return !w.exists(n) }) {
			return found{}
		}
	}
	var all found
	for _, n := range names[:min(len(names), 4*maxShown)] {
		n = unwrapAny(n)
		f := found{paths: []string{n}, total: 1}
		if !w.exists(n) {
			f = w.byName(ctx, n)
		}
		all.paths = append(all.paths, f.paths...)
		all.total += f.total
	}
	all.paths = all.paths[:min(len(all.paths), maxShown)]
	return all
}

// glob returns the files a pattern means: of the folder it names, or, when it
// names none and nothing lies at the top, of any folder.
func (w *workspace) glob(ctx context.Context, pattern string) []string {
	pattern = strings.TrimPrefix(filepath.ToSlash(pattern), "./")
	re, err := regexp.Compile("(?is)^" + globRegexp(pattern) + "$")
	if err != nil {
		return nil
	}
	var hits, deep []string
	for _, f := range w.list(ctx) {
		hidden := strings.HasPrefix(path.Base(f), ".") && !strings.HasPrefix(path.Base(pattern), ".")
		switch {
		case hidden:
		case re.MatchString(f):
			hits = append(hits, f)
		case !strings.Contains(pattern, "/") && re.MatchString(path.Base(f)):
			deep = append(deep, f)
		}
	}
	if len(hits) == 0 {
		return deep
	}
	return hits
}

func globRegexp(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case strings.HasPrefix(pattern[i:], "**/"):
			b.WriteString(`(?:.*/)?`)
			i += 2
		case strings.HasPrefix(pattern[i:], "**"):
			b.WriteString(`.*`)
			i++
		case c == '*':
			b.WriteString(`[^/]*`)
		case c == '?':
			b.WriteString(`[^/]`)
		case c == '[' && strings.IndexByte(pattern[i:], ']') > 1:
			end := i + strings.IndexByte(pattern[i:], ']')
			class := pattern[i+1 : end]
			if class[0] == '!' {
				class = "^" + class[1:]
			}
			b.WriteString("[" + strings.ReplaceAll(class, `\`, `\\`) + "]")
			i = end
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	return b.String()
}
