package page

import (
	"path/filepath"
	"strings"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// copied is the worktree that a session works in.
type copied struct {
	*core
	event.SessionWorktree
	last *node // the row of what can be undone
}

// Copy names the worktree that a session works in; empty if it works in none.
func (f *copied) Copy() string { return CopyName(f.SessionWorktree) }

// CopyName names a worktree by its checkout and its branch; empty if there is none.
func CopyName(w event.SessionWorktree) string {
	if w.Branch == "" {
		return ""
	}
	return wording.Plain(filepath.Base(w.Checkout) + "/" + strings.TrimPrefix(w.Branch, "webchat/"))
}

// apply folds what happens to the worktree of a session.
func (f *copied) apply(data event.Data) {
	checkout := wording.Plain(filepath.Base(f.Checkout))
	switch d := data.(type) {
	case event.SessionWorktree:
		f.SessionWorktree = d
		f.changed("copy")
	case event.WorktreeThrown:
		if d.Restored {
			f.row("The worktree is back")
		} else {
			f.row("Thrown away", action{Act: "tree-restore", Label: "Bring it back"})
		}
	case event.WorktreeBroughtBack:
		if d.Undone {
			f.row("Took back what was brought to " + checkout)
			return
		}
		text := "Brought back " + wording.Plural(len(d.Files), "file") + " to " + checkout
		if d.Commit != "" {
			text += " as one commit on " + wording.Plain(f.From)
		}
		if n := len(d.Unfitted); n == 1 {
			text += ". " + wording.Plain(d.Unfitted[0]) + " does not fit"
		} else if n > 1 {
			text += ". " + wording.Plural(n, "file") + " do not fit: " +
				wording.Plain(strings.Join(d.Unfitted, ", "))
		}
		if len(d.Files) == 0 {
			f.row(text)
		} else {
			f.row(text, action{Act: "tree-undo", Label: "Undo"})
		}
	}
}

// row says what happened to the worktree. Earlier rows can no longer be undone.
func (f *copied) row(text string, actions ...action) {
	if n := f.last; n != nil && n.Note.Actions != nil {
		n.Note.Actions = nil
		f.showKept(n)
	}
	f.last = f.note("", "branch", text)
	f.last.Note.Actions = actions
	f.say(text)
}
