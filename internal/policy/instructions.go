package policy

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Bounds of a look for instruction files.
const (
	maxInstructions   = 200     // files
	maxInstructionDir = 2000    // entries of folders
	maxImportHead     = 1 << 20 // bytes of a file in which imports are looked for
)

// Loads is which instruction files of a workspace an agent takes into its prompts, beside those of
// the folders from the root of the git repository down to the workspace.
type Loads struct {
	Above   bool // those of folders above the repository, too, up to the root of the machine
	Outside bool // and imports of files outside
	// the user's folder, whose files and those above it are the user's own; empty: unknown
	Home string
}

// Instructions are the files of a workspace that tell an agent how to work there.
type Instructions struct {
	Files []string // absolute paths
	// Wrong says why none of them may be loaded: one of them would send a model what the user was not
	// asked about. Empty: nothing is wrong.
	Wrong string
}

// instructionSet finds them.
type instructionSet struct {
	Instructions
	loads Loads
	top   string // the root of the git repository, else the workspace, or a folder above
	root  string // the same with links followed
	links *HardLinks
	left  int // entries of folders that may still be looked at
}

// FindInstructions finds AGENTS.md, CLAUDE.md, GEMINI.md (in upper or lower case) and
// .github/copilot-instructions.md in each folder; in the first and the last of them also
// .github/instructions/**/*.instructions.md and .claude/rules/**/*.md, in those between
// .claude/CLAUDE.md; and the files that AGENTS.md and CLAUDE.md import by "@path", those of
// imported files among them. With [Loads].Outside it also finds the names that agents other than
// the Copilot CLI load. It starts nothing, and reads at most 1 MiB of a file.
func FindInstructions(workspace string, l Loads) Instructions {
	i := &instructionSet{loads: l, left: maxInstructionDir}
	folders := []string{workspace}
	for dir := workspace; !isGitRoot(dir); dir = filepath.Dir(dir) {
		if filepath.Dir(dir) == dir { // no repository
			folders = folders[:1]
			break
		}
		folders = append(folders, filepath.Dir(dir))
	}
	slices.Reverse(folders)
	for _, dir := range i.above(folders[0]) {
		i.top, i.root = dir, Resolve(dir)
		i.folder(dir, true)
	}
	i.top, i.root = folders[0], Resolve(folders[0])
	for n, dir := range folders {
		i.folder(dir, n == 0 || n == len(folders)-1)
	}
	return i.Instructions
}

// above returns the folders above one, the outermost first, as far as they count.
func (i *instructionSet) above(dir string) (all []string) {
	if !i.loads.Above {
		return nil
	}
	home := Resolve(i.loads.Home)
	for up := filepath.Dir(dir); up != dir; dir, up = up, filepath.Dir(up) {
		if i.loads.Home != "" && folderContains(Resolve(up), home) {
			break
		}
		all = append(all, up)
	}
	slices.Reverse(all)
	return all
}

// folder adds the files of one folder; edge says that it is the first or the last.
func (i *instructionSet) folder(dir string, edge bool) {
	names := map[string]bool{"agents.md": true, "claude.md": true, "gemini.md": i.loads.Outside}
	if i.loads.Outside {
		for _, name := range []string{"agents.override.md", "claude.local.md", "qwen.md"} {
			names[name] = true
		}
	}
	i.named(dir, names)
	i.named(filepath.Join(dir, ".github"), map[string]bool{"copilot-instructions.md": false})
	if edge {
		i.walk(filepath.Join(dir, ".github", "instructions"), ".instructions.md")
		i.walk(filepath.Join(dir, ".claude", "rules"), ".md")
	}
	if !edge || i.loads.Outside {
		i.named(filepath.Join(dir, ".claude"), map[string]bool{"claude.md": true})
	}
}

// isGitRoot reports whether a folder is one of a repository or a worktree.
func isGitRoot(dir string) bool {
	st, err := os.Stat(filepath.Join(dir, ".git"))
	if err == nil && st.IsDir() {
		_, err = os.Stat(filepath.Join(dir, ".git", "HEAD"))
	}
	return err == nil
}

// named adds the files of a folder with these names in lower case; true if they may import others.
func (i *instructionSet) named(dir string, imports map[string]bool) {
	for _, name := range i.list(dir) {
		if may, ok := imports[strings.ToLower(name)]; ok {
			i.add(filepath.Join(dir, name), may)
		}
	}
}

// list returns the names in a folder, none if it cannot be read.
func (i *instructionSet) list(dir string) (names []string) {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ = f.Readdirnames(i.left)
	i.left = max(1, i.left-len(names)) // all folders are still looked into
	slices.Sort(names)
	return names
}

// walk adds the files with this ending below a folder; links to folders count.
func (i *instructionSet) walk(dir, ending string) {
	folders := []string{dir}
	for seen := 0; len(folders) > 0 && seen < maxInstructions; seen++ { // links may lead in a circle
		dir, folders = folders[0], folders[1:]
		for _, name := range i.list(dir) {
			full := filepath.Join(dir, name)
			switch st, err := os.Stat(full); {
			case err != nil:
			case st.IsDir():
				folders = append(folders, full)
			case strings.HasSuffix(strings.ToLower(name), ending):
				i.add(full, false)
			}
		}
	}
}

// importedFile matches what AGENTS.md and CLAUDE.md import, in any place of a line.
var importedFile = regexp.MustCompile(`@((?:\\ |[^\s@])+)`)

// add adds a file, and what it imports, if it is one.
func (i *instructionSet) add(name string, imports bool) {
	st, err := os.Stat(name)
	if err != nil || !st.Mode().IsRegular() || slices.Contains(i.Files, name) {
		return
	}
	if i.links == nil || i.links.root != i.root {
		i.links = NewHardLinks(i.root)
	}
	shown, real := strings.TrimPrefix(name, i.top+string(filepath.Separator)), Resolve(name)
	switch {
	case !folderContains(i.root, real):
		i.refuse(shown + " leads to " + real + ", which is outside")
	case real != filepath.Join(i.root, shown) && leadsToSecret(real):
		i.refuse(shown + " leads to " + real + ", which may hold keys or passwords")
	}
	if other, ok := i.links.Sensitive(st); ok {
		i.refuse(shown + " is another name of " + other + ", which may hold keys or passwords")
	}
	if len(i.Files) == maxInstructions {
		i.refuse("there are more than 200 of them")
		return
	}
	i.Files = append(i.Files, name)
	if !imports {
		return
	}
	for _, m := range importedFile.FindAllStringSubmatch(fileHead(name), -1) {
		given := strings.ReplaceAll(m[1], `\ `, " ")
		part, _, _ := strings.Cut(given, "#")
		for _, other := range slices.Compact([]string{given, part,
			strings.TrimRight(part, ".,;:!?)]}>'\"`")}) {
			i.addImport(name, other)
			if real != name { // some agents look from where a link leads
				i.addImport(real, other)
			}
		}
	}
}

func (i *instructionSet) addImport(from, name string) {
	full := name
	if rest, ok := strings.CutPrefix(name, "~/"); ok && i.loads.Home != "" {
		full = filepath.Join(i.loads.Home, rest)
	}
	if !filepath.IsAbs(full) {
		full = filepath.Join(filepath.Dir(from), name)
	}
	if !folderContains(i.root, filepath.Join(Resolve(filepath.Dir(full)), filepath.Base(full))) {
		if st, err := os.Stat(full); i.loads.Outside && err == nil && st.Mode().IsRegular() {
			i.refuse(filepath.Base(from) + " imports " + name + ", which is outside")
		}
		return
	}
	i.add(full, true)
	if leadsToSecret(full) && slices.Contains(i.Files, full) {
		i.refuse(filepath.Base(from) + " imports " + name + ", which may hold keys or passwords")
	}
}

// leadsToSecret reports whether what a link or an import names may hold a secret, by its name or
// its content. Source code, which texts are here, is judged by its name.
func leadsToSecret(name string) bool {
	return SensitiveFile(name) || !isSource(name) && headHolds(name)
}

// refuse keeps the first reason.
func (i *instructionSet) refuse(why string) {
	if i.Wrong == "" {
		i.Wrong = why
	}
}

func folderContains(root, name string) bool {
	return name == root || strings.HasPrefix(name,
		strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))
}

// fileHead returns the beginning of a regular file.
func fileHead(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, maxImportHead)) // what could be read counts
	return string(b)
}
