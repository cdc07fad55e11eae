package page

import (
	"fmt"
	"html/template"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"webchat/internal/event"
	"webchat/internal/patch"
	"webchat/internal/views"
	"webchat/internal/wording"
)

// Review is what an agent changed, file by file and change by change.
type Review struct {
	Since string // turn, prompt, commit, or back: what going back would write
	From  int64  // the first event of the turn; 0: of no turn
	Turns []ReviewTurn
	// the id of the turn, if it can be undone as a whole; Undo and Redo say in which way
	Turn   string
	Undo   bool      // something stands as the turn left it
	Redo   bool      // something is as it was before
	Commit string    // to compare with; empty: there is none
	Began  time.Time // when that was which files are compared with
	Files  []ReviewFile
	More   bool // there are files that are not listed
	// HalfDone are commands that take back what git left half done in the folder.
	HalfDone []string
	// Kept are files that the sandbox kept as they were when the turn would have written to them.
	Kept   []string
	Unkept string // why what commands changed in the turn is not known; empty: it is
	// Checkout is what the session's worktree is one of; empty: it has none, or it was thrown away.
	Checkout string
	Branch   string // that had; empty: none

	clock func(time.Time) string
}

// ReviewTurn is a turn that edited files.
type ReviewTurn struct {
	From   int64
	Prompt string
	At     time.Time
}

// ReviewFile is a file that an agent changed.
type ReviewFile struct {
	Path           string
	Output, With   string // what the agent left, and what it was; empty: not known
	Added, Removed int
	New, Gone      bool
	// why its changes are not shown, or cannot be taken back: closed, binary, large, changed, untold
	// or link
	Why    string
	Also   bool         // the checkout changed it, too
	Unfit  bool         // at the same place
	Held   bool         // what it was comes back with the whole turn
	Runs   int          // changes that the agent reported, where they are not shown one by one
	Edits  []event.Edit // what the agent reported, where the texts are not known
	Undone []int        // changes that are taken back, from 1
	Hunks  []views.Hunk
	// Of a file that is not shown, its bytes in the commit at which the session began and now; nil:
	// not known, or there is none.
	Committed, Size *int64

	review *Review
	first  int // how many changes the files before it have
}

// Review writes what an agent changed, as the Desk shows it.
func (p *Pages) Review(w io.Writer, r Review) error {
	r.clock = p.clock
	n := 0
	for i := range r.Files {
		f := &r.Files[i]
		f.review, f.first = &r, n
		n += f.changes()
		if len(f.Hunks) > 0 {
			f.Added, f.Removed = 0, 0
		}
		for _, h := range f.Hunks {
			f.Added, f.Removed = f.Added+h.Added, f.Removed+h.Removed
		}
	}
	return p.write(w, "review", &r)
}

// Whole names what all that the session did is compared with.
func (r *Review) Whole() string {
	if r.Checkout != "" && r.Branch != "" {
		return wording.Plain(r.Branch)
	}
	return "the commit"
}

// In is the name of the checkout.
func (r *Review) In() string { return wording.Plain(filepath.Base(r.Checkout)) }

// In is the name of the checkout.
func (f *ReviewFile) In() string { return f.review.In() }

// Tab is the name of its tab.
func (r *Review) Tab() string {
	if r.Since == "back" {
		return "Back to " + r.clock(r.Began)
	}
	return "Review " + r.clock(r.Began)
}

// Changes is how many changes there are.
func (r *Review) Changes() (n int64) {
	for i := range r.Files {
		n += int64(r.Files[i].changes())
	}
	return n
}

// changes is how many changes there are in the file: where they are not shown one by one, as many
// as the agent reported, and one at least.
func (f *ReviewFile) changes() int {
	if len(f.Hunks) > 0 || f.Why == "" {
		return len(f.Hunks)
	}
	return max(1, f.Runs)
}

// Undone is how many of them are taken back.
func (r *Review) Undone() (n int64) {
	for i := range r.Files {
		n += int64(len(r.Files[i].Undone))
	}
	return n
}

// Standing is how many changes can be taken back.
func (r *Review) Standing() (n int) {
	for i := range r.Files {
		if f := &r.Files[i]; f.Undoable() {
			n += len(f.Hunks) - len(f.Undone)
		}
	}
	return n
}

// Revivable is how many changes can be brought back.
func (r *Review) Revivable() (n int) {
	for i := range r.Files {
		if f := &r.Files[i]; f.Undoable() {
			n += len(f.Undone)
		}
	}
	return n
}

// Added counts the new lines of all files.
func (r *Review) Added() (n int) {
	for i := range r.Files {
		n += r.Files[i].Added
	}
	return n
}

// Removed counts the lines that are gone.
func (r *Review) Removed() (n int) {
	for i := range r.Files {
		n += r.Files[i].Removed
	}
	return n
}

// NumFiles is how many files there are.
func (r *Review) NumFiles() int64 { return int64(len(r.Files)) }

// Fate is what going back does to the file, beside writing other lines.
func (f *ReviewFile) Fate() string {
	switch {
	case f.review.Since != "back":
		return ""
	case f.New:
		return "deleted since"
	case f.Gone:
		return "made since"
	}
	return "changed since"
}

// Base and Dir are the two parts of the path.
func (f *ReviewFile) Base() string { return path.Base(f.Path) }

// Dir ends with a slash, unless it is empty.
func (f *ReviewFile) Dir() string { return f.Path[:len(f.Path)-len(path.Base(f.Path))] }

// Undoable reports whether its changes can be taken back.
func (f *ReviewFile) Undoable() bool { return f.Output != "" && f.Why == "" }

// Reported is what the agent reported of its edits.
func (f *ReviewFile) Reported() template.HTML {
	return (&diff{edits: f.Edits}).Columns()
}

// Say is what stands in the place of changes, or of the button that takes them back.
func (f *ReviewFile) Say() string {
	switch f.Why {
	case "closed":
		return "This file may hold secrets, so only its name is shown, and its change cannot be undone " +
			"here."
	case "link":
		return "This is or was a link, so only its name is shown." + f.held()
	case "large":
		if f.review.Since == "back" {
			return "This is more than is shown here. It is written all the same."
		}
		if f.Held {
			return "This is more than a review shows." + f.held() + f.sizes()
		}
		return "This is more than a review shows, so it cannot be undone here. Open the file itself." +
			f.sizes()
	case "binary":
		return "This file is or was not text, so it cannot be compared line by line. What it was is " +
			"not kept here, so it cannot be undone here." + f.sizes()
	case "changed":
		return "The file is no longer what the agent left."
	case "untold":
		return "The agent did not report which lines it changed, so they cannot be undone here."
	}
	if len(f.Hunks) == 0 {
		return "Nothing in it differs now."
	}
	return ""
}

// held says that a change is undone with the turn.
func (f *ReviewFile) held() string {
	if f.Held && f.review.Turn != "" {
		return " Undoing the turn brings back what it was."
	}
	return ""
}

// sizes says how large a file is that is not shown, and was.
func (f *ReviewFile) sizes() string {
	switch {
	case f.Size != nil && f.Committed != nil:
		return fmt.Sprintf(" It has %s now, and %s in the commit at which the session began.",
			wording.Size(*f.Size), wording.Size(*f.Committed))
	case f.Size != nil:
		return fmt.Sprintf(" It has %s now.", wording.Size(*f.Size))
	case f.Committed != nil:
		return fmt.Sprintf(" It is gone, and has %s in the commit at which the session began.",
			wording.Size(*f.Committed))
	}
	return ""
}

// Bytes is the size of a file that is not compared line by line; empty if it is not known.
func (f *ReviewFile) Bytes() string {
	switch {
	case len(f.Hunks) == 1 && f.Hunks[0].Bytes != nil:
		b := f.Hunks[0].Bytes
		if f.Gone {
			return wording.Size(b[0])
		}
		return wording.Size(b[1])
	case f.Size != nil:
		return wording.Size(*f.Size)
	}
	return ""
}

// Restore is the command that brings back what the file was when the session began, where the
// review cannot; empty if there is no commit, or git would take the name for more than this file's.
func (f *ReviewFile) Restore() string {
	absent := f.Committed == nil && (f.Why == "binary" || f.Why == "large")
	if f.Why == "" || f.Changed() || absent || f.Held || f.review.Commit == "" ||
		strings.ContainsAny(f.Path, `*?[\:`) || wording.Visible(f.Path) != f.Path {
		return ""
	}
	return wording.CommandLine("git", "restore", "--source="+
		f.review.Commit[:min(len(f.review.Commit), 12)], "--", f.Path)
}

// Elsewhere reports whether only a copy the user has could bring the file back.
func (f *ReviewFile) Elsewhere() bool {
	return f.Why != "" && !f.Changed() && !f.Held && f.Restore() == "" && f.review.Since != "back"
}

// Changed reports whether the file is no longer what the agent left.
func (f *ReviewFile) Changed() bool { return f.Why == "changed" }

// ReviewHunk is one change of a file.
type ReviewHunk struct {
	views.Hunk
	File   *ReviewFile
	Undone bool
	Key    string // the same for the same change of the file, wherever it stands
}

// List is its changes.
func (f *ReviewFile) List() (list []ReviewHunk) {
	undone, seen := map[int]bool{}, map[uint64]int{}
	for _, n := range f.Undone {
		undone[n] = true
	}
	for _, h := range f.Hunks {
		seen[h.Sum]++
		list = append(list, ReviewHunk{h, f, undone[h.N],
			fmt.Sprintf("%s %x %d", f.Path, h.Sum, seen[h.Sum])})
	}
	return list
}

// Lines are its numbers in the newer text; of removed lines, of where they were.
func (h ReviewHunk) Lines() string {
	switch first, last := h.First, h.Last; {
	case h.Bytes != nil:
		return ""
	case last < first && h.Removed == 1:
		return fmt.Sprint(h.OldFirst)
	case last < first:
		return fmt.Sprintf("%d-%d", h.OldFirst, h.OldFirst+h.Removed-1)
	case last == first:
		return fmt.Sprint(first)
	default:
		return fmt.Sprintf("%d-%d", first, last)
	}
}

// Where says it in words.
func (h ReviewHunk) Where() string {
	if b := h.Bytes; b != nil {
		switch was, now := wording.Size(b[0]), wording.Size(b[1]); {
		case h.File.New:
			return "new, " + now
		case h.File.Gone:
			return "deleted, " + was
		default:
			return was + " before, " + now + " after"
		}
	}
	first, n := h.First, h.Added
	if n == 0 {
		first, n = h.OldFirst, h.Removed
	}
	s := fmt.Sprintf("line %s", wording.Count(int64(first)))
	if n > 1 {
		s = fmt.Sprintf("lines %s–%s", wording.Count(int64(first)), wording.Count(int64(first+n-1)))
	}
	if h.Added == 0 {
		s = "removed " + s
	}
	if h.In != "" {
		s += " in " + wording.Plain(h.In)
	}
	return s
}

// At is its place among all changes.
func (h ReviewHunk) At() string {
	return fmt.Sprintf("%d of %d", h.File.first+h.N, h.File.review.Changes())
}

// Folded is the sentence in the place of a change that was taken back.
func (h ReviewHunk) Folded() string {
	before := "before the turn"
	if h.File.review.Since == "commit" {
		before = "before the session began"
	} else if h.File.review.Since == "prompt" {
		before = "before the prompt"
	}
	switch n := int64(max(h.Added, h.Removed)); {
	case h.File.New:
		return "Undone. The file is gone, as it was " + before
	case h.File.Gone:
		return "Undone. The file is back as it was " + before
	case h.Bytes != nil:
		return "Undone. The file is as it was " + before
	case h.Removed == 0 && n == 1:
		return "Undone. The line is gone, as it was " + before
	case h.Removed == 0:
		return fmt.Sprintf("Undone. The %s are gone, as it was %s", wording.Plural(n, "line"), before)
	case n == 1:
		return fmt.Sprintf("Undone. The line is as it was at %s, %s",
			h.File.review.clock(h.File.review.Began), before)
	default:
		return fmt.Sprintf("Undone. The %s are as they were at %s, %s", wording.Plural(n, "line"),
			h.File.review.clock(h.File.review.Began), before)
	}
}

// Omitted says how many rows are left out, or why there are none; empty means that it has all.
func (h ReviewHunk) Omitted() string {
	if h.Bytes != nil {
		return "This is not text, so it cannot be compared line by line."
	}
	if h.More == 0 {
		return ""
	}
	return fmt.Sprintf("%s more: open the file to read them", wording.Plural(int64(h.More), "line"))
}

// edited counts what the agent's tools changed in a turn, as they reported it.
func (n *node) edited() (changes, files int64) {
	edits := map[string]*patch.Places{}
	var walk func(*node)
	walk = func(n *node) {
		if c := n.Call; c != nil && c.Kind == "" && (c.edits() || writes(c.Tool) &&
			slices.ContainsFunc(c.Edits, func(e event.Edit) bool { return e.Binary })) {
			(&diff{c.Edits, c.In}).addTo(edits, c.Name())
		}
		for _, k := range n.Kids {
			walk(k)
		}
	}
	walk(n)
	for _, e := range edits {
		changes += int64(e.Changes())
	}
	return changes, int64(len(edits))
}

// lines is how many lines the edits below n added and removed.
func (n *node) lines() (sum struct{ Added, Removed int }) {
	for _, k := range n.calls(nil) {
		if k.Call.Kind == "" && k.Call.edits() {
			c := k.Call.Diff().Counts()
			sum.Added, sum.Removed = sum.Added+c.Added, sum.Removed+c.Removed
		}
	}
	return sum
}

// addTo adds the change to edits, by the path of the file: name, where an edit has none.
func (d *diff) addTo(edits map[string]*patch.Places, name string) {
	for _, e := range d.edits {
		if !e.Binary && !e.Placed() {
			continue
		}
		file := d.in.inWorkspace(name)
		if e.New != "" {
			if file = d.in.relative(e.New); file == event.NoFile {
				file = d.in.relative(e.Old)
			}
		}
		if edits[file] == nil {
			edits[file] = &patch.Places{}
		}
		edits[file].Add(e)
	}
}
