package looking

import (
	"hash/maphash"
	"strings"
)

// A line, or a piece of one, that is shorter names nothing: "}", "return nil".
const leastNamed = 12

var seed = maphash.MakeSeed()

// namedLines are the lines of a large result, to find out whether one is named later.
type namedLines struct{ all map[uint64]struct{} }

// linesOf takes a text apart.
func linesOf(text string) namedLines {
	n := namedLines{map[uint64]struct{}{}}
	for l := range strings.Lines(text) {
		for _, l := range []string{bare(l), bare(numbered(l))} {
			if len(l) >= leastNamed {
				n.all[maphash.String(seed, l)] = struct{}{}
			}
		}
	}
	return n
}

// bare is a line without what stands around it.
func bare(l string) string { return strings.Trim(l, " \t\r\n+->*`\"',") }

// numbered is a line without the number that tools write before it.
func numbered(l string) string {
	rest := strings.TrimLeft(strings.TrimLeft(l, " \t"), "0123456789")
	for _, after := range []string{"\t", "→", ":", "|", ". "} {
		if s, ok := strings.CutPrefix(rest, after); ok {
			return s
		}
	}
	return l
}

// in reports whether call c names a line of result h: by a line that is the same, by a piece in
// quotes or in an argument that it holds, or by FILE:LINE.
func (n namedLines) in(c *call, h *held) bool {
	name := h.path[strings.LastIndexAny(h.path, `/\`)+1:]
	for _, texts := range [][]string{c.prose, c.named} {
		for _, text := range texts {
			if name != "" && placed(text, name+":") {
				return true
			}
			for l := range strings.Lines(text) {
				if n.has(l) || n.has(numbered(l)) {
					return true
				}
			}
		}
	}
	for _, text := range c.named {
		if s := strings.TrimSpace(text); len(s) >= leastNamed && len(s) <= 1000 && s != h.path &&
			strings.Contains(h.text, s) {
			return true
		}
	}
	for _, text := range c.prose {
		for i, s := range strings.FieldsFunc(text, func(r rune) bool {
			return strings.ContainsRune("`\"“”", r)
		}) {
			if i > 0 && len(s) >= leastNamed && len(s) <= 1000 && strings.Contains(h.text, s) {
				return true
			}
		}
	}
	return false
}

func (n namedLines) has(l string) bool {
	l = bare(l)
	_, ok := n.all[maphash.String(seed, l)]
	return ok && len(l) >= leastNamed
}

// placed reports whether a number follows what is looked for, as in pump.go:41.
func placed(text, what string) bool {
	for {
		_, rest, ok := strings.Cut(text, what)
		if !ok {
			return false
		}
		if rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			return true
		}
		text = rest
	}
}
