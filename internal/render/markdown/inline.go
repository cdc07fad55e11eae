package markdown

import (
	"cmp"
	"html"
	"regexp"
	"strings"
	"sync"
)

// longest is how many bytes a line may have that [Inline] looks into.
const longest = 4000

// documents is what [Inline] looks for, made when it is first needed.
type documents struct {
	fence, definition, image, link, tagImage, tagLink, heading, attribute, layout *regexp.Regexp
}

var inDocuments = sync.OnceValue(func() *documents {
	c := regexp.MustCompile
	return &documents{
		fence: c(`^ {0,3}(?:` + "```" + `|~~~|\$\$[ \t]*\r?\n?$)`),
		definition: c(
			`^ {0,3}\[([^\[\]^][^\[\]]*)\]:[ \t]*<?([^\s<>]+)>?(?:[ \t]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t]*$`),
		image:     c(`!\[([^\[\]]*)\](?:\[([^\[\]]*)\])?`),
		link:      c(`\[((?:[^\[\]]|!\[[^\[\]]*\]\([^()\s]*\))+)\](?:\[([^\[\]]*)\])?`),
		tagImage:  c(`(?i)<img(\s[^<>]*)>`),
		tagLink:   c(`(?i)<a(\s[^<>]*)>(.*?)</a>`),
		heading:   c(`(?i)^\s*<h([1-6])(?:\s[^<>]*)?>(.*?)(?:</h[1-6]>)?\s*$`),
		attribute: c(`(?i)\s(alt|src|href)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+))`),
		layout: c(
			`(?i)</?(?:p|div|center|br|span|picture|source|sub|sup|kbd|a|h[1-6])(?:\s[^<>]*)?/?>`),
	}
})

// Inline writes a document in the Markdown that answers are shown in: links and pictures
// have the addresses that are defined elsewhere in it; those and headings that are HTML
// are Markdown; and tags that only lay out are gone. Blocks of code stay as they are, and
// lines keep their numbers.
func Inline(text string) string {
	d := inDocuments()
	lines := strings.SplitAfter(text, "\n")
	to := map[string]string{}
	d.outside(lines, func(line string) string {
		m := d.definition.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			return line
		}
		if label := strings.ToLower(m[1]); to[label] == "" {
			to[label] = m[2]
		}
		return "\n"
	})
	d.outside(lines, func(line string) string {
		if len(line) > longest {
			return line
		}
		if strings.IndexByte(line, '<') >= 0 {
			line = d.tags(line)
		}
		if len(to) > 0 && strings.IndexByte(line, '[') >= 0 {
			line = resolve(resolve(line, d.image, "!", to), d.link, "", to)
		}
		return line
	})
	return strings.Join(lines, "")
}

// outside replaces each line that is in no block of code.
func (d *documents) outside(lines []string, by func(string) string) {
	fenced := ""
	for i, line := range lines {
		mark := strings.TrimSpace(d.fence.FindString(line))
		switch {
		case fenced != "" && mark == fenced:
			fenced = ""
		case fenced == "" && mark != "":
			fenced = mark
		case fenced == "" && !strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, "\t"):
			lines[i] = by(line)
		}
	}
}

// replace replaces what matches, but for what stands in a span of code.
func replace(line string, what *regexp.Regexp,
	by func(m []string, next byte) (string, bool)) string {
	var b strings.Builder
	done := 0
	for _, at := range what.FindAllStringSubmatchIndex(line, -1) {
		m := make([]string, len(at)/2)
		for i := range m {
			if at[2*i] >= 0 {
				m[i] = line[at[2*i]:at[2*i+1]]
			}
		}
		next := byte(0)
		if at[1] < len(line) {
			next = line[at[1]]
		}
		with, ok := by(m, next)
		if !ok || strings.Count(line[:at[0]], "`")%2 == 1 {
			continue
		}
		b.WriteString(line[done:at[0]] + with)
		done = at[1]
	}
	return b.String() + line[done:]
}

// resolve puts addresses in the place of references to them.
func resolve(line string, what *regexp.Regexp, mark string, to map[string]string) string {
	return replace(line, what, func(m []string, next byte) (string, bool) {
		address := to[strings.ToLower(cmp.Or(m[2], m[1]))]
		return mark + "[" + m[1] + "](" + address + ")", address != "" && next != '(' && next != ':' &&
			!strings.ContainsAny(address, "()")
	})
}

// tags writes what stands in HTML as Markdown.
func (d *documents) tags(line string) string {
	if m := d.heading.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
		line = strings.Repeat("#", int(m[1][0]-'0')) + " " + m[2] + "\n"
	}
	line = replace(line, d.tagImage, func(m []string, _ byte) (string, bool) {
		return d.linked("!", d.named(m[1], "alt"), d.named(m[1], "src"))
	})
	line = replace(line, d.tagLink, func(m []string, _ byte) (string, bool) {
		return d.linked("", m[2], d.named(m[1], "href"))
	})
	return replace(line, d.layout, func([]string, byte) (string, bool) { return "", true })
}

func (d *documents) linked(mark, text, address string) (string, bool) {
	if mark != "" {
		text = strings.NewReplacer("[", "(", "]", ")").Replace(cmp.Or(text, "picture"))
	}
	return mark + "[" + text + "](" + address + ")", address != "" &&
		!strings.ContainsAny(address, " \t()<>")
}

// named is the value of an attribute.
func (d *documents) named(attributes, name string) string {
	for _, m := range d.attribute.FindAllStringSubmatch(attributes, -1) {
		if strings.EqualFold(m[1], name) {
			return html.UnescapeString(cmp.Or(m[2], m[3], m[4]))
		}
	}
	return ""
}
