package veil

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// shape is what a credential looks like, or where one stands. Its only group is the secret.
type shape struct {
	expr    string
	anchors []string // a line that has none of them does not match
	also    string   // nor does one without this
	re      func() *regexp.Regexp
}

// shapes are recognised by what services put in front of credentials, so that leaks can be found, and by
// where passwords stand.
//
// They are our own and few. Collections such as that of gitleaks have hundreds of rules, most of which
// look for a name and an equals sign in source code; [Name] judges names.
var shapes = made(
	shape{expr: `[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/@:]*:([^\s/@]+)@`, anchors: []string{"://"}, also: "@"},    // a URL with a password
	shape{expr: `[a-zA-Z][a-zA-Z0-9+.-]*://([A-Za-z0-9_.~%-]{20,})@`, anchors: []string{"://"}, also: "@"}, // or a token instead of a user
	shape{expr: `(?i:\b(?:hooks\.slack\.com/(?:services/)?|discord(?:app)?\.com/api/webhooks/|webhook\.office\.com/|api\.telegram\.org/bot))([^\s"'<>]*)`,
		anchors: []string{"hooks.slack.com", "/api/webhooks/", "webhook.office.com", "api.telegram.org"}},
	shape{expr: `(?i:(?:^|[:=]\s*["']?)(?:bearer|basic)\s+([A-Za-z0-9+/._~-]{12,}=*))`, // an Authorization header
		anchors: []string{"earer ", "asic ", "EARER ", "ASIC "}},
	shape{expr: `AGE-SECRET-KEY-1([A-Z0-9]*)`, anchors: []string{"AGE-SECRET-KEY-1"}},
	shape{expr: `\b(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)`, anchors: []string{"eyJ"}}, // JSON Web Token
	shape{expr: `\b((?:gh[pousr]_|github_pat_|glpat-|gl[a-z]{2,5}t-|xox[a-z]-|xapp-|npm_|pypi-|hf_|dop_v1_|shpat_|dckr_pat_|whsec_|hvs\.|lin_api_|ntn_|figd_)[A-Za-z0-9_-]{10,})`,
		anchors: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "glcbt-", "glptt-", "glimt-", "glsoat-", "glagent-", "xox", "xapp-", "npm_", "pypi-", "hf_", "dop_v1_", "shpat_",
			"dckr_pat_", "whsec_", "hvs.", "lin_api_", "ntn_", "figd_"}},
	shape{expr: `\b((?:sk|pk|rk)[-_](?:[a-z0-9]+[-_])*[A-Za-z0-9]{16,}[A-Za-z0-9_-]*)`, // OpenAI, Anthropic, Stripe and others
		anchors: []string{"sk-", "sk_", "pk-", "pk_", "rk-", "rk_"}},
	shape{expr: `\b((?:AKIA|ASIA)[A-Z0-9]{16})\b`, anchors: []string{"AKIA", "ASIA"}},
	shape{expr: `\b(AIza[A-Za-z0-9_-]{35})`, anchors: []string{"AIza"}},
	shape{expr: `\b(ya29\.[A-Za-z0-9_-]{10,})`, anchors: []string{"ya29."}},
	shape{expr: `\b(SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})`, anchors: []string{"SG."}},
)

// otherwise are shapes of variables' values that [Spans] finds by other means.
const otherwise = `(?i:\b(?:password|passwd|pwd|(?:account|access|api|shared ?access)[_-]?key|client_?secret|sig|secret|(?:access_|auth)?token)\s*=\s*[^\s;&"',]{3})` + // connection strings
	`|-----BEGIN [A-Z0-9 ]*PRIVATE KEY|PuTTY-User-Key-File`

func made(list ...shape) []shape {
	for i := range list {
		list[i].re = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(list[i].expr) })
	}
	return list
}

var values = sync.OnceValue(func() *regexp.Regexp {
	parts := []string{otherwise}
	for _, s := range shapes {
		parts = append(parts, s.expr)
	}
	return regexp.MustCompile(strings.Join(parts, "|"))
})

// Value reports whether the value of a variable holds what looks like a credential.
func Value(value string) bool { return values().MatchString(value) }

// mostLooked is how many bytes of a line are compared with shapes.
const mostLooked = 256 << 10

// start is what a credential, or the name of one, is recognised by.
type start struct {
	shape  int    // whose anchor it is; below 0: it is a part of names
	anchor string // of names, in capital letters
	at     int    // where in it the pair stands
}

// starts are the anchors and the parts of names by two neighbouring pairs of bytes of each: those of a
// pair, if pairs has a number for it.
var pairs, starts = func() (pairs [1 << 16]uint16, starts [][]start) {
	starts = [][]start{nil} // no pair has the number 0
	add := func(a, b byte, st start) {
		p := &pairs[pair(a, b)]
		if *p == 0 {
			*p = uint16(len(starts))
			starts = append(starts, nil)
		}
		if !slices.Contains(starts[*p], st) { // an underscore has one case
			starts[*p] = append(starts[*p], st)
		}
	}
	for i, s := range shapes {
		for _, anchor := range s.anchors {
			for _, at := range rarest(anchor) {
				add(anchor[at], anchor[at+1], start{i, anchor, at})
			}
		}
	}
	for _, part := range nameParts {
		small := strings.ToLower(part)
		for _, at := range rarest(part) {
			for _, a := range []byte{part[at], small[at]} {
				for _, b := range []byte{part[at+1], small[at+1]} {
					add(a, b, start{-1, part, at})
				}
			}
		}
	}
	return pairs, starts
}()

func pair(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

// rarest are the places of two neighbouring pairs of a text, of the three letters in a row that texts
// have the fewest of.
func rarest(text string) [2]int {
	text = strings.ToUpper(text)
	rare := func(i int) (n int) {
		for _, c := range []byte(text[i : i+3]) {
			n += strings.IndexByte("ETAOINSRHLDCUMFPGWYBV_KXJQZ", c)
		}
		return n
	}
	at := 0
	for i := 1; i+2 < len(text); i++ {
		if rare(i) > rare(at) {
			at = i
		}
	}
	return [2]int{at, at + 1}
}

// recognised adds what looks like a shape, and what names of credentials are set to. It passes over every
// other byte of the text once, as one of two neighbouring pairs begins there, and looks closer only
// where two bytes are of a start.
func recognised(spans []Span, text []byte) []Span {
	done := make([]int, len(shapes)) // where the line ends that a shape was compared with last
	a := assignments{text: text}
	for i := 0; i+1 < len(text); i += 2 {
		n := pairs[pair(text[i], text[i+1])]
		if n == 0 {
			continue
		}
		for _, st := range starts[n] {
			from := i - st.at
			switch {
			case from < 0:
			case st.shape < 0:
				if from >= a.passed && hasUpper(text[from:], st.anchor) {
					a.behind(from)
				}
			case i >= done[st.shape] && bytes.HasPrefix(text[from:], []byte(st.anchor)):
				spans, done[st.shape] = shapes[st.shape].match(spans, text, i)
			}
		}
	}
	return append(spans, a.spans...)
}

// hasUpper reports whether a text begins with a word of capital letters, whatever its case.
func hasUpper(text []byte, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		if text[i]&^0x20 != word[i] {
			return false
		}
	}
	return true
}

// match compares a shape with the line around i, and returns where that ends.
func (s *shape) match(spans []Span, text []byte, i int) ([]Span, int) {
	from, to := lineAround(text, i)
	line := text[from:min(to, from+mostLooked)]
	if !bytes.Contains(line, []byte(s.also)) {
		return spans, to
	}
	for _, m := range s.re().FindAllSubmatchIndex(line, -1) {
		if m[3] > m[2] {
			spans = append(spans, Span{from + m[2], from + m[3]})
		}
	}
	return spans, to
}

func lineAround(text []byte, i int) (from, to int) {
	from = bytes.LastIndexByte(text[:i], '\n') + 1
	if to = bytes.IndexByte(text[i:], '\n'); to < 0 {
		return from, len(text)
	}
	return from, i + to
}
