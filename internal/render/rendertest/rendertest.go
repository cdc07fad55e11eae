// Package rendertest checks, for the tests of render and of the rooms below it, that
// HTML holds nothing but what they may write.
package rendertest

import (
	"html/template"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// allowed is everything these rooms may ever write: element → attribute → what its value may be.
var allowed = map[string]map[string]string{
	"div": {"class": classes, "id": anchors, "tabindex": `^0$`}, "span": {"class": classes},
	"code": {"class": classes}, "pre": {"class": classes, "tabindex": `^0$`},
	"bdi": {"class": `^err$`, "title": `^U\+[0-9A-F]+$`},
	"a": {"class": `^ln$`, "href": `^(#[A-Za-z0-9_-]+|https?://[^\s"]+|mailto:[^\s"]+)$`,
		"rel": `^noopener noreferrer$`, "target": `^_blank$`, "aria-label": `^Line \d+$`},
	"p": {"class": classes}, "h4": nil, "h5": nil, "h6": nil, "ul": nil, "ol": {"start": `^\d+$`},
	"li": {"class": classes}, "blockquote": nil, "hr": nil, "br": nil,
	"em": nil, "strong": nil, "del": nil, "table": nil, "thead": nil, "tbody": nil, "tr": nil,
	"th": {"class": classes}, "td": {"class": classes},
}

func init() {
	for _, name := range strings.Fields(
		"math mrow mi mn mo ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover " +
			"munderover mmultiscripts mprescripts none mtable mtr mtd mstyle mpadded mphantom") {
		allowed[name] = mathAttributes
	}
}

// mathAttributes are those of formulas: names and lengths.
var mathAttributes = func() map[string]string {
	m := map[string]string{}
	for _, name := range strings.Fields(
		"display displaystyle scriptlevel mathvariant stretchy fence separator symmetric largeop " +
			"movablelimits accent accentunder form lspace rspace minsize maxsize width height depth " +
			"voffset linethickness columnspan rowspan class") {
		m[name] = `^[a-z0-9.%+ -]*$`
	}
	return m
}()

const (
	classes = `^[a-z0-9 -]+$`
	anchors = `^[A-Za-z0-9_-]+$`
)

// Safe parses h and refuses any element, attribute or value outside the list, and tags that do not
// nest.
func Safe(t testing.TB, h string) {
	t.Helper()
	z := html.NewTokenizer(strings.NewReader(h))
	var open []string
	for {
		switch z.Next() {
		case html.ErrorToken:
			if len(open) > 0 {
				t.Fatalf("left open: %v in %.300q", open, h)
			}
			return
		case html.CommentToken, html.DoctypeToken:
			t.Fatalf("comment or doctype in %.300q", h)
		case html.EndTagToken:
			token := z.Token()
			if len(open) == 0 || open[len(open)-1] != token.Data {
				t.Fatalf("</%s> closes %v in %.300q", token.Data, open, h)
			}
			open = open[:len(open)-1]
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			attributes, ok := allowed[token.Data]
			if !ok {
				t.Fatalf("element <%s> in %.300q", token.Data, h)
			}
			for _, a := range token.Attr {
				pattern, ok := attributes[a.Key]
				if !ok || !regexp.MustCompile(pattern).MatchString(a.Val) {
					t.Fatalf("attribute %s=%q on <%s> in %.300q", a.Key, a.Val, token.Data, h)
				}
			}
			if token.Data != "br" && token.Data != "hr" {
				open = append(open, token.Data)
			}
		}
	}
}

// Text returns what a browser would for the fragment.
func Text(t testing.TB, h string) string {
	t.Helper()
	z := html.NewTokenizer(strings.NewReader(h))
	var b strings.Builder
	for {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			b.WriteString(html.UnescapeString(string(z.Raw())))
		}
	}
}

// Rows returns what stands between <code class="cl"> and </code>, row by row.
func Rows(h template.HTML) []string {
	var rows []string
	for line := range strings.SplitSeq(strings.TrimSuffix(string(h), "\n"), "\n") {
		_, line, _ = strings.Cut(line, `<code class="cl">`)
		rows = append(rows, strings.TrimSuffix(line, "</code></div>"))
	}
	return rows
}

// SoakSeed skips a long run unless it was asked for.
func SoakSeed(t *testing.T) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv("WEBCHAT_SOAK"), 10, 64)
	if err != nil {
		t.Skip("a long run: make soak")
	}
	t.Logf("seed %d", seed)
	return seed
}

// Unwanted matches characters that no HTML may hold.
var Unwanted = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f\x{80}-\x{9f}]`)
