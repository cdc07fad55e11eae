package page

import (
	"html"
	"html/template"
	"strconv"
	"strings"

	"webchat/internal/displays"
	"webchat/internal/render"
	"webchat/internal/views"
	"webchat/internal/wording"
)

// view is a way to show an output.
type view struct {
	Name, Label string
	On          bool
}

// chooseView shows a table, a tree, cells or Markdown as that, not as its lines; it reports whether
// the file is any of them. What is saved holds lines.
func (v *card) chooseView() bool {
	if v.Kind == displays.Terminal || v.In.lines > 0 {
		return false
	}
	best, rows, total := v.Out.Content.Seen(seenRows)
	if best == "" {
		return false
	}
	v.View, v.Rows, v.Wrap = best, rows, false
	if best == views.Table {
		v.Count = wording.Plural(total, "row")
	}
	switch {
	case total <= seenRows || best == views.Tree: // which is read on in its place
	case best == views.Table:
		v.Fold = "Show all " + wording.Plural(total, "row")
	default:
		v.Fold = "Show all of it"
	}
	return true
}

// offerViews lets the reader of a card choose between the views it has.
func (v *card) offerViews() {
	if v.Kind != displays.File || v.In.lines > 0 {
		return
	}
	on := v.View
	if on == "" {
		on = views.Source
	}
	for _, name := range v.Out.Content.Views() {
		if known := views.Of(name); known.Card {
			v.Views = append(v.Views, view{name, known.Label, name == on})
		}
	}
	if len(v.Views) == 1 {
		v.Views = nil
	}
	if v.Views != nil && v.View == "" {
		v.Count = linesOf(v.Out)
	}
}

// Prose reports whether the card's content is read like an answer.
func (v *card) Prose() bool { return views.Of(v.View).Class == "said" }

// chooseClasses says which width the lines and their numbers need.
func (v *card) chooseClasses() {
	var classes []string
	if v.Kind == displays.Terminal {
		classes = append(classes, "term")
	}
	if wide(v.Rows) {
		classes = append(classes, "wide")
	}
	_, last, _ := strings.Cut(v.Shown, "-")
	switch digits := len(last); {
	case digits > 6:
		classes = append(classes, "n7")
	case digits > 4:
		classes = append(classes, "n5")
	}
	v.Classes = strings.Join(classes, " ")
}

// wide reports whether one of the rows is longer than a card is at its normal
// width. It reads no more than the rows the page holds anyway.
func wide(rows template.HTML) bool {
	for _, m := range rowText.FindAllStringSubmatch(string(rows), -1) {
		columns := 0
		for _, r := range html.UnescapeString(markup.ReplaceAllString(m[1], "")) {
			if columns++; r == '\t' {
				columns += (tabColumns - columns%tabColumns) % tabColumns
			}
		}
		if columns > wideColumns {
			return true
		}
	}
	return false
}

// chooseLines chooses the lines the page holds: a file's first, a command's last, or
// those about the first failure.
func (v *card) chooseLines() {
	total := v.Last - v.First + 1
	from, to, head := v.First, v.Last, headLines
	if v.In.lines > 0 {
		head = v.In.lines
	}
	if total <= 0 {
		return
	}
	switch {
	case total <= head+2: // a fold must hide more than it takes
	case v.Kind == displays.Terminal && v.aroundFailure(&from, &to):
		v.Fold = "Show all " + wording.Plural(total, "line")
	case v.Kind == displays.Terminal:
		from, v.FoldAbove = v.Last-head+1, true
		v.Fold = "Show " + wording.Plural(total-head, "line") + " above"
	default:
		to = v.First + head - 1
		v.Fold = "Show all " + wording.Plural(total, "line")
	}
	rows, err := v.Out.Content.Rows(from, to)
	for err == nil && len(rows) > maxHead && from < to {
		if n := (to - from + 1) / 2; v.FoldAbove {
			from = to - n + 1
			v.Fold = "Show " + wording.Plural(total-n, "line") + " above"
		} else {
			to = from + n - 1
			v.Fold = "Show all " + wording.Plural(total, "line")
		}
		rows, err = v.Out.Content.Rows(from, to)
	}
	if err != nil { // it ended between two looks; the script finds out when it asks
		return
	}
	if v.In.lines > 0 && v.Fold != "" {
		v.Fold = wording.Plural(total-(to-from+1), "line") + " of " + wording.Count(total) + " left out"
	}
	rows = render.CutRow(rows, maxHead)
	if v.In.lines > 0 {
		rows = render.Fixed(rows)
	}
	v.Rows, v.Shown = rows, strconv.Itoa(from)+"-"+strconv.Itoa(to)
}

// aroundFailure puts the lines about the first failure into from and to; it reports
// whether a command failed and says where.
func (v *card) aroundFailure(from, to *int) bool {
	if v.ExitClass != "no" || v.In.lines > 0 {
		return false
	}
	first, last := v.Out.Content.Failure()
	if first == 0 {
		return false
	}
	*from = max(v.First, min(first-max(0, failureLines-(last-first+1))/2, v.Last-failureLines+1))
	*to = *from + failureLines - 1
	return true
}

// Lined reports whether the card's content has numbered lines.
func (v *card) Lined() bool { return v.Kind != "image" && v.Kind != "hex" && v.View == "" }
