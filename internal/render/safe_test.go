package render

import (
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// allowed is everything this package may ever write: element → attribute → what its value may be.
var allowed = map[string]map[string]string{
	"div": {"class": classes, "id": anchors, "tabindex": `^0$`}, "span": {"class": classes}, "code": {"class": classes}, "pre": {"class": classes, "tabindex": `^0$`},
	"bdi": {"class": `^err$`, "title": `^U\+[0-9A-F]+$`},
	"a":   {"class": `^ln$`, "href": `^(#[A-Za-z0-9_-]+|https?://[^\s"]+|mailto:[^\s"]+)$`, "rel": `^noopener noreferrer$`, "target": `^_blank$`, "aria-label": `^Line \d+$`},
	"p":   {"class": classes}, "h4": nil, "h5": nil, "h6": nil, "ul": nil, "ol": {"start": `^\d+$`}, "li": {"class": classes}, "blockquote": nil, "hr": nil, "br": nil,
	"em": nil, "strong": nil, "del": nil, "table": nil, "thead": nil, "tbody": nil, "tr": nil, "th": {"class": classes}, "td": {"class": classes},
}

const (
	classes = `^[a-z0-9 -]+$`
	anchors = `^[A-Za-z0-9_-]+$`
)

// checkSafe parses h and refuses any element, attribute or value outside the list, and tags that do not nest.
func checkSafe(t testing.TB, h string) {
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

// textContent returns what a browser would for the fragment.
func textContent(t testing.TB, h string) string {
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

func TestQuoted(t *testing.T) {
	for text, want := range map[string]string{
		"`ls <a>` in `/x`": "<code>ls &lt;a&gt;</code> in <code>/x</code>",
		"one ` alone <b>":  "one ` alone &lt;b&gt;",
		"`a\u202e`":        `<code>a<span class="vis">U+202E</span></code>`,
		"":                 "",
	} {
		if got := string(Quoted(text)); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}
