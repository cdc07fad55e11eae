package server

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/guard"
	"webchat/internal/session"
)

// Values that stand in the table for bodies which are not JSON of a Go type; [anyJSON] is some
// JSON.
type (
	textBody   string // text
	streamBody string // text/event-stream
	bytesBody  string // bytes
	htmlPage   string // a page
	anyJSON    struct{}
)

// streamed is a body that also comes as an event stream.
type streamed interface {
	// Streams returns what the stream carries.
	Streams() string
}

// object is a schema, or anything else of a JSON document.
type object = map[string]any

// description publishes the table of routes.
type description struct {
	text func() ([]byte, error) // made when it is asked for first
}

func (d *description) serve(w http.ResponseWriter, _ *http.Request) error {
	text, err := d.text()
	if err != nil {
		return fmt.Errorf("describe the API: %w", err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(text) // a client that has gone needs no answer
	return nil
}

// describe makes the published description of the table.
func describe(routes []route, version string) ([]byte, error) {
	paths := object{}
	for _, r := range routes {
		path, ok := paths[r.pattern].(object)
		if !ok {
			path = object{}
			paths[r.pattern] = path
		}
		path[strings.ToLower(r.method)] = operationOf(r)
	}
	schemas := object{"Error": schemaOf(reflect.TypeFor[refusalBody](), false)}
	anyOf := func(name string, schema object) object {
		schemas[name] = schema
		return object{"$ref": "#/components/schemas/" + name}
	}
	var events, translated []any
	for _, d := range event.Known() {
		events = append(events, anyOf(string(event.TypeOf(d)), eventSchema(d)))
	}
	for _, kind := range slices.Sorted(maps.Keys(dialectTypes)) {
		translated = append(translated, anyOf("autohand."+string(kind),
			envelopeSchema(kind, schemaOf(reflect.TypeOf(dialectTypes[kind]), false))))
	}
	// An event of a type not listed here has the same envelope.
	schemas["Event"], schemas["AutohandEvent"] = object{"anyOf": events}, object{"anyOf": translated}
	return json.Marshal(object{
		"openapi": "3.1.0",
		"info":    object{"title": "webchat", "version": version},
		"paths":   paths,
		"components": object{"schemas": schemas, "securitySchemes": object{
			"bearer": object{"type": "http", "scheme": "bearer",
				"description": "What `webchat token` prints, or the secret a sign-in returned."},
			"cookie": object{"type": "apiKey", "in": "cookie", "name": "webchat_<port>",
				"description": "Set by a sign-in; it reads and does not act."},
		}},
	})
}

func operationOf(r route) object {
	op := object{"summary": r.about, "x-class": r.class.String(), "security": securityOf(r.class),
		"responses": object{
			strconv.Itoa(r.status): responseOf(r.status, r.out),
			"default": object{"description": "A refusal",
				"content": jsonContent(object{"$ref": "#/components/schemas/Error"})},
		}}
	if what, ok := r.in.(bytesBody); ok {
		op["requestBody"] = object{"content": object{"*/*": object{"schema": object{"description": string(
			what)}}}}
	} else if r.in != nil {
		op["requestBody"] = object{"content": jsonContent(schemaOf(reflect.TypeOf(r.in), false))}
	}
	var params []any
	for _, name := range pathParams.FindAllStringSubmatch(r.pattern, -1) {
		params = append(params, object{"name": name[1], "in": "path", "required": true,
			"schema": object{"type": "string"}})
	}
	for name := range strings.FieldsSeq(r.query) {
		params = append(params, object{"name": name, "in": "query", "schema": object{"type": "string"}})
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
		return []any{object{"cookie": []any{}}, object{"bearer": []any{}}}
	case guard.Write, guard.Upload, guard.MCP:
		return []any{object{"bearer": []any{}}}
	}
	return []any{}
}

func jsonContent(s object) object { return object{"application/json": object{"schema": s}} }

func responseOf(status int, out any) object {
	text := func(mediaType, what string) object {
		return object{"description": what, "content": object{mediaType: object{}}}
	}
	switch out := out.(type) {
	case nil:
		return object{"description": http.StatusText(status)}
	case textBody:
		return text("text/plain", string(out))
	case streamBody:
		return text("text/event-stream", string(out))
	case bytesBody:
		return text("*/*", string(out))
	case htmlPage:
		return text("text/html", string(out))
	}
	content := jsonContent(schemaOf(reflect.TypeOf(out), true))
	if also, ok := out.(streamed); ok {
		content["text/event-stream"] = object{"description": also.Streams()}
	}
	return object{"description": http.StatusText(status), "content": content}
}

// schemaField is a struct field as JSON has it.
type schemaField struct {
	reflect.StructField
	JSON     string // its name there
	Optional bool
}

// schemaFields lists the fields of a struct type that travel, embedded ones' included.
func schemaFields(t reflect.Type) iter.Seq[schemaField] {
	return func(yield func(schemaField) bool) {
		for _, f := range reflect.VisibleFields(t) {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" || !f.IsExported() || f.Anonymous && name == "" {
				continue
			}
			if name == "" {
				name = f.Name
			}
			if !yield(schemaField{f, name, strings.Contains(options, "omit")}) {
				return
			}
		}
	}
}

// enums are the types with a closed list of values, which reflection cannot see.
var enums = map[reflect.Type][]any{
	reflect.TypeFor[event.NoSnapshot](): {event.SnapshotNoGit, event.SnapshotTooLarge,
		event.SnapshotLate, event.SnapshotFailed},
	reflect.TypeFor[event.Outcome](): {event.Completed, event.Aborted, event.Failed,
		event.Interrupted},
	reflect.TypeFor[event.Actor]():      {event.ByAgent, event.ByUser},
	reflect.TypeFor[event.Decision]():   {event.Allow, event.Deny},
	reflect.TypeFor[event.Scope]():      {event.Once, event.ForSession, event.ForWorkspace},
	reflect.TypeFor[goneBy]():           {goneExpired, goneEvicted, goneRestart, goneDeleted},
	reflect.TypeFor[event.Status]():     {event.Idle, event.Running, event.Waiting},
	reflect.TypeFor[session.SendMode](): {session.SendQueue, session.SendSteer},
	reflect.TypeFor[event.Decider](): {event.DecidedByUser, event.DecidedByGrant, event.DecidedByRule,
		event.DecidedByTimeout, event.DecidedByHook,
		event.DecidedByMode, event.DecidedByAbort},
	reflect.TypeFor[event.OpenKind]():  {event.OpenPath, event.OpenHost},
	reflect.TypeFor[event.Closer]():    {event.ClosedByUser, event.ClosedByEnd},
	reflect.TypeFor[event.ErrorKind](): enumValues(event.ErrorKinds()),
	reflect.TypeFor[event.Limit]():     enumValues(event.Limits()),
	reflect.TypeFor[agent.Intercept](): {agent.InterceptRewrite, agent.InterceptAll,
		agent.InterceptAsked, agent.InterceptNone},
}

func enumValues[T any](list []T) (out []any) {
	for _, v := range list {
		out = append(out, v)
	}
	return out
}

// schemaOf describes how a Go type travels. Structs of requests are closed; those of events are
// open, because a backend may add fields.
func schemaOf(t reflect.Type, open bool) object {
	if values, ok := enums[t]; ok {
		return object{"type": "string", "enum": values}
	}
	switch t {
	case reflect.TypeFor[event.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[anyJSON]():
		return object{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem(), open)
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice:
		return object{"type": "array", "items": schemaOf(t.Elem(), open)}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": schemaOf(t.Elem(), open)}
	case reflect.Interface:
		return object{}
	case reflect.Struct:
		properties, required := object{}, []any{}
		for f := range schemaFields(t) {
			properties[f.JSON] = schemaOf(f.Type, open)
			if !f.Optional {
				required = append(required, f.JSON)
			}
		}
		return objectSchema(properties, required, open)
	}
	return object{"type": "integer"}
}

func objectSchema(properties object, required []any, open bool) object {
	s := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	if !open {
		s["additionalProperties"] = false
	}
	return s
}

// envelopeSchema describes an event by the schema of its data, and what else its envelope has.
func envelopeSchema(kind any, data object, more ...string) object {
	properties := object{"id": object{"type": "string"},
		"timestamp": object{"type": "string", "format": "date-time"},
		"type":      object{"const": kind}, "data": data}
	required := []any{"id", "timestamp", "type", "data"}
	for _, name := range more {
		properties[name] = map[string]object{"parentId": {"type": []any{"string", "null"}},
			"ephemeral": {"const": true}}[name]
		required = append(required, name)
	}
	return objectSchema(properties, required, false)
}

func eventSchema(d event.Data) object {
	more := []string{"parentId"}
	if !event.Logged(d) {
		more = append(more, "ephemeral")
	}
	return envelopeSchema(event.TypeOf(d), schemaOf(reflect.TypeOf(d), true), more...)
}
