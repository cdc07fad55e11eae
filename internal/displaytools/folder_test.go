package displaytools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/workspace"
)

// A folder is shown as the names in it; nothing of the files is read.
func TestFolderIsListed(t *testing.T) {
	b := newBench(t, nil)
	b.write("src/b.go", "CANARY")
	b.write("src/A.md", "CANARY")
	b.write("src/.env", "CANARY")
	b.write("src/zoo/x", "CANARY")
	b.write("src/new\nline\u202e", "CANARY")
	b.link("src", "way")
	b.link("A.md", "src/near")
	for path, want := range map[string]string{
		"src":     "zoo/\n.env\nA.md\nb.go\nnear (link)\nnew?line?\n",
		"src/":    "zoo/\n.env\nA.md\nb.go\nnear (link)\nnew?line?\n",
		"way":     "zoo/\n.env\nA.md\nb.go\nnear (link)\nnew?line?\n",
		"src/zoo": "x\n",
		".":       "src/\nway (link)\n",
		b.dir:     "src/\nway (link)\n",
	} {
		a := b.plan(RenderFile, "path", path)
		if a.Ask != nil || a.About == nil || a.About.Resource != path {
			t.Errorf("%s: %+v", path, a)
		}
		res := b.run(b.ctx(), a)
		n := strings.Count(want, "\n")
		m := b.output(res).Meta()
		for i, name := range strings.SplitAfter(want, "\n")[:n] {
			e, size := m.Entries[i], strings.HasSuffix(name, ".go\n") || strings.HasSuffix(name, ".md\n") ||
				name == ".env\n"
			if len(m.Entries) != n || e.Modified.IsZero() || size && e.Size != int64(len("CANARY")) ||
				strings.HasSuffix(name, "/\n") && e.Size != 0 {
				t.Errorf("%s: of %q it is known %+v", path, name, e)
			}
		}
		if got := b.bytes(res); got != want || m.TotalLines != n || m.EndLine != n || m.Binary ||
			m.Path == "." {
			t.Errorf("%s: %q with %+v, want %q", path, got, m, want)
		}
	}
	if res := b.call(RenderFile, "path",
		"src/zoo"); res.TextForModel != "Displayed zoo to user (1 entry)" {
		t.Error(res.TextForModel)
	}
	if err := os.Mkdir(filepath.Join(b.dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if res := b.call(RenderFile, "path",
		"empty"); res.TextForModel != "Displayed empty to user (0 entries)" || b.bytes(res) != "" {
		t.Errorf("%+v", res)
	}
	if got := b.refused(RenderFile, "path", "src", "startLine",
		1); got != "src is a folder, so it has no lines. Leave out startLine and endLine." {
		t.Error(got)
	}
}

func TestLargeFolderIsCut(t *testing.T) {
	b := newBench(t, nil)
	for i := range workspace.MostListed + 2 {
		b.write(fmt.Sprintf("many/%05d", i), "")
	}
	res := b.call(RenderFile, "path", "many")
	got := b.bytes(res)
	if n := strings.Count(got, "\n"); res.Type != agent.Success || n != workspace.MostListed+1 ||
		!strings.HasSuffix(got, "… more entries are left out\n") {
		t.Errorf("%d lines, %+v", n, res)
	}
}
