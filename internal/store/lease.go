//go:build !shortlease

package store

import "time"

// Times of a replica's life. It renews its row every beat, and no other takes what it has for a
// lease after it last did. It gives up before, so that one that was frozen writes nothing more, and
// its process ends.
const (
	beat   = 2 * time.Second
	lease  = 60 * time.Second
	giveUp = 40 * time.Second
	// ForceExit is how long the process may take to end in order after its life has ended.
	ForceExit = 7 * time.Second
)
