//go:build shortlease

package store

import "time"

// Times of a short life, for tests.
const (
	beat      = 200 * time.Millisecond
	lease     = 6 * time.Second
	giveUp    = 4 * time.Second
	ForceExit = 700 * time.Millisecond
)
