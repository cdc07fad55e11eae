package displaytools

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// mostRead is how much of the beginning, and of the end, of what a command printed is read for what
// it was refused.
const mostRead = 128 << 10

// refused is what the command says that it was refused.
func (r *ran) refused() []event.SandboxRefused {
	if r.job == nil || r.job.refusals == nil {
		return nil
	}
	text := r.w.Output().Raw().Reader()
	b := make([]byte, min(text.Size(), 2*mostRead))
	n, _ := text.ReadAt(b[:min(len(b), mostRead)], 0)
	if rest := b[n:]; len(rest) > 0 {
		more, err := text.ReadAt(rest, max(int64(n), text.Size()-mostRead))
		if err != nil && err != io.EOF {
			return nil // its content is gone
		}
		n += more
	}
	return r.job.refusals(r.exit.Code, string(b[:n]))
}

// mostNamed is how many refusals the model reads the names of.
const mostNamed = 3

// refusedText says to the model what was refused: by its name what it sees inside or wrote itself,
// so that nothing of the output is in it.
func (c *commandCall) refusedText(all []event.SandboxRefused) string {
	var names []string
	home, dir := c.set.work.Home, filepath.Join(c.set.work.Path, c.dir.rel)
	for _, refusal := range all {
		short := wording.Tilde(refusal.What, home)
		rel, err := filepath.Rel(dir, refusal.What)
		rel = cmp.Or(rel, short)
		wrote := strings.Contains(c.command, refusal.What) || strings.Contains(c.command, short) ||
			err == nil && strings.Contains(c.command, rel)
		if refusal.Kind == event.RefusedPath && refusal.Inside && filepath.IsLocal(rel) {
			short = rel
		}
		if (refusal.Inside || wrote) && len(names) < mostNamed && len(short) <= 100 {
			names = append(names, wording.Name(short))
		}
	}
	switch left := len(all) - len(names); {
	case len(all) == 0:
		return ""
	case left > 0 && len(names) > 0:
		names = append(names, fmt.Sprintf("%d more", left))
	case left > 0:
		names = append(names, "what the user sees")
	}
	return ". The sandbox refused " + strings.Join(names, ", ")
}
