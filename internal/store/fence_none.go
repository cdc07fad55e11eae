//go:build nofence

package store

// Without the fence a test of several replicas has to fail.
const fenced = false
