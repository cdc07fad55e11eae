package page

import (
	"webchat/internal/event"
	"webchat/internal/wording"
)

// damaged are events one after the other that could not be read.
type damaged struct {
	row  *node
	last int64 // the sequence of the last one
	n    int64
}

// damagedAt counts an event that could not be read in the row of those before it.
func (f *State) damagedAt(d event.SessionDamaged) {
	if run := &f.damaged; run.row != nil && run.last+1 == f.Seq {
		run.last, run.n = f.Seq, run.n+1
		run.row.Note.Text = Damaged(run.n, d.Copy)
		f.batch.replace(run.row)
		return
	}
	f.damaged = damaged{f.note("is-fail", "alert", Damaged(1, d.Copy)), f.Seq, 1}
}

// Damaged says that n events of a log could not be read, and where a copy of them is.
func Damaged(n int64, copied string) string {
	text := wording.Plural(n, "damaged event") + " could not be read here. "
	if copied == "" {
		return text + "What was stored could not be copied"
	}
	return text + "A copy of what was stored is in " + copied + " in the data folder"
}
