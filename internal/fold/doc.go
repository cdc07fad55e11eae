// Package fold says what a session's log comes to: the row that lists the session
// ([Summary]), what it has started and not ended ([Work]), and what came of a prompt
// ([Result]).
//
// Everything is folded from the log's events, one after the other, so that there is
// no state beside the log. [Summarize] is pure; a Work and a Result are for one
// goroutine at a time.
//
//	for _, e := range entries {
//		sum = fold.Summarize(sum, e)
//		work.Apply(e)
//	}
package fold
