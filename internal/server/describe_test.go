package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"webchat/internal/event"
)

// schemasOf are those of the published document, as any client would read it.
func schemasOf(t *testing.T) map[string]any {
	t.Helper()
	b, err := describe(nil, "test")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	return doc["components"].(map[string]any)["schemas"].(map[string]any)
}

// The golden logs of package event are what really travels.
func TestSchemasTakeTheGoldenEvents(t *testing.T) {
	schemas := schemasOf(t)
	seen := map[string]bool{}
	for _, name := range []string{"known.txtar", "extra.txtar"} {
		archive, err := txtar.ParseFile(filepath.Join("..", "event", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(archive.Files[0].Data) {
			var v map[string]any
			if err := json.Unmarshal(line, &v); err != nil {
				t.Fatal(err)
			}
			kind := v["type"].(string)
			seen[kind] = true
			if err := validate(schemas[kind], v, kind); err != nil {
				t.Errorf("%s: %v\n%s", name, err, line)
			}
			for _, broken := range breakings(v) {
				if validate(schemas[kind], broken.value, kind) == nil {
					t.Errorf("%s: the schema takes an event with %s", kind, broken.what)
				}
			}
		}
	}
	for _, d := range event.Known() {
		if !seen[string(event.TypeOf(d))] {
			t.Errorf("no golden line for %s", event.TypeOf(d))
		}
	}
}

type breaking struct {
	what  string
	value map[string]any
}

// breakings are events that no schema may take.
func breakings(v map[string]any) []breaking {
	change := func(what string, f func(map[string]any)) breaking {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		var c map[string]any
		if err := json.Unmarshal(b, &c); err != nil {
			panic(err)
		}
		f(c)
		return breaking{what, c}
	}
	return []breaking{
		change("another type", func(m map[string]any) { m["type"] = "x" }),
		change("no data", func(m map[string]any) { delete(m, "data") }),
		change("a field beside the envelope's", func(m map[string]any) { m["seq"] = 1 }),
		change("a number as id", func(m map[string]any) { m["id"] = 1.0 }),
		change("the other ephemeral", func(m map[string]any) {
			if m["ephemeral"] == true {
				delete(m, "ephemeral")
			} else {
				m["ephemeral"] = true
			}
		}),
	}
}

// validate knows as much of JSON Schema as the description uses.
func validate(s any, v any, at string) error {
	m, ok := s.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: no schema", at)
	}
	for key := range m {
		if !slices.Contains([]string{"type", "properties", "required", "additionalProperties", "items",
			"enum", "const", "format"}, key) {
			return fmt.Errorf("%s: the test does not know %q", at, key)
		}
	}
	if c, ok := m["const"]; ok && c != v {
		return fmt.Errorf("%s: %v is not %v", at, v, c)
	}
	if list, ok := m["enum"].([]any); ok && !slices.Contains(list, v) {
		return fmt.Errorf("%s: %v is not in %v", at, v, list)
	}
	if m["format"] == "date-time" {
		if _, err := time.Parse(time.RFC3339Nano, fmt.Sprint(v)); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
	}
	if t, ok := m["type"]; ok && !isType(t, v) {
		return fmt.Errorf("%s: %v is not of type %v", at, v, t)
	}
	switch v := v.(type) {
	case []any:
		for i, x := range v {
			if err := validate(m["items"], x, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	case map[string]any:
		return validateObject(m, v, at)
	}
	return nil
}

func validateObject(m map[string]any, v map[string]any, at string) error {
	properties, _ := m["properties"].(map[string]any)
	required, _ := m["required"].([]any)
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			return fmt.Errorf("%s: %s is missing", at, name)
		}
	}
	for name, x := range v {
		p, ok := properties[name]
		if !ok {
			if m["additionalProperties"] == false {
				return fmt.Errorf("%s: %s is one too many", at, name)
			}
			continue
		}
		if err := validate(p, x, at+"."+name); err != nil {
			return err
		}
	}
	return nil
}

func isType(t, v any) bool {
	if list, ok := t.([]any); ok {
		return slices.ContainsFunc(list, func(t any) bool { return isType(t, v) })
	}
	switch v := v.(type) {
	case nil:
		return t == "null"
	case string:
		return t == "string"
	case bool:
		return t == "boolean"
	case float64:
		return t == "number" || t == "integer" && v == float64(int64(v))
	case []any:
		return t == "array"
	default:
		return t == "object"
	}
}

// Enumerations are closed lists that reflection cannot see: each constant of the
// types has to be in them.
func TestEnumsHoldEveryConstant(t *testing.T) {
	var src []byte
	for _, name := range []string{"values.go", "kinds.go"} {
		b, err := os.ReadFile(filepath.Join("..", "event", name))
		if err != nil {
			t.Fatal(err)
		}
		src = append(src, b...)
	}
	all := map[string]bool{}
	for _, list := range enums {
		for _, v := range list {
			all[fmt.Sprint(v)] = true
		}
	}
	n := 0
	for line := range strings.Lines(string(src)) {
		for _, kind := range []string{"Outcome", "Actor", "Decision", "Scope", "Decider", "Status",
			"ErrorKind", "Limit"} {
			if f := strings.Fields(line); len(f) >= 4 && f[1] == kind && f[2] == "=" {
				n++
				if v := strings.Trim(f[3], `"`); !all[v] {
					t.Errorf("%s %s has no place in enums", kind, v)
				}
			}
		}
	}
	if n < 38 {
		t.Errorf("found only %d constants", n)
	}
}

// The golden file of the dialect is what really travels.
func TestSchemasTakeTheDialect(t *testing.T) {
	schemas := schemasOf(t)
	text, err := os.ReadFile(filepath.Join("testdata", "dialectautohand.golden"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		_, frame, _ := strings.Cut(line, " ")
		var v map[string]any
		if err := json.Unmarshal([]byte(frame), &v); err != nil {
			t.Fatal(err)
		}
		of := schemas["autohand."+v["type"].(string)]
		if err := validate(of, v, "frame"); err != nil {
			t.Errorf("%v: %s", err, line)
		}
		v["more"] = true
		if validate(of, v, "frame") == nil {
			t.Errorf("the schema takes a frame with another field: %s", line)
		}
	}
}
