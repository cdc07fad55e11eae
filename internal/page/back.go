package page

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/wording"
)

// back is one time that the session went back to an earlier prompt.
type back struct {
	To             time.Time // when that was sent; zero: not known here
	Prompts, Files int64     // that are put aside
	Undone         bool
	Last           bool // it is what is taken back next

	seq int64
}

// One reports whether one thing is put aside.
func (b *back) One() bool { return b.Prompts+b.Files == 1 }

// What says what is put aside; empty: nothing.
func (b *back) What() string {
	var parts []string
	if b.Prompts > 0 {
		parts = append(parts, wording.Plural(b.Prompts, "prompt"))
	}
	if b.Files > 0 {
		parts = append(parts, wording.Plural(b.Files, "file"))
	}
	if len(parts) == 0 {
		return ""
	}
	if b.One() {
		return parts[0] + " is put aside"
	}
	return strings.Join(parts, " and ") + " are put aside"
}

// rewinds are the times that the session went back to an earlier prompt.
type rewinds struct {
	*core
	backs []*node // the rows of what was not taken back
}

// rewound folds the turns that the agent forgets, or shows them again, and says so in a row of its
// own. What undid a single turn is a matter of that turn.
func (f *rewinds) rewound(d event.SessionRewound) {
	of := eventlog.StretchesOf(d, f.Seq)
	if len(of) > 0 && (d.Undoes > 0 || !slices.Contains(f.left, of[0])) {
		f.left = eventlog.LeftAfter(f.left, d, f.Seq)
	}
	b := &back{seq: f.Seq}
	for _, n := range f.root.Kids {
		t := n.Turn
		if t.Message != "" && t.Message == d.ToMessageID {
			b.To = t.At
		}
		left := eventlog.IsLeft(f.left, t.from) && !t.Look
		if d.Given && eventlog.IsLeft(of, t.from) && t.Rewinds {
			t.Rewinds = false // the agent knows its text alone
			f.show(n, whole)
		}
		if left != t.Left {
			if t.Left = left; !left {
				f.show(n, whole) // an attribute goes
				continue
			}
			if t.Prompt != "" {
				b.Prompts++
			}
			f.show(n, own)
		}
	}
	if d.TurnID != "" {
		f.undone(d)
		return
	}
	if d.Undoes > 0 {
		f.tookBack(d.Undoes)
		f.say("What was put aside is back")
		return
	}
	if d.Files != nil {
		b.Files = d.Files.Written + d.Files.Deleted
	}
	t := f.addTurn(&turn{At: f.now, State: string(event.Completed), Look: true},
		elementID("t-", "back-"+strconv.FormatInt(f.Seq, 10)))
	n := f.noteIn(t, "", "undo", "")
	n.Note.Back = b
	f.backs = append(f.backs, n)
	f.nextBack()
	f.say(strings.TrimSuffix("Went back to that prompt. "+b.What(), ". "))
}

// tookBack says of a going back that it was taken back.
func (f *rewinds) tookBack(seq int64) {
	for i, n := range f.backs {
		if n.Note.Back.seq == seq {
			n.Note.Back.Undone, n.Note.Back.Last = true, false
			f.showKept(n)
			f.backs = slices.Delete(f.backs, i, i+1)
			break
		}
	}
	f.nextBack()
}

// showKept draws a row anew, if its turn is still there.
func (f *core) showKept(n *node) {
	if slices.Contains(f.root.Kids, n.parent) {
		f.show(n, whole)
	}
}

// nextBack gives the last going back that stands the button.
func (f *rewinds) nextBack() {
	for i, n := range f.backs {
		if last := i == len(f.backs)-1; n.Note.Back.Last != last {
			n.Note.Back.Last = last
			f.showKept(n)
		}
	}
}

// undone shows that the files of one turn were brought back, or that this was taken back.
func (f *rewinds) undone(d event.SessionRewound) {
	for _, n := range f.root.Kids {
		if n.Turn.ID == d.TurnID {
			n.Turn.Undone = d.Undoes == 0
			f.show(n, whole)
		}
	}
}
