package server

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"webchat/internal/event"
	"webchat/internal/guard"
)

// Values that stand in the table for bodies which are not JSON of a Go type; [anyJSON]
// is some JSON.
type (
	textBody   string // text
	streamBody string // text/event-stream
	bytesBody  string // bytes
	htmlPage   string // a page
)

// streamed is a body that also comes as an event stream.
type streamed interface {
	// Streams says what the stream carries.
	Streams() string
}

// describedRoute is what is described of one row of the table.
type describedRoute struct {
	Method, Pattern string
	Class           guard.Class
	Status          int
	In, Out         any    // values of the bodies' types; nil: none
	Query           string // names, parted by spaces
	About           string
}

// describeRoutes makes the published description. refusal is a value of the body that every
// refusal has.
func describeRoutes(routes []describedRoute, refusal any, version string) ([]byte, error) {
	paths := schemaObject{}
	for _, r := range routes {
		path, ok := paths[r.Pattern].(schemaObject)
		if !ok {
			path = schemaObject{}
			paths[r.Pattern] = path
		}
		path[strings.ToLower(r.Method)] = operationOf(r)
	}
	schemas := schemaObject{"Error": schemaOf(reflect.TypeOf(refusal), false)}
	var events []any
	for _, d := range event.Known() {
		name := string(event.TypeOf(d))
		schemas[name] = eventSchema(d)
		events = append(events, schemaObject{"$ref": "#/components/schemas/" + name})
	}
	// An event of a type not listed here has the same envelope.
	schemas["Event"] = schemaObject{"anyOf": events}
	var translated []any
	known := dialectTypes()
	for _, kind := range slices.Sorted(maps.Keys(known)) {
		name := "autohand." + string(kind)
		schemas[name] = dialectSchema(kind, known[kind])
		translated = append(translated, schemaObject{"$ref": "#/components/schemas/" + name})
	}
	schemas["AutohandEvent"] = schemaObject{"anyOf": translated}
	return json.Marshal(schemaObject{
		"openapi": "3.1.0",
		"info":    schemaObject{"title": "webchat", "version": version},
		"paths":   paths,
		"components": schemaObject{"schemas": schemas, "securitySchemes": schemaObject{
			"bearer": schemaObject{"type": "http", "scheme": "bearer", "description": "What `webchat token` prints, or the secret a sign-in returned."},
			"cookie": schemaObject{"type": "apiKey", "in": "cookie", "name": "webchat_<port>", "description": "Set by a sign-in; it reads and does not act."},
		}},
	})
}

func operationOf(r describedRoute) schemaObject {
	op := schemaObject{"summary": r.About, "x-class": r.Class.String(), "security": securityOf(r.Class), "responses": schemaObject{
		strconv.Itoa(r.Status): responseOf(r.Status, r.Out),
		"default":              schemaObject{"description": "A refusal", "content": jsonContent(schemaObject{"$ref": "#/components/schemas/Error"})},
	}}
	if r.In != nil {
		content := jsonContent(schemaOf(reflect.TypeOf(r.In), false))
		if what, ok := r.In.(bytesBody); ok {
			content = schemaObject{"*/*": schemaObject{"schema": schemaObject{"description": string(what)}}}
		}
		op["requestBody"] = schemaObject{"content": content}
	}
	var params []any
	for _, name := range pathParams.FindAllStringSubmatch(r.Pattern, -1) {
		params = append(params, schemaObject{"name": name[1], "in": "path", "required": true, "schema": schemaObject{"type": "string"}})
	}
	for name := range strings.FieldsSeq(r.Query) {
		params = append(params, schemaObject{"name": name, "in": "query", "schema": schemaObject{"type": "string"}})
	}
	if params != nil {
		op["parameters"] = params
	}
	return op
}

var pathParams = regexp.MustCompile(`\{(\w+)\}`)

func securityOf(c guard.Class) []any {
	switch c {
	case guard.Page, guard.Read:
		return []any{schemaObject{"cookie": []any{}}, schemaObject{"bearer": []any{}}}
	case guard.Write, guard.Upload, guard.MCP:
		return []any{schemaObject{"bearer": []any{}}}
	default:
		return []any{}
	}
}

func jsonContent(s schemaObject) schemaObject {
	return schemaObject{"application/json": schemaObject{"schema": s}}
}

func responseOf(status int, out any) schemaObject {
	text := func(mediaType, what string) schemaObject {
		return schemaObject{"description": what, "content": schemaObject{mediaType: schemaObject{}}}
	}
	switch out := out.(type) {
	case nil:
		return schemaObject{"description": http.StatusText(status)}
	case textBody:
		return text("text/plain", string(out))
	case streamBody:
		return text("text/event-stream", string(out))
	case bytesBody:
		return text("*/*", string(out))
	case htmlPage:
		return text("text/html", string(out))
	}
	r := schemaObject{"description": http.StatusText(status), "content": jsonContent(schemaOf(reflect.TypeOf(out), true))}
	if also, ok := out.(streamed); ok {
		maps.Copy(r["content"].(schemaObject), schemaObject{"text/event-stream": schemaObject{"description": also.Streams()}})
	}
	return r
}
