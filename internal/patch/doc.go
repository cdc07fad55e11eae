// Package patch is how texts differ: it finds and writes differences, reads those that others wrote,
// and takes them back. Functions may be called concurrently.
package patch
