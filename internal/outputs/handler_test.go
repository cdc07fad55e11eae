package outputs

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/kind"
)

// ask sends one request to a Handler; headers come as pairs.
func ask(h http.Handler, method, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/api/outputs/"+path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func everyByte() string {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return string(b)
}

// samples are the contents every form must give back.
var samples = map[string]string{
	"empty":         "",
	"one line":      "hello\n",
	"no last line":  "a\nb",
	"crlf":          "a\r\nb\r\n",
	"every byte":    everyByte(),
	"invalid utf-8": "caf\xe9\n",
	"html":          "<script>alert(1)</script>&\u2028\"\\\x00\x1b\x7f\n",
	"wide":          strings.Repeat("世界é𝄞", 100_000),
	"chunks":        strings.Repeat("line of a longer text\n", 40_000),
}

func TestBytesComeBack(t *testing.T) {
	s := newStore(t, 64<<20)
	h := newHandler(s, testViews{})
	for name, data := range samples {
		for _, typ := range []Type{File, Terminal} {
			o := put(t, s, Meta{Type: typ, Path: "a.txt"}, data)
			w := ask(h, "GET", string(o.ID()))
			if w.Code != 200 || sha256.Sum256(w.Body.Bytes()) != sha256.Sum256([]byte(data)) {
				t.Errorf("%s: raw differs (%d)", name, w.Code)
			}
			if got := w.Header().Get("Content-Length"); got != fmt.Sprint(len(data)) {
				t.Errorf("%s: length %s", name, got)
			}
			head := ask(h, "HEAD", string(o.ID()))
			if head.Body.Len() != 0 || fmt.Sprint(head.Header()) != fmt.Sprint(w.Header()) {
				t.Errorf("%s: HEAD %v, GET %v", name, head.Header(), w.Header())
			}
			if w := ask(h, "GET", string(o.ID())+"?lines=1-"); w.Body.String() != data {
				t.Errorf("%s: lines differ", name)
			}
			if w := ask(h, "GET", string(o.ID())+"?follow=1"); w.Body.String() != data {
				t.Errorf("%s: followed differs", name)
			}
			checkJSON(t, h, o, name, data)
		}
	}
}

func checkJSON(t *testing.T, h http.Handler, o *Output, name, data string) {
	t.Helper()
	w := ask(h, "GET", string(o.ID())+"?format=json")
	var got struct {
		ID, Data, Encoding   string
		Metadata             map[string]any
		Size                 int64
		Truncated            *bool
		CreatedAt, ExpiresAt time.Time
		Views                []string
	}
	dec := json.NewDecoder(w.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&got); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	body, enc := []byte(got.Data), "utf-8"
	if strings.ToValidUTF8(data, "") != data {
		enc = "base64"
		var err error
		if body, err = base64.StdEncoding.DecodeString(got.Data); err != nil {
			t.Fatal(err)
		}
	}
	if got.Encoding != enc || string(body) != data || got.Size != int64(len(data)) ||
		got.ID != string(o.ID()) || got.Truncated == nil || *got.Truncated {
		t.Errorf("%s: json %s differs, size %d", name, got.Encoding, got.Size)
	}
	if got.ExpiresAt.Sub(got.CreatedAt).Round(time.Second) != 30*time.Minute ||
		got.Metadata["type"] != string(o.Meta().Type) {
		t.Errorf("%s: %+v", name, got.Metadata)
	}
	if w.Header().Get("Content-Type") != "application/json; charset=utf-8" ||
		w.Header().Get("Cache-Control") != "private, no-store" {
		t.Errorf("%s: %v", name, w.Header())
	}
}

func TestExpiredAnswersAreOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t, 1<<20)
		h := newHandler(s, testViews{})
		old := put(t, s, Meta{Type: File, Path: "x"}, "x")
		time.Sleep(31 * time.Minute)
		var first string
		for _, id := range []string{string(old.ID()), "out_UNKNOWN", "", "a%2Fb",
			strings.Repeat("z", 5000)} {
			for _, q := range []string{"", "?format=json", "?lines=1-2", "?grep=x", "?follow=1",
				"?format=html&lines=1-2", "?lines=wrong"} {
				w := ask(h, "GET", id+q)
				if w.Code != 404 || w.Body.String() != `{"error":"Expired"}` {
					t.Fatalf("%q%s: %d %s", id, q, w.Code, w.Body)
				}
				if all := fmt.Sprint(w.Header()); first == "" {
					first = all
				} else if all != first {
					t.Fatalf("%q%s: %s, want %s", id, q, all, first)
				}
				if w := ask(h, "HEAD", id+q); w.Code != 404 || w.Body.Len() != 0 {
					t.Fatalf("HEAD %q: %d", id, w.Code)
				}
			}
		}
	})
}

func TestHeaders(t *testing.T) {
	s := newStore(t, 16<<20)
	h := newHandler(s, testViews{})
	png := "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00", 50)
	for _, tt := range []struct {
		m                Meta
		data, typ, dispo string
	}{
		{Meta{Type: File, Path: "/w/evil.html", MimeType: "text/html"}, "<script>", typeText,
			`attachment; filename=evil.html`},
		{Meta{Type: File, Path: "a.js", MimeType: "text/javascript\r\nX: y"}, "alert(1)", typeText,
			`attachment; filename=a.js`},
		{Meta{Type: File, Path: "logo.png"}, png, kind.Unknown, `attachment; filename=logo.png`},
		{Meta{Type: File, Path: "b", Binary: true}, "text", kind.Unknown, `attachment; filename=b`},
		{Meta{Type: Terminal, Command: "cat x.html"}, "<b>\x00", typeText,
			`attachment; filename=output.txt`},
		{Meta{Type: Image, Path: "logo.html", MimeType: "text/html"}, png, "image/png",
			`attachment; filename=logo.html`},
		{Meta{Type: Image, Path: "a b\"c.gif"}, "GIF89a<script>", "image/gif",
			`attachment; filename="a b\"c.gif"`},
		{Meta{Type: Image, Path: "j"}, "\xff\xd8\xff\xe0", "image/jpeg", `attachment; filename=j`},
		{Meta{Type: Image, Path: "w"}, "RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp",
			`attachment; filename=w`},
		{Meta{Type: Image, Path: "v"}, "\x00\x00\x00\x1cftypavif\x00\x00\x00\x00", "image/avif",
			`attachment; filename=v`},
		{Meta{Type: Image, Path: "v"}, "\x00\x00\x00\x18ftypmif1\x00\x00\x00\x00avif", "image/avif",
			`attachment; filename=v`},
		{Meta{Type: Image, Path: "v"}, "\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1", kind.Unknown,
			`attachment; filename=v`},
		{Meta{Type: Image, Path: "s.svg"},
			"\ufeff<?xml version='1.0'?>\n<!-- <b> --><!DOCTYPE svg [<!ENTITY a '>'>]>\n<svg xmlns='x'/>",
			kind.SVG, `attachment; filename=s.svg`},
		{Meta{Type: Image, Path: "s.svg"}, "<svgx/>", kind.Unknown, `attachment; filename=s.svg`},
		{Meta{Type: Image, Path: "s.svg"}, "<html><svg/>", kind.Unknown, `attachment; filename=s.svg`},
		{Meta{Type: Image, Path: "s.svg"}, "<!-- never closed <svg>", kind.Unknown,
			`attachment; filename=s.svg`},
		{Meta{Type: Image}, "", kind.Unknown, `attachment; filename=output`},
		{Meta{Type: File, Path: "dir/.."}, "", typeText, `attachment; filename=output`},
		{Meta{Type: File, Path: `C:\x\naïve.txt`}, "", typeText,
			`attachment; filename*=utf-8''na%C3%AFve.txt`},
		{Meta{Type: File, Path: "a\r\nSet-Cookie: x\u202etxt.exe"}, "", typeText,
			`attachment; filename="aSet-Cookie: xtxt.exe"`},
	} {
		o := put(t, s, tt.m, tt.data)
		head := ask(h, "GET", string(o.ID())).Header()
		for k, want := range map[string]string{
			"Content-Type":                 tt.typ,
			"Content-Disposition":          tt.dispo,
			"Content-Security-Policy":      "default-src 'none'; sandbox; frame-ancestors 'none'",
			"X-Content-Type-Options":       "nosniff",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Referrer-Policy":              "no-referrer",
			"Cache-Control":                "private, no-cache",
		} {
			if got := head.Get(k); got != want {
				t.Errorf("%+v: %s: %q, want %q", tt.m, k, got, want)
			}
		}
		if ranged := ask(h, "GET", string(o.ID()), "Range",
			"bytes=0-").Header().Get("Content-Type"); ranged != tt.typ {
			t.Errorf("by range %q", ranged)
		}
	}
	long := put(t, s, Meta{Type: File, Path: strings.Repeat("世", 500)}, "")
	m := long.Meta()
	if n := len(fileName(&m)); n > 200 || n < 190 {
		t.Errorf("name of %d bytes", n)
	}
}

func TestRangesAndConditions(t *testing.T) {
	s := newStore(t, 16<<20)
	h := newHandler(s, nil)
	data := samples["chunks"]
	o := put(t, s, Meta{Type: File, Path: "a"}, data)
	id := string(o.ID())
	plain := ask(h, "GET", id).Header()
	if plain.Get("Accept-Ranges") != "bytes" || plain.Get("Vary") != "Accept-Encoding" {
		t.Errorf("%v", plain)
	}
	etag := plain.Get("Etag")
	other := ask(h, "GET", string(put(t, s, Meta{Type: File}, "x").ID())).Header().Get("Etag")
	for _, tt := range []struct {
		headers []string
		status  int
		body    string
	}{
		{[]string{"Range", "bytes=0-9"}, 206, data[:10]},
		{[]string{"Range", "bytes=300000-600000"}, 206, data[300000:600001]},
		{[]string{"Range", "bytes=-5"}, 206, data[len(data)-5:]},
		{[]string{"Range", "bytes=10-", "If-Range", etag}, 206, data[10:]},
		{[]string{"Range", "bytes=10-", "If-Range", other}, 200, data},
		{[]string{"Range", "bytes=9999999-"}, 416,
			`{"error":"There are no such bytes: Content-Range says how many there are.","code":"bad_range"}`},
		{[]string{"Range", "lines=0-9"}, 200, data},
		{[]string{"Range", "bytes=0-9", "Accept-Encoding", "gzip"}, 206, data[:10]},
		{[]string{"If-None-Match", etag}, 304, ""},
		{[]string{"If-None-Match", `"x", W/` + etag}, 304, ""},
		{[]string{"If-None-Match", "*"}, 304, ""},
		{[]string{"If-None-Match", other}, 200, data},
		{[]string{"If-None-Match", etag, "Range", "bytes=0-1"}, 304, ""},
		{[]string{"If-Match", etag, "Range", "lines=0-9"}, 200, data},
		{[]string{"If-Match", other}, 412,
			`{"error":"These are not the bytes that If-Match names.","code":"precondition_failed"}`},
	} {
		w := ask(h, "GET", id, tt.headers...)
		if w.Code != tt.status || w.Body.String() != tt.body {
			t.Errorf("%v: %d, %d bytes", tt.headers, w.Code, w.Body.Len())
		}
		if kind := w.Header().Get("Content-Type"); tt.status >= 400 &&
			kind != "application/json; charset=utf-8" {
			t.Errorf("%v: refused as %s", tt.headers, kind)
		}
		if w := ask(h, "HEAD", id, tt.headers...); w.Code != tt.status || w.Body.Len() != 0 {
			t.Errorf("HEAD %v: %d", tt.headers, w.Code)
		}
	}
	if w := ask(h, "GET", id, "Range", "bytes=0-1,5-6"); w.Code != 206 ||
		!strings.HasPrefix(w.Header().Get("Content-Type"), "multipart/byteranges") {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

func TestTruncatedOutput(t *testing.T) {
	s := newStore(t, 1<<20)
	h := newHandler(s, nil)
	w := create(t, s, Meta{Type: Terminal, Command: "yes"}, Limits{Head: 8 << 10, Tail: 32 << 10})
	for i := range 100_000 {
		fmt.Fprintf(w, "line %d\n", i+1)
	}
	code := 0
	w.Complete(func(m *Meta) { m.ExitCode, m.DurationMs = &code, 12 })
	o := w.Output()
	g := o.Meta().Gap
	notice := string(g.notice(false))
	raw := ask(h, "GET", string(o.ID()))
	if raw.Header().Get("Content-Length") != fmt.Sprint(raw.Body.Len()) ||
		strings.Count(raw.Body.String(), notice) != 1 {
		t.Fatalf("%v, %q", raw.Header(), notice)
	}
	at := strings.Index(raw.Body.String(), notice)
	if int64(at) != g.Offset || !strings.HasSuffix(raw.Body.String(), "line 100000\n") {
		t.Fatalf("notice at %d, gap %+v", at, g)
	}
	part := ask(h, "GET", string(o.ID()), "Range",
		fmt.Sprintf("bytes=%d-%d", at-20, at+len(notice)+20))
	if part.Code != 206 || part.Body.String() != raw.Body.String()[at-20:at+len(notice)+21] {
		t.Fatalf("%d %q", part.Code, part.Body)
	}
	var doc struct {
		Data      string
		Size      int64
		Truncated bool
		Metadata  struct {
			TotalLines int
			ExitCode   *int
			Truncated  bool
			Gap        Gap
		}
	}
	if err := json.Unmarshal(ask(h, "GET", string(o.ID())+"?format=json").Body.Bytes(),
		&doc); err != nil {
		t.Fatal(err)
	}
	if doc.Data != raw.Body.String() || doc.Size != w.Bytes() || !doc.Truncated ||
		!doc.Metadata.Truncated ||
		doc.Metadata.Gap != *g || doc.Metadata.TotalLines != 100_000 || doc.Metadata.ExitCode == nil {
		t.Fatalf("%+v", doc.Metadata)
	}
	if l := ask(h, "GET", string(o.ID())+
		"?lines=99999-"); l.Body.String() != "line 99999\nline 100000\n" || l.Header().Get(
		"Webchat-Lines") != "99999-100000/100000" {
		t.Fatalf("%q %v", l.Body, l.Header())
	}
	if m := ask(h, "GET", string(o.ID())+
		"?grep=9999[89]"); m.Body.String() != "99998:line 99998\n99999:line 99999\n" {
		t.Fatalf("%q", m.Body)
	}
}

func TestBadRequests(t *testing.T) {
	s := newStore(t, 4<<20)
	o := put(t, s, Meta{Type: File}, strings.Repeat("\n", 20_000))
	bad := put(t, s, Meta{Type: File, Path: "bad"}, "x\n")
	h := newHandler(s, testViews{})
	for _, tt := range []struct {
		h      *Handler
		method string
		id     ID
		query  string
		status int
		code   string
	}{
		{h, "GET", o.ID(), "lines=", 400, "bad_query"},
		{h, "GET", o.ID(), "lines=0-5", 400, "bad_query"},
		{h, "GET", o.ID(), "lines=5-4", 400, "bad_query"},
		{h, "GET", o.ID(), "lines=-5", 400, "bad_query"},
		{h, "GET", o.ID(), "lines=a-b", 400, "bad_query"},
		{h, "GET", o.ID(), "lines=1-2-3", 400, "bad_query"},
		{h, "GET", o.ID(), "lines=%2B1", 400, "bad_query"},
		{h, "GET", o.ID(), "lines=99999999999999999999", 400, "bad_query"},
		{h, "GET", o.ID(), "format=xml", 400, "bad_query"},
		{h, "GET", o.ID(), "format=json&lines=1-2", 400, "bad_query"},
		{h, "GET", o.ID(), "format=html&grep=x", 400, "bad_query"},
		{h, "GET", o.ID(), "grep=", 400, "bad_query"},
		{h, "GET", o.ID(), "grep=(", 400, "bad_grep"},
		{h, "GET", o.ID(), `grep=(a)\1`, 400, "bad_grep"},
		{h, "GET", o.ID(), "grep=" + strings.Repeat("a", maxPattern+1), 400, "bad_grep"},
		{h, "GET", o.ID(), "follow=2", 400, "bad_query"},
		{h, "GET", o.ID(), "follow=1&lines=1-2", 400, "bad_query"},
		{h, "GET", o.ID(), "offset=1", 400, "bad_query"},
		{h, "GET", o.ID(), "follow=1&offset=-1", 400, "bad_query"},
		{h, "GET", o.ID(), "a=%zz", 400, "bad_query"},
		{h, "GET", o.ID(), "format=html&lines=1-5001", 400, "too_many_lines"},
		{h, "GET", bad.ID(), "format=html&lines=1", 500, "render_failed"},
	} {
		w := ask(tt.h, tt.method, string(tt.id)+"?"+tt.query)
		var got struct{ Error, Code string }
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != tt.status ||
			got.Code != tt.code || !strings.HasSuffix(got.Error, ".") {
			t.Errorf("%s: %d %s (%v)", tt.query, w.Code, w.Body, err)
		}
		if strings.Contains(w.Body.String(), "secret") ||
			w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %s %v", tt.query, w.Body, w.Header())
		}
	}
}

func TestLineForms(t *testing.T) {
	s := newStore(t, 16<<20)
	h := newHandler(s, testViews{})
	var b []byte
	for i := range int64(1_000_000) {
		b = append(strconv.AppendInt(b, i+100, 10), '\n')
	}
	o := put(t, s, Meta{
		Type:       File,
		Path:       "a",
		StartLine:  100,
		EndLine:    1_000_099,
		TotalLines: 2_000_000,
	}, string(b))
	empty := put(t, s, Meta{Type: File}, "")
	for _, tt := range []struct {
		o                   *Output
		query, body, header string
	}{
		{o, "lines=100-101", "100\n101\n", "100-101/1000099"},
		{o, "lines=1-100", "100\n", "100-100/1000099"},
		{o, "lines=777777", "777777\n", "777777-777777/1000099"},
		{o, "lines=1000098-", "1000098\n1000099\n", "1000098-1000099/1000099"},
		{o, "lines=1000099-2000000", "1000099\n", "1000099-1000099/1000099"},
		{o, "lines=2000000-2000001", "", "2000000-1999999/1000099"},
		{o, "lines=1-5", "", "100-99/1000099"},
		{empty, "lines=1-5", "", "1-0/0"},
		{empty, "format=html", "", "1-0/0"},
		{o, "format=html&lines=105-110", "<i>105-110</i>", "105-110/1000099"},
		{o, "format=html", "<i>100-599</i>", "100-599/1000099"},
		{o, "format=html&lines=1000098-1000500", "<i>1000098-1000099</i>", "1000098-1000099/1000099"},
	} {
		w := ask(h, "GET", string(tt.o.ID())+"?"+tt.query)
		if w.Code != 200 || w.Body.String() != tt.body || w.Header().Get("Webchat-Lines") != tt.header {
			t.Errorf("%s: %d %.60q %v", tt.query, w.Code, w.Body, w.Header())
		}
		if w := ask(h, "HEAD", string(tt.o.ID())+"?"+tt.query); w.Code != 200 || w.Body.Len() != 0 ||
			w.Header().Get("Webchat-Lines") != tt.header {
			t.Errorf("HEAD %s: %d %v", tt.query, w.Code, w.Header())
		}
	}
	etag := ask(h, "GET", string(o.ID())+"?lines=200").Header().Get("Etag")
	if w := ask(h, "GET", string(o.ID())+"?lines=200", "If-None-Match", etag); w.Code != 304 {
		t.Errorf("%d", w.Code)
	}
}

// Each form at its own address is what the output's own address gives for its query.
func TestFormsHaveAddresses(t *testing.T) {
	s := newStore(t, 4<<20)
	h := newHandler(s, testViews{})
	o := put(t, s, Meta{Type: File, Path: "a.go"},
		"one\nerror: two\nthree\npassword: hunter2hunter2\n")
	id := string(o.ID())
	seen := map[string]bool{}
	for _, c := range []struct{ form, query, own string }{
		{"follow", "offset=4", "follow=1&offset=4"},
		{"json", "", "format=json"},
		{"lines", "lines=2-3", "lines=2-3"},
		{"lines", "lines=1-&veil=1", "lines=1-&veil=1"},
		{"html", "", "format=html"},
		{"html", "lines=2-3", "format=html&lines=2-3"},
		{"views/default", "from=2&rows=1", "format=html&view=default&from=2&rows=1"},
		{"views/none", "", "format=html&view=none"},
		{"grep", "grep=t", "grep=t"},
		{"matches", "grep=t&lines=2-", "grep=t&format=json&lines=2-"},
		{"count", "count=t&at=2", "count=t&at=2"},
		{"density", "density=2", "density=2"},
		{"price", "lines=1-2,4", "tokens&lines=1-2,4"},
		{"media", "", ""},
	} {
		seen[strings.Split(c.form, "/")[0]] = true
		got, want := ask(h, "GET", id+"/"+c.form+"?"+c.query), ask(h, "GET", id+"?"+c.own)
		if c.form != "media" && (got.Code != want.Code || got.Body.String() != want.Body.String() ||
			fmt.Sprint(got.Header()) != fmt.Sprint(want.Header())) {
			t.Errorf("%s?%s: %d %s %v\nwant %d %s %v", c.form, c.query, got.Code, got.Body, got.Header(),
				want.Code, want.Body, want.Header())
		}
	}
	for _, f := range Forms() {
		if name, _, _ := strings.Cut(f.Name, "/"); !seen[name] {
			t.Errorf("%s was not tried", f.Name)
		}
		if w := ask(h, "GET", id+"/"+f.Name); f.Needs != "" &&
			(w.Code != 400 || !strings.Contains(w.Body.String(), f.Needs)) {
			t.Errorf("%s without %s: %d %s", f.Name, f.Needs, w.Code, w.Body)
		}
		if w := ask(h, "GET", "out_none/"+f.Name); w.Code != 404 || w.Body.String() != expired {
			t.Errorf("%s of none: %d %s", f.Name, w.Code, w.Body)
		}
	}
}
