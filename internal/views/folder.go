package views

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"webchat/internal/outputs"
	"webchat/internal/render"
	"webchat/internal/wording"
)

// inFolder is a line of a folder's output or a file in an archive, and what is known of what it
// names.
type inFolder struct {
	outputs.Entry
	line   int
	name   string
	link   bool
	member bool // of an archive
	remark bool // it says that more was left out
}

func (e *inFolder) folder() bool { return strings.HasSuffix(e.name, "/") }

// list is the names in a folder or in an archive, folders first, as they were listed or by one of
// three columns.
func (h *Views) list(ctx context.Context, o *outputs.Output, k *kind,
	a outputs.Ask) (outputs.Window, error) {
	all := slices.Clone(k.entries)
	if o.Meta().MimeType == outputs.FolderType {
		var err error
		if all, err = inFolderOf(ctx, o); err != nil {
			return outputs.Window{}, err
		}
	}
	if a.Sort != "" {
		column, falling := sortColumn(a.Sort)
		if column < 1 || column > len(entryOrders) {
			return outputs.Window{}, refuse("bad_sort",
				"Give sort as 1 for names, 2 for sizes or 3 for times, with a minus for falling.")
		}
		sortEntries(all, entryOrders[column-1], falling)
	}
	from, to := cut(a, len(all))
	var rows []render.Entry
	now := time.Now()
	for i := from - 1; i < to; i++ {
		e := &all[i]
		row := render.Entry{Line: e.line, Name: e.name, Link: e.link, Member: e.member, Remark: e.remark}
		known := !e.Modified.IsZero()
		if known {
			row.When = modified(e.Modified.Local(), now)
		}
		if (known || e.member) && !e.folder() && !e.link {
			row.Size = wording.Size(e.Size)
		}
		rows = append(rows, row)
	}
	return window(render.Entries(rows), from, to, len(all)), nil
}

// inFolderOf reads the names in a folder.
func inFolderOf(ctx context.Context, o *outputs.Output) (all []inFolder, err error) {
	if o.TotalLines() == 0 {
		return nil, nil
	}
	about := o.Meta().Entries
	for l, err := range o.Lines(ctx, 1, o.TotalLines()) {
		if err != nil {
			return nil, err
		}
		name, link := strings.CutSuffix(string(l.Text), " (link)")
		e := inFolder{line: len(all) + 1, name: name, link: link, remark: len(about) > 0 &&
			len(all) >= len(about)}
		if len(all) < len(about) {
			e.Entry = about[len(all)]
		}
		all = append(all, e)
	}
	return all, nil
}

var entryOrders = []func(a, b *inFolder) int{
	func(a, b *inFolder) int {
		return strings.Compare(strings.ToLower(a.name), strings.ToLower(b.name))
	},
	func(a, b *inFolder) int { return cmp.Compare(a.Size, b.Size) },
	func(a, b *inFolder) int { return a.Modified.Compare(b.Modified) },
}

// sortEntries keeps folders first and a remark last.
func sortEntries(all []inFolder, order func(a, b *inFolder) int, falling bool) {
	rank := func(e *inFolder) int {
		switch {
		case e.remark:
			return 2
		case e.folder():
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b inFolder) int {
		by := order(&a, &b)
		if falling {
			by = -by
		}
		return cmp.Or(rank(&a)-rank(&b), by)
	})
}

// modified says when a file was changed: the time of today's, the day of this year's.
func modified(t, now time.Time) string {
	switch {
	case t.Year() == now.Year() && t.YearDay() == now.YearDay():
		return t.Format("15:04")
	case t.Year() == now.Year():
		return t.Format("2 Jan, 15:04")
	}
	return t.Format("2 Jan 2006")
}
