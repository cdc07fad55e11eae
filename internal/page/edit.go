package page

import (
	"html/template"
	"path/filepath"
	"regexp"
	"strings"

	"webchat/internal/render"
)

// Edit is what an edit changed, as a diff with the numbers of lines; empty for other
// calls, and where the agent did not tell.
func (c *Call) Edit() template.HTML {
	if !c.edits() {
		return ""
	}
	return render.Diff(c.hide(c.withoutHeads(cut(c.Log))))
}

// Changed is [Call.Edit] with the numbers of both texts beside each other.
func (c *Call) Changed() template.HTML {
	if !c.edits() {
		return ""
	}
	return render.TwoColumns(c.hide(c.withoutHeads(cut(c.Log))))
}

// Counts is how many lines an edit added and removed; nil for other calls, while it runs, and where
// the agent did not tell.
func (c *Call) Counts() *struct{ Added, Removed int } {
	if !c.Done() || !c.edits() {
		return nil
	}
	var n struct{ Added, Removed int }
	n.Added, n.Removed = render.CountDiff(c.Log)
	return &n
}

// edits reports whether the call changed files and its agent reported which.
func (c *Call) edits() bool {
	v, _ := verbOf(c.Tool)
	return v.done != "Ran" && c.State != "failed" && strings.Contains("\n"+c.Log, "\n@@ -")
}

// writes reports whether the call is of a tool that changes files.
func (c *Call) writes() bool {
	v, _ := verbOf(c.Tool)
	return v.done == "Edited" || v.done == "Wrote"
}

// editsFile reports whether the call changes a file, by its absolute name.
func (c *Call) editsFile(name string) bool {
	if !c.writes() {
		return false
	}
	rel := c.inWorkspace(name)
	if c.inWorkspace(filepath.Clean(c.Name())) == rel {
		return true
	}
	for line := range strings.Lines(cut(c.Log)) { // of a patch only the diff names files
		if at, ok := strings.CutPrefix(line, "+++ "); ok && c.relative(at) == rel {
			return true
		}
	}
	return false
}

// withoutHeads is a diff without what stands before the hunks of a file but its path,
// relative to the workspace, and without that too if there is one file, which the row
// names.
func (c *Call) withoutHeads(diff string) string {
	var out []string
	path, files := "", strings.Count("\n"+diff, "\n+++ ")
	head, old := true, ""
	for line := range strings.Lines(diff) {
		name, isNew := strings.CutPrefix(line, "+++ ")
		was, isOld := strings.CutPrefix(line, "--- ")
		switch {
		case strings.HasPrefix(line, "@@ -"):
			if head && path != "" && files > 1 {
				out = append(out, path+"\n")
			}
			head = false
			out = append(out, line)
		case strings.HasPrefix(line, "diff --git "):
			if n := len(out); n > 0 && out[n-1] == "\n" { // the first line of the next diff
				out = out[:n-1]
			}
			head = true
		case head && isOld:
			old = c.relative(was)
		case head && isNew:
			if path = c.relative(name); path == "/dev/null" {
				path = old
			}
		case !head:
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

// blobs matches the line with the two object names of a git diff, which is of no use to a reader.
var blobs = regexp.MustCompile(`^index [0-9a-f]+\.\.[0-9a-f]+( [0-7]{6})?\s*$`)

// Changes is what a write would change. What stands before the first hunk of a file is
// kept, since it is part of the question, with names relative to the workspace.
func (a *Ask) Changes() template.HTML {
	dir := a.In.Cwd + "/"
	names := strings.NewReplacer(" a"+dir, " a/", " b"+dir, " b/", " "+dir, " ")
	var out strings.Builder
	head := true
	for line := range strings.Lines(a.Diff) {
		switch {
		case strings.HasPrefix(line, "@@ -"):
			head = false
		case strings.HasPrefix(line, "diff --git "):
			head = true
		}
		if head && blobs.MatchString(line) {
			continue
		}
		if head && a.In.Cwd != "" {
			line = names.Replace(line)
		}
		out.WriteString(line)
	}
	return render.Diff(a.In.kept(out.String()))
}

// relative is a name of a diff without the folder of the workspace, and without the a/
// or b/ that git puts before it.
func (c *Call) relative(name string) string {
	name, _, _ = strings.Cut(strings.TrimRight(name, "\r\n"), "\t")
	for _, prefix := range []string{"a/", "b/"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			if in := c.inWorkspace("/" + rest); in != "/"+rest {
				return in
			}
			return rest
		}
	}
	return c.inWorkspace(name)
}

func (c *Call) inWorkspace(path string) string { return c.In.inWorkspace(path) }

// inWorkspace is a path relative to the workspace, if it is absolute and in there.
func (s *scope) inWorkspace(path string) string {
	if s == nil || s.Cwd == "" || !filepath.IsAbs(path) {
		return path
	}
	rel, err := filepath.Rel(s.Cwd, path)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return path
	}
	return filepath.ToSlash(rel)
}
