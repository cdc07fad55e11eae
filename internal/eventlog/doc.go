// Package eventlog is the log of one session while the program runs: it stamps events,
// has the [Store] make them durable, folds them, and hands them to subscribers, one
// append after the other.
//
// Durable before visible, without exception: no subscriber sees a logged event that the
// store has not taken. What it refuses has not happened, and the append returns an error that
// wraps [ErrLog]. Ephemeral events skip the store, not their place. Sequences have no
// holes.
package eventlog
