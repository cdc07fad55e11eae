package released

import (
	"fmt"
	"strings"

	"webchat/internal/eventlog"
	"webchat/internal/tokens"
	"webchat/internal/wording"
)

// IsLarge reports whether a result of a tool is of more tokens than a model gets whole.
func (r *Releases) IsLarge(text string) bool {
	if r.Large <= 0 || len(text) <= r.Large {
		return false
	}
	n, _ := tokens.Count(text[:min(len(text), 16*r.Large)])
	return n > r.Large
}

// Shorten lets the agent of a session read a large text by tools, and returns what its model gets
// in its place: the first and the last lines, between them what was left out and how it is read. An
// end is of a line where that has no other. It also returns which lines are not there whole, as
// "A-B".
func (r *Releases) Shorten(id eventlog.ID, name, text string) (short, leftOut string) {
	first, last := text[:min(2*r.Large, len(text)/2)], text[len(text)-min(r.Large, len(text)/3):]
	if i := strings.LastIndexByte(first, '\n'); i > 0 {
		first = first[:i]
	}
	if i := strings.IndexByte(last, '\n'); i >= 0 && i < len(last)-1 {
		last = last[i+1:]
	}
	what := wording.Size(int64(len(text) - len(first) - len(last)))
	if n := strings.Count(text[len(first):len(text)-len(last)], "\n"); n > 1 {
		what = wording.Plural(n-1, "line") + ", " + what + ","
	}
	words := "… " + what + " were left out here. The user sees all of it."
	if readers := r.Release(id, name, []byte(text)); readers != "" {
		words += " Read what you need of it with " + readers + "."
	}
	begin := text[:len(text)-len(last)]
	from, to := strings.Count(first, "\n")+1, strings.Count(strings.TrimSuffix(begin, "\n"), "\n")+1
	if text[len(first)] == '\n' {
		from++
	}
	return strings.ToValidUTF8(first, "") + "\n" + words + "\n" + strings.ToValidUTF8(last, ""),
		fmt.Sprintf("%d-%d", from, to)
}
