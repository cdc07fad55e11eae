package autohand

import (
	"regexp"
	"strings"

	"webchat/internal/agent"
)

// patchedName matches the lines of a patch that name a file.
var patchedName = regexp.MustCompile(`^(?:--- |\+\+\+ |rename from |rename to |copy from |copy to |diff --git )(.*?)(?:\t.*)?\r?$`)

// patched are the files that a patch names, but path. It is not ok for a patch whose files cannot
// be known.
func (c *conn) patched(text, path string) (parts []agent.Resource, ok bool) {
	seen := map[string]bool{"": true, "/dev/null": true}
	ok = text != ""
	for line := range strings.Lines(text) {
		m := patchedName.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			continue
		}
		name := m[1]
		ok = ok && !strings.HasPrefix(name, `"`) // in quotes, with escapes
		switch {
		case strings.HasPrefix(line, "diff --git "): // "a/x b/x", unless it is moved, which other lines say
			half := len(name) / 2
			if first, second := name[:half], strings.TrimPrefix(name[half:], " "); strings.TrimPrefix(first, "a/") != strings.TrimPrefix(second, "b/") {
				ok = ok && (strings.Contains(text, "\nrename from ") || strings.Contains(text, "\ncopy from "))
				continue
			}
			name = name[:half]
			fallthrough
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			if _, within, cut := strings.Cut(name, "/"); cut && name != "/dev/null" && (path == "" || strings.HasPrefix(name, "a/") || strings.HasPrefix(name, "b/")) {
				name = within // git takes off the first folder, whatever it is
			}
		}
		if seen[name] || path != "" && (c.absolute(name) == c.absolute(path) || strings.HasSuffix(path, "/"+name)) {
			continue
		}
		seen[name] = true
		parts = append(parts, agent.Resource{Kind: agent.KindWrite, Action: "change a file", Resource: name})
	}
	return parts, ok && (path != "" || len(parts) > 0)
}
