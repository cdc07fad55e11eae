package page

import (
	"html/template"
	"strings"
)

type mdStream struct {
	text string
	n    int
}

func (m *mdStream) Write(s string) { m.text += s }
func (m *message) patch(fn func(b *block, isNew bool)) {
	parts := strings.SplitAfter(m.stream.text, "\n\n")
	for i, p := range parts {
		if strings.TrimSpace(p) == "" {
			continue
		}
		h := template.HTML("<p>" + template.HTMLEscapeString(strings.TrimSpace(p)) + "</p>")
		if i < len(m.Blocks) {
			if m.Blocks[i].HTML != h {
				m.Blocks[i].HTML = h
				fn(m.Blocks[i], false)
			}
			continue
		}
		b := &block{ID: m.blockID(i), HTML: h}
		m.Blocks = append(m.Blocks, b)
		fn(b, true)
	}
}
