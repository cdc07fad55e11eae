// Package openapi describes the API as OpenAPI 3.1 has it, from the table of routes and the
// Go types that travel: it cannot say what the code does not.
package openapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"webchat/internal/dialect"
	"webchat/internal/event"
	"webchat/internal/guard"
	"webchat/internal/schema"
)

// Values that stand in the table for bodies which are not JSON of a Go type; [schema.Any]
// is some JSON.
type (
	Text   string // text
	Stream string // text/event-stream
	Bytes  string // bytes
	HTML   string // a page
)

// Streamed is a body that also comes as an event stream.
type Streamed interface {
	// Streams says what the stream carries.
	Streams() string
}

// Route is what is described of one row of the table.
type Route struct {
	Method, Pattern string
	Class           guard.Class
	Status          int
	In, Out         any    // values of the bodies' types; nil: none
	Query           string // names, parted by spaces
	About           string
}

// Describe makes the published description. refusal is a value of the body that every
// refusal has.
func Describe(routes []Route, refusal any, version string) ([]byte, error) {
	paths := schema.Object{}
	for _, r := range routes {
		path, ok := paths[r.Pattern].(schema.Object)
		if !ok {
			path = schema.Object{}
			paths[r.Pattern] = path
		}
		path[strings.ToLower(r.Method)] = operation(r)
	}
	schemas := schema.Object{"Error": schema.Of(reflect.TypeOf(refusal), false)}
	var events []any
	for _, d := range event.Known() {
		name := string(event.TypeOf(d))
		schemas[name] = schema.OfEvent(d)
		events = append(events, schema.Object{"$ref": "#/components/schemas/" + name})
	}
	// An event of a type not listed here has the same envelope.
	schemas["Event"] = schema.Object{"anyOf": events}
	var translated []any
	known := dialect.Known()
	for _, kind := range slices.Sorted(maps.Keys(known)) {
		name := "autohand." + string(kind)
		schemas[name] = schema.OfDialect(kind, known[kind])
		translated = append(translated, schema.Object{"$ref": "#/components/schemas/" + name})
	}
	schemas["AutohandEvent"] = schema.Object{"anyOf": translated}
	return json.Marshal(schema.Object{
		"openapi": "3.1.0",
		"info":    schema.Object{"title": "webchat", "version": version},
		"paths":   paths,
		"components": schema.Object{"schemas": schemas, "securitySchemes": schema.Object{
			"bearer": schema.Object{"type": "http", "scheme": "bearer", "description": "What `webchat token` prints, or the secret a sign-in returned."},
			"cookie": schema.Object{"type": "apiKey", "in": "cookie", "name": "webchat_<port>", "description": "Set by a sign-in; it reads and does not act."},
		}},
	})
}

func operation(r Route) schema.Object {
	op := schema.Object{"summary": r.About, "x-class": r.Class.String(), "security": security(r.Class), "responses": schema.Object{
		strconv.Itoa(r.Status): response(r.Status, r.Out),
		"default":              schema.Object{"description": "A refusal", "content": jsonContent(schema.Object{"$ref": "#/components/schemas/Error"})},
	}}
	if r.In != nil {
		content := jsonContent(schema.Of(reflect.TypeOf(r.In), false))
		if what, ok := r.In.(Bytes); ok {
			content = schema.Object{"*/*": schema.Object{"schema": schema.Object{"description": string(what)}}}
		}
		op["requestBody"] = schema.Object{"content": content}
	}
	var params []any
	for _, name := range pathParams.FindAllStringSubmatch(r.Pattern, -1) {
		params = append(params, schema.Object{"name": name[1], "in": "path", "required": true, "schema": schema.Object{"type": "string"}})
	}
	for name := range strings.FieldsSeq(r.Query) {
		params = append(params, schema.Object{"name": name, "in": "query", "schema": schema.Object{"type": "string"}})
	}
	if params != nil {
		op["parameters"] = params
	}
	return op
}

var pathParams = regexp.MustCompile(`\{(\w+)\}`)

func security(c guard.Class) []any {
	switch c {
	case guard.Page, guard.Read:
		return []any{schema.Object{"cookie": []any{}}, schema.Object{"bearer": []any{}}}
	case guard.Write, guard.Upload, guard.MCP:
		return []any{schema.Object{"bearer": []any{}}}
	default:
		return []any{}
	}
}

func jsonContent(s schema.Object) schema.Object {
	return schema.Object{"application/json": schema.Object{"schema": s}}
}

func response(status int, out any) schema.Object {
	text := func(mediaType, what string) schema.Object {
		return schema.Object{"description": what, "content": schema.Object{mediaType: schema.Object{}}}
	}
	switch out := out.(type) {
	case nil:
		return schema.Object{"description": http.StatusText(status)}
	case Text:
		return text("text/plain", string(out))
	case Stream:
		return text("text/event-stream", string(out))
	case Bytes:
		return text("*/*", string(out))
	case HTML:
		return text("text/html", string(out))
	}
	r := schema.Object{"description": http.StatusText(status), "content": jsonContent(schema.Of(reflect.TypeOf(out), true))}
	if also, ok := out.(Streamed); ok {
		maps.Copy(r["content"].(schema.Object), schema.Object{"text/event-stream": schema.Object{"description": also.Streams()}})
	}
	return r
}
