package terminal

import (
	"regexp"
	"strings"
	"sync"

	"webchat/internal/render"
)

// verdicts is how the output of tests and compilers says what became of something, at the
// beginning or at the end of a line: Go, TAP, Rust, Python, JavaScript.
var verdicts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:(--- PASS:|✓|✔|PASS|PASSED)(?:\s|$)|(ok)(?: *\t| +\d)` +
		`|(--- FAIL:|✕|✗|×|not ok|FAIL|FAILED|panic:|fatal error:|[Ee]rror(?:\[\w+\])?:)(?:\s|$)` +
		`|(--- SKIP:|[Ww]arning:|WARN:)(?:\s|$)|(=== [A-Z]+)(?:\s|$))` +
		`|\s(?:(PASSED|\.\.\. ok)|(FAILED|\.\.\. FAILED)|(\(\d+\.\d+s\)))$`)
})

// verdictClasses are the colours of the groups of verdicts.
var verdictClasses = [...]string{"a2", "a2", "a1", "a3", "f", "a2", "a1", "f"}

// colourVerdicts writes a row whose program chose no colours, as one that does would have.
func colourVerdicts(b *strings.Builder, text string) {
	done := 0
	for _, m := range verdicts().FindAllStringSubmatchIndex(text, 2) {
		for i, class := range verdictClasses {
			from, to := m[2*i+2], m[2*i+3]
			if from < done {
				continue
			}
			render.Escape(b, text[done:from])
			b.WriteString(`<span class="` + class + `">`)
			render.Escape(b, text[from:to])
			b.WriteString("</span>")
			done = to
		}
	}
	render.Escape(b, text[done:])
}
