// Package schema describes Go types as they travel in JSON, by JSON Schema (2020-12).
package schema

import (
	"encoding/json"
	"iter"
	"reflect"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/dialect"
	"webchat/internal/event"
	"webchat/internal/session"
)

// Field is a struct field as JSON has it.
type Field struct {
	reflect.StructField
	JSON     string // its name there
	Optional bool
}

// Fields lists the fields of a struct type that travel, embedded ones'
// included.
func Fields(t reflect.Type) iter.Seq[Field] {
	return func(yield func(Field) bool) {
		for _, f := range reflect.VisibleFields(t) {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" || !f.IsExported() || f.Anonymous && name == "" {
				continue
			}
			if name == "" {
				name = f.Name
			}
			if !yield(Field{f, name, strings.Contains(options, "omit")}) {
				return
			}
		}
	}
}

// Any is some JSON.
type Any struct{}

// Object is a schema, or anything else of a JSON document.
type Object = map[string]any

// Enums are the types with a closed list of values, which reflection cannot see.
var Enums = map[reflect.Type][]any{
	reflect.TypeFor[event.Outcome]():    {event.Completed, event.Aborted, event.Failed, event.Interrupted},
	reflect.TypeFor[event.Actor]():      {event.ByAgent, event.ByUser},
	reflect.TypeFor[event.Decision]():   {event.Allow, event.Deny},
	reflect.TypeFor[event.Scope]():      {event.Once, event.ForSession, event.ForWorkspace},
	reflect.TypeFor[event.Status]():     {event.Idle, event.Running, event.Waiting},
	reflect.TypeFor[session.SendMode](): {session.SendQueue, session.SendSteer},
	reflect.TypeFor[event.Decider](): {event.DecidedByUser, event.DecidedByGrant, event.DecidedByRule, event.DecidedByTimeout, event.DecidedByHook,
		event.DecidedByMode, event.DecidedByAbort},
	reflect.TypeFor[event.ErrorKind](): values(event.ErrorKinds()),
	reflect.TypeFor[event.Limit]():     values(event.Limits()),
	reflect.TypeFor[agent.Intercept](): {agent.InterceptRewrite, agent.InterceptAll, agent.InterceptAsked, agent.InterceptNone},
}

func values[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// Of describes how a Go type travels. Structs of requests are closed; those
// of events are open, because a backend may add fields.
func Of(t reflect.Type, open bool) Object {
	if values, ok := Enums[t]; ok {
		return Object{"type": "string", "enum": values}
	}
	switch t {
	case reflect.TypeFor[event.Time]():
		return Object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[Any]():
		return Object{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return Of(t.Elem(), open)
	case reflect.String:
		return Object{"type": "string"}
	case reflect.Bool:
		return Object{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return Object{"type": "number"}
	case reflect.Slice:
		return Object{"type": "array", "items": Of(t.Elem(), open)}
	case reflect.Map:
		return Object{"type": "object", "additionalProperties": Of(t.Elem(), open)}
	case reflect.Interface:
		return Object{}
	case reflect.Struct:
		return objectSchema(t, open)
	default:
		return Object{"type": "integer"}
	}
}

func objectSchema(t reflect.Type, open bool) Object {
	properties, required := Object{}, []any{}
	for f := range Fields(t) {
		properties[f.JSON] = Of(f.Type, open)
		if !f.Optional {
			required = append(required, f.JSON)
		}
	}
	s := Object{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	if !open {
		s["additionalProperties"] = false
	}
	return s
}

// OfEvent describes an event with its envelope.
func OfEvent(d event.Data) Object {
	s := Object{
		"type": "object",
		"properties": Object{
			"id":        Object{"type": "string"},
			"timestamp": Object{"type": "string", "format": "date-time"},
			"parentId":  Object{"type": []any{"string", "null"}},
			"ephemeral": Object{"const": true},
			"type":      Object{"const": event.TypeOf(d)},
			"data":      Of(reflect.TypeOf(d), true),
		},
		"required":             []any{"id", "timestamp", "parentId", "type", "data"},
		"additionalProperties": false,
	}
	if !event.Logged(d) {
		s["required"] = append(s["required"].([]any), "ephemeral")
	} else {
		delete(s["properties"].(Object), "ephemeral")
	}
	return s
}

// OfDialect describes an event in another contract's words.
func OfDialect(kind dialect.Type, data any) Object {
	return Object{
		"type": "object",
		"properties": Object{
			"id":        Object{"type": "string"},
			"timestamp": Object{"type": "string", "format": "date-time"},
			"type":      Object{"const": kind},
			"data":      Of(reflect.TypeOf(data), false),
		},
		"required":             []any{"id", "timestamp", "type", "data"},
		"additionalProperties": false,
	}
}
