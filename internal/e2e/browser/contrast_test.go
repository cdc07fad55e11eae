package browser

import (
	"regexp"
	"slices"
	"testing"
)

// What is computed of contrast is what axe-core computes, in each way that text can be pale.
func TestContrast(t *testing.T) {
	p := newHouse(t).site.tab()
	p.js(`document.documentElement.lang = 'en'; document.title = 'contrast'; document.body.style.font = '13px sans-serif'; document.body.innerHTML = ` + quote(`
		<p id="grey" style="color: #777">just too pale</p> <p id="dark" style="color: #767676">just dark enough</p>
		<p id="large" style="color: #949494; font-size: 24px">large</p> <p id="largepale" style="color: #969696; font-size: 24px">large</p>
		<p id="bold" style="color: #949494; font-size: 19px; font-weight: 700">bold</p> <p id="thin" style="color: #949494; font-size: 19px">thin</p>
		<p id="through" style="color: rgb(0 0 0 / 50%)">shines through</p>
		<div style="opacity: .6"><p id="group" style="color: #333">faded</p><p id="groupdark">faded black</p></div>
		<div style="background: #123"><div style="background: rgb(255 255 255 / 80%)"><p id="layers" style="color: #555">on two layers</p></div><p id="night">black at night</p></div>
		<div style="background: oklch(70% .2 30)"><p id="mixed" style="color: color-mix(in oklab, white, black 20%)">mixed</p></div>
		<button id="off" disabled style="color: #ccc">off</button> <p id="gone" style="opacity: 0">gone</p>`))
	source, err := axe()
	if err != nil {
		t.Skip("axe-core: ", err)
	}
	theirs := eval[[]string](p, source+`; axe.run(document.body, `+inScheme+`).then((r) => r.violations.flatMap((v) => v.nodes.map((n) => n.target[0].slice(1))))`)
	var ours []string
	for _, pale := range eval[kinds](p, `(`+kindsJS+`)(false, true)`).Pale {
		ours = append(ours, regexp.MustCompile(`id="(\w+)"`).FindStringSubmatch(pale)[1])
	}
	slices.Sort(theirs)
	slices.Sort(ours)
	if len(ours) == 0 || !slices.Equal(ours, theirs) {
		t.Errorf("too pale are %v, says axe-core; we find %v", theirs, ours)
	}
}
