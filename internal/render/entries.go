package render

import (
	"html/template"
	"strconv"
	"strings"
)

// Entry is a name in a folder or an archive, and its line in the list of them. Of a folder the name
// ends in a slash.
type Entry struct {
	Line             int
	Name, Size, When string
	Link             bool
	Member           bool // of an archive: it cannot be opened
	Remark           bool // it is not a name
}

// Entries shows names in a folder or an archive, one row each.
//
//	<div class="line entry dir"><span class="ln">1</span><code class="cl">internal/</code><span class="size"></span><span class="when">8:12</span></div>
func Entries(list []Entry) template.HTML {
	var b strings.Builder
	for _, e := range list {
		class := "line"
		if !e.Remark {
			class += " entry"
		}
		if strings.HasSuffix(e.Name, "/") {
			class += " dir"
		}
		if e.Link {
			class += " link"
		}
		if e.Member {
			class += " member"
		}
		b.WriteString(`<div class="` + class + `"><span class="ln">` + strconv.Itoa(e.Line) +
			`</span><code class="cl">`)
		visible(&b, e.Name)
		b.WriteString(`</code><span class="size">` + template.HTMLEscapeString(e.Size) +
			`</span><span class="when">` + template.HTMLEscapeString(e.When) + "</span></div>\n")
	}
	return template.HTML(b.String())
}
