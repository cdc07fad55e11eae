package render

import (
	"html/template"
	"regexp"
	"strconv"
	"strings"
)

const (
	// tableSpace is how much HTML one table holds before it ends early, in bytes.
	tableSpace = 2 << 20
	cellLimit  = 500 // characters of one cell that are shown
)

// Table shows records. Numbers stand right, a cell without anything says so, and a long one is cut
// with a note.
//
//	<table class="records"><thead><tr><th class="rn">line</th><th class="r" data-col="1" aria-sort="descending">id</th>…</tr></thead>
//	<tbody><tr><td class="rn"><a class="ln" href="#L2" aria-label="Line 2">2</a></td><td class="r">1204</td><td class="nil">empty</td>…</tr></tbody></table>
type Table struct {
	b       strings.Builder
	numeric []bool
	amounts []bool // columns whose numbers count or measure: their digits stand in groups
}

// names are heads of columns whose numbers name something, or a time.
var names = regexp.MustCompile(
	`(?i)(^|[^a-z])(id|ids|year|port|zip|code|no|nr|pid|uid|gid|inode|time|ts|at|date|epoch|phone|version|line|row)$|[a-z](Id|ID|At|Year|Port|Code)$`)

// grouped are numbers of so many digits that they are read in groups.
var grouped = regexp.MustCompile(`^([-+]?)([1-9]\d{3,})(\.\d+)?$`)

// Null is a cell that holds nothing, where that is not the same as an empty text.
const Null = "\x00"

// Head is what stands above a table's rows.
type Head struct {
	Counted string // what the numbers of rows count
	Columns []string
	Numeric []bool // by column
	Sorted  int    // the column, from 1, that orders the rows; 0: none
	Falling bool   // it orders them from the greatest
}

// NewTable begins a table.
func NewTable(h Head) *Table {
	t := &Table{numeric: h.Numeric, amounts: make([]bool, len(h.Numeric))}
	t.b.WriteString(`<table class="records"><thead><tr><th class="rn">` +
		template.HTMLEscapeString(h.Counted) + `</th>`)
	for i, name := range h.Columns {
		t.b.WriteString("<th")
		if h.Numeric[i] {
			t.b.WriteString(` class="r"`)
			t.amounts[i] = !names.MatchString(strings.TrimSpace(name))
		}
		t.b.WriteString(` data-col="` + strconv.Itoa(i+1) + `"`)
		switch {
		case h.Sorted == i+1 && h.Falling:
			t.b.WriteString(` aria-sort="descending"`)
		case h.Sorted == i+1:
			t.b.WriteString(` aria-sort="ascending"`)
		}
		t.b.WriteByte('>')
		t.text(name)
		t.b.WriteString("</th>")
	}
	t.b.WriteString("</tr></thead>\n<tbody>")
	return t
}

// Row adds a record, which begins at a line. Cells beyond the columns are shown, too, up to as many
// again.
func (t *Table) Row(line int, cells []string) {
	t.begin(line)
	for i := range max(len(t.numeric), min(len(cells), 2*len(t.numeric))) {
		switch {
		case i >= len(cells) || len(cells[i]) == 0:
			t.b.WriteString(`<td class="nil">empty</td>`)
			continue
		case cells[i] == Null:
			t.b.WriteString(`<td class="nil">null</td>`)
			continue
		case i < len(t.numeric) && t.numeric[i]:
			t.b.WriteString(`<td class="r">`)
		default:
			t.b.WriteString("<td>")
		}
		t.text(t.amount(i, cells[i]))
		t.b.WriteString("</td>")
	}
	t.b.WriteString("</tr>\n")
}

// Broken adds a record that cannot be parsed, which begins at a line, as it is.
func (t *Table) Broken(line int, text string) {
	t.begin(line)
	t.b.WriteString(`<td colspan="` + strconv.Itoa(max(1, len(t.numeric))) + `">`)
	t.text(text)
	t.b.WriteString(`<span class="c"> (cannot be parsed, shown as it is)</span></td></tr>` + "\n")
}

// Note adds a sentence in the place of a row.
func (t *Table) Note(text string) {
	t.b.WriteString(`<tr><td class="rn"></td><td class="nil" colspan="` +
		strconv.Itoa(max(1, len(t.numeric))) + `">`)
	t.text(text)
	t.b.WriteString("</td></tr>\n")
}

// amount writes the number of a cell as people read it: 1234567.5 as 1,234,567.5.
func (t *Table) amount(column int, cell string) string {
	if column >= len(t.amounts) || !t.amounts[column] || len(cell) < 4 {
		return cell
	}
	m := grouped.FindStringSubmatch(strings.TrimSpace(cell))
	if m == nil {
		return cell
	}
	whole := m[2]
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return m[1] + whole + m[3]
}

func (t *Table) begin(line int) {
	n := strconv.Itoa(line)
	t.b.WriteString(`<tr><td class="rn"><a class="ln" href="#L` + n + `" aria-label="Line ` + n +
		`">` + n + "</a></td>")
}

func (t *Table) text(s string) {
	head, left := CutRunes(s, cellLimit)
	visible(&t.b, head)
	if left > 0 {
		t.b.WriteString(`<span class="c"> … and more</span>`)
	}
}

// Full reports whether the table is as long as it may be.
func (t *Table) Full() bool { return t.b.Len() > tableSpace }

// HTML ends the table.
func (t *Table) HTML() template.HTML {
	return template.HTML(t.b.String() + "</tbody></table>\n")
}

// Tables shows the names of tables, of which the one whose number is at is shown.
//
//	<ol class="tables"><li data-at="1" class="on">users</li>…</ol>
func Tables(names []string, at int) template.HTML {
	var b strings.Builder
	b.WriteString(`<ol class="tables">`)
	for i, name := range names {
		b.WriteString(`<li data-at="` + strconv.Itoa(i+1) + `"`)
		if i == at-1 {
			b.WriteString(` class="on"`)
		}
		b.WriteByte('>')
		visible(&b, name)
		b.WriteString("</li>")
	}
	return template.HTML(b.String() + "</ol>\n")
}
