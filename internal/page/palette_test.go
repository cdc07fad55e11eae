package page_test

import (
	"io/fs"
	"testing"

	"webchat/internal/render/terminal"
	"webchat/web"
)

// The colours of terminals are counted out by render; the file is what browsers get.
func TestPaletteIsWhatRenderMakes(t *testing.T) {
	b, err := fs.ReadFile(web.FS, "static/css/palette.css")
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != terminal.CSS() {
		t.Error("web/static/css/palette.css is not what terminal.CSS returns: write it anew")
	}
}
