package views

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"webchat/internal/outputs"
)

var (
	itemRE  = regexp.MustCompile(`(?s)<li role="treeitem"([^>]*)>(.*?)(?:</li>|<ul)`)
	atRE    = regexp.MustCompile(`data-at="(\d+)"`)
	stepRE  = regexp.MustCompile(`data-step="([^"]*)"`)
	linesRE = regexp.MustCompile(`data-lines="(\d+-\d+)"`)
)

type treeItem struct{ at, step, lines, text string }

func itemsOf(html []byte) (items []treeItem) {
	first := func(re *regexp.Regexp, s string) string {
		if m := re.FindStringSubmatch(s); m != nil {
			return m[1]
		}
		return ""
	}
	for _, m := range itemRE.FindAllStringSubmatch(string(html), -1) {
		text := strings.TrimLeft(textOf([]byte(m[2])), "0123456789") // the line stands in front
		items = append(items, treeItem{first(atRE, m[1]), textOf([]byte(first(stepRE, m[1]))),
			first(linesRE, m[1]), text})
	}
	return items
}

const someJSON = `{
  "name": "relay",
  "pump": {"buffer": 64, "clock": null, "on": true},
  "sinks": [
    {"host": "a.example", "tls": {}},
    [],
    -1.5e3
  ],
  "a \"b\"": "\u00e9<",
  "": 0
}
`

func TestTree(t *testing.T) {
	h := New(testStore(t), nil)
	o := file(t, h, "a.json", someJSON)
	w := ask(t, h, o, outputs.Ask{View: Tree, Rows: 500})
	items := itemsOf(w.HTML)
	want := []treeItem{ // what fits is open
		{"0", "$", "1-11", "{…}5 keys"}, {"", ".name", "2-2", `name: "relay"`},
		{"", ".pump", "3-3", "pump: {…}3 keys"},
		{"", ".buffer", "3-3", "buffer: 64"}, {"", ".clock", "3-3", "clock: null"},
		{"", ".on", "3-3", "on: true"},
		{"", ".sinks", "4-8", "sinks: […]3 items"}, {"", "[0]", "5-5", ": {…}a.example"},
		{"", ".host", "5-5", `host: "a.example"`}, {"", ".tls", "5-5", "tls: {}0 keys"},
		{"", "[1]", "6-6", ": []0 items"}, {"", "[2]", "7-7", ": -1.5e3"},
		{"", `["a \"b\""]`, "9-9", `a "b": "\u00e9<"`}, {"", `[""]`, "10-10", ": 0"},
	}
	if len(items) != len(want) || w.Total != 1 {
		t.Fatalf("%+v", items)
	}
	for i, x := range items {
		if i > 0 && want[i].at == "" {
			want[i].at = x.at
		}
		if x != want[i] {
			t.Errorf("%+v, want %+v", x, want[i])
		}
	}
	w = ask(t, h, o, outputs.Ask{View: Tree, Rows: 500, At: items[6].at})
	sinks := itemsOf(w.HTML)
	if len(sinks) != 3 || sinks[0].text != ": {…}a.example" || sinks[0].step != "[0]" ||
		sinks[1].text != ": []0 items" || sinks[2].text != ": -1.5e3" || sinks[2].lines != "7-7" {
		t.Errorf("%+v", sinks)
	}
}

// The tree of YAML and TOML is that of the same JSON.
func TestParsedTrees(t *testing.T) {
	h := New(testStore(t), nil)
	for name, text := range map[string]string{
		"a.yaml": "name: relay\npump:\n  buffer: 64\n  on: true\nsinks:\n  - host: a\n  - [1, 2]\n" +
			"also: &x {k: v}\nsame: *x\n",
		"a.toml": "name = \"relay\"\n[pump]\nbuffer = 64\non = true\n[[sinks]]\nhost = \"a\"\n" +
			"[[sinks]]\nlist = [1, 2]\n[also]\nk = \"v\"\n",
	} {
		o := file(t, h, name, text)
		items := itemsOf(ask(t, h, o, outputs.Ask{View: Tree, Rows: 500}).HTML)
		if len(items) < 5 || items[0].step != "$" || items[1].text != "name: relay" ||
			items[1].lines != "1-1" || !strings.HasPrefix(items[2].text, "pump: {…}") ||
			items[2].lines != "2-4" || items[5].text != "sinks: […]2 items" ||
			!strings.Contains(items[6].text, ": {…}") {
			t.Errorf("%s: %+v", name, items)
			continue
		}
		pump := itemsOf(ask(t, h, o, outputs.Ask{View: Tree, Rows: 500, At: items[2].at}).HTML)
		if len(pump) != 2 || pump[0].text != "buffer: 64" || pump[0].lines != "3-3" ||
			pump[1].step != ".on" {
			t.Errorf("%s: %+v", name, pump)
		}
	}
}

// Values of any size are read a window at a time.
func TestLargeTree(t *testing.T) {
	h := New(outputsOf(t, 64<<20), nil)
	var b strings.Builder
	b.WriteString("{\"long\": \"" + strings.Repeat("x\\\"", 200_000) + "\",\n\"list\": [\n")
	const n = 25_000
	for i := range n {
		fmt.Fprintf(&b, "  {\"id\": %d, \"name\": \"item %d\", \"in\": {\"deep\": [%d]}},\n", i, i, i)
	}
	b.WriteString("  {\"last\": true}\n], \"after\": 7}\n")
	o := file(t, h, "a.json", b.String())
	w := ask(t, h, o, outputs.Ask{View: Tree, Rows: 500})
	items := itemsOf(w.HTML)
	if len(items) != 4 || !strings.HasPrefix(items[1].text, `long: "x`) ||
		items[2].text != "list: […]25,001 items" || items[2].lines != "2-25004" ||
		items[3].text != "after: 7" || items[3].lines != "25004-25004" {
		t.Fatalf("%.500v", items)
	}
	w = ask(t, h, o, outputs.Ask{View: Tree, Rows: 500, At: items[2].at})
	if got := itemsOf(w.HTML); len(got) != 100 || w.Total != n+1 ||
		!strings.Contains(string(w.HTML),
			`<li class="range" data-from="101">100 … 25,000<span class="many">24,901 more</span></li>`) {
		t.Errorf("%d items of %d", len(got), w.Total)
	}
	for _, from := range []int{101, 150, 12_345, n - 10} {
		w := ask(t, h, o, outputs.Ask{View: Tree, Rows: 60, From: from, At: items[2].at})
		for i, x := range itemsOf(w.HTML) {
			k := from - 1 + i
			if want := "item " + strconv.Itoa(k); k < n &&
				(x.step != fmt.Sprintf("[%d]", k) || x.lines != fmt.Sprintf("%d-%d", k+3, k+3) ||
					!strings.HasSuffix(x.text, want)) {
				t.Fatalf("%+v, want %s", x, want)
			}
		}
		if w.To != min(from+59, n+1) {
			t.Errorf("from %d to %d", w.From, w.To)
		}
	}
	lines := strings.Repeat("{\"a\": 1, \"b\": [2]}\n", 5000)
	w = ask(t, h, file(t, h, "b.log", lines), outputs.Ask{View: Tree, Rows: 500, From: 4950})
	if got := itemsOf(w.HTML); len(got) != 51 || w.Total != 5000 || got[50].step != "[4999]" ||
		got[50].lines != "5000-5000" || got[50].text != ": {…}2 keys" {
		t.Errorf("%d of %d: %+v", len(got), w.Total, got[len(got)-1])
	}
}

// A text that ends too early, or goes wrong later, is shown up to there.
func TestBrokenTree(t *testing.T) {
	h := New(testStore(t), nil)
	good := "{\"a\": [" + strings.Repeat("1,\n", 40_000)
	for _, end := range []string{"", "}", "]}}]", "\"open", strings.Repeat("[", 2000)} {
		o := file(t, h, "a.json", good+end)
		w := ask(t, h, o, outputs.Ask{View: Tree, Rows: 500})
		items := itemsOf(w.HTML)
		if len(items) != 2 || !strings.HasPrefix(items[1].text, "a: […]40") || w.Partial {
			t.Errorf("%.10q: %+v %v", end, items, w.Header)
		}
	}
}
