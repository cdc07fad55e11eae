package terminal

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// sgr is the style a terminal writes in. Colours are 0 for the default, else 1 + an index into the palette of 256.
type sgr struct {
	fg, bg                                          uint16
	bold, faint, italic, underline, strike, inverse bool
}

// apply obeys the parameters of one "select graphic rendition" sequence. Blinking and concealed text are shown as
// ordinary text: nothing moves on the page, and nothing hides on it.
func (s *sgr) apply(params string) {
	fields := strings.FieldsFunc(params, func(r rune) bool { return r == ';' })
	if strings.Trim(params, ";") == "" {
		*s = sgr{}
		return
	}
	for i := 0; i < len(fields); i++ {
		code, sub, _ := strings.Cut(fields[i], ":")
		n, err := strconv.Atoi(code)
		if err != nil {
			continue
		}
		switch {
		case n == 38 || n == 48:
			var color uint16
			var ok bool
			if sub != "" {
				color, ok = extended(strings.Split(strings.Replace(sub, "::", ":", 1), ":"))
			} else {
				rest := fields[i+1:]
				used := 0
				if len(rest) > 0 {
					used = map[string]int{"5": 2, "2": 4}[rest[0]]
				}
				used = min(used, len(rest))
				color, ok = extended(rest[:used])
				i += used
			}
			if ok && n == 38 {
				s.fg = color
			} else if ok {
				s.bg = color
			}
		case 30 <= n && n <= 37:
			s.fg = uint16(n - 30 + 1)
		case 90 <= n && n <= 97:
			s.fg = uint16(n - 90 + 8 + 1)
		case 40 <= n && n <= 47:
			s.bg = uint16(n - 40 + 1)
		case 100 <= n && n <= 107:
			s.bg = uint16(n - 100 + 8 + 1)
		default:
			s.attribute(n, sub)
		}
	}
}

func (s *sgr) attribute(n int, sub string) {
	switch n {
	case 0:
		*s = sgr{}
	case 1:
		s.bold = true
	case 2:
		s.faint = true
	case 3:
		s.italic = true
	case 4:
		s.underline = sub != "0"
	case 21:
		s.underline = true
	case 7:
		s.inverse = true
	case 9:
		s.strike = true
	case 22:
		s.bold, s.faint = false, false
	case 23:
		s.italic = false
	case 24:
		s.underline = false
	case 27:
		s.inverse = false
	case 29:
		s.strike = false
	case 39:
		s.fg = 0
	case 49:
		s.bg = 0
	}
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
		v = min(max(v, 0), 255)
		if v < 48 {
			return 0
		}
		if v < 115 {
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

// The library forgets true colours and reverse video and never resets what it does not know, so each change of style
// goes to it as a whole, as colours it keeps apart: a foreground as itself, a background as itself, and
// reverse video of the default colours as blinking, which we never pass on.
func (s *sgr) sequence() string {
	var b strings.Builder
	b.WriteString("\x1b[0")
	for _, a := range []struct {
		on   bool
		code string
	}{{s.bold, ";1"}, {s.faint && !s.bold, ";2"}, {s.italic, ";3"}, {s.underline, ";4"}, {s.strike, ";9"}} {
		if a.on {
			b.WriteString(a.code)
		}
	}
	fg, bg := s.fg, s.bg
	if s.inverse {
		fg, bg = bg, fg
		if bg == 0 {
			b.WriteString(";5")
		}
	}
	if fg > 0 {
		b.WriteString(";38;5;" + strconv.Itoa(int(fg-1)))
	}
	if bg > 0 {
		b.WriteString(";48;5;" + strconv.Itoa(int(bg-1)))
	}
	b.WriteByte('m')
	return b.String()
}

// termClasses turns the library's class names into ours. On a coloured background text has the page's own background
// as its colour, for which every palette colour has contrast enough; black backgrounds are the page's.
func termClasses(theirs string) string {
	var fg, bg string
	var rest []string
	for class := range strings.FieldsSeq(theirs) {
		switch class {
		case "term-fg1":
			rest = append(rest, "b")
		case "term-fg2":
			rest = append(rest, "f")
		case "term-fg3":
			rest = append(rest, "it")
		case "term-fg4":
			rest = append(rest, "un")
		case "term-fg9":
			rest = append(rest, "st")
		case "term-fg5":
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

const (
	termLight = 0xfafaf8 // the terminal's background in each theme
	termDark  = 0x101113
	minRatio  = 4.5
)

// CSS is the part of the style sheet that belongs to [Document]: the 240 colours beyond the sixteen (x16 to
// x255), every colour as a background (r0 to r255 and rv, with text in the background's colour), and it, un, st.
// The lightness of each colour is moved until its contrast with the terminal's background is at least 4.5 to 1 in both
// themes. The sixteen themselves (a0 to a15) and --t-bg, --t-fg are the page's own tokens.
func CSS() string {
	var b strings.Builder
	b.WriteString("/* Made by internal/render/terminal. */\n@layer components {\n")
	b.WriteString("  .code .it { font-style: italic; } .code .un { text-decoration: underline; } .code .st { text-decoration: line-through; }\n")
	b.WriteString("  .code .rv { color: var(--t-bg); background: var(--t-fg); }\n")
	for i := range 16 {
		fmt.Fprintf(&b, "  .code .r%d { color: var(--t-bg); background: var(--a%d); }\n", i, i)
	}
	for i := 16; i < 256; i++ {
		light, dark := termColors(i)
		fmt.Fprintf(&b, "  .code .x%d { color: light-dark(#%06x, #%06x); } .code .r%d { color: var(--t-bg); background: light-dark(#%06x, #%06x); }\n", i, light, dark, i, light, dark)
	}
	b.WriteString("}\n")
	return b.String()
}

// termColors returns colour i as it is on the light and on the dark background.
func termColors(i int) (light, dark int) {
	r, g, b := paletteRGB(i)
	rgb := r<<16 | g<<8 | b
	return legible(rgb, termLight, 0x000000), legible(rgb, termDark, 0xffffff)
}

// legible mixes color with toward, in steps, until it can be read on background.
func legible(color, background, toward int) int {
	for step := 0; ; step++ {
		mixed := 0
		for shift := 16; shift >= 0; shift -= 8 {
			from, to := float64(color>>shift&255), float64(toward>>shift&255)
			mixed |= int(math.Round(from+(to-from)*float64(step)/64)) << shift
		}
		if step == 64 || contrast(mixed, background) >= minRatio {
			return mixed
		}
	}
}

// contrast is the WCAG 2 contrast ratio of two colours.
func contrast(a, b int) float64 {
	l, m := luminance(a), luminance(b)
	return (max(l, m) + 0.05) / (min(l, m) + 0.05)
}

func luminance(rgb int) float64 {
	channel := func(shift int) float64 {
		v := float64(rgb>>shift&255) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(16) + 0.7152*channel(8) + 0.0722*channel(0)
}
