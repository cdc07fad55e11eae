package terminal

import (
	"strconv"
	"strings"
)

// weights are the classes of what text is besides its colours, by what stands for it at the end of
// the library's.
var weights = map[string]string{"1": "b", "2": "f", "3": "it", "4": "un", "9": "st"}

// reverse is the library's blinking. Programs' own is shown as ordinary text, as is what they
// conceal: nothing moves on the page, and nothing hides on it.
const reverse = "5"

// graphics returns the parameters of a "select graphic rendition" sequence as the library knows
// them: colours are those of the palette of 256, and reverse video is [reverse].
func graphics(params string) string {
	fields := strings.FieldsFunc(params, func(r rune) bool { return r == ';' })
	if len(fields) == 0 {
		return "0"
	}
	var codes []string
	color := func(ground, index int) {
		codes = append(codes, strconv.Itoa(ground), "5", strconv.Itoa(index))
	}
	for i := 0; i < len(fields); i++ {
		code, sub, _ := strings.Cut(fields[i], ":")
		n, err := strconv.Atoi(code)
		if err != nil {
			continue
		}
		switch {
		case n == 38 || n == 48:
			parts := strings.Split(strings.Replace(sub, "::", ":", 1), ":")
			if rest := fields[i+1:]; sub == "" {
				used := 0
				if len(rest) > 0 {
					used = min(map[string]int{"5": 2, "2": 4}[rest[0]], len(rest))
				}
				parts = rest[:used]
				i += used
			}
			if index, ok := extended(parts); ok {
				color(n, index)
			}
		case 30 <= n && n <= 37:
			color(38, n-30)
		case 90 <= n && n <= 97:
			color(38, n-90+8)
		case 40 <= n && n <= 47:
			color(48, n-40)
		case 100 <= n && n <= 107:
			color(48, n-100+8)
		case n == 4 && sub == "0":
			codes = append(codes, "24")
		case n == 7:
			codes = append(codes, reverse)
		case n == 27:
			codes = append(codes, "25")
		case n == 21: // two lines
			codes = append(codes, "4")
		case n <= 4 || n == 9 || n >= 22 && n <= 24 || n == 29 || n == 39 || n == 49:
			codes = append(codes, strconv.Itoa(n))
		}
	}
	return strings.Join(codes, ";")
}

// extended reads "5;n" or "2;r;g;b" (with colons a colour space may stand before r).
func extended(fields []string) (index int, ok bool) {
	var v [5]int
	for i, f := range fields {
		if i >= len(v) {
			break
		}
		v[i], _ = strconv.Atoi(f)
	}
	switch {
	case len(fields) == 2 && v[0] == 5 && 0 <= v[1] && v[1] < 256:
		return v[1], true
	case len(fields) == 4 && v[0] == 2:
		return nearestColor(v[1], v[2], v[3]), true
	case len(fields) == 5 && v[0] == 2:
		return nearestColor(v[2], v[3], v[4]), true
	}
	return 0, false
}

// nearestColor returns the index of the fixed colour (16 to 255) nearest to a true colour.
func nearestColor(r, g, b int) int {
	level := func(v int) int {
		switch v = min(max(v, 0), 255); {
		case v < 48:
			return 0
		case v < 115:
			return 1
		}
		return (v - 35) / 40
	}
	cube := 16 + 36*level(r) + 6*level(g) + level(b)
	grey := 232 + min(max((r+g+b)/3-3, 0)/10, 23)
	distance := func(i int) int {
		R, G, B := paletteRGB(i)
		return (R-r)*(R-r) + (G-g)*(G-g) + (B-b)*(B-b)
	}
	if distance(grey) < distance(cube) {
		return grey
	}
	return cube
}

// paletteRGB is xterm's colour i, from 16.
func paletteRGB(i int) (r, g, b int) {
	if i >= 232 {
		v := 8 + 10*(i-232)
		return v, v, v
	}
	levels := [6]int{0, 95, 135, 175, 215, 255}
	i -= 16
	return levels[i/36], levels[i/6%6], levels[i%6]
}

// classes turns the library's class names into ours. On a coloured background text has the page's
// own background as its colour, for which every palette colour has contrast enough; black
// backgrounds are the page's.
func classes(theirs string) string {
	fg, bg, reversed := -1, -1, false // the default colours are -1
	var rest []string
	for class := range strings.FieldsSeq(theirs) {
		if n, ok := colorIndex(class, "term-fgx"); ok {
			fg = n
		} else if n, ok := colorIndex(class, "term-bgx"); ok {
			bg = n
		} else if code := strings.TrimPrefix(class, "term-fg"); code == reverse {
			reversed = true
		} else if weights[code] != "" {
			rest = append(rest, weights[code])
		}
	}
	if reversed {
		fg, bg = bg, fg
	}
	color := ""
	switch {
	case reversed && bg < 0:
		color = "rv"
	case bg > 0 && bg != 16 && bg != 232:
		color = "r" + strconv.Itoa(bg)
	case fg >= 16:
		color = "x" + strconv.Itoa(fg)
	case fg >= 0:
		color = "a" + strconv.Itoa(fg)
	}
	if color != "" {
		rest = append([]string{color}, rest...)
	}
	return strings.Join(rest, " ")
}

func colorIndex(class, prefix string) (int, bool) {
	digits, ok := strings.CutPrefix(class, prefix)
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && 0 <= n && n < 256
}
