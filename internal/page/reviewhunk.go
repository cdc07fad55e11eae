package page

import (
	"fmt"
	"slices"

	"webchat/internal/event"
	"webchat/internal/patch"
	"webchat/internal/views"
	"webchat/internal/wording"
)

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
