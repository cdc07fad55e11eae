package page

import (
	"fmt"
	"html/template"
	"io"
	"path"
	"path/filepath"
	"strings"
	"time"

	"webchat/internal/event"
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
