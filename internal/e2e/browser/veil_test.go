package browser

import (
	"strings"
	"testing"
)

// What looks like a secret is not in the page: dots stand for it, until a click or a key lifts those of
// one row. What is found, copied and handed over has no more than is seen.
func TestVeil(t *testing.T) {
	s, p := desked(t)
	s.put("deploy.yaml", "host: db.example\npassword: hunter2hunter2\nregion: eu\ntoken: second22second22\nend: 1\n")
	p.say("/show deploy.yaml")
	p.front("deploy.yaml")
	const (
		pane   = ".pane:not([hidden])"
		absent = `!document.documentElement.outerHTML.includes('hunter2') && !document.documentElement.outerHTML.includes('second22')`
		dots   = onDesk + `.querySelectorAll('.rows .veil')`
	)
	p.js(`document.querySelector('` + pane + ` [data-view=source]')?.click()`)
	p.wait(dots + `.length === 2`)
	p.is(`String(`+absent+`)`, "true")
	p.shot("veil")
	p.accessible("a veiled file on the Desk")

	// Find neither counts nor marks what is behind the dots.
	p.js(onDesk + `.querySelector('.code').focus()`)
	p.press("f")
	p.wait(onDesk + `.querySelector('.find input') === document.activeElement`)
	p.write("hunter2")
	p.has(pane+" .find", "No hits")
	p.press("Escape")

	// What is copied has dots.
	p.js(`globalThis.copied = []; navigator.clipboard.write = async ([item]) => { copied.push(await (await item.getType('text/plain')).text()) }`)
	p.click(pane + ` [data-act=copy]`)
	p.wait(`copied.length === 1`)
	p.is(`String(copied[0].includes('password: •••') && copied[0].includes('region: eu') && !copied[0].includes('hunter2'))`, "true")

	// A key lifts one row; the other stays.
	p.js(dots + `[0].focus()`)
	p.press("Enter")
	p.wait(onDesk + `.querySelector('.rows').textContent.includes('hunter2hunter2')`)
	p.is(dots+`.length + ' left'`, "1 left")
	p.is(`String(document.documentElement.outerHTML.includes('second22'))`, "false")
	p.shot("veil-lifted")
	p.press("c") // the toast stands before the button
	p.wait(`copied.length === 2`)
	p.is(`String(copied[1].includes('password: hunter2hunter2') && copied[1].includes('token: •••') && !copied[1].includes('second22'))`, "true")

	// So does a click, in the tree.
	p.js(onDesk + `.querySelector("[data-view=tree]").click()`)
	p.wait(onDesk + `.querySelectorAll('.other li .veil').length === 2`)
	p.click(pane + ` .other li:nth-child(4) .veil`)
	p.wait(onDesk + `.querySelector('.other').textContent.includes('second22second22')`)
	p.is(onDesk+`.querySelectorAll('.other li .veil').length + ' left'`, "1 left")

	// And in a table, the bytes of a file and what differs: each row by itself.
	s.put("users.csv", "id,password,note\n1,correct horse,a\n2,battery staple,b\n")
	s.put("raw.bin", "\x00\x01\x02\nA=1;TOKEN=hunter3hunter3;\n"+strings.Repeat("-", 64)+"\nTOKEN=fourth44fourth44\n\x00")
	const other = onDesk + `.querySelector('.other')`
	lifts := func(name, view, row, secret, left string) {
		t.Helper()
		p.say("/show " + name)
		p.front(name)
		if view != "" {
			p.wait(onDesk + `.querySelector('[data-view=` + view + `]')`)
			p.js(onDesk + `.querySelector('[data-view=` + view + `]').click()`) // the toast stands before it
		}
		p.wait(other + `?.querySelector('` + row + ` .veil')`)
		p.is(`String(`+other+`.textContent.includes('`+secret+`'))`, "false")
		p.click(pane + " .other " + row + " .veil")
		p.wait(other + `.textContent.includes('` + secret + `')`)
		p.is(`String(`+other+`.textContent.includes('`+left+`') || !`+other+`.querySelector('.veil'))`, "false")
	}
	lifts("users.csv", "", "tbody tr:nth-child(1)", "correct horse", "battery staple")
	p.shot("veil-table")
	lifts("raw.bin", "", ".line:nth-child(2)", "nter3", "rth44")
	p.shot("veil-hex")

	s.put("deploy.yaml", "host: db.example\npassword: changed5changed5\nregion: eu\ntoken: second22second22\nend: 1\n")
	lifts("deploy.yaml", "diff", ".add", "changed5changed5", "hunter2")
	p.shot("veil-diff")

	// Loaded again, all are dots.
	p.js(`location.reload()`)
	p.wait(onDesk + ` && ` + onDesk + `.querySelector('.veil') && ` + absent)
}
