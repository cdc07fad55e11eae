// Package patch is how texts differ: it finds differences and writes them as diffs, takes edits
// back, and counts the places that they changed. Functions may be called concurrently.
package patch
