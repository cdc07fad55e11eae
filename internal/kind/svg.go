package kind

import (
	"bytes"
	"encoding/xml"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// svgHead is how far the root element of an SVG is looked for, in bytes.
const svgHead = 64 << 10

// svgRoot returns the first element of b if that is svg. Only the tokens before
// it are read; entities are not resolved.
func svgRoot(b []byte) (xml.StartElement, bool) {
	b = bytes.TrimPrefix(b[:min(len(b), svgHead)], []byte("\ufeff"))
	if t := bytes.TrimLeft(b, " \t\r\n"); len(t) == 0 || t[0] != '<' {
		return xml.StartElement{}, false
	}
	dec := xml.NewDecoder(bytes.NewReader(b))
	dec.Strict = false
	dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		t, err := dec.RawToken()
		if err != nil {
			return xml.StartElement{}, false
		}
		switch t := t.(type) {
		case xml.StartElement:
			return t, t.Name.Local == "svg" && (t.Name.Space == "" || declares(t, t.Name.Space))
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 {
				return xml.StartElement{}, false
			}
		case xml.EndElement:
			return xml.StartElement{}, false
		}
	}
}

func isSVG(b []byte) bool {
	_, ok := svgRoot(b)
	return ok
}

// declares reports whether root makes prefix that of SVG's own elements.
func declares(root xml.StartElement, prefix string) bool {
	return slices.Contains(root.Attr, xml.Attr{Name: xml.Name{Space: "xmlns", Local: prefix}, Value: "http://www.w3.org/2000/svg"})
}

// svgSize is the size an img element gives it: width and height, else their ratio
// from the viewBox, else 300 × 150 (CSS 2.2 §10.3.2).
func svgSize(b []byte) (int, int, error) {
	root, _ := svgRoot(b)
	var w, h, ratio float64
	for _, a := range root.Attr {
		if a.Name.Space != "" {
			continue
		}
		switch a.Name.Local {
		case "width":
			w = pixels(a.Value)
		case "height":
			h = pixels(a.Value)
		case "viewBox":
			ratio = viewRatio(a.Value)
		}
	}
	switch {
	case w > 0 && h > 0:
	case w > 0 && ratio > 0:
		h = w / ratio
	case h > 0 && ratio > 0:
		w = h * ratio
	case w > 0:
		h = 150
	case h > 0:
		w = 300
	case ratio > 0:
		w, h = 300, 300/ratio
	default:
		w, h = 300, 150
	}
	return whole(w), whole(h), nil
}

func whole(f float64) int { return int(max(1, min(math.Round(f), math.MaxInt32))) }

// pixels reads a CSS length; 0 for one that depends on where it is shown.
func pixels(s string) float64 {
	s = strings.TrimSpace(s)
	number := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ%")
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || !(f > 0) {
		return 0
	}
	return f * map[string]float64{"": 1, "px": 1, "pt": 96. / 72, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "em": 16, "rem": 16}[strings.ToLower(s[len(number):])]
}

func viewRatio(s string) float64 {
	f := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' })
	if len(f) != 4 {
		return 0
	}
	w, err1 := strconv.ParseFloat(f[2], 64)
	h, err2 := strconv.ParseFloat(f[3], 64)
	if err1 != nil || err2 != nil || !(w > 0) || !(h > 0) {
		return 0
	}
	return w / h
}
