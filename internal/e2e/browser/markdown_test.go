package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A Markdown file on the Desk has what people write such files with: places in it and files beside
// it are links, details fold, and pictures of the workspace are shown, but for those that may hold
// secrets or lie elsewhere, of which nothing is read.
func TestMarkdownExtras(t *testing.T) {
	s, p := desked(t)
	svg := `<svg xmlns="http://www.w3.org/2000/svg" width="120" height="60"><script>window.bad = 1</script><rect width="120" height="60" fill="#1258bd"/></svg>`
	if err := os.MkdirAll(filepath.Join(s.workspace, "docs", "img"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(s.workspace), "outside.svg"), []byte(svg), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(filepath.Dir(s.workspace), "outside.svg"), filepath.Join(s.workspace, "docs", "img", "link.svg")); err != nil {
		t.Fatal(err)
	}
	s.put("docs/img/blue.svg", svg)
	s.put("docs/img/id_rsa", svg)
	s.put("docs/other.md", "# Other\n\n"+strings.Repeat("Words.\n\n", 60)+"## There it is\n\n"+strings.Repeat("More.\n\n", 40))
	s.put("docs/guide.md", "# Guide\n\nGo to [the end](#the-end), to [there](other.md#there-it-is) or [line 3](../go.mod#L3). See[^why].\n\n"+
		"![A blue box](img/blue.svg) ![Key](img/id_rsa) ![Out](../../outside.svg) ![Link](img/link.svg) ![Far](https://a.invalid/x.png)\n\n"+
		"> [!WARNING]\n> Not on *Mondays*.\n\n<details>\n<summary>How it works</summary>\n\n- [x] done\n- [ ] open\n\n### Within\n\n</details>\n\n"+
		strings.Repeat("Words.\n\n", 40)+"## The end\n\n[Within](#within) and [out](../../../etc/passwd).\n\n[^why]: Because it is **so**.\n")
	p.expect("422") // a picture that is refused
	p.see("docs/guide.md")
	p.front("guide.md")
	p.wait(onDesk + `.querySelector('.said img')?.naturalWidth === 120`)
	p.is(onDesk+`.querySelector('.said img').alt`, "A blue box")
	p.wait(onDesk + `.querySelectorAll('.pic-ref[data-to] + .href').length === 3`)
	p.is(`[...`+onDesk+`.querySelectorAll('.pic-ref[data-to] + .href')].map((e) => /secrets|workspace/.test(e.textContent)).join()`, "true,true,true")
	p.is(onDesk+`.querySelectorAll('.said img').length + ' ' + performance.getEntriesByType('resource').filter((r) => new URL(r.name).origin !== location.origin).length + ' ' + window.bad`, "1 0 undefined")
	p.has(".pane:not([hidden]) .alert.warning", "Warning")
	p.has(".pane:not([hidden]) .notes", "Because it is so.")
	p.shot("desk-markdown")
	p.look(1440, 900, "dark")
	p.shot("desk-markdown-dark")
	p.look(1440, 900, "light")
	p.accessible("a Markdown file with all it may have")

	p.click(".pane:not([hidden]) a[href='#the-end']")
	p.wait(`document.activeElement.id === 'user-content-the-end'`)
	p.click(".pane:not([hidden]) a[href='#within']")
	p.wait(`document.activeElement.id === 'user-content-within' && document.activeElement.closest('details').open`)
	p.click(".pane:not([hidden]) a[data-to*=passwd]")
	p.has(".toast", "leads out of the workspace")
	p.js(onDesk + `.querySelector('.other').scrollTo(0, 0)`)
	p.click(".pane:not([hidden]) a[data-to='other.md#there-it-is']")
	p.front("other.md")
	p.wait(`document.activeElement.id === 'user-content-there-it-is'`)
	p.say("/show docs/guide.md")
	p.front("guide.md")
	p.wait(onDesk + `.querySelector("a[data-to$='#L3']")`)
	p.click(".pane:not([hidden]) a[data-to$='#L3']")
	p.front("go.mod")
	p.wait(onDesk + `.querySelector('.line.on .ln')?.textContent === '3'`)
}
