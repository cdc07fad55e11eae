package page

import (
	"html/template"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"webchat/internal/event"
	"webchat/internal/render"
	"webchat/internal/wording"
)

// Edit is what an edit changed, as a diff with the numbers of lines; empty for other
// calls, and where the agent did not tell.
func (c *Call) Edit() template.HTML {
	if !c.edits() {
		return ""
	}
	return render.Diff(c.rows(c.Edits))
}

// Changed is [Call.Edit] with the numbers of both texts beside each other.
func (c *Call) Changed() template.HTML {
	if !c.edits() {
		return ""
	}
	return render.TwoColumns(c.rows(c.Edits))
}

// Counts is how many lines an edit added and removed; nil for other calls, while it runs, and where
// the agent did not tell.
func (c *Call) Counts() *struct{ Added, Removed int } {
	if !c.Done() || !c.edits() {
		return nil
	}
	var n struct{ Added, Removed int }
	for _, e := range c.Edits {
		added, removed := e.Counts()
		n.Added, n.Removed = n.Added+added, n.Removed+removed
	}
	return &n
}

// edits reports whether the call changed files and its agent reported which.
func (c *Call) edits() bool {
	v, _ := verbOf(c.Tool)
	return v.done != "Ran" && c.State != "failed" && slices.ContainsFunc(c.Edits, event.Edit.Placed)
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
	// of a patch only the diff names files
	return slices.ContainsFunc(c.Edits, func(e event.Edit) bool { return c.relative(e.New) == rel })
}

// rows are the hunks of edits, as a row of the transcript shows them: of several files each behind
// its path, relative to the workspace.
func (c *Call) rows(edits []event.Edit) (rows []render.DiffLine) {
	for _, e := range edits {
		if !e.Placed() {
			continue
		}
		if name := e.New; len(edits) > 1 && name != "" {
			if name == event.NoFile {
				name = e.Old
			}
			rows = append(rows, render.DiffLine{Kind: 'h', Text: c.relative(name)})
		}
		for _, h := range e.Hunks {
			rows = append(rows, hunkRows(h)...)
		}
		if n := len(rows); rows[n-1].Kind == 'h' && rows[n-1].Text == "" { // before the next file
			rows = rows[:n-1]
		}
	}
	return concealed(few(rows), c.hide)
}

// few bounds the rows that an unfolded row of the transcript holds; the log has all of them.
func few(rows []render.DiffLine) []render.DiffLine {
	size, at := 0, 0
	for i, r := range rows {
		if size += len(r.Text) + 1; size <= maxShown {
			at = i + 1
		}
	}
	if at == len(rows) {
		return rows
	}
	for _, r := range rows[:at] {
		size -= len(r.Text) + 1
	}
	return append(rows[:at:at], render.DiffLine{Kind: 'h', Text: "… " + wording.Size(int64(size)) +
		" more in the log"})
}

// concealed are rows with what hide hides, which may go over several.
func concealed(rows []render.DiffLine, hide func(string) string) []render.DiffLine {
	texts := make([]string, len(rows))
	for i, r := range rows {
		texts[i] = r.Text
	}
	// no secret crosses a line
	if hid := strings.Split(hide(strings.Join(texts, "\n")), "\n"); len(hid) == len(rows) {
		for i := range rows {
			rows[i].Text = hid[i]
		}
		return rows
	}
	for i := range rows {
		rows[i].Text = hide(rows[i].Text)
	}
	return rows
}

// blobs matches the line with the two object names of a git diff, which is of no use to a reader.
var blobs = regexp.MustCompile(`^index [0-9a-f]+\.\.[0-9a-f]+( [0-7]{6})?\s*$`)

// Changes is what a write would change. What stands before the first hunk of a file is
// kept, since it is part of the question, with names relative to the workspace.
func (a *Ask) Changes() template.HTML {
	dir := a.In.Cwd + "/"
	names := strings.NewReplacer(" a"+dir, " a/", " b"+dir, " b/", " "+dir, " ")
	var rows []render.DiffLine
	for _, e := range a.Edits {
		var head []string
		for _, line := range e.Head {
			if blobs.MatchString(line) {
				continue
			}
			if a.In.Cwd != "" {
				line = names.Replace(line)
			}
			head = append(head, line)
		}
		e.Head = head
		rows = append(rows, editRows([]event.Edit{e})...)
	}
	return render.Diff(concealed(rows, a.In.kept))
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
