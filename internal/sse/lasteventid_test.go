package sse

import (
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestParseLastEventID(t *testing.T) {
	long := strings.Repeat("9", 1<<20)
	for _, c := range []struct {
		header, query string
		after         int64
		ok, present   bool
	}{
		{"", "", 0, true, false},
		{"", "after=", 0, true, false},
		{"", "other=5", 0, true, false},
		{"", "other=%zz", 0, true, false},
		{"0", "", 0, true, true},
		{"17", "", 17, true, true},
		{"00000000000000000017", "", 17, true, true},
		{"9223372036854775807", "", 1<<63 - 1, true, true},
		{"", "after=17", 17, true, true},
		{"18", "after=17", 18, true, true}, // a reconnect of a page that began at 17
		{"x", "after=17", 0, false, true},
		{"-1", "", 0, false, true},
		{"+1", "", 0, false, true},
		{"9e99", "", 0, false, true},
		{"0x10", "", 0, false, true},
		{"1_0", "", 0, false, true},
		{"1 ", "", 0, false, true},
		{"١", "", 0, false, true},
		{"9223372036854775808", "", 0, false, true},
		{"000000000000000000017", "", 0, false, true},
		{"\x00", "", 0, false, true},
		{long, "", 0, false, true},
		{"", "after=" + long, 0, false, true},
		{"", "after=%00", 0, false, true},
		{"", "after=%zz", 0, false, true},
		{"", "after=-1", 0, false, true},
		{"", "after=+1", 0, false, true},
		{"", "after=1&after=2", 0, false, true},
	} {
		r := &http.Request{Header: http.Header{}, URL: &url.URL{RawQuery: c.query}}
		if c.header != "" {
			r.Header.Set("Last-Event-ID", c.header)
		}
		after, ok, present := ParseLastEventID(r)
		if after != c.after || ok != c.ok || present != c.present {
			t.Errorf("header %.30q, query %.30q: %d, %v, %v; want %d, %v, %v", c.header, c.query, after, ok,
				present, c.after, c.ok, c.present)
		}
	}
	r := &http.Request{Header: http.Header{"Last-Event-Id": {"1", "2"}}, URL: &url.URL{}}
	if _, ok, present := ParseLastEventID(r); ok || !present {
		t.Errorf("two headers: %v, %v", ok, present)
	}
}

func FuzzParseLastEventID(f *testing.F) {
	for _, s := range []string{"", "0", "17", "-1", "9e99", "9223372036854775808",
		"00000000000000000000", "%00", "1&after=2", "٣"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, header, query string) {
		r := &http.Request{
			Header: http.Header{"Last-Event-Id": {header}},
			URL:    &url.URL{RawQuery: "after=" + url.QueryEscape(query)},
		}
		after, ok, present := ParseLastEventID(r)
		asked := header
		if asked == "" {
			asked = query
		}
		if present != (asked != "") {
			t.Fatalf("%q: present %v", asked, present)
		}
		n, number := new(big.Int).SetString(asked, 10)
		valid := number && strings.Trim(asked, "0123456789") == "" && len(asked) <= 20 && n.IsInt64()
		switch {
		case present && ok != valid:
			t.Fatalf("%q: ok %v, want %v", asked, ok, valid)
		case present && ok && after != n.Int64(), !ok && after != 0, !present && (!ok || after != 0):
			t.Fatalf("%q: %d, %v, %v", asked, after, ok, present)
		}
	})
}
