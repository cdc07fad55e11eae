package views

import (
	"strings"
	"testing"

	"webchat/internal/outputs"
)

// No view of a veiled output holds what looks like a secret; all of them do of the output itself.
func TestVeil(t *testing.T) {
	h := New(testStore(t), nil)
	const secret = "hunter2hunter2"
	was := file(t, h, "a.env", "A=1\nB_TOKEN=before22before22\n")
	for name, c := range map[string]struct {
		o     *outputs.Output
		views string
	}{
		"go": {file(t, h, "a.go", "package a\n\nconst apiToken = \""+secret+"\"\n\n// end\n"),
			"source"},
		"env": {file(t, h, "b.env", "A=1\nB_TOKEN="+secret+"\n"), "source diff"},
		"json": {file(t, h, "a.json", `[{"id": 1, "api_token": "`+secret+
			`"}, {"id": 2, "api_token": "x"}]`), "source table tree"},
		"yaml": {file(t, h, "a.yaml", "a: 1\npassword: "+secret+"\n"), "source tree"},
		"markdown": {file(t, h, "a.md", "# Keys\n\n    API_TOKEN="+secret+"\n\nBearer: `token: "+secret+
			"`\n"), "source preview"},
		"terminal": {put(t, h, outputs.Meta{Type: outputs.Terminal, Command: "env"},
			"A=1\n\x1b[31mB_TOKEN\x1b[0m=hunter2\x1b[1mhunter2\x1b[0m\nend\n"), "terminal"},
		"binary": {put(t, h, outputs.Meta{Type: outputs.File, Path: "a.bin", Binary: true},
			"\x00\x01\x02\nB_TOKEN="+secret+"\n\x00"), "hex"},
		"failure": {put(t, h, outputs.Meta{Type: outputs.Terminal, Command: "x"},
			"fatal error: open https://me:"+secret+"@h/x failed\n"), "failure"},
	} {
		for view := range strings.FieldsSeq(c.views) {
			a := outputs.Ask{View: view, Rows: 500}
			if view == Diff {
				a.With = was.Veiled()
			}
			got := ask(t, h, c.o.Veiled(), a)
			checkHarmless(t, name+" as "+view, got.HTML)
			if text := textOf(got.HTML); strings.Contains(text, "hunter2") ||
				strings.Contains(text, "68 75 6e") || strings.Contains(string(got.HTML), "hunter2") ||
				!strings.Contains(text, "••") {
				t.Errorf("%s as %s: %s", name, view, got.HTML)
			} else if strings.ContainsAny(text, "\u2981\u02ff") {
				t.Errorf("%s as %s has what covers: %s", name, view, text)
			}
			if view == Diff && got.Header["Changes"] != "1" {
				t.Errorf("what is covered is not compared: %v", got.Header)
			}
			if text := textOf(ask(t, h, c.o, a).HTML); strings.Contains(text, "•") || view != Hex &&
				!strings.Contains(text, "hunter2") {
				t.Errorf("%s as %s without a veil: %s", name, view, text)
			}
		}
	}
}

// A page in a frame has dots in place of what looks like a secret, also where a name and its value
// stand in elements of their own, and in what attributes show.
func TestVeilOfAPage(t *testing.T) {
	h := New(testStore(t), nil)
	o := put(t, h, outputs.Meta{Type: outputs.File, Path: "a.html", Highlight: "HTML"},
		`<!doctype html><style>p { color: red }</style><h1>Keys</h1>
<p>region: eu</p><pre><b>API_TOKEN</b>=<i>hunter2</i><u>hunter2</u>
end</pre><p title="password=hunter2hunter2">password&#58; "hunter2&#x68;unter2"</p><td>stays</td><input name="token" value="hunter2">`)
	page, err := h.Page(t.Context(), o, 0, 0)
	if text := string(page); err != nil || strings.Contains(text, "hunter2") ||
		strings.Count(text, "••") < 4 || strings.ContainsAny(text, "\u2981\u02ff") {
		t.Errorf("%v %s", err, text)
	}
	for _, stays := range []string{"color: red", "region: eu", "<b>API_TOKEN</b>=", "\nend</pre>",
		"stays"} {
		if !strings.Contains(string(page), stays) {
			t.Errorf("%s is not in %s", stays, page)
		}
	}
}

// Cells under a column named like a credential are covered in tables, in their text, and for
// filters.
func TestVeilOfTables(t *testing.T) {
	h := New(testStore(t), nil)
	rows := strings.Repeat("7,plain,\"a note\nof two lines\"\n", 20_000) // several chunks
	table := put(t, h, outputs.Meta{Type: outputs.File, Path: "a.csv"}, "id,password,note\n"+rows+
		"8,hunter,last\n")
	base := putBytes(t, h, databaseOf(t, `CREATE TABLE users (id INTEGER, password TEXT, note TEXT)`,
		`INSERT INTO users VALUES (8, 'hunter', 'last'), (9, NULL, 'x')`))
	for name, c := range map[string]struct {
		o       *outputs.Output
		lastRow int
	}{"CSV": {table, 20_001}, "SQLite": {base, 1}} {
		a := outputs.Ask{View: Table, From: c.lastRow, Rows: 1}
		if text := textOf(ask(t, h, c.o.Veiled(), a).HTML); strings.Contains(text, "hunter") ||
			!strings.Contains(text, "••") || !strings.Contains(text, "last") {
			t.Errorf("%s: %s", name, text)
		}
		if text := textOf(ask(t, h, c.o, a).HTML); !strings.Contains(text, "hunter") {
			t.Errorf("%s without a veil: %s", name, text)
		}
		filter := outputs.Ask{View: Table, Rows: 5, Filter: []string{"2:is:hunter"}}
		if w := ask(t, h, c.o.Veiled(), filter); w.Total != 0 {
			t.Errorf("%s: a filter finds what is covered in %d rows", name, w.Total)
		}
		if w := ask(t, h, c.o, filter); w.Total != 1 {
			t.Errorf("%s: a filter finds %d rows", name, w.Total)
		}
	}
	if text := textOf(ask(t, h, table.Veiled(), outputs.Ask{
		View: Source,
		From: 40_002,
		Rows: 1,
	}).HTML); strings.Contains(text, "hunter") || !strings.Contains(text, "8,••") {
		t.Errorf("the text: %s", text)
	}
	if text := textOf(ask(t, h, base.Veiled(), outputs.Ask{
		View: Table,
		From: 2,
		Rows: 1,
	}).HTML); !strings.Contains(text, "null") {
		t.Errorf("what is nothing is covered: %s", text)
	}
}
