package code

import (
	"bytes"
	"context"
)

// text is a [Source] in memory, with an index of its lines.
type text struct {
	b     []byte
	start []int
}

// newText is a whole text in memory as a [Source].
func newText(s string) Source {
	b := []byte(s)
	t := &text{b: b}
	for i := 0; i < len(b); {
		t.start = append(t.start, i)
		j := bytes.IndexByte(b[i:], '\n')
		if j < 0 {
			break
		}
		i += j + 1
	}
	return t
}

// Total implements [Source].
func (t *text) Total() int { return len(t.start) }

// Lines implements [Source].
func (t *text) Lines(_ context.Context, from, to int) ([]byte, error) {
	end := len(t.b)
	if to < len(t.start) {
		end = t.start[to]
	}
	return t.b[t.start[from-1]:end], nil
}
