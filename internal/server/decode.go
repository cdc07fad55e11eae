package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"webchat/internal/strictjson"
)

// badRequest is an error whose text is for the client.
type badRequest struct{ code, text string }

func (e *badRequest) Error() string { return e.text }

func invalid(code, format string, args ...any) error {
	return &badRequest{code, fmt.Sprintf(format, args...)}
}

// decode reads a request's JSON strictly. No body means {}: a handler says what it misses.
func decode[T any](r *http.Request) (v T, err error) {
	if any(v) == any(empty{}) {
		return v, nil
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return v, fmt.Errorf("read the body: %w", err)
	}
	if len(b) == 0 {
		return v, nil
	}
	return v, asked(strictjson.Decode(b, &v))
}

// asked says what is wrong with a body.
func asked(err error) error {
	e, ok := errors.AsType[*strictjson.Error](err)
	if !ok {
		return err
	}
	code := string(e.Kind)
	switch {
	case e.Kind == strictjson.Duplicate:
		return invalid(code, "The field %q is there twice.", e.Field)
	case e.Kind == strictjson.Unknown:
		return invalid(code, "There is no field %q here; the fields are %s.", e.Field, namesOf(e.Type))
	case e.Kind == strictjson.WrongType && e.Field == "":
		return invalid(code, "The body must be a JSON object, not %s.", e.Got)
	case e.Kind == strictjson.WrongType:
		return invalid(code, "The field %q must be %s, not %s.", e.Field, strictjson.Name(e.Type), e.Got)
	}
	return invalid(code, "The body is not JSON: %s.", e.Detail)
}

func namesOf(t reflect.Type) string {
	var names []string
	for f := range schemaFields(t) {
		names = append(names, f.JSON)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// limitOf is how many a query asks for, from 1 to most; nothing means def.
func limitOf(q url.Values, def, most int) (int, error) {
	text := q.Get("limit")
	if text == "" {
		return def, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, invalid("bad_query", "Give limit as a number from 1 to %d.", most)
	}
	return n, nil
}

// eventOf is the number of an event that a query gives by a name; 0 if it gives none.
func eventOf(q url.Values, name string) (int64, error) {
	text := q.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, invalid("bad_query", "Give %s as the number of an event.", name)
	}
	return n, nil
}

// listed is a list that travels as [] and not as null.
func listed[T any](list []T) []T { return append([]T{}, list...) }
