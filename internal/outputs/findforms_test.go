package outputs

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"webchat/internal/grep"
)

// What was left out of the middle is not found, all else by its true number.
func TestFindAroundTheGap(t *testing.T) {
	s := newStore(t, 64<<20)
	w := create(t, s, Meta{Type: Terminal}, Limits{Head: 8 << 10, Tail: 16 << 10})
	for i := 1; i <= 20_000; i++ {
		fmt.Fprintf(w, "line %d is 7\n", i)
		if e, _ := grep.Parse("7"); i%1999 == 0 {
			if _, err := w.Output().Find(t.Context(), e, time.Minute); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.Complete(nil)
	g := w.Output().Meta().Gap
	h := newHandler(s, nil)
	var c Count
	at := g.AfterLine + 1
	if err := json.Unmarshal(ask(h, "GET", fmt.Sprintf("%s?count=7&at=%d", w.ID(), at)).Body.Bytes(),
		&c); err != nil {
		t.Fatal(err)
	}
	next := g.AfterLine + int(g.Lines) + 1
	want := Count{Total: g.AfterLine + 20_000 - next + 1, Complete: true, LeftOut: g.Bytes,
		Around: &Around{Before: g.AfterLine, Previous: g.AfterLine, Next: next, First: 1, Last: 20_000}}
	if fmt.Sprint(c, *c.Around) != fmt.Sprint(want, *want.Around) && c.Total != want.Total ||
		*c.Around != *want.Around || c.LeftOut != want.LeftOut {
		t.Errorf("%+v %+v, want %+v %+v", c, *c.Around, want, *want.Around)
	}
}

func TestCountAndDensity(t *testing.T) {
	s := newStore(t, 64<<20)
	h := newHandler(s, nil)
	var b strings.Builder
	for i := 1; i <= 1000; i++ {
		switch {
		case i <= 10:
			b.WriteString("x ERROR y\n")
		case i == 700:
			b.WriteString("WARN: hm\n")
		default:
			b.WriteString("fine\n")
		}
	}
	o := put(t, s, Meta{Type: File, StartLine: 101}, b.String())
	for query, want := range map[string]string{
		"count=ERROR":                   `{"total":10,"complete":true}`,
		"count=ERROR&at=105&within=500": `{"total":10,"complete":true,"before":4,"previous":104,"next":105,"first":101,"last":110}`,
		"count=ERROR&at=999":            `{"total":10,"complete":true,"before":10,"previous":110,"next":0,"first":101,"last":110}`,
		"count=nothing&at=5":            `{"total":0,"complete":true,"before":0,"previous":0,"next":0,"first":0,"last":0}`,
		"density=4&count=ERROR%7CWARN":  `{"total":11,"complete":true,"parts":[10,0,1,0]}`,
		"density=4":                     `{"total":11,"complete":true,"errors":[10,0,0,0],"warnings":[0,0,1,0]}`,
	} {
		if w := ask(h, "GET", string(o.ID())+"?"+query); w.Code != 200 || w.Body.String() != want {
			t.Errorf("%s: %d %s, want %s", query, w.Code, w.Body, want)
		}
	}
	for _, query := range []string{"count=", "count=(", "density=0", "density=10001",
		"density=x&count=a", "count=a&at=0", "count=a&within=3000"} {
		if w := ask(h, "GET", string(o.ID())+"?"+query); w.Code != 400 ||
			w.Header().Get("Content-Type") != valJSON[0] {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
}

// grep of a long text finds what grep of its parts does.
func TestGrepByHits(t *testing.T) {
	s := newStore(t, 64<<20)
	h := newHandler(s, nil)
	o := put(t, s, Meta{Type: File}, strings.Repeat("x\nabc\n", 20_000))
	all := grepJSON(t, h, o, "b", "")
	if len(all.Matches) != MaxGrepMatches || all.Next != 2002 || all.Lines != 40_000 ||
		all.Matches[999].Line != 2000 {
		t.Errorf("%d matches, next %d", len(all.Matches), all.Next)
	}
	end := grepJSON(t, h, o, "b", "&lines=39001-")
	if len(end.Matches) != 500 || end.Next != 0 || end.Matches[499].Line != 40_000 {
		t.Errorf("%d matches at the end, next %d", len(end.Matches), end.Next)
	}
	if some := grepJSON(t, h, o, "b", "&lines=100-8000"); len(some.Matches) != MaxGrepMatches ||
		some.Next != 2100 {
		t.Errorf("%d matches in the middle, next %d", len(some.Matches), some.Next)
	}
	if few := grepJSON(t, h, o, "b", "&lines=30000-36000"); len(few.Matches) != MaxGrepMatches ||
		few.Matches[0].Line != 30_000 {
		t.Errorf("%d matches, the first on %d", len(few.Matches), few.Matches[0].Line)
	}
}
