package page

import (
	"strings"

	"webchat/internal/event"
	"webchat/internal/render"
)

// noEnd is the remark behind a line that has no end.
const noEnd = `\ No newline at end of file`

// editRows are the lines of a diff, all of them.
func editRows(edits []event.Edit) (rows []render.DiffLine) {
	for _, e := range edits {
		rows = append(rows, headRows(e.Head)...)
		for _, h := range e.Hunks {
			rows = append(rows, hunkRows(h)...)
		}
	}
	return rows
}

func hunkRows(h event.Hunk) (rows []render.DiffLine) {
	if h.Head != "" {
		rows = append(rows, render.DiffLine{
			Kind: '@',
			Old:  h.Old,
			New:  h.New,
			Text: strings.TrimRight(h.Head, "\r\n"),
		})
	}
	old, fresh := h.Old, h.New
	for _, l := range h.Lines {
		r := render.DiffLine{Kind: '=', Old: old, New: fresh, Text: string(l.Op) +
			strings.TrimRight(l.Text, "\r\n")}
		switch {
		case !h.Placed:
			r.Kind = 'h'
		case l.Op == '-':
			r.Kind = '-'
			old++
		case l.Op == '+':
			r.Kind = '+'
			fresh++
		default:
			old++
			fresh++
		}
		rows = append(rows, r)
		if h.Placed && !strings.HasSuffix(l.Text, "\n") {
			rows = append(rows, render.DiffLine{Kind: '\\', Old: old, New: fresh, Text: noEnd})
		}
	}
	return append(rows, headRows(h.After)...)
}

func headRows(lines []string) (rows []render.DiffLine) {
	for _, l := range lines {
		rows = append(rows, render.DiffLine{Kind: 'h', Text: strings.TrimRight(l, "\r\n")})
	}
	return rows
}
