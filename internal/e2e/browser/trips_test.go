package browser

import (
	"strings"
	"testing"
)

// A look is drawn, complete, after two round trips: its own, and that of its pane. Rows, a preview,
// a table and a tree come with the pane.
func TestALookTakesTwoRoundTrips(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.look(1440, 900, "light")
	for _, look := range []struct{ content, first, second, drawn string }{
		{"package x\n", "a.go", "b.go", `.rows .line .cl`},
		{"# Title\n\nText.\n", "a.md", "b.md", `.other.said h4`},
		{"name,count\nlock,3\nmap,4\n", "a.csv", "b.csv", `.other tbody td`},
		{`{"name": "lock", "count": 3}`, "a.json", "b.json", `.other [role=treeitem]`},
		{"\x7fELF\x00\x01\x02\xff", "a.bin", "b.bin", `.lines > *, .other .line`},
	} {
		s.put(look.first, look.content)
		s.put(look.second, look.content)
		see := func(file string) {
			p.compose("/show " + file)
			p.js(`performance.clearResourceTimings()`)
			p.press("Enter")
			p.front(file)
			p.wait(onDesk + `.querySelector('` + look.drawn + `')`)
		}
		see(look.first) // the modules that show it are there from now on
		p.done()
		p.slow(150)
		see(look.second)
		asked := eval[[]string](p, `performance.getEntriesByType('resource').map((e) => new URL(e.name).pathname)`)
		looks, panes := 0, 0
		for _, address := range asked {
			switch {
			case strings.HasSuffix(address, "/display"):
				looks++
			case strings.Contains(address, "/desk/"):
				panes++
			case strings.HasPrefix(address, "/api/outputs/"), strings.Contains(address, "/static/"):
				t.Errorf("%s: asked for beside the pane: %s", look.second, address)
			}
		}
		if looks != 1 || panes != 1 {
			t.Errorf("%s: %d looks and %d panes in %s", look.second, looks, panes, asked)
		}
		p.slow(0)
		p.done()
	}
}
