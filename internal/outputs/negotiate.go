package outputs

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// negotiate returns the encodings a client wants, most wanted first (RFC 9110 §12.5.3); between
// equals zstd, then gzip. Without the header, none.
func negotiate(accept []string) []Encoding {
	q := [Encodings]float64{-1, -1}
	rest := -1.0
	for _, field := range accept {
		for part := range strings.SplitSeq(field, ",") {
			name, params, _ := strings.Cut(part, ";")
			weight := quality(params)
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "zstd":
				q[Zstd] = weight
			case "gzip", "x-gzip":
				q[Gzip] = weight
			case "*":
				rest = weight
			}
		}
	}
	var wanted []Encoding
	for e := range Encodings {
		if q[e] < 0 {
			q[e] = rest
		}
		if q[e] > 0 {
			wanted = append(wanted, e)
		}
	}
	slices.SortStableFunc(wanted, func(a, b Encoding) int { return cmp.Compare(q[b], q[a]) })
	return wanted
}

func quality(params string) float64 {
	for p := range strings.SplitSeq(params, ";") {
		if k, v, ok := strings.Cut(p, "="); ok && strings.EqualFold(strings.TrimSpace(k), "q") {
			w, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
			if err != nil || !(w >= 0 && w <= 1) {
				return 0
			}
			return w
		}
	}
	return 1
}
