// Package eventlog is the log of one session while the program runs: it stamps events, has the
// [Store] make them durable, folds them, and hands them to subscribers, one append after the other.
//
// Durable before visible, without exception: no subscriber sees a logged event that the store has
// not taken. What it refuses has not happened, and the append returns an error that wraps [ErrLog].
// Ephemeral events skip the store, not their place. Sequences have no holes.
//
// What a log comes to is folded from its events, one after the other, so that there is no state
// beside the log: the row that lists the session ([Summary]), what it has started and not ended
// ([Work]), and what came of a prompt ([Result]). [Summarize] is pure; a Work and a Result are for
// one goroutine at a time. Stores share the words a log is searched by ([Hit]), so that each finds
// the same.
package eventlog
