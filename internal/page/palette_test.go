package page_test

import (
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"testing"

	"webchat/web"
)

// Every colour that programs write in can be read on the terminal's background in both themes.
func TestPaletteHasContrast(t *testing.T) {
	css, err := fs.ReadFile(web.FS, "static/css/palette.css")
	if err != nil {
		t.Fatal(err)
	}
	const light, dark, least = 0xfafaf8, 0x101113, 4.5
	found := regexp.MustCompile(
		`\.x(\d+) \{ color: light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\)`).FindAllSubmatch(css, -1)
	for _, m := range found {
		var onLight, onDark int
		fmt.Sscanf(string(m[2])+" "+string(m[3]), "%x %x", &onLight, &onDark)
		if l, d := contrast(onLight, light), contrast(onDark, dark); l < least || d < least {
			t.Errorf("x%s: %.2f light, %.2f dark", m[1], l, d)
		}
	}
	if len(found) != 240 {
		t.Errorf("%d colours", len(found))
	}
}

// contrast is the WCAG 2 contrast ratio of two colours.
func contrast(a, b int) float64 {
	luminance := func(rgb int) (l float64) {
		for i, share := range []float64{0.0722, 0.7152, 0.2126} {
			v := float64(rgb>>(8*i)&255) / 255
			if v <= 0.04045 {
				v /= 12.92
			} else {
				v = math.Pow((v+0.055)/1.055, 2.4)
			}
			l += share * v
		}
		return l
	}
	l, m := luminance(a), luminance(b)
	return (max(l, m) + 0.05) / (min(l, m) + 0.05)
}
