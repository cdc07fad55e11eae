package displaytools

import (
	"path/filepath"
	"testing"

	"webchat/internal/agent"
)

// Files and pictures are shown without asking, and say what they are for rules.
func TestReadsAreToldToRules(t *testing.T) {
	b := newBench(t, nil)
	b.write("sub/a.txt", "x")
	b.write("sub/id_photo.png", "x")
	b.link("sub/a.txt", "near")
	for _, c := range []struct{ tool, path, target string }{
		{RenderFile, "sub/a.txt", "sub/a.txt"}, {RenderFile, "near", "sub/a.txt"},
		{DisplayImage, "near", "sub/a.txt"}, {RenderFile, "./sub//a.txt", "sub/a.txt"},
		{DisplayImage, "sub/id_photo.png", "sub/id_photo.png"},
		{RenderFile, "sub/id_photo.png", "sub/id_photo.png"},
	} {
		a := b.plan(c.tool, "path", c.path)
		p := a.About
		if a.Ask != nil || p == nil || p.Kind != agent.KindRead || p.ToolName != c.tool ||
			p.Resource != c.path || p.Target != filepath.Join(b.dir, c.target) || p.Cwd != b.dir ||
			p.Digest != a.Digest || p.Sensitive {
			t.Errorf("%s %s: %+v, asks %+v", c.tool, c.path, p, a.Ask)
		}
	}
}
