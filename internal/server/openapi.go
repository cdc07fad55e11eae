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
)

// Values that stand in the table for bodies which are not JSON of a Go type.
type (
	plain    string   // text
	stream   string   // text/event-stream
	bytesOf  string   // bytes
	html     string   // a page
	anything struct{} // some JSON
)

// describe makes the published description (OpenAPI 3.1) from the table of routes
// and the types of events: it cannot say what the code does not.
func describe(routes []route, version string) ([]byte, error) {
	paths := schema{}
	for _, r := range routes {
		path, ok := paths[r.pattern].(schema)
		if !ok {
			path = schema{}
			paths[r.pattern] = path
		}
		path[strings.ToLower(r.method)] = operation(r)
	}
	schemas := schema{"Error": schemaOf(reflect.TypeFor[refusalBody](), false)}
	var events []any
	for _, d := range event.Known() {
		name := string(event.TypeOf(d))
		schemas[name] = eventSchema(d)
		events = append(events, schema{"$ref": "#/components/schemas/" + name})
	}
	// An event of a type not listed here has the same envelope.
	schemas["Event"] = schema{"anyOf": events}
	var translated []any
	known := dialect.Known()
	for _, kind := range slices.Sorted(maps.Keys(known)) {
		name := "autohand." + string(kind)
		schemas[name] = dialectSchema(kind, known[kind])
		translated = append(translated, schema{"$ref": "#/components/schemas/" + name})
	}
	schemas["AutohandEvent"] = schema{"anyOf": translated}
	return json.Marshal(schema{
		"openapi": "3.1.0",
		"info":    schema{"title": "webchat", "version": version},
		"paths":   paths,
		"components": schema{"schemas": schemas, "securitySchemes": schema{
			"bearer": schema{"type": "http", "scheme": "bearer", "description": "What `webchat token` prints, or the secret a sign-in returned."},
			"cookie": schema{"type": "apiKey", "in": "cookie", "name": "webchat_<port>", "description": "Set by a sign-in; it reads and does not act."},
		}},
	})
}

func operation(r route) schema {
	op := schema{"summary": r.about, "x-class": r.class.String(), "security": security(r.class), "responses": schema{
		strconv.Itoa(r.status): response(r.status, r.out),
		"default":              schema{"description": "A refusal", "content": jsonContent(schema{"$ref": "#/components/schemas/Error"})},
	}}
	if r.in != nil {
		content := jsonContent(schemaOf(reflect.TypeOf(r.in), false))
		if what, ok := r.in.(bytesOf); ok {
			content = schema{"*/*": schema{"schema": schema{"description": string(what)}}}
		}
		op["requestBody"] = schema{"content": content}
	}
	var params []any
	for _, name := range pathParams.FindAllStringSubmatch(r.pattern, -1) {
		params = append(params, schema{"name": name[1], "in": "path", "required": true, "schema": schema{"type": "string"}})
	}
	for name := range strings.FieldsSeq(r.query) {
		params = append(params, schema{"name": name, "in": "query", "schema": schema{"type": "string"}})
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
		return []any{schema{"cookie": []any{}}, schema{"bearer": []any{}}}
	case guard.Write, guard.Upload, guard.MCP:
		return []any{schema{"bearer": []any{}}}
	default:
		return []any{}
	}
}

func jsonContent(s schema) schema { return schema{"application/json": schema{"schema": s}} }

func response(status int, out any) schema {
	text := func(mediaType, what string) schema {
		return schema{"description": what, "content": schema{mediaType: schema{}}}
	}
	switch out := out.(type) {
	case nil:
		return schema{"description": http.StatusText(status)}
	case plain:
		return text("text/plain", string(out))
	case stream:
		return text("text/event-stream", string(out))
	case bytesOf:
		return text("*/*", string(out))
	case html:
		return text("text/html", string(out))
	}
	r := schema{"description": http.StatusText(status), "content": jsonContent(schemaOf(reflect.TypeOf(out), true))}
	if also, ok := out.(interface{ streams() string }); ok {
		maps.Copy(r["content"].(schema), schema{"text/event-stream": schema{"description": also.streams()}})
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
