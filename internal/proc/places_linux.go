package proc

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Places are what a confined tree that runs has, as the kernel says: at each path what is seen
// there now, opened or replaced since. A place in another one, with the same access, is left out,
// and so is what each tree has beside [Confinement.Places].
func (c *Child) Places() ([]Place, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(c.PID()) + "/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("read what a tree has: %w", err)
	}
	in := map[string][]mounted{} // by what they are mounted in
	var root string
	for line := range strings.Lines(string(text)) {
		m, ok := parseMount(line)
		if ok && m.Path == "/" {
			root = m.id
		} else if ok {
			in[m.parent] = append(in[m.parent], m)
		}
	}
	var all []Place
	var walk func(id string, above mounted)
	walk = func(id string, above mounted) {
		for _, m := range in[id] {
			if m.Path != above.Path && m.covered(in[id]) {
				continue
			}
			for over := m; over.id != ""; over = over.over(in) { // the last of those at one path
				m = over
			}
			if p, ok := m.as(above); ok {
				all = append(all, p)
			}
			walk(m.id, m)
		}
	}
	walk(root, mounted{})
	slices.SortFunc(all, func(a, b Place) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// mounted is a mount of a tree.
type mounted struct {
	Place
	id, parent   string // parent is what it is mounted in
	device, root string // of the file system, and where in it
}

// parseMount reads a line of mountinfo, as proc(5) has it.
func parseMount(line string) (m mounted, ok bool) {
	before, after, ok := strings.Cut(line, " - ")
	f, kind := strings.Fields(before), strings.Fields(after)
	if !ok || len(f) < 6 || len(kind) == 0 {
		return m, false
	}
	m = mounted{Place{Path: unescapeMount(f[4]), Access: Writable}, f[0], f[1], f[2],
		unescapeMount(f[3])}
	switch {
	case strings.HasPrefix(m.root, heldDir+"/f"): // file or folder
		m.Access = Covered
	case kind[0] == "overlay":
		m.Access = Layered
	case slices.Contains(strings.Split(f[5], ","), "ro"):
		m.Access = Readable
	}
	return m, m.Path != heldDir && !strings.HasPrefix(m.Path, heldDir+"/")
}

// unescapeMount reads the octal numbers that stand for spaces and the like.
func unescapeMount(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// over is what is mounted over m, at the same path; without an id: nothing.
func (m mounted) over(in map[string][]mounted) mounted {
	for _, o := range in[m.id] {
		if o.Path == m.Path {
			return o
		}
	}
	return mounted{}
}

// covered reports whether another mount in the same one lies over m.
func (m mounted) covered(all []mounted) bool {
	return slices.ContainsFunc(all, func(o mounted) bool {
		return strings.HasPrefix(m.Path, o.Path+"/")
	})
}

// as is the place that m is in another one; false where it changes nothing, or each tree has it.
func (m mounted) as(above mounted) (Place, bool) {
	p := m.Place
	switch {
	case m.Access == Readable && above.Access == Writable && above.id != "" && above.Path != "/tmp":
		p.Access = Frozen
	case m.Access == Writable && above.Access == Writable && m.is(above):
		p.Access = Pinned
	case m.Access == above.Access && m.is(above):
		return p, false
	}
	return p, m.Path != "/tmp" && m.Path != "/proc" && !strings.HasPrefix(m.Path, "/dev/") &&
		!strings.HasPrefix(m.Path, "/proc/")
}

// is reports whether what is mounted is what would be there without it.
func (m mounted) is(above mounted) bool {
	return above.id != "" && m.device == above.device &&
		m.root == path.Join(above.root, strings.TrimPrefix(m.Path, above.Path))
}
