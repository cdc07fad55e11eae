// Package views shows stored outputs as HTML: any rows of a file or of what a
// command wrote, by their numbers as shown, for the API and for pages alike.
//
// It keeps a few documents open, so that a window costs what it shows and not what
// is above it, and lets go of one when its output has ended. A request never works
// longer than package render's limit: what is not known by then is shown plain.
// A [Views] may be used from anywhere.
package views
