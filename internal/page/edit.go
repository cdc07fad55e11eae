package page

import (
	"cmp"
	"html/template"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"webchat/internal/event"
	"webchat/internal/render"
	"webchat/internal/wording"
)

// diff is what edits changed, as a row of the transcript shows it.
type diff struct {
	edits []event.Edit
	in    *scope
}

// Diff is what an edit changed; nil for other calls, and where the agent did not tell.
func (c *Call) Diff() *diff {
	if !c.edits() {
		return nil
	}
	return &diff{c.Edits, c.In}
}

// Lines are the change as a diff with the numbers of lines.
func (d *diff) Lines() template.HTML { return render.Diff(d.rows()) }

// Columns are [diff.Lines] with the numbers of both texts beside each other.
func (d *diff) Columns() template.HTML { return render.TwoColumns(d.rows()) }

// Counts is how many lines were added and removed.
func (d *diff) Counts() (n struct{ Added, Removed int }) {
	for _, e := range d.edits {
		added, removed := e.Counts()
		n.Added, n.Removed = n.Added+added, n.Removed+removed
	}
	return n
}

// Where names the lines that an edit left, if they stand together.
func (d *diff) Where() string {
	if len(d.edits) != 1 || len(d.edits[0].Hunks) != 1 {
		return ""
	}
	first, last := 0, 0
	for _, r := range hunkRows(d.edits[0].Hunks[0]) {
		if r.Kind == '+' {
			first, last = cmp.Or(first, r.New), r.New
		}
	}
	switch {
	case first == 0:
		return ""
	case first == last:
		return "line " + strconv.Itoa(first)
	}
	return "lines " + strconv.Itoa(first) + "–" + strconv.Itoa(last)
}

// edits reports whether the call changed files and its agent reported which.
func (c *Call) edits() bool {
	v, _ := verbOf(c.Tool)
	return v.done != "Ran" && c.State != "failed" && slices.ContainsFunc(c.Edits, event.Edit.Placed)
}

// writes reports whether a tool changes files.
func writes(tool string) bool {
	v, _ := verbOf(tool)
	return v.done == "Edited" || v.done == "Wrote" || v.done == "Made"
}

// editsFile reports whether the call changes a file, by its absolute name.
func (c *Call) editsFile(name string) bool {
	if !writes(c.Tool) {
		return false
	}
	rel := c.In.inWorkspace(name)
	if c.In.inWorkspace(filepath.Clean(c.Name())) == rel {
		return true
	}
	// of a patch only the diff names files
	return slices.ContainsFunc(c.Edits, func(e event.Edit) bool { return c.In.relative(e.New) == rel })
}

// rows are the hunks of the edits: those of several files each behind its path, relative to the
// workspace.
func (d *diff) rows() (rows []render.DiffLine) {
	for _, e := range d.edits {
		if !e.Placed() {
			continue
		}
		if name := e.New; len(d.edits) > 1 && name != "" {
			if name == event.NoFile {
				name = e.Old
			}
			rows = append(rows, render.DiffLine{Kind: 'h', Text: d.in.relative(name)})
		}
		for _, h := range e.Hunks {
			rows = append(rows, hunkRows(h)...)
		}
		if n := len(rows); rows[n-1].Kind == 'h' && rows[n-1].Text == "" { // before the next file
			rows = rows[:n-1]
		}
	}
	return concealed(few(rows), d.in.dotted)
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

// File is the path of what a write changes, in the workspace without that.
func (a *Ask) File() template.HTML {
	return render.Visible(
		a.In.kept(a.In.inWorkspace(a.Resource)))
}

// Counts is how many lines a write would add and remove.
func (a *Ask) Counts() (n struct{ Added, Removed int }) { return (&diff{a.Edits, a.In}).Counts() }

// Changes is what a write would change: the hunks. Of what stands before them only that is kept
// which the path above does not say, since it is part of the question.
func (a *Ask) Changes() template.HTML {
	dir := a.In.Cwd + "/"
	names := strings.NewReplacer(" a"+dir, " a/", " b"+dir, " b/", " "+dir, " ")
	var rows []render.DiffLine
	for _, e := range a.Edits {
		own, head := len(a.Resources) == 0 && a.isOf(e.Old) && a.isOf(e.New), []string(nil)
		for _, line := range e.Head {
			if blobs.MatchString(line) || own && (plainHead.MatchString(line) ||
				strings.TrimSpace(line) == "") {
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

// plainHead matches the lines before the hunks of a file that keeps its name and kind.
var plainHead = regexp.MustCompile(`^(diff --git |--- |\+\+\+ |new file mode 100644)`)

// isOf reports whether a name of a diff is that of the file that the question names, or of none.
func (a *Ask) isOf(name string) bool {
	return name == event.NoFile || a.In.relative(name) == a.In.inWorkspace(a.Resource)
}

// relative is a name of a diff without the folder of the workspace, and without the a/
// or b/ that git puts before it.
func (s *scope) relative(name string) string {
	name, _, _ = strings.Cut(strings.TrimRight(name, "\r\n"), "\t")
	for _, prefix := range []string{"a/", "b/"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			if in := s.inWorkspace("/" + rest); in != "/"+rest {
				return in
			}
			return rest
		}
	}
	return s.inWorkspace(name)
}

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
