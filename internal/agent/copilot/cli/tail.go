package cli

import (
	"io"
	"slices"
	"strings"
	"sync"

	"webchat/internal/wording"
)

// tail keeps the end of what a program prints.
type tail struct {
	mu   sync.Mutex // guards text
	text []byte
	done chan struct{}
}

const maxTail = 4 << 10

// Write implements [io.Writer].
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - maxTail; over > 0 {
		t.text = t.text[over:]
	}
	return len(b), nil
}

// String is what was kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.text), "\uFFFD")
}

// follow reads r until its end, in a goroutine that is contained; wait waits for that.
func (t *tail) follow(r io.Reader, contained func(func()) func()) {
	t.done = make(chan struct{})
	go contained(func() {
		defer close(t.done)
		_, _ = io.Copy(t, r) // the end of the program is the end of the pipe
	})()
}

func (t *tail) wait() { <-t.done }

// last is the last line, shortened.
func (t *tail) last() string {
	lines := strings.FieldsFunc(t.String(), func(r rune) bool { return r == '\n' || r == '\r' })
	for _, l := range slices.Backward(lines) {
		if l = strings.TrimSpace(l); l != "" {
			return wording.Cut(l, 200)
		}
	}
	return ""
}
