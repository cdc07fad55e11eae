package strictjson

import (
	"errors"
	"strings"
	"testing"
)

type inner struct {
	Path string `json:"path"`
}

type outer struct {
	Content string  `json:"content"`
	Parts   []inner `json:"parts,omitempty"`
	On      *bool   `json:"on,omitempty"`
	Count   int     `json:"count"`
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		text, field string
		kind        Kind
		says        string
	}{
		{`{}`, "", "", ""},
		{" {\"content\":\"a\",\"parts\":[{\"path\":\"x\"},{\"path\":\"y\"}],\"on\":null,\"count\":3} \n",
			"", "", ""},
		{``, "", WrongType, "the body must be a JSON object, not empty"},
		{`[]`, "", WrongType, "the body must be a JSON object, not an array"},
		{`null`, "", WrongType, "not null"},
		{`{"content":"a"`, "", Malformed, "ends in the middle"},
		{`{"content":"a"} {}`, "", Malformed, "something follows the object"},
		{`{"content":"a",}`, "", Malformed, "byte"},
		{"{\"content\":\"\xff\"}", "", Malformed, "UTF-8"},
		{`{"content":"\ud800"}`, "", Malformed, "surrogate"},
		{`{"parts":` + strings.Repeat("[", 100_000), "", Malformed, "deeper than 64"},
		{`{"content":1}`, "content", WrongType,
			`the body must give "content" as a string, not as a number`},
		{`{"parts":{}}`, "parts", WrongType, "as an array, not as an object"},
		{`{"parts":[{"path":true}]}`, "parts[].path", WrongType, "as a string, not as a bool"},
		{`{"on":"yes"}`, "on", WrongType, "as true or false"},
		{`{"count":1.5}`, "count", WrongType, "as a number"},
		{`{"contents":"a"}`, "contents", Unknown, `"contents", which is not known`},
		{`{"Content":"a"}`, "Content", Unknown, ""},
		{`{"parts":[{"file":"a"}]}`, "parts[].file", Unknown, ""},
		{`{"content":"a","content":"b"}`, "content", Duplicate, `"content" twice`},
		{`{"content":"a","CONTENT":"b"}`, "CONTENT", Duplicate, ""},
		{`{"parts":[{"path":"a","path":"b"}]}`, "parts[].path", Duplicate, ""},
		{`{"\u212a":1,"k":2}`, "k", Duplicate, ""},
	} {
		var v outer
		err := Decode([]byte(c.text), &v)
		if c.kind == "" {
			if err != nil {
				t.Errorf("%.60s: %v", c.text, err)
			}
			continue
		}
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Kind != c.kind || e.Field != c.field ||
			!strings.Contains(Say("the body", err), c.says) {
			t.Errorf("%.60s: %+v %q, want %s of %q: %s", c.text, e, Say("the body", err), c.kind, c.field,
				c.says)
		}
	}
}

// Equal names in different objects are no contradiction.
func TestObjectTakesNamesAgainElsewhere(t *testing.T) {
	for _, text := range []string{`{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}`, `{"a":"b","b":"a"}`,
		`{"a":["a","a"],"A1":[]}`} {
		if err := Object([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
