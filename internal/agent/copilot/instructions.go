package copilot

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"webchat/internal/event"
	"webchat/internal/policy"
)

func (b *Backend) Instructions(folder string) []string {
	if i := findInstructions(folder); !b.cfg.NoInstructions && i.wrong == "" { // else none is loaded
		return i.files
	}
	return nil
}

// skipInstructions reports whether the CLI is to load no instruction files, and why if that is not
// what the user wanted.
func (c *conn) skipInstructions() (skip bool, why string) {
	if c.b.cfg.NoInstructions {
		return true, ""
	}
	why = findInstructions(c.Options.Workspace).wrong
	return why != "", why
}

// skipping are the parameters that keep instruction files out of prompts. The general-purpose
// helper agent loads them all the same, so it is left out as well.
func skipping(skip bool) map[string]any {
	agents := []string{}
	if skip {
		agents = []string{"general-purpose"}
	}
	return map[string]any{"skipCustomInstructions": skip, "excludedBuiltinAgents": agents}
}

// instruct looks before a prompt whether the instruction files of the workspace may still be
// loaded, since they may have changed, and reports if not.
func (c *conn) instruct(ctx context.Context) error {
	skip, why := c.skipInstructions()
	c.mu.Lock()
	changed, news := skip != c.skipping, why != c.skipped
	c.skipping, c.skipped = skip, why
	c.mu.Unlock()
	if changed {
		if err := c.ask(ctx, "session.options.update", skipping(skip), nil); err != nil {
			return err
		}
	}
	if news && why != "" {
		c.Post(func() {
			c.Warn(event.KindProvider, "No instruction file of this folder was loaded: %s. Change that, or start webchat with --instructions off.", why)
		})
	}
	return nil
}

// Bounds of a look for instruction files.
const (
	maxInstructions   = 200      // files
	maxInstructionDir = 2000     // entries of folders
	maxImportHead     = 64 << 10 // bytes of a file in which imports are looked for
)

// instructionSet are the files of a workspace that tell an agent how to work there.
type instructionSet struct {
	top   string   // the root of the git repository, else the workspace
	root  string   // the same with links followed
	files []string // absolute paths
	wrong string   // why none of them may be loaded: what one of them leads to
	left  int      // entries of folders that may still be looked at
}

// findInstructions finds what version 1.0.102 was seen to load into the prompt: AGENTS.md,
// CLAUDE.md, GEMINI.md (in upper or lower case) and .github/copilot-instructions.md in each folder
// from the root of the git repository down to the workspace; in these two also
// .github/instructions/**/*.instructions.md and .claude/rules/**/*.md, in those between them
// .claude/CLAUDE.md; and within a git repository the files that AGENTS.md and CLAUDE.md import by
// "@path". It follows links to any file of the machine, and imports .env as it does anything else:
// the model would read files the user was not asked about.
func findInstructions(workspace string) *instructionSet {
	i := &instructionSet{left: maxInstructionDir}
	folders := []string{workspace}
	for dir := workspace; !isGitRoot(dir); dir = filepath.Dir(dir) {
		if filepath.Dir(dir) == dir { // no repository
			folders = folders[:1]
			break
		}
		folders = append(folders, filepath.Dir(dir))
	}
	slices.Reverse(folders)
	i.top, i.root = folders[0], policy.Resolve(folders[0])
	for n, dir := range folders {
		i.named(dir, map[string]bool{"agents.md": true, "claude.md": true, "gemini.md": false})
		i.named(filepath.Join(dir, ".github"), map[string]bool{"copilot-instructions.md": false})
		if n == 0 || n == len(folders)-1 {
			i.walk(filepath.Join(dir, ".github", "instructions"), ".instructions.md")
			i.walk(filepath.Join(dir, ".claude", "rules"), ".md")
			continue
		}
		i.named(filepath.Join(dir, ".claude"), map[string]bool{"claude.md": true})
	}
	return i
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
var importedFile = regexp.MustCompile(`@([^\s@]+)`)

// add adds a file, and what it imports, if it is one.
func (i *instructionSet) add(name string, imports bool) {
	if st, err := os.Stat(name); err != nil || !st.Mode().IsRegular() || slices.Contains(i.files, name) {
		return
	}
	shown, real := strings.TrimPrefix(name, i.top+string(filepath.Separator)), policy.Resolve(name)
	switch {
	case !folderContains(i.root, real):
		i.refuse(shown + " leads to " + real + ", which is outside")
	case real != filepath.Join(i.root, shown) && policy.SensitiveFile(real):
		i.refuse(shown + " leads to " + real + ", which may hold keys or passwords")
	}
	if len(i.files) == maxInstructions {
		i.refuse("there are more than 200 of them")
		return
	}
	i.files = append(i.files, name)
	if !imports {
		return
	}
	for _, m := range importedFile.FindAllStringSubmatch(fileHead(name), -1) {
		for _, other := range slices.Compact([]string{m[1], strings.TrimRight(m[1], ".,;:!?)]}>'\"`")}) {
			i.addImport(name, other)
		}
	}
}

func (i *instructionSet) addImport(from, name string) {
	full := name
	if !filepath.IsAbs(full) {
		full = filepath.Join(filepath.Dir(from), name)
	}
	// What lies outside of the repository is not imported.
	if !folderContains(i.root, filepath.Join(policy.Resolve(filepath.Dir(full)), filepath.Base(full))) {
		return
	}
	i.add(full, true)
	if policy.SensitiveFile(full) && slices.Contains(i.files, full) {
		i.refuse(filepath.Base(from) + " imports " + name + ", which may hold keys or passwords")
	}
}

// refuse keeps the first reason.
func (i *instructionSet) refuse(why string) {
	if i.wrong == "" {
		i.wrong = why
	}
}

func folderContains(root, name string) bool {
	return name == root || strings.HasPrefix(name, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))
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
