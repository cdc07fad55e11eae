// Package strictjson decodes what others send where two readers of one document
// must not understand two different things.
//
// encoding/json takes the last of several equal names, and names in any case: of
// {"command":"ls","Command":"rm"} one program would show the first and another run
// the second. [Object] refuses such documents whatever their names mean; [Decode]
// also refuses names that the Go type does not have. Both take exactly one JSON
// object in valid UTF-8, nested no deeper than [MaxDepth].
//
// Errors are *[Error]: they name the field, so that a caller can say the rest in
// words of its own.
//
//	var in struct{ Path string `json:"path"` }
//	err := strictjson.Decode(body, &in)
package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is how deep objects and arrays may be nested.
const MaxDepth = 64

// Kind is what is wrong with a document.
type Kind string

// The kinds.
const (
	Malformed Kind = "malformed_json" // not JSON, not UTF-8, too deep, or more than one value
	// a value that its field cannot hold, or a document that is not an object
	WrongType Kind = "wrong_type"
	Duplicate Kind = "duplicate_key" // a name that occurs twice in one object, also in another case
	Unknown   Kind = "unknown_field" // a name the type does not have
)

// Error says what is wrong and where.
type Error struct {
	Kind  Kind
	Field string // its path, such as "attachments[].path"; empty: the document as a whole
	// Got is the JSON type that was found, with its article: "a number". Of WrongType.
	Got string
	// Type is what the field must be (WrongType), or the struct that has no such
	// field (Unknown); nil means an object.
	Type   reflect.Type
	Detail string // of Malformed
}

// Error implements error.
func (e *Error) Error() string { return e.Of("the contents") }

// Of says what is wrong with a thing, which is more than one: "the arguments".
func (e *Error) Of(things string) string {
	switch {
	case e.Kind == Duplicate:
		return fmt.Sprintf("%s name %q twice; give each name once, in one case", things, e.Field)
	case e.Kind == Unknown:
		return fmt.Sprintf("%s name %q, which is not known", things, e.Field)
	case e.Kind == WrongType && e.Field == "":
		return fmt.Sprintf("%s must be a JSON object, not %s", things, e.Got)
	case e.Kind == WrongType:
		return fmt.Sprintf("%s must give %q as %s, not as %s", things, e.Field, Name(e.Type), e.Got)
	}
	return fmt.Sprintf("%s are not JSON: %s", things, e.Detail)
}

// Say is what err says about things, as [Error.Of] does.
func Say(things string, err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Of(things)
	}
	return err.Error()
}

// Decode reads the object b into v, a pointer to a struct.
func Decode(b []byte, v any) error {
	if err := Object(b); err != nil {
		return err
	}
	err := json.Unmarshal(b, v, json.RejectUnknownMembers(true))
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		e := &Error{
			Kind:  WrongType,
			Field: path(semantic.JSONPointer),
			Got:   kind(semantic.JSONKind),
			Type:  semantic.GoType,
		}
		if errors.Is(semantic.Err, json.ErrUnknownName) {
			e.Kind = Unknown
		}
		return e
	}
	if err != nil {
		return &Error{Kind: Malformed, Detail: err.Error()}
	}
	return nil
}

// Object checks that b is one object without ambiguous names, in all of its depth.
func Object(b []byte) error {
	if !utf8.Valid(b) {
		return &Error{Kind: Malformed, Detail: "it is not UTF-8"}
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return &Error{Kind: WrongType, Got: "empty"}
	}
	dec := jsontext.NewDecoder(bytes.NewReader(b), jsontext.AllowDuplicateNames(true))
	if k := dec.PeekKind(); k != jsontext.KindBeginObject && k != jsontext.KindInvalid {
		return &Error{Kind: WrongType, Got: kind(k)}
	}
	var stack []map[string]bool // the folded names of each object around the place; nil of an array
	for first := true; first || len(stack) > 0; first = false {
		var err error
		if stack, err = step(dec, stack); err != nil {
			return err
		}
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return &Error{Kind: Malformed, Detail: "something follows the object"}
	}
	return nil
}

// step reads one token.
func step(dec *jsontext.Decoder, stack []map[string]bool) ([]map[string]bool, error) {
	t, err := dec.ReadToken()
	if err != nil {
		return nil, malformed(err)
	}
	switch t.Kind() {
	case jsontext.KindBeginObject, jsontext.KindBeginArray:
		if len(stack) == MaxDepth {
			return nil, &Error{Kind: Malformed, Detail: fmt.Sprintf("it is nested deeper than %d", MaxDepth)}
		}
		if t.Kind() == jsontext.KindBeginArray {
			return append(stack, nil), nil
		}
		return append(stack, map[string]bool{}), nil
	case jsontext.KindEndObject, jsontext.KindEndArray:
		return stack[:len(stack)-1], nil
	case jsontext.KindString:
		in, n := dec.StackIndex(dec.StackDepth())
		if in != jsontext.KindBeginObject || n%2 == 0 {
			break // a value
		}
		names, name := stack[len(stack)-1], fold(t.String())
		if names[name] {
			return nil, &Error{Kind: Duplicate, Field: path(dec.StackPointer())}
		}
		names[name] = true
	}
	return stack, nil
}

func malformed(err error) *Error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Error{Kind: Malformed, Detail: "it ends in the middle"}
	}
	if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok && s.Err != nil {
		return &Error{Kind: Malformed, Detail: fmt.Sprintf("%v at byte %d", s.Err, s.ByteOffset)}
	}
	return &Error{Kind: Malformed, Detail: strings.TrimPrefix(err.Error(), "jsontext: ")}
}

// fold maps names that some decoder may take for one another to the same string.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, name)
}

// path writes a pointer as people read it: a place in an array as [].
func path(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		switch {
		case token != "" && strings.Trim(token, "0123456789") == "":
			b.WriteString("[]")
		case b.Len() > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
	}
	return b.String()
}

func kind(k jsontext.Kind) string {
	switch k {
	case jsontext.KindNull:
		return "null"
	case jsontext.KindFalse, jsontext.KindTrue:
		return "a bool"
	case jsontext.KindString:
		return "a string"
	case jsontext.KindNumber:
		return "a number"
	case jsontext.KindBeginArray:
		return "an array"
	}
	return "an object"
}

// Name is what a field of the type t must be, in words.
func Name(t reflect.Type) string {
	if t == nil {
		return "an object"
	}
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
		return Name(t.Elem())
	}
	return "a number"
}
