package views

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"webchat/internal/outputs"
	"webchat/internal/render"
)

const (
	maxColumns = 200
	headRows   = 200 // records that are looked at to know the columns
	readRows   = 100 // records that are read at once to be shown
	sortedRows = 500 // at most, of one window in an order of its own
)

// records is a table: where its records begin, and how they are read.
type records struct {
	o       *outputs.Output
	scan    func(text []byte) iter.Seq[record] // of a text that begins with a record
	columns []string
	numeric []bool  // the columns that hold numbers
	begins  []int32 // of each record, and where the last one ends
	last    *order  // that was asked for
}

// newRecords scans a table once.
func newRecords(ctx context.Context, o *outputs.Output, k *kind) (*records, error) {
	text, err := readPart(o, 0, o.Size())
	if err != nil {
		return nil, err
	}
	t := &records{o: o}
	base := len(text) - len(trimBOM(text))
	if k.format == csv {
		t.scan = func(text []byte) iter.Seq[record] { return csvRecords(text, k.comma) }
		base += t.csvColumns(text[base:], k.comma)
	} else {
		base = skip(text, base)
		array := k.format == jsonValue
		if array {
			base++ // [
		}
		t.jsonColumns(text[base:], array)
	}
	numbers, filled := make([]int, len(t.columns)), make([]int, len(t.columns))
	end := base
	for r := range t.scan(text[base:]) {
		if len(t.begins)%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(t.begins) < headRows && !r.broken {
			countNumbers(r.cells, numbers, filled)
		}
		t.begins = append(t.begins, int32(base+r.begins))
		end = base + r.next
	}
	t.begins = append(t.begins, int32(end))
	t.numeric = make([]bool, len(t.columns))
	for i := range numbers {
		t.numeric[i] = numbers[i] > 0 && numbers[i]*10 >= filled[i]*9
	}
	return t, nil
}

// csvColumns takes the columns from the first record and returns where the next begins.
func (t *records) csvColumns(text []byte, comma byte) int {
	for r := range t.scan(text) {
		if r.broken { // there are as many columns nevertheless
			r.cells = strings.SplitN(r.cells[0], string(rune(comma)), maxColumns+1)
		}
		for _, c := range r.cells[:min(len(r.cells), maxColumns)] {
			t.columns = append(t.columns, strings.TrimSpace(c))
		}
		return r.next
	}
	return len(text)
}

// jsonColumns makes columns of the names in the first objects.
func (t *records) jsonColumns(text []byte, array bool) {
	columns, looked := map[string]int{}, 0
	for range jsonRecords(text, array, 0, func(name jsontext.Value) int {
		s := jsonText(name)
		if _, had := columns[s]; !had && len(columns) < maxColumns {
			columns[s] = len(columns)
			t.columns = append(t.columns, s)
		}
		return -1
	}) {
		if looked++; looked == headRows {
			break
		}
	}
	t.scan = func(text []byte) iter.Seq[record] {
		return jsonRecords(text, array, len(columns), func(name jsontext.Value) int {
			if i, ok := columns[jsonText(name)]; ok {
				return i
			}
			return -1
		})
	}
}

func countNumbers(cells []string, numbers, filled []int) {
	for i, c := range cells[:min(len(cells), len(numbers))] {
		if c != "" {
			filled[i]++
		}
		if _, ok := numeral(c); ok {
			numbers[i]++
		}
	}
}

// numeral reads a number as tables have them: also 1,204 and 12 %.
func numeral(c string) (float64, bool) {
	if c = strings.TrimSpace(c); len(c) == 0 || len(c) > 40 || c[len(c)-1] > '9' &&
		c[len(c)-1] != '%' {
		return 0, false
	}
	s := strings.TrimRight(c, "% ")
	if strings.IndexByte(s, ',') > 0 {
		s = strings.ReplaceAll(s, ",", "")
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && f == f
}

// table is a window of records. Its rows count those the filter leaves, in their order.
func (h *Views) table(ctx context.Context, o *outputs.Output, k *kind,
	a outputs.Ask) (w outputs.Window, err error) {
	d := documentOf(o)
	d.seen.mu.Lock()
	defer d.seen.mu.Unlock()
	if d.seen.table == nil {
		if d.seen.table, err = newRecords(ctx, o, k); err != nil {
			return w, err
		}
	}
	t := d.seen.table
	records := len(t.begins) - 1
	total, index := records, func(i int) int { return i }
	if len(a.Filter) > 0 || a.Sort != "" {
		x, err := t.order(ctx, a)
		if err != nil {
			return w, err
		}
		total, index = len(x.rows), func(i int) int { return int(x.rows[i]) }
	}
	if a.Sort != "" {
		a.Rows = min(a.Rows, sortedRows)
	}
	from, to := cut(a, total)
	sorted, falling := sortColumn(a.Sort)
	out := render.NewTable(render.Head{
		Counted: "line",
		Columns: t.columns,
		Numeric: t.numeric,
		Sorted:  sorted,
		Falling: falling,
	})
	shown := from - 1
	for shown < to && !out.Full() {
		n := 1 // records that follow one another are read at once
		for shown+n < to && n < readRows && index(shown+n) == index(shown)+n {
			n++
		}
		n, err := t.show(out, index(shown), n)
		if err != nil || n == 0 {
			return w, err
		}
		shown += n
	}
	w = window(out.HTML(), from, shown, total)
	w.Header = map[string]string{"Records": strconv.Itoa(records)}
	return w, nil
}

// show adds up to n records to a table and returns how many it took.
func (t *records) show(out *render.Table, first, n int) (shown int, err error) {
	base := int64(t.begins[first])
	text, err := readPart(t.o, base, int64(t.begins[first+n]))
	if err != nil {
		return 0, err
	}
	line, counted := t.o.LineOf(base), 0
	for r := range t.scan(text) {
		line += countLines(text[counted:r.begins])
		counted = r.begins
		if r.broken {
			out.Broken(line, r.cells[0])
		} else {
			out.Row(line, r.cells)
		}
		if shown++; shown == n || out.Full() {
			break
		}
	}
	return shown, nil
}

// sortColumn reads "3" or "-3": the column, from 1, and whether the largest come first.
func sortColumn(s string) (column int, falling bool) {
	s, falling = strings.CutPrefix(s, "-")
	column, err := strconv.Atoi(s)
	if err != nil || column < 1 || column > maxColumns {
		return 0, false
	}
	return column, falling
}

// order is which records a filter leaves, sorted.
type order struct {
	filters []string
	sort    string
	rows    []int32
	keys    []sortKey // of rows, until they are sorted
}

// sortKey orders cells: numbers, then texts, then empty ones.
type sortKey struct {
	row    int32
	rank   int8
	number float64
	text   string
}

const (
	maxSorted = 2_000_000
	keySize   = 64 // bytes of a text that order it
)

// order finds the records that are asked for.
func (t *records) order(ctx context.Context, a outputs.Ask) (*order, error) {
	match, err := parseFilters(a.Filter, len(t.columns))
	if err != nil {
		return nil, err
	}
	column, falling := sortColumn(a.Sort)
	if a.Sort != "" && (column == 0 || column > len(t.columns)) {
		return nil, refuse("bad_sort", "Give sort as the number of a column, with a minus for falling.")
	}
	if x := t.last; x != nil && x.sort == a.Sort && slices.Equal(x.filters, a.Filter) {
		return x, nil
	}
	text, err := readPart(t.o, int64(t.begins[0]), int64(t.begins[len(t.begins)-1]))
	if err != nil {
		return nil, err
	}
	x, row := &order{filters: a.Filter, sort: a.Sort}, -1
	for r := range t.scan(text) {
		if row++; row%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !match(r.cells) {
			continue
		}
		if column > 0 {
			if len(x.keys) == maxSorted {
				return nil, refuse("too_many", "There are too many rows to sort: filter them first.")
			}
			x.keys = append(x.keys, keyOf(r.cells, column, int32(row)))
			continue
		}
		x.rows = append(x.rows, int32(row))
	}
	x.sortRows(falling)
	t.last = x
	return x, nil
}

func keyOf(cells []string, column int, row int32) sortKey {
	c := cell(cells, column)
	if f, ok := numeral(c); ok {
		return sortKey{number: f, row: row}
	}
	if c == "" {
		return sortKey{rank: 2, row: row}
	}
	return sortKey{rank: 1, text: strings.Clone(strings.ToLower(c[:min(len(c), keySize)])), row: row}
}

func (x *order) sortRows(falling bool) {
	slices.SortFunc(x.keys, func(a, b sortKey) int {
		return cmp.Or(a.compare(&b, falling), int(a.row-b.row))
	})
	for _, k := range x.keys {
		x.rows = append(x.rows, k.row)
	}
	x.keys = nil
}

func (k *sortKey) compare(other *sortKey, falling bool) int {
	switch {
	case k.rank == 2 || other.rank == 2: // empty ones are last in either order
		return int(k.rank/2) - int(other.rank/2)
	case falling:
		k, other = other, k
	}
	switch {
	case k.rank != other.rank:
		return int(k.rank) - int(other.rank)
	case k.number < other.number:
		return -1
	case k.number > other.number:
		return 1
	}
	return strings.Compare(k.text, other.text)
}
