//go:build nofence

package store

// Without the fence a test of several replicas has to fail.
const (
	fenced      = false
	always      = "true"
	overwriting = " ON CONFLICT (session, seq) DO UPDATE SET json = excluded.json, words = excluded.words"
)
