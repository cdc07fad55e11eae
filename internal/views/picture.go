package views

import "webchat/internal/outputs"

// Picture is the address of a picture of another site that the preview of an output was drawn with,
// by its name: see data-far in package markdown. What is covered as a secret stays so.
func (h *Views) Picture(o *outputs.Output, name string) (address string, ok bool) {
	for _, o := range []*outputs.Output{o.Veiled(), o} {
		d := documentOf(o)
		d.seen.mu.Lock()
		if d.seen.preview != nil && !ok {
			address, ok = d.seen.preview.Picture(name)
		}
		d.seen.mu.Unlock()
	}
	return address, ok
}
