package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
)

func decodeString[T any](body string) (T, error) {
	return decode[T](httptest.NewRequest("POST", "/", strings.NewReader(body)))
}

func TestStrictJSON(t *testing.T) {
	for _, c := range []struct{ body, code, says string }{
		{`{"content":"a"}`, "", ""},
		{` {"content":"a","attachments":[{"path":"x"},{"outputId":"o","lines":"1-2"}],"mode":"steer"} ` +
			"\n", "", ""},
		{``, "", ""},
		{`{}`, "", ""},
		{`{"content":null}`, "", ""},
		{`{"content":"a"`, "malformed_json", "ends in the middle"},
		{`{"content":"a"}{}`, "malformed_json", "follows"},
		{`{"content":"a"} x`, "malformed_json", "follows"},
		{`{"content":"a",}`, "malformed_json", "not JSON"},
		{`{content:"a"}`, "malformed_json", "not JSON"},
		{"{\"content\":\"\xff\"}", "malformed_json", "UTF-8"},
		{`[]`, "wrong_type", "must be a JSON object"},
		{`null`, "wrong_type", "must be a JSON object"},
		{`"a"`, "wrong_type", "must be a JSON object"},
		{`{"content":1}`, "wrong_type", `"content" must be a string, not a number`},
		{`{"content":["a"]}`, "wrong_type", `"content" must be a string, not an array`},
		{`{"attachments":{}}`, "wrong_type", `"attachments" must be an array, not an object`},
		{`{"attachments":["a"]}`, "wrong_type", `"attachments[]" must be an object, not a string`},
		{`{"attachments":[{"path":true}]}`, "wrong_type",
			`"attachments[].path" must be a string, not a bool`},
		{`{"contents":"a"}`, "unknown_field", `"contents"`},
		{`{"Content":"a"}`, "unknown_field", `"Content"`},
		{`{"attachments":[{"file":"a"}]}`, "unknown_field", `"attachments[].file"`},
		{`{"content":"a","content":"b"}`, "duplicate_key", `"content" is there twice`},
		{`{"content":"a","CONTENT":"b"}`, "duplicate_key", `twice`},
		{`{"attachments":[{"path":"a","path":"b"}]}`, "duplicate_key", `"attachments[].path"`},
		{`{"attachments":` + strings.Repeat("[", 100_000), "malformed_json", "nested"},
	} {
		_, err := decodeString[messageRequest](c.body)
		if c.code == "" {
			if err != nil {
				t.Errorf("%.80s: %v", c.body, err)
			}
			continue
		}
		b, ok := errors.AsType[*badRequest](err)
		if !ok || b.code != c.code || !strings.Contains(b.text, c.says) {
			t.Errorf("%.80s: %v, want %s: %s", c.body, err, c.code, c.says)
		}
	}
}

// What a tool gets is the tool's to understand, but no two may understand it
// differently.
func TestStrictJSONInsideArguments(t *testing.T) {
	in, err := decodeString[displayRequest](`{"tool":"x","arguments":{"Path":"a","nested":[{"k":1}]}}`)
	if err != nil || string(in.Arguments) != `{"Path":"a","nested":[{"k":1}]}` {
		t.Errorf("%s, %v", in.Arguments, err)
	}
	for _, body := range []string{`{"arguments":{"a":1,"a":2}}`,
		`{"arguments":{"command":"ls","Command":"rm"}}`, `{"arguments":[{"a":1,"A":2}]}`} {
		if _, err := decodeString[displayRequest](body); err == nil {
			t.Errorf("%s was accepted", body)
		}
	}
}

// FuzzDecode: what is accepted means the same to a reader that knows no types,
// and encodes to the same value.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"content":"a","mode":"queue"}`, `{"content":"a","content":"b"}`,
		`{"Content":"a"}`, `{"attachments":[{"path":"x"}]}`, `[`, `{}x`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		in, err := decode[messageRequest](httptest.NewRequest("POST", "/", bytes.NewReader(body)))
		if err != nil {
			if _, ok := errors.AsType[*badRequest](err); !ok {
				t.Fatalf("foreign error %v", err)
			}
			return
		}
		if len(body) == 0 {
			return
		}
		var loose map[string]any
		if err := json.Unmarshal(body, &loose); err != nil {
			t.Fatalf("accepted %q: %v", body, err)
		}
		for name := range loose {
			if name != "content" && name != "attachments" && name != "mode" {
				t.Fatalf("accepted the field %q", name)
			}
		}
		if content, _ := loose["content"].(string); content != in.Content {
			t.Fatalf("%q means %q and %q", body, content, in.Content)
		}
	})
}
