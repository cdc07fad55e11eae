package outputs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/url"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// FuzzJSONParts: text escaped in parts decodes to the same text, and is found to be UTF-8 exactly
// when it is, wherever it is cut.
func FuzzJSONParts(f *testing.F) {
	f.Add([]byte("a\"<\u2028é𝄞\x00"), uint(3), uint(7))
	f.Add([]byte("\xe2\x80"), uint(1), uint(1))
	f.Add([]byte("\xf0\x9d\x84\x9e"), uint(1), uint(2))
	f.Fuzz(func(t *testing.T, b []byte, i, j uint) {
		i, j = i%uint(len(b)+1), j%uint(len(b)+1)
		i, j = min(i, j), max(i, j)
		parts := [][]byte{b[:i], b[i:j], b[j:]}
		var out bytes.Buffer
		w := bufio.NewWriter(&out)
		w.WriteByte('"')
		for _, p := range parts {
			if err := escape(w, p); err != nil {
				t.Fatal(err)
			}
		}
		w.WriteByte('"')
		w.Flush()
		valid := validUTF8(iotest.OneByteReader(bytes.NewReader(b)))
		if valid != utf8.Valid(b) {
			t.Fatalf("%q valid: %v", parts, valid)
		}
		if !valid {
			return
		}
		var got string
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || got != string(b) {
			t.Fatalf("%q became %q: %v", b, got, err)
		}
		if bytes.ContainsAny(out.Bytes(), "<>&") {
			t.Fatalf("%q is not harmless in HTML", out.Bytes())
		}
	})
}

// FuzzQuery: what is accepted is in order, what is refused says why.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{"lines=1-2", "grep=a&lines=5-", "follow=1&offset=3",
		"format=html&lines=0", "lines=5-4", "%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		v, err := url.ParseQuery(raw)
		if err != nil {
			return
		}
		_ = formOf(v) // any of them
		q, bad := parseQuery(v)
		if bad != "" {
			return
		}
		if q.ranged && (q.from < 1 || q.to != 0 && q.to < q.from) || q.offset < 0 || q.offset > 0 &&
			!q.follow {
			t.Fatalf("%q gives %+v", raw, q)
		}
	})
}
