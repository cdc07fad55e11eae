package views

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"webchat/internal/outputs"
)

var rowRE = regexp.MustCompile(
	`(?s)<tr><td class="rn"><a class="ln" href="#L(\d+)" aria-label="Line \d+">\d+</a></td>(.*?)</tr>`)

// rowsOf are the rows of a table as "line: a|b|c".
func rowsOf(html []byte) (rows []string) {
	for _, m := range rowRE.FindAllSubmatch(html, -1) {
		cells := strings.Split(strings.TrimSuffix(string(m[2]), "</td>"), "</td>")
		for i, c := range cells {
			cells[i] = textOf([]byte(c))
		}
		rows = append(rows, string(m[1])+": "+strings.Join(cells, "|"))
	}
	return rows
}

func checkRows(t *testing.T, w outputs.Window, want ...string) {
	t.Helper()
	if got := rowsOf(w.HTML); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTable(t *testing.T) {
	h := New(testStore(t), nil)
	o := file(t, h, "a.csv",
		"name,size,note\nb,10,\"two\nlines, a \"\"quote\"\"\"\na,9,\nc,,x,more\n\"d\",1e3,<b>&\r\n")
	w := ask(t, h, o, outputs.Ask{View: Table, Rows: 9})
	checkRows(t, w, "2: b|10|two↵\nlines, a \"quote\"", "4: a|9|empty", "5: c|empty|x|more",
		"6: d|1e3|<b>&")
	if w.Total != 4 || w.Header["Records"] != "4" || w.Partial ||
		!strings.Contains(string(w.HTML), `<th class="r" data-col="2">size</th>`) {
		t.Errorf("%+v\n%s", w, w.HTML)
	}
	checkRows(t, ask(t, h, o, outputs.Ask{View: Table, Rows: 2, From: 2}), "4: a|9|empty",
		"5: c|empty|x|more")
	w = ask(t, h, o, outputs.Ask{View: Table, Rows: 3, Sort: "-2"})
	checkRows(t, w, "6: d|1e3|<b>&", "2: b|10|two↵\nlines, a \"quote\"", "4: a|9|empty")
	if !strings.Contains(string(w.HTML), `data-col="2" aria-sort="descending"`) || w.Total != 4 {
		t.Errorf("%s", w.HTML)
	}
	checkRows(t, ask(t, h, o, outputs.Ask{
		View:   Table,
		Rows:   9,
		Sort:   "2",
		Filter: []string{"2:filled:"},
	}), "4: a|9|empty", "2: b|10|two↵\nlines, a \"quote\"", "6: d|1e3|<b>&")
	for filter, want := range map[string]int{"1:is:A": 1, "1:not:a": 3, "2:above:9": 2,
		"2:below:10": 1, "2:is:1000": 1, "2:empty:": 1, "3:has:QUOTE": 1, "1:starts:d": 1,
		"3:ends:x": 1, "1:matches:^[ab]$": 2, "lines": 1, "nothing": 0, "http://x:y": 0} {
		if w := ask(t, h, o, outputs.Ask{
			View:   Table,
			Rows:   9,
			Filter: []string{filter},
		}); w.Total != want || len(rowsOf(w.HTML)) != want || w.Header["Records"] != "4" {
			t.Errorf("%s: %d rows, want %d", filter, w.Total, want)
		}
	}
	if w := ask(t, h, o, outputs.Ask{
		View:   Table,
		Rows:   9,
		Filter: []string{"2:filled:", "1:not:a"},
	}); w.Total != 2 {
		t.Errorf("two filters: %d", w.Total)
	}
}

// A quote that is never closed is not a quote, and swallows nothing.
func TestTableWithAnOpenQuote(t *testing.T) {
	h := New(outputsOf(t, 64<<20), nil)
	var b strings.Builder
	b.WriteString("a,b\n")
	for i := range 30_000 {
		fmt.Fprintf(&b, "%d,word %d\n", i, i)
	}
	b.WriteString("x,\"open\n")
	for i := range 30_000 {
		fmt.Fprintf(&b, "%d,\"other\n", i)
	}
	o := file(t, h, "a.csv", b.String())
	w := ask(t, h, o, outputs.Ask{View: Table, Rows: 2, From: 30_000})
	checkRows(t, w, "30001: 29,999|word 29999", "30002: x,\"open (cannot be parsed, shown as it is)")
	if w.Total != 60_001 {
		t.Errorf("%d rows", w.Total)
	}
}

// A row that cannot be parsed is shown as it is, and says so; those around it are rows.
func TestTableRowThatCannotBeParsed(t *testing.T) {
	h := New(testStore(t), nil)
	const said = " (cannot be parsed, shown as it is)"
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"quote.csv": {"a,b\n1,2\n3,5\" pipe\n\n4,\"x\" y\n5,6\n",
			[]string{"2: 1|2", `3: 3,5" pipe` + said, `5: 4,"x" y` + said, "6: 5|6"}},
		"head.csv": {"a,5\" b,c\n1,2,3\n4,5,6\n7,8,9\n", []string{"2: 1|2|3", "3: 4|5|6", "4: 7|8|9"}},
		"end.csv":  {"a,b\n1,2\n3,\"4\n5,6", []string{"2: 1|2", `3: 3,"4` + said, "4: 5|6"}},
		"long.csv": {"a,b\n1,2\n2,3\n" + strings.Repeat(",", 300_000) + "\n3,4\n",
			[]string{"2: 1|2", "3: 2|3", "4: " + strings.Repeat(",", 500) + " … and more" + said, "5: 3|4"}},
	} {
		o := file(t, h, name, c.text)
		w := ask(t, h, o, outputs.Ask{View: Table, Rows: 9})
		checkRows(t, w, c.want...)
		for i, row := range c.want {
			checkRows(t, ask(t, h, o, outputs.Ask{View: Table, From: i + 1}), row)
		}
	}
	for name, c := range map[string]struct {
		begin, line, text string
		want              []string
	}{ // behind as much as makes them JSON
		"app.jsonl": {"", "{\"a\":1}\n", "{\"a\":2,\"b\n{\"a\":3}\nkilled\n{\"a\":4}\n",
			[]string{`10001: {"a":2,"b` + said, "10002: 3", "10003: killed" + said, "10004: 4"}},
		"list.json": {"[", "{\"a\":1},\n", "{\"a\":2},\n{\"a\":}\n]\n",
			[]string{"10001: 2", `10002: {"a":}` + said}},
	} {
		o := file(t, h, name, c.begin+strings.Repeat(c.line, 10_000)+c.text)
		w := ask(t, h, o, outputs.Ask{View: Table, From: 10_001, Rows: 9})
		checkRows(t, w, c.want...)
	}
}

// What is larger than its format's limit is lines, and says so.
func TestLargerThanItsLimit(t *testing.T) {
	h := New(outputsOf(t, 128<<20), nil)
	for name, c := range map[string]struct{ text, view, want string }{
		"a.csv": {strings.Repeat("a,b\n", 5<<20), Table,
			"CSV is shown as a table up to 16 MiB: this has 21 MB, so it is shown as lines."},
		"a.json": {"[" + strings.Repeat("{\"a\":1},\n", 2<<20) + "1]", Table,
			"JSON is shown as a tree or a table up to 16 MiB: this has 19 MB, so it is shown as lines."},
		"a.jsonl": {strings.Repeat("{\"a\":1 }\n", 2<<20), Tree,
			"JSON is shown as a tree or a table up to 16 MiB: this has 19 MB, so it is shown as lines."},
	} {
		o := file(t, h, name, c.text)
		if got := h.Of(o); !slices.Equal(got, []string{Source, Diff}) {
			t.Errorf("%s: %v", name, got)
		}
		w := ask(t, h, o, outputs.Ask{View: Source, From: 1_000_000, Rows: 2})
		if got := numbersIn(w.HTML); !slices.Equal(got, []int{1_000_000, 1_000_001}) ||
			w.Header["Note"] != c.want {
			t.Errorf("%s: %v, %v", name, got, w.Header)
		}
		_, err := h.View(t.Context(), o, outputs.Ask{View: c.view, From: 1, Rows: 1})
		if no, ok := errors.AsType[*outputs.Refusal](err); !ok || no.Code != "too_large" ||
			no.Sentence != c.want+" Ask for view=source." {
			t.Errorf("%s as %s: %v", name, c.view, err)
		}
	}
}

func outputsOf(t testing.TB, budget int64) *outputs.Store {
	t.Helper()
	s, err := outputs.New(outputs.Config{TTL: 1 << 40, Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTableOfObjects(t *testing.T) {
	h := New(testStore(t), nil)
	want := []string{"a|b", "1|x \"y\"|empty", "empty|2|[1,{\"z\":2}]", "null|empty|empty"}
	for name, text := range map[string]string{
		"array": "[\n{\"a\":1,\"b\":\"x \\\"y\\\"\"},\n{\"b\":2,\"c\":[1,{\"z\":2}]},\n" +
			"{\"a\":\"null\"}]\n",
		"lines": "\n{\"a\":1,\"b\":\"x \\\"y\\\"\"}\n{\"b\":2,\"c\":[1,{\"z\":2}]}\n" +
			"{\"a\":\"null\",\"c\":null}",
	} {
		w := ask(t, h, file(t, h, "a.json", text), outputs.Ask{View: Table, Rows: 9})
		checkRows(t, w, "2: "+want[1], "3: "+want[2], "4: "+want[3])
		if w.Total != 3 {
			t.Errorf("%s: %d rows", name, w.Total)
		}
	}
}

// Any window of a long table is what the whole has there, sorted too.
func TestLongTable(t *testing.T) {
	h := New(outputsOf(t, 64<<20), nil)
	r := rand.New(rand.NewPCG(5, 6))
	var b strings.Builder
	b.WriteString("id,value,\"text\"\n")
	const n = 20_000
	values := make([]int, n)
	for i := range n {
		values[i] = r.IntN(1000)
		fmt.Fprintf(&b, "%d,%d,\"text, %d\"\n", i, values[i], i%7)
	}
	o := file(t, h, "a.csv", b.String())
	for range 20 {
		from := 1 + r.IntN(n-50)
		w := ask(t, h, o, outputs.Ask{View: Table, From: from, Rows: 50})
		got := rowsOf(w.HTML)
		for i, row := range got {
			k := from - 1 + i
			if want := fmt.Sprintf("%d: %d|%d|text, %d", k+2, k, values[k], k%7); row != want {
				t.Fatalf("%q, want %q", row, want)
			}
		}
		if len(got) != 50 || w.Total != n {
			t.Fatalf("%d rows of %d", len(got), w.Total)
		}
	}
	for _, a := range []outputs.Ask{{Sort: "2"}, {Sort: "-2", Filter: []string{"3:has:text, 3"}}} {
		a.View, a.Rows = Table, 500
		w := ask(t, h, o, a)
		last := -1
		for _, row := range rowsOf(w.HTML) {
			v, err := strconv.Atoi(strings.Split(row, "|")[1])
			if err != nil || last >= 0 && (a.Sort == "2" && v < last || a.Sort == "-2" && v > last) {
				t.Fatalf("%s after %d: %v", row, last, err)
			}
			last = v
		}
		if len(rowsOf(w.HTML)) != 500 || len(a.Filter) == 0 && w.Total != n {
			t.Errorf("%d rows of %d", len(rowsOf(w.HTML)), w.Total)
		}
	}
}
