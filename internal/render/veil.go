package render

import (
	"html/template"
	"strings"
	"unicode/utf8"
)

// What stands for covered text, as package veil has it: [Veil] makes dots of it.
const (
	coverDot3 = "\u2981"
	coverDot2 = "\u02ff"
)

// lifted begins dots that can be lifted.
const lifted = `<span class="veil" role="button" tabindex="0" aria-label="Hidden: it looks like a secret. Show it">`

// Fixed makes of dots of [Veil] such that stay.
func Fixed(h template.HTML) template.HTML {
	return template.HTML(strings.ReplaceAll(string(h), lifted, `<span class="veil">`))
}

// Veil makes of covered text in rows of this package dots that can be lifted, as many as the text
// has characters:
//
//	<span class="veil" role="button" tabindex="0" aria-label="Hidden: it looks like a secret. Show it">•••••</span>
//
// Within a link, which is one by itself, and in attributes they are dots only.
func Veil(h string) template.HTML {
	if !strings.Contains(h, coverDot3) && !strings.Contains(h, coverDot2) {
		return template.HTML(h)
	}
	var b strings.Builder
	b.Grow(len(h) + 1024)
	tag, link, run := false, false, 0
	end := func() {
		if run == 0 {
			return
		}
		dots := strings.Repeat("•", run)
		if run = 0; tag || link {
			b.WriteString(dots)
			return
		}
		b.WriteString(lifted + dots + `</span>`)
	}
	for i := 0; i < len(h); {
		if h[i] >= utf8.RuneSelf {
			switch {
			case strings.HasPrefix(h[i:], coverDot3):
				run++
				i += len(coverDot3)
				continue
			case strings.HasPrefix(h[i:], coverDot2):
				run++
				i += len(coverDot2)
				continue
			}
		}
		end()
		switch h[i] {
		case '<':
			tag = true
			if strings.HasPrefix(h[i:], "<a ") {
				link = true
			}
			if strings.HasPrefix(h[i:], "</a>") {
				link = false
			}
		case '>':
			tag = false
		}
		b.WriteByte(h[i])
		i++
	}
	end()
	return template.HTML(b.String())
}
