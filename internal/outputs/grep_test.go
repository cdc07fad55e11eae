package outputs

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf16"
)

func TestGrep(t *testing.T) {
	s := newStore(t, 64<<20)
	h := newHandler(s, nil)
	file := put(t, s, Meta{Type: File, StartLine: 10},
		"alpha\r\nbeta\nAlpha beta beta\n\xffgamma\nlast beta")
	term := put(t, s, Meta{Type: Terminal},
		"\x1b[1;31mERR\x1b[0mOR: x\tA\x1b]0;title\x07B\x1b(C\x08D\n")
	for _, tt := range []struct {
		o              *Output
		re, more, want string
	}{
		{file, "beta", "", "11:beta\n12:Alpha beta beta\n14:last beta\n"},
		{file, "a$", "", "10:alpha\n11:beta\n12:Alpha beta beta\n13:\ufffdgamma\n14:last beta\n"},
		{file, "^(?i)ALPHA", "", "10:alpha\n12:Alpha beta beta\n"},
		{file, "beta", "&lines=12-13", "12:Alpha beta beta\n"},
		{file, "nothing", "", ""},
		{file, "^$", "", ""},
		{term, "^ERROR: x\tABD$", "", "1:ERROR: x\tABD\n"},
	} {
		w := ask(h, "GET", string(tt.o.ID())+"?grep="+url.QueryEscape(tt.re)+tt.more)
		if w.Code != 200 || w.Body.String() != tt.want || w.Header().Get("Content-Type") != typeText ||
			w.Header().Get("Webchat-Next") != "" {
			t.Errorf("%s: %d %q", tt.re, w.Code, w.Body)
		}
	}
	if w := ask(h, "HEAD", string(file.ID())+"?grep=a&format=json"); w.Code != 200 ||
		w.Body.Len() != 0 || w.Header().Get("Content-Type") != valJSON[0] {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

type grepReply struct {
	Matches []struct {
		Line, Column int
		Text         string
		Ranges       [][2]int
	}
	Lines, Next int
}

func grepJSON(t *testing.T, h *Handler, o *Output, re, more string) (got grepReply) {
	t.Helper()
	w := ask(h, "GET", string(o.ID())+"?format=json&grep="+url.QueryEscape(re)+more)
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return got
}

func TestGrepRanges(t *testing.T) {
	s := newStore(t, 64<<20)
	h := newHandler(s, nil)
	for _, tt := range []struct{ line, re, want string }{
		{"a beta beta", "beta", "beta|beta"},
		{"𝄞é世 x 𝄞x", "x", "x|x"},
		{"\xff\xfe𝄞 x\xffx", "x", "x|x"},
		{"aaa", "b*", ""}, // empty matches have no range
		{strings.Repeat("é", 4000) + "needle" + strings.Repeat("z", 4000), "needle", "needle"},
		{strings.Repeat("é", 999) + "needle", "needle", "needle"},
		// cut at the excerpt's end
		{"needle" + strings.Repeat("é", 996) + "needle", "needle", "needle|ne"},
		{strings.Repeat("m", 5000), "m+", strings.Repeat("m", maxExcerpt)},
	} {
		o := put(t, s, Meta{Type: File}, tt.line)
		got := grepJSON(t, h, o, tt.re, "")
		if len(got.Matches) != 1 || got.Lines != 1 || got.Next != 0 {
			t.Fatalf("%.20q: %+v", tt.line, got)
		}
		m := got.Matches[0]
		units := utf16.Encode([]rune(m.Text))
		var parts []string
		for _, r := range m.Ranges {
			parts = append(parts, string(utf16.Decode(units[r[0]:r[1]])))
		}
		if s := strings.Join(parts, "|"); s != tt.want || len(m.Text) > maxExcerpt+10 {
			t.Errorf("%.20q: ranges give %.40q, want %.40q", tt.line, s, tt.want)
		}
		if m.Column > 0 && !strings.HasPrefix(tt.line[m.Column:], m.Text[:50]) {
			t.Errorf("column %d is not where the text begins", m.Column)
		}
	}
}

func TestGrepIsBounded(t *testing.T) {
	s := newStore(t, 64<<20)
	h := newHandler(s, nil)
	o := put(t, s, Meta{Type: File, StartLine: 5}, strings.Repeat("x\n", 2500))
	seen, from := 0, 5
	for page := 0; ; page++ {
		got := grepJSON(t, h, o, "x", fmt.Sprintf("&lines=%d-", from))
		for _, m := range got.Matches {
			if m.Line != 5+seen {
				t.Fatalf("line %d, want %d", m.Line, 5+seen)
			}
			seen++
		}
		if got.Lines != 2504 || len(got.Matches) > MaxGrepMatches {
			t.Fatalf("%d lines, %d matches", got.Lines, len(got.Matches))
		}
		if got.Next == 0 {
			if page != 2 {
				t.Fatalf("%d pages", page)
			}
			break
		}
		from = got.Next
	}
	if seen != 2500 {
		t.Fatalf("%d matches", seen)
	}
	if w := ask(h, "GET", string(o.ID())+"?grep=x"); w.Header().Get("Webchat-Next") != "1005" ||
		strings.Count(w.Body.String(), "\n") != MaxGrepMatches {
		t.Fatalf("%v", w.Header())
	}
}

func TestGrepSearchesTheBeginningOfLongLines(t *testing.T) {
	s := newStore(t, 64<<20)
	h := newHandler(s, nil)
	o := put(t, s, Meta{Type: File}, strings.Repeat("a", 256<<10-1)+"bc\nc\n")
	if got := grepJSON(t, h, o, "b", ""); len(got.Matches) != 1 {
		t.Fatalf("%+v", got)
	}
	if got := grepJSON(t, h, o, "c", ""); len(got.Matches) != 1 || got.Matches[0].Line != 2 {
		t.Fatalf("%+v", got)
	}
}
