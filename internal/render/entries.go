package render

import (
	"html/template"
	"strconv"
	"strings"
)

// Entries shows the names in a folder, one row each, numbered from first. A name that ends in a slash is a folder, one that
// ends in " (link)" a link.
//
//	<div class="line entry dir"><span class="ln">1</span><code class="cl">internal/</code></div>
func Entries(names []string, first int) template.HTML {
	var b strings.Builder
	for i, name := range names {
		class := "entry"
		if strings.HasSuffix(name, "/") {
			class += " dir"
		}
		shown, link := strings.CutSuffix(name, " (link)")
		if link {
			class += " link"
		}
		b.WriteString(`<div class="line ` + class + `"><span class="ln">` + strconv.Itoa(first+i) + `</span><code class="cl">`)
		visible(&b, shown)
		CloseRow(&b)
	}
	return template.HTML(b.String())
}
