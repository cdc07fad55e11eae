package render

import (
	"html"
	"html/template"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"webchat/internal/wording"
)

// Finder returns the path of the file that a text calls by a name; false if there is none.
type Finder func(name string) (path string, ok bool)

// placeRE finds, in text that is escaped, a file with a line, as compilers and as Python name it,
// and an address.
var placeRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`([\w./@+~-]*[\w@+~-]\.\w{1,12})[:(](\d{1,9})(?:[:,]\d{1,9})?|File &#34;([^&<>"]{1,300})&#34;, line (\d{1,9})|https?://[\w./?=%:@~#+,;&!*-]+[\w/=~#+-]`)
})

// Places makes links of the files with a line, and of the addresses, that rows name. They only
// show: opening a file is up to the page.
//
//	<a class="at-src" href="#src" data-path="pump/pump_test.go" data-line="88">pump_test.go:88</a>
func Places(rows template.HTML, find Finder) template.HTML {
	s := string(rows)
	var b strings.Builder
	for s != "" {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			i = len(s)
		}
		linkText(&b, s[:i], find)
		s = s[i:]
		if i = strings.IndexByte(s, '>'); i < 0 {
			break
		}
		tag := s[:i+1]
		b.WriteString(tag)
		s = s[i+1:]
		if strings.HasPrefix(tag, "<a ") { // a link in a link is none
			i = strings.Index(s, "</a>")
			b.WriteString(s[:max(i, 0)])
			s = s[max(i, 0):]
		}
	}
	return template.HTML(b.String())
}

func linkText(b *strings.Builder, text string, find Finder) {
	done := 0
	for _, m := range placeRE().FindAllStringSubmatchIndex(text, 100) {
		whole := text[m[0]:m[1]]
		name, line := "", ""
		switch {
		case m[2] >= 0:
			name, line = text[m[2]:m[3]], text[m[4]:m[5]]
		case m[6] >= 0:
			name, line = text[m[6]:m[7]], text[m[8]:m[9]]
		}
		b.WriteString(text[done:m[0]])
		done = m[1]
		switch {
		case name == "":
			b.WriteString(webLink(whole))
		default:
			b.WriteString(srcLink(html.UnescapeString(name), line, whole, find))
		}
	}
	b.WriteString(text[done:])
}

// webLink makes a link of an address, which is escaped.
func webLink(escaped string) string {
	for _, end := range []string{"&lt;", "&gt;", "&#34;", "&#39;"} {
		if i := strings.Index(escaped, end); i >= 0 {
			return webLink(escaped[:i]) + escaped[i:]
		}
	}
	if address, ok := SafeAddress(html.UnescapeString(escaped)); ok {
		return OpenLink(address) + escaped + "</a>"
	}
	return escaped
}

// srcLink makes a link of a name with a line, if there is such a file. shown is escaped.
func srcLink(name, line, shown string, find Finder) string {
	path, ok := find(name)
	n, err := strconv.Atoi(line)
	if !ok || err != nil || n < 1 {
		return shown
	}
	return `<a class="at-src" href="#src" data-path="` + string(Exact(path)) + `" data-line="` +
		strconv.Itoa(n) + `">` + shown + "</a>"
}

// FirstFailure shows the first failure of a command: its line, what failed, and why.
//
//	<div class="first" data-line="1457"><b>First failure</b> <span class="dim">at line 1,457</span><span class="mono">TestPublish</span>
//	<span class="mono"><a class="at-src" …>pump_test.go:88</a>: sink 2 still attached</span></div>
func FirstFailure(line int, name, reason string, find Finder) template.HTML {
	var b strings.Builder
	n := strconv.Itoa(line)
	b.WriteString(`<div class="first" data-line="` + n +
		`"><b>First failure</b> <span class="dim">at line ` + wording.Count(line) + `</span>`)
	for _, text := range []string{name, reason} {
		if text == "" {
			continue
		}
		var shown strings.Builder
		head, left := CutRunes(text, cellLimit)
		Escape(&shown, head)
		b.WriteString(`<span class="mono">` + string(Places(template.HTML(shown.String()), find)))
		More(&b, left)
		b.WriteString("</span>")
	}
	b.WriteString("</div>\n")
	return template.HTML(b.String())
}
