package cli

import (
	"bytes"
	"sync"
)

// Watch looks for a text in the messages that the CLI reports to have sent to a model, without
// handing them out. Its methods may be called concurrently.
type Watch struct {
	text []byte

	mu      sync.Mutex // guards what follows
	reports int
	found   bool
}

// NewWatch looks for text, which should be letters and digits only: it is looked for in JSON.
func NewWatch(text string) *Watch { return &Watch{text: []byte(text)} }

// Seen returns how many reports there were and whether the text was in one.
func (w *Watch) Seen() (reports int, found bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reports, w.found
}

// Look takes one message.
func (w *Watch) Look(raw []byte) {
	found := bytes.Contains(raw, w.text)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reports++
	w.found = w.found || found
}
