//go:build !nofence

package store

// fenced: appends look at the owner, at the sequence and at the time when this replica gives up.
const fenced = true
