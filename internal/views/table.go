package views

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"webchat/internal/outputs"
	"webchat/internal/render"
)

const (
	maxColumns = 200
	headRows   = 200 // records that are looked at to know the columns
	indexTime  = 250 * time.Millisecond
	firstTime  = 10 * time.Millisecond // the same when an output is opened: the first rows must not wait
	sortedRows = 500                   // at most, of one window in an order of its own

	clipRow, clipCell, clipLeast = 16 << 10, 2 << 10, 40 // bytes
)

// newRecords opens a table.
func newRecords(ctx context.Context, o *outputs.Output, k *kind, lenient bool) (*records, error) {
	t := &records{o: o}
	start := place{line: max(o.Meta().StartLine, 1)}
	if k.format == csv {
		p := &csvRecords{csvParser{comma: k.comma, lenient: lenient}}
		t.parse = func() parser { return &csvRecords{csvParser{comma: k.comma, lenient: lenient}} }
		err := t.read(ctx, newReader(o), p, &start, func(r row) bool {
			for i, c := range r.cells {
				t.columns = append(t.columns, string(bytes.TrimPrefix(bytes.TrimSpace(c), []byte("\ufeff"))))
				if i == maxColumns-1 {
					break
				}
			}
			return false
		})
		if err != nil && !stopped(err) {
			return nil, err
		}
		start.index = 0
	} else if err := t.jsonColumns(ctx, start); err != nil {
		return nil, err
	}
	t.next, t.scan = start, t.parse()
	return t, t.kinds(ctx)
}

// jsonColumns makes columns of the keys of the first objects.
func (t *records) jsonColumns(ctx context.Context, start place) error {
	p := &jsonRecords{columns: map[string]int{}, width: 1}
	src := newReader(t.o)
	for at := start; at.index < headRows && at.off < src.size && ctx.Err() == nil; at.index++ {
		b, _, err := src.from(at.off, maxRecord)
		if err != nil {
			return err
		}
		skip, n := recordBounds(b)
		if n <= skip {
			break
		}
		at.off += int64(n)
		if b[skip] != '{' {
			continue
		}
		eachMember(b[:n], skip, func(key, _ []byte) bool {
			name := string(jsonText(key))
			if _, had := p.columns[name]; !had && len(t.columns) < maxColumns {
				p.columns[name] = len(t.columns)
				t.columns = append(t.columns, name)
			}
			return true
		})
	}
	p.width = max(1, len(t.columns))
	t.parse = func() parser { return &jsonRecords{p.columns, p.width} }
	return ctx.Err()
}

// kinds finds out which columns hold numbers.
func (t *records) kinds(ctx context.Context) error {
	t.numeric = make([]bool, len(t.columns))
	numbers, filled := make([]int, len(t.columns)), make([]int, len(t.columns))
	at := t.next
	err := t.read(ctx, newReader(t.o), t.parse(), &at, func(r row) bool {
		for i, c := range r.cells[:min(len(r.cells), len(t.columns))] {
			if len(c) > 0 {
				filled[i]++
			}
			if _, ok := numeral(c); ok {
				numbers[i]++
			}
		}
		return r.index < headRows
	})
	for i := range numbers {
		t.numeric[i] = numbers[i] > 0 && numbers[i]*10 >= filled[i]*9
	}
	if stopped(err) {
		err = nil
	}
	return err
}

// numeral reads a number as tables have them: also 1,204 and 12 %.
func numeral(c []byte) (float64, bool) {
	if c = bytes.TrimSpace(c); len(c) == 0 || len(c) > 40 || c[len(c)-1] > '9' && c[len(c)-1] != '%' {
		return 0, false
	}
	s := strings.TrimRight(string(c), "% ")
	if strings.IndexByte(s, ',') > 0 {
		s = strings.ReplaceAll(s, ",", "")
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && f == f
}

// table is a window of records. Its rows count those the filter leaves, in their order.
func (h *Views) table(ctx context.Context, o *outputs.Output, k *kind, a Ask) (w Window, err error) {
	d := h.document(o)
	d.seen.mu.Lock()
	defer d.seen.mu.Unlock()
	t, ok := d.seen.blobs[Table].(*records)
	if !ok {
		if t, err = newRecords(ctx, o, k, false); err != nil {
			return w, err
		}
		d.seen.keep(Table, t)
	}
	until := time.Now().Add(indexTime)
	if !ok {
		until = time.Now().Add(firstTime)
	}
	if err := t.index(ctx, func() bool { return time.Now().After(until) }); err != nil {
		return w, err
	}
	if p, csv := t.scan.(*csvRecords); csv && p.lenient && t.parse().(*csvRecords).lenient != p.lenient {
		if t, err = newRecords(ctx, o, k, true); err != nil {
			return w, err
		}
		d.seen.keep(Table, t)
		if err := t.index(ctx, func() bool { return time.Now().After(until) }); err != nil {
			return w, err
		}
	}
	if a.Sort != "" {
		a.Rows = min(a.Rows, sortedRows)
	}
	total, indexes, partial := t.known(), []int(nil), !t.complete
	if len(a.Filter) > 0 || a.Sort != "" {
		x, err := t.order(ctx, a)
		if err != nil {
			return w, err
		}
		total, partial = len(x.rows), !x.complete
		from, to := cut(a, total)
		for i := from; i <= to; i++ {
			indexes = append(indexes, int(x.rows[i-1]))
		}
	} else {
		from, to := cut(a, total)
		for i := from; i <= to; i++ {
			indexes = append(indexes, i-1)
		}
	}
	w, err = t.window(ctx, a, indexes)
	w.Total, w.Partial = total, partial
	w.Header = map[string]string{"Records": strconv.Itoa(t.known())}
	return w, err
}

// window shows the records with these indexes, in this order.
func (t *records) window(ctx context.Context, a Ask, indexes []int) (Window, error) {
	sorted, falling := sortColumn(a.Sort)
	out := render.NewTable(t.columns, t.numeric, sorted, falling)
	shown := 0
	if slices.IsSorted(indexes) {
		err := t.rows(ctx, indexes, func(r row) bool {
			out.Row(r.begins, r.cells)
			shown++
			return !out.Full()
		})
		return window(out.HTML(), a.From, a.From+shown-1, 0), err
	}
	found := make(map[int]row, len(indexes)) // read in the file's order, shown in another
	err := t.rows(ctx, slices.Sorted(slices.Values(indexes)), func(r row) bool {
		r.cells = clipped(r.cells)
		found[r.index] = r
		return true
	})
	for shown < len(indexes) && !out.Full() {
		r := found[indexes[shown]]
		out.Row(r.begins, r.cells)
		shown++
	}
	return window(out.HTML(), a.From, a.From+shown-1, 0), err
}

// clipped copies the beginnings of cells, which a table shows no more of.
func clipped(cells [][]byte) [][]byte {
	left := clipRow
	for i, c := range cells {
		c = c[:min(len(c), clipCell, max(left, clipLeast))]
		left -= len(c)
		cells[i] = bytes.Clone(c)
	}
	return cells
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
	filters  []string
	sort     string
	rows     []int32
	keys     []sortKey // of rows, until they are sorted
	next     place
	complete bool
}

// sortKey orders cells: numbers, then texts, then empty ones.
type sortKey struct {
	rank   int8
	number float64
	text   string
}

const (
	maxOrders = 4
	maxSorted = 2_000_000
	keySize   = 64 // bytes of a text that order it
)

// order finds the records that are asked for. When there was no time for all it is not
// complete, and goes on when asked again.
func (t *records) order(ctx context.Context, a Ask) (*order, error) {
	match, err := parseFilters(a.Filter, len(t.columns))
	if err != nil {
		return nil, err
	}
	column, falling := sortColumn(a.Sort)
	if a.Sort != "" && (column == 0 || column > len(t.columns)) {
		return nil, refuse("bad_sort", "Give sort as the number of a column, with a minus for falling.")
	}
	x := t.ordered(a)
	if x.complete {
		return x, nil
	}
	until := time.Now().Add(searchTime)
	if x.next == (place{}) {
		if len(t.places) == 0 {
			x.complete = true
			return x, nil
		}
		x.next = t.places[0]
	}
	err = t.read(ctx, newReader(t.o), t.parse(), &x.next, func(r row) bool {
		if match(r.cells) {
			x.rows = append(x.rows, int32(r.index))
			if column > 0 {
				x.keys = append(x.keys, keyOf(r.cells, column))
			}
		}
		return r.index%256 != 255 || time.Now().Before(until)
	})
	if stopped(err) {
		return &order{rows: slices.Clone(x.rows)}, nil
	}
	if err != nil {
		return nil, err
	}
	if len(x.keys) > maxSorted {
		return nil, refuse("too_many", "There are too many rows to sort: filter them first.")
	}
	x.sortRows(falling)
	x.complete = true
	return x, nil
}

// ordered returns what is known of an order.
func (t *records) ordered(a Ask) *order {
	for i, x := range t.orders {
		if x.sort == a.Sort && slices.Equal(x.filters, a.Filter) {
			t.orders = append(slices.Delete(t.orders, i, i+1), x)
			return x
		}
	}
	if len(t.orders) == maxOrders {
		t.orders = slices.Delete(t.orders, 0, 1)
	}
	x := &order{filters: a.Filter, sort: a.Sort}
	t.orders = append(t.orders, x)
	return x
}

func keyOf(cells [][]byte, column int) sortKey {
	if column > len(cells) || len(cells[column-1]) == 0 {
		return sortKey{rank: 2}
	}
	c := cells[column-1]
	if f, ok := numeral(c); ok {
		return sortKey{number: f}
	}
	return sortKey{rank: 1, text: strings.ToLower(string(c[:min(len(c), keySize)]))}
}

func (x *order) sortRows(falling bool) {
	if x.keys == nil {
		return
	}
	index := make([]int32, len(x.rows))
	for i := range index {
		index[i] = int32(i)
	}
	slices.SortStableFunc(index, func(a, b int32) int { return x.keys[a].compare(&x.keys[b], falling) })
	rows := make([]int32, len(x.rows))
	for i, k := range index {
		rows[i] = x.rows[k]
	}
	x.rows, x.keys = rows, nil
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
