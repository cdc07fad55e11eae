package views

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"webchat/internal/outputs"
	"webchat/internal/render"
	"webchat/internal/render/code"
	"webchat/internal/veil"
	"webchat/internal/wording"
)

// Bounds of what is read of a database that others wrote.
const (
	maxTables     = 200       // in the list
	maxTableRows  = 1_000_000 // of one table
	maxSchemaText = 1 << 20   // bytes of what the tables are made by
	maxCell       = 1 << 20   // bytes of a value that is looked at
	cellRead      = 600       // characters of it that are read
	blobRead      = 16        // bytes of it that are shown
	databaseTime  = 2 * time.Second
)

// database is an SQLite file. Its tables are read by statements that are made here: nothing that
// stands in the file is run. Views, triggers and virtual tables are shown as the text that makes
// them, and columns that are worked out are left out.
type database struct {
	tables []*dataTable
	text   *code.Document // that makes all that is in it
	lines  int
	veiled bool
}

// dataTable is a table whose rows are stored.
type dataTable struct {
	name    string
	columns []string
	rowid   string // what its rows are found by; empty: nothing
	numeric []bool
	veiled  bool // cells that look like secrets are covered

	counted bool
	count   int
	ends    string // a sentence for why there are no more rows; empty: there are not

	ids  []int64 // of all rows, once they were put in an order
	last *order
}

// tables reads which tables there are. A file that cannot be read is bytes, with a sentence.
func (k *kind) tables(ctx context.Context, o *outputs.Output) {
	ctx, cancel := context.WithTimeout(ctx, databaseTime)
	defer cancel()
	d := &database{veiled: o.IsVeiled()}
	err := withDatabase(ctx, o, func(c *sql.Conn) error { return d.read(ctx, c) })
	switch {
	case ctx.Err() != nil:
		k.note = "Reading this SQLite file takes too long, so its bytes are shown."
	case err != nil:
		k.note = "This SQLite file is damaged, or it needs what is not read here, so its bytes are shown."
	case len(d.tables) == 0:
		k.db, k.views = d, []string{Schema, Hex}
	default:
		k.db, k.views = d, []string{Table, Schema, Hex}
	}
}

// read takes in the schema.
func (d *database) read(ctx context.Context, c *sql.Conn) error {
	rows, err := c.QueryContext(ctx,
		`SELECT type, name, rootpage, coalesce(substr(sql, 1, 100000), '') FROM sqlite_schema LIMIT 10000`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var text strings.Builder
	for rows.Next() {
		var what, name, statement string
		var root int64
		if err := rows.Scan(&what, &name, &root, &statement); err != nil {
			return err
		}
		if statement == "" { // of an index that a constraint makes
			continue
		}
		if text.Len()+len(statement) < maxSchemaText {
			text.WriteString(statement + ";\n\n")
		}
		stored := what == "table" && root > 0 && len(statement) > 13 &&
			strings.EqualFold(statement[:13], "CREATE TABLE ")
		if stored && len(d.tables) < maxTables {
			d.tables = append(d.tables, &dataTable{name: name, veiled: d.veiled})
		}
	}
	if err := cmp.Or(rows.Err(), rows.Close()); err != nil {
		return err
	}
	d.tables = slices.DeleteFunc(d.tables, func(t *dataTable) bool {
		return t.describe(ctx, c) != nil
	})
	all := strings.TrimRight(text.String(), "\n")
	if all == "" {
		all = "-- There is nothing in this database."
	}
	d.lines = strings.Count(all, "\n") + 1
	d.text = code.New("SQL", textLines(strings.SplitAfter(all, "\n")), 1)
	return ctx.Err()
}

// describe reads the columns of a table, those that are stored.
func (t *dataTable) describe(ctx context.Context, c *sql.Conn) error {
	rows, err := c.QueryContext(ctx, "PRAGMA table_info("+quoted(t.name)+")")
	if err != nil {
		return err
	}
	defer rows.Close()
	taken := map[string]bool{}
	for rows.Next() {
		var name string
		var skip any
		if err := rows.Scan(&skip, &name, &skip, &skip, &skip, &skip); err != nil {
			return err
		}
		taken[strings.ToLower(name)] = true
		if len(t.columns) < maxColumns {
			t.columns = append(t.columns, name)
		}
	}
	if err := cmp.Or(rows.Err(), rows.Close()); err != nil {
		return err
	}
	if len(t.columns) == 0 {
		return errEmpty
	}
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if taken[name] {
			continue
		}
		// A name that is not a column's is a text where it is not the row's number: see quoted.
		if rows, err := c.QueryContext(ctx, "SELECT "+name+" FROM "+quoted(t.name)+
			" LIMIT 0"); err == nil {
			t.rowid = name
			_ = rows.Close() // nothing was read
			break
		}
	}
	t.numeric = make([]bool, len(t.columns))
	numbers, filled := make([]int, len(t.columns)), make([]int, len(t.columns))
	// where it is damaged shows later
	_ = t.scan(ctx, c, fmt.Sprintf("LIMIT %d", headRows), func(_ int64, cells []string) bool {
		countNumbers(cells, numbers, filled)
		return true
	})
	for i := range numbers {
		t.numeric[i] = numbers[i] > 0 && numbers[i]*10 >= filled[i]*9
	}
	return ctx.Err()
}

// scan reads rows, which tail chooses, until each returns false.
func (t *dataTable) scan(ctx context.Context, c *sql.Conn, tail string,
	each func(id int64, cells []string) bool) error {
	var b strings.Builder
	b.WriteString("SELECT " + cmp.Or(t.rowid, "0"))
	for _, name := range t.columns {
		q := quoted(name)
		// How long a value is stands before it: what is too long is never read.
		fmt.Fprintf(&b, ", octet_length(%s), CASE WHEN octet_length(%s) <= %d THEN substr(%s, 1, %d) END",
			q, q, maxCell, q, cellRead)
	}
	rows, err := c.QueryContext(ctx, b.String()+" FROM "+quoted(t.name)+" NOT INDEXED "+tail)
	if err != nil {
		return err
	}
	defer rows.Close()
	var id int64
	sizes, values := make([]sql.NullInt64, len(t.columns)), make([]any, len(t.columns))
	into := []any{&id}
	for i := range t.columns {
		into = append(into, &sizes[i], &values[i])
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		cells := make([]string, len(values))
		for i, v := range values {
			cells[i] = cellOf(v, sizes[i])
			if t.veiled && v != nil && veil.Column(t.columns[i]) && veil.Cell(t.columns[i], cells[i]) {
				cells[i] = veil.Whole(cells[i])
			}
		}
		if !each(id, cells) {
			return rows.Close()
		}
	}
	return rows.Err()
}

// cellOf is a value as a table shows it.
func cellOf(v any, size sql.NullInt64) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		if len(v) <= blobRead {
			return fmt.Sprintf("x'%x'", v)
		}
		return fmt.Sprintf("x'%x…' %s", v[:blobRead], wording.Size(size.Int64))
	case nil:
		switch {
		case !size.Valid:
			return render.Null
		case size.Int64 == 0:
			return "x''"
		}
		return wording.Size(size.Int64) + ", too large to show"
	}
	return fmt.Sprint(v)
}

// rows is a window of the table that a.At names by its number; without it, of the first one. Before
// the table stand the names of all.
func (d *database) rows(ctx context.Context, o *outputs.Output,
	a outputs.Ask) (w outputs.Window, err error) {
	at := 1
	if a.At != "" {
		at, err = strconv.Atoi(a.At)
	}
	if err != nil || at < 1 || at > len(d.tables) {
		return w, refuse("no_table", "There is no such table: give at as the number of one, from 1.")
	}
	ctx, cancel := context.WithTimeout(ctx, databaseTime)
	defer cancel()
	doc := documentOf(o)
	doc.seen.mu.Lock()
	defer doc.seen.mu.Unlock()
	err = withDatabase(ctx, o, func(c *sql.Conn) error {
		w, err = d.tables[at-1].window(ctx, c, a)
		return err
	})
	if err != nil && ctx.Err() != nil {
		return w, refuse("too_slow",
			"Reading this table takes too long. Take filters and the order away, or download the file.")
	}
	var names []string
	for _, t := range d.tables {
		names = append(names, cutName(t.name))
	}
	w.HTML = append([]byte(render.Tables(names, at)), w.HTML...)
	return w, err
}

// window shows rows by their places in the order asked for.
func (t *dataTable) window(ctx context.Context, c *sql.Conn,
	a outputs.Ask) (w outputs.Window, err error) {
	if err := t.size(ctx, c); err != nil {
		return w, err
	}
	var x *order
	total := t.count
	if len(a.Filter) > 0 || a.Sort != "" {
		if x, err = t.order(ctx, c, a); err != nil {
			return w, err
		}
		total, a.Rows = len(x.rows), min(a.Rows, sortedRows)
	}
	from, to := cut(a, total)
	sorted, falling := sortColumn(a.Sort)
	out := render.NewTable(render.Head{
		Counted: "row",
		Columns: t.columns,
		Numeric: t.numeric,
		Sorted:  sorted,
		Falling: falling,
	})
	shown := from - 1
	if x == nil {
		err = t.scan(ctx, c, fmt.Sprintf("LIMIT %d OFFSET %d", max(0, to-shown), shown),
			func(_ int64, cells []string) bool {
				out.Row(shown+1, cells)
				shown++
				return !out.Full()
			})
	} else {
		for shown < to && !out.Full() && err == nil {
			row := x.rows[shown]
			err = t.scan(ctx, c, fmt.Sprintf("WHERE %s = %d", t.rowid, t.ids[row]),
				func(_ int64, cells []string) bool {
					out.Row(int(row)+1, cells)
					return false
				})
			shown++
		}
	}
	if err != nil && ctx.Err() != nil {
		return w, err
	}
	if err != nil {
		out.Note("The file is damaged here: what is left of this table cannot be read.")
		total = max(1, shown)
	} else if t.ends != "" && shown == total && x == nil {
		out.Note(t.ends)
	}
	w = window(out.HTML(), from, max(shown, 0), total)
	w.Header = map[string]string{"Records": strconv.Itoa(t.count)}
	return w, nil
}

// size counts the rows, once.
func (t *dataTable) size(ctx context.Context, c *sql.Conn) error {
	if t.counted {
		return nil
	}
	from := "FROM " + quoted(t.name) + " NOT INDEXED LIMIT " + strconv.Itoa(maxTableRows+1)
	err := c.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 "+from+")").Scan(&t.count)
	if err != nil && ctx.Err() == nil { // those before the damage
		t.count, err = 0, nil
		t.ends = "The file is damaged here: what is left of this table cannot be read."
		if rows, failed := c.QueryContext(ctx, "SELECT 1 "+from); failed == nil {
			for rows.Next() {
				t.count++
			}
			_ = errors.Join(rows.Err(), rows.Close()) // it is damaged, which is known
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	if t.counted = err == nil; t.count > maxTableRows {
		t.count, t.ends = maxTableRows, "The first "+wording.Count(maxTableRows)+" rows are shown."
	}
	return err
}

// order finds the rows that are asked for.
func (t *dataTable) order(ctx context.Context, c *sql.Conn, a outputs.Ask) (*order, error) {
	match, err := parseFilters(a.Filter, len(t.columns))
	if err != nil {
		return nil, err
	}
	column, falling := sortColumn(a.Sort)
	if a.Sort != "" && (column == 0 || column > len(t.columns)) {
		return nil, refuse("bad_sort", "Give sort as the number of a column, with a minus for falling.")
	}
	if t.rowid == "" {
		return nil, refuse("no_order",
			"The rows of this table have no numbers, so it is neither filtered nor sorted.")
	}
	if x := t.last; x != nil && x.sort == a.Sort && slices.Equal(x.filters, a.Filter) {
		return x, nil
	}
	x, row := &order{filters: a.Filter, sort: a.Sort}, int32(-1)
	t.last, t.ids = nil, nil
	err = t.scan(ctx, c, "LIMIT "+strconv.Itoa(maxTableRows), func(id int64, cells []string) bool {
		row++
		t.ids = append(t.ids, id)
		for i, v := range cells {
			if v == render.Null {
				cells[i] = ""
			}
		}
		switch {
		case !match(cells):
		case column > 0:
			x.keys = append(x.keys, keyOf(cells, column, row))
		default:
			x.rows = append(x.rows, row)
		}
		return true
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	} else if err != nil {
		return nil, refuse("damaged",
			"The file is damaged, so this table is neither filtered nor sorted.")
	}
	x.sortRows(falling)
	t.last = x
	return x, nil
}

// schema is lines of the text that makes what is in the database.
func (d *database) schema(ctx context.Context, a outputs.Ask) (outputs.Window, error) {
	from, to := cut(a, d.lines)
	r, err := d.text.Rows(ctx, from, to)
	return window(r.HTML, from, to, d.lines), err
}

// textLines is a text in memory, by lines.
type textLines []string

// Total implements code.Source.
func (t textLines) Total() int { return len(t) }

// Lines implements code.Source.
func (t textLines) Lines(_ context.Context, from, to int) ([]byte, error) {
	return []byte(strings.Join(t[min(from-1, len(t)):min(to, len(t))], "")), nil
}

// quoted is a name in a statement.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
