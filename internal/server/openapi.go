package server

import (
	"encoding/json"
	"fmt"
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

// Values that stand in the table for bodies which are not JSON of a Go type.
type (
	plain    string // text
	stream   string // text/event-stream
	bytesOf  string // bytes
	html     string // a page
	anything = schema.Any
)

// describe makes the published description (OpenAPI 3.1) from the table of routes
// and the types of events: it cannot say what the code does not.
func describe(routes []route, version string) ([]byte, error) {
	paths := schema.Object{}
	for _, r := range routes {
		path, ok := paths[r.pattern].(schema.Object)
		if !ok {
			path = schema.Object{}
			paths[r.pattern] = path
		}
		path[strings.ToLower(r.method)] = operation(r)
	}
	schemas := schema.Object{"Error": schema.Of(reflect.TypeFor[refusalBody](), false)}
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

func operation(r route) schema.Object {
	op := schema.Object{"summary": r.about, "x-class": r.class.String(), "security": security(r.class), "responses": schema.Object{
		strconv.Itoa(r.status): response(r.status, r.out),
		"default":              schema.Object{"description": "A refusal", "content": jsonContent(schema.Object{"$ref": "#/components/schemas/Error"})},
	}}
	if r.in != nil {
		content := jsonContent(schema.Of(reflect.TypeOf(r.in), false))
		if what, ok := r.in.(bytesOf); ok {
			content = schema.Object{"*/*": schema.Object{"schema": schema.Object{"description": string(what)}}}
		}
		op["requestBody"] = schema.Object{"content": content}
	}
	var params []any
	for _, name := range pathParams.FindAllStringSubmatch(r.pattern, -1) {
		params = append(params, schema.Object{"name": name[1], "in": "path", "required": true, "schema": schema.Object{"type": "string"}})
	}
	for name := range strings.FieldsSeq(r.query) {
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
	case plain:
		return text("text/plain", string(out))
	case stream:
		return text("text/event-stream", string(out))
	case bytesOf:
		return text("*/*", string(out))
	case html:
		return text("text/html", string(out))
	}
	r := schema.Object{"description": http.StatusText(status), "content": jsonContent(schema.Of(reflect.TypeOf(out), true))}
	if also, ok := out.(interface{ streams() string }); ok {
		maps.Copy(r["content"].(schema.Object), schema.Object{"text/event-stream": schema.Object{"description": also.streams()}})
	}
	return r
}

func (s *Server) openapi(w http.ResponseWriter, _ *http.Request) error {
	text, err := s.openAPI()
	if err != nil {
		return fmt.Errorf("describe the API: %w", err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(text) // a client that has gone needs no answer
	return nil
}
