// Package card is how one thing in a transcript reads: a tool call as a row, its output
// as a card, a pane or a row of the shelf, and a question of the agent. Package transcript
// folds events into its types; the templates of package web show them.
package card
