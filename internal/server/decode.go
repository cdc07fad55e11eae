package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"unicode/utf8"
)

// badRequest is an error whose text is for the one who sent the request.
type badRequest struct{ code, text string }

func (e *badRequest) Error() string { return e.text }

func bad(code, format string, args ...any) error {
	return &badRequest{code, fmt.Sprintf(format, args...)}
}

// maxDepth bounds how deep JSON may be nested.
const maxDepth = 64

// decode reads a request's JSON strictly. No body means {}: what is needed is
// missed by whoever needs it.
func decode[T any](r *http.Request) (v T, err error) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return v, fmt.Errorf("read the body: %w", err)
	}
	if len(b) == 0 {
		return v, nil
	}
	if !utf8.Valid(b) {
		return v, bad("malformed_json", "The body is not UTF-8.")
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	if err := (&checker{dec: dec}).value(reflect.TypeFor[T](), ""); err != nil {
		return v, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return v, bad("malformed_json", "Something follows the JSON object in the body.")
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return v, wrongType(err)
	}
	return v, nil
}

func wrongType(err error) error {
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		name := t.Field
		if name == "" {
			return bad("wrong_type", "The body must be a JSON object, not %s.", a(t.Value))
		}
		return bad("wrong_type", "The field %q must be %s, not %s.", name, kindName(t.Type), a(t.Value))
	}
	return malformed(err)
}

func malformed(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return bad("malformed_json", "The body is not JSON: it ends in the middle.")
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return bad("malformed_json", "The body is not JSON: %v at byte %d.", syntax, syntax.Offset)
	}
	return bad("malformed_json", "The body is not JSON: %v.", err)
}

func a(jsonType string) string {
	switch word, _, _ := strings.Cut(jsonType, " "); word {
	case "array", "object":
		return "an " + word
	case "null":
		return word
	default:
		return "a " + word
	}
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Pointer:
		return kindName(t.Elem())
	default:
		return "a number"
	}
}

// checker walks a document beside the type it is for. encoding/json takes the
// last of several equal names, and names in any case: what one reader of a
// document understands, another would not.
type checker struct {
	dec   *json.Decoder
	depth int
}

// value reads one value for t; nil takes anything.
func (c *checker) value(t reflect.Type, path string) error {
	token, err := c.dec.Token()
	if err != nil {
		return malformed(err)
	}
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch token {
	case json.Delim('{'):
		return c.nested(func() error { return c.object(t, path) })
	case json.Delim('['):
		return c.nested(func() error { return c.array(t, path) })
	}
	if path == "" {
		return bad("wrong_type", "The body must be a JSON object.")
	}
	return nil
}

func (c *checker) nested(read func() error) error {
	if c.depth++; c.depth > maxDepth {
		return bad("malformed_json", "The JSON is nested deeper than %d.", maxDepth)
	}
	defer func() { c.depth-- }()
	if err := read(); err != nil {
		return err
	}
	if _, err := c.dec.Token(); err != nil { // the closing delimiter
		return malformed(err)
	}
	return nil
}

func (c *checker) object(t reflect.Type, path string) error {
	fields, closed := fieldsOf(t)
	seen := map[string]bool{}
	for c.dec.More() {
		token, err := c.dec.Token()
		if err != nil {
			return malformed(err)
		}
		name, ok := token.(string)
		if !ok {
			return bad("malformed_json", "The body is not JSON.")
		}
		at := join(path, name)
		if seen[strings.ToLower(name)] {
			return bad("duplicate_key", "The field %q is there twice.", at)
		}
		seen[strings.ToLower(name)] = true
		field, known := fields[name]
		if closed && !known {
			return bad("unknown_field", "There is no field %q here; the fields are %s.", at, namesOf(t))
		}
		if err := c.value(field, at); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) array(t reflect.Type, path string) error {
	var elem reflect.Type
	if t != nil && t.Kind() == reflect.Slice && t != reflect.TypeFor[json.RawMessage]() {
		elem = t.Elem()
	}
	if path == "" {
		return bad("wrong_type", "The body must be a JSON object, not an array.")
	}
	for c.dec.More() {
		if err := c.value(elem, path+"[]"); err != nil {
			return err
		}
	}
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// fieldsOf returns the JSON fields of a struct type; closed says that it has no
// others.
func fieldsOf(t reflect.Type) (fields map[string]reflect.Type, closed bool) {
	if t == nil || t.Kind() != reflect.Struct {
		return nil, false
	}
	fields = map[string]reflect.Type{}
	for f := range jsonFields(t) {
		fields[f.name] = f.Type
	}
	return fields, true
}

func namesOf(t reflect.Type) string {
	var names []string
	for f := range jsonFields(t) {
		names = append(names, f.name)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
