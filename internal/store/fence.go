//go:build !nofence

package store

// Of an append the fence is the owner, the sequence and the time when this replica gives up.
const (
	fenced      = true
	always      = "false" // what is true of a session that any replica may append to, as SQL
	overwriting = ""
)
