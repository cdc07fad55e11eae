package page

import (
	"io/fs"
	"path"
	"regexp"
	"testing"

	"webchat/web"
)

// Behind a proxy that shows the server below a path, an address that begins with a
// slash leads elsewhere: templates write {{base}} before it, scripts go through
// base.js, api.js or sse.js.
func TestAddressesBeginWithTheBase(t *testing.T) {
	wrong := map[string]*regexp.Regexp{
		".html": regexp.MustCompile(`(href|src|action|formaction|poster)="/`),
		".js": regexp.MustCompile(
			"(\\.(href|src)\\s*=|location\\s*=|location\\.(assign|replace)\\(|[^.\\w]fetch\\(|new " +
				"URL\\(|window\\.open\\()\\s*['\"`]/"),
		".css": regexp.MustCompile(`url\(['"]?/`),
	}
	n := 0
	err := fs.WalkDir(web.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || wrong[path.Ext(name)] == nil {
			return err
		}
		n++
		b, err := fs.ReadFile(web.FS, name)
		if err != nil {
			return err
		}
		for _, at := range wrong[path.Ext(name)].FindAllIndex(b, -1) {
			t.Errorf("%s: …%s…", name, b[max(0, at[0]-20):min(len(b), at[1]+40)])
		}
		return nil
	})
	if err != nil || n < 30 {
		t.Fatalf("looked at %d files: %v", n, err)
	}
}
