package page

import "strings"

// Transcript returns the HTML of all turns, as a whole page holds them.
func (p *Projector) Transcript() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	for _, t := range p.fold.root.Kids {
		b.WriteString(p.pages.render("node", t))
	}
	return b.String()
}
