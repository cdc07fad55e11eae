package session

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"webchat/internal/strictjson"
)

// oracle says whether two keys of one object of v may be taken for one another,
// found in another way: by decoding and by counting.
func ambiguous(raw []byte) bool {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) == nil && object != nil {
		folded := map[string]int{}
		for k := range object {
			for other := range object {
				if strings.EqualFold(k, other) {
					folded[k]++
				}
			}
		}
		for _, n := range folded {
			if n > 1 {
				return true
			}
		}
		for _, v := range object {
			if ambiguous(v) {
				return true
			}
		}
		return len(object) != keysOf(raw)
	}
	var array []json.RawMessage
	if json.Unmarshal(raw, &array) == nil {
		for _, v := range array {
			if ambiguous(v) {
				return true
			}
		}
	}
	return false
}

// keysOf counts the keys of the outermost object as they are written.
func keysOf(raw []byte) int {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return -1
	}
	n := 0
	for dec.More() {
		if _, err := dec.Token(); err != nil {
			return -1
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return -1
		}
		n++
	}
	return n
}

// stricter reports whether raw may hold what encoding/json takes and we refuse:
// half a character, bytes that are not UTF-8, and deep nesting.
func stricter(raw []byte) bool {
	return bytes.Contains(raw, []byte(`\u`)) || !utf8.Valid(raw) || bytes.Count(raw, []byte("["))+
		bytes.Count(raw, []byte("{")) > strictjson.MaxDepth
}

func FuzzArguments(f *testing.F) {
	for _, s := range []string{`{}`, ``, `null`, `{"a":1}`, `{"a":1,"A":2}`, `{"a":1,"a":2}`,
		`{"a":{"b":1,"B":2}}`, `{"a":[{"K":1},{"k":1}]}`,
		`{"a":[[{"k":1,"K":1}]]}`, `[]`, `{"a":`, `{}x`, `{"\u212a":1,"k":2}`,
		`{"a":[1,{"x":null}],"b":{"x":true}}`, `{"a":"\ud800"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		clean, err := CleanArguments(raw)
		var object map[string]json.RawMessage
		valid := json.Unmarshal(raw, &object) == nil && object != nil
		empty := len(bytes.TrimSpace(raw)) == 0 || string(bytes.TrimSpace(raw)) == "null"
		switch {
		case err == nil && !empty && (!valid || ambiguous(raw)):
			t.Errorf("accepted %q", raw)
		case err != nil && (empty || valid && !ambiguous(raw) && !stricter(raw)) &&
			len(raw) <= MaxArguments:
			t.Errorf("refused %q: %v", raw, err)
		case err == nil && !json.Valid(clean):
			t.Errorf("made %q of %q", clean, raw)
		}
		if !json.Valid(LoggableArguments(raw)) {
			t.Errorf("%q cannot be logged", raw)
		}
	})
}
