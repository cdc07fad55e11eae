package terminal

import (
	"slices"
	"strconv"
	"strings"
)

// weight is a set of what text is besides its colours.
type weight uint8

const (
	bold weight = 1 << iota
	faint
	italic
	underline
	strike
	inverse
)

// weightClass is a weight the library knows: the code it takes, with which its class ends, and
// our class.
type weightClass struct {
	is          weight
	code, class string
}

var weights = []weightClass{{bold, "1", "b"}, {faint, "2", "f"}, {italic, "3", "it"}, {underline, "4", "un"}, {strike, "9", "st"}}

// begins and ends say what codes switch on and off. Blinking and concealed text are shown as
// ordinary text: nothing moves on the page, and nothing hides on it.
var (
	begins = map[int]weight{1: bold, 2: faint, 3: italic, 4: underline, 21: underline, 7: inverse, 9: strike}
	ends   = map[int]weight{22: bold | faint, 23: italic, 24: underline, 27: inverse, 29: strike}
)

// style is what a terminal writes in. Colours are 0 for the default, else 1 + an index into the
// palette of 256.
type style struct {
	fg, bg uint16
	weight weight
}

// apply obeys the parameters of one "select graphic rendition" sequence.
func (s *style) apply(params string) {
	fields := strings.FieldsFunc(params, func(r rune) bool { return r == ';' })
	if strings.Trim(params, ";") == "" {
		*s = style{}
	}
	for i := 0; i < len(fields); i++ {
		code, sub, _ := strings.Cut(fields[i], ":")
		n, err := strconv.Atoi(code)
		if err != nil {
			continue
		}
		if n != 38 && n != 48 {
			s.one(n, sub)
			continue
		}
		parts := strings.Split(strings.Replace(sub, "::", ":", 1), ":")
		if sub == "" {
			rest := fields[i+1:]
			used := 0
			if len(rest) > 0 {
				used = min(map[string]int{"5": 2, "2": 4}[rest[0]], len(rest))
			}
			parts = rest[:used]
			i += used
		}
		if color, ok := extended(parts); ok && n == 38 {
			s.fg = color
		} else if ok {
			s.bg = color
		}
	}
}

// one obeys a code that stands by itself.
func (s *style) one(n int, sub string) {
	switch {
	case n == 0:
		*s = style{}
	case n == 4 && sub == "0":
		s.weight &^= underline
		return
	case n == 39:
		s.fg = 0
	case n == 49:
		s.bg = 0
	case 30 <= n && n <= 37:
		s.fg = uint16(n - 30 + 1)
	case 90 <= n && n <= 97:
		s.fg = uint16(n - 90 + 8 + 1)
	case 40 <= n && n <= 47:
		s.bg = uint16(n - 40 + 1)
	case 100 <= n && n <= 107:
		s.bg = uint16(n - 100 + 8 + 1)
	}
	s.weight = s.weight&^ends[n] | begins[n]
}

// extended reads "5;n" or "2;r;g;b" (with colons a colour space may stand before r).
func extended(fields []string) (uint16, bool) {
	var v [5]int
	for i, f := range fields {
		if i >= len(v) {
			break
		}
		v[i], _ = strconv.Atoi(f)
	}
	switch {
	case len(fields) == 2 && v[0] == 5 && 0 <= v[1] && v[1] < 256:
		return uint16(v[1] + 1), true
	case len(fields) == 4 && v[0] == 2:
		return uint16(nearestColor(v[1], v[2], v[3]) + 1), true
	case len(fields) == 5 && v[0] == 2:
		return uint16(nearestColor(v[2], v[3], v[4]) + 1), true
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

// The library forgets true colours and reverse video and never resets what it does not know, so
// each change of style goes to it as a whole, as colours it keeps apart: a foreground as itself, a
// background as itself, and reverse video of the default colours as blinking, which is never
// passed on.
func (s *style) sequence() string {
	seq := "\x1b[0"
	for _, w := range weights {
		if s.weight&w.is != 0 && (w.is != faint || s.weight&bold == 0) {
			seq += ";" + w.code
		}
	}
	fg, bg := s.fg, s.bg
	if s.weight&inverse != 0 {
		fg, bg = bg, fg
		if bg == 0 {
			seq += ";5"
		}
	}
	if fg > 0 {
		seq += ";38;5;" + strconv.Itoa(int(fg-1))
	}
	if bg > 0 {
		seq += ";48;5;" + strconv.Itoa(int(bg-1))
	}
	return seq + "m"
}

// classes turns the library's class names into ours. On a coloured background text has the page's
// own background as its colour, for which every palette colour has contrast enough; black
// backgrounds are the page's.
func classes(theirs string) string {
	var fg, bg string
	var rest []string
	for class := range strings.FieldsSeq(theirs) {
		code := strings.TrimPrefix(class, "term-fg")
		i := slices.IndexFunc(weights, func(w weightClass) bool { return w.code == code })
		switch {
		case i >= 0:
			rest = append(rest, weights[i].class)
		case code == "5":
			bg = "rv"
		default:
			if n, ok := colorIndex(class, "term-fgx"); ok {
				fg = paletteClass("a", "x", n)
			} else if n, ok := colorIndex(class, "term-bgx"); ok && n != 0 && n != 16 && n != 232 {
				bg = paletteClass("r", "r", n)
			}
		}
	}
	if bg != "" {
		fg = bg
	}
	if fg != "" {
		rest = append([]string{fg}, rest...)
	}
	return strings.Join(rest, " ")
}

func colorIndex(class, prefix string) (int, bool) {
	digits, ok := strings.CutPrefix(class, prefix)
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && 0 <= n && n < 256
}

func paletteClass(low, high string, n int) string {
	if n < 16 {
		return low + strconv.Itoa(n)
	}
	return high + strconv.Itoa(n)
}
