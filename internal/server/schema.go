package server

import (
	"encoding/json"
	"iter"
	"reflect"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/session"
)

// schemaField is a struct field as JSON has it.
type schemaField struct {
	reflect.StructField
	JSON     string // its name there
	Optional bool
}

// schemaFields lists the fields of a struct type that travel, embedded ones'
// included.
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

// anyJSON is some JSON.
type anyJSON struct{}

// schemaObject is a schema, or anything else of a JSON document.
type schemaObject = map[string]any

// enums are the types with a closed list of values, which reflection cannot see.
var enums = map[reflect.Type][]any{
	reflect.TypeFor[event.Outcome]():    {event.Completed, event.Aborted, event.Failed, event.Interrupted},
	reflect.TypeFor[event.Actor]():      {event.ByAgent, event.ByUser},
	reflect.TypeFor[event.Decision]():   {event.Allow, event.Deny},
	reflect.TypeFor[event.Scope]():      {event.Once, event.ForSession, event.ForWorkspace},
	reflect.TypeFor[event.Status]():     {event.Idle, event.Running, event.Waiting},
	reflect.TypeFor[session.SendMode](): {session.SendQueue, session.SendSteer},
	reflect.TypeFor[event.Decider](): {event.DecidedByUser, event.DecidedByGrant, event.DecidedByRule, event.DecidedByTimeout, event.DecidedByHook,
		event.DecidedByMode, event.DecidedByAbort},
	reflect.TypeFor[event.ErrorKind](): enumValues(event.ErrorKinds()),
	reflect.TypeFor[event.Limit]():     enumValues(event.Limits()),
	reflect.TypeFor[agent.Intercept](): {agent.InterceptRewrite, agent.InterceptAll, agent.InterceptAsked, agent.InterceptNone},
}

func enumValues[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// schemaOf describes how a Go type travels. Structs of requests are closed; those
// of events are open, because a backend may add fields.
func schemaOf(t reflect.Type, open bool) schemaObject {
	if values, ok := enums[t]; ok {
		return schemaObject{"type": "string", "enum": values}
	}
	switch t {
	case reflect.TypeFor[event.Time]():
		return schemaObject{"type": "string", "format": "date-time"}
	case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[anyJSON]():
		return schemaObject{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem(), open)
	case reflect.String:
		return schemaObject{"type": "string"}
	case reflect.Bool:
		return schemaObject{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return schemaObject{"type": "number"}
	case reflect.Slice:
		return schemaObject{"type": "array", "items": schemaOf(t.Elem(), open)}
	case reflect.Map:
		return schemaObject{"type": "object", "additionalProperties": schemaOf(t.Elem(), open)}
	case reflect.Interface:
		return schemaObject{}
	case reflect.Struct:
		return objectSchema(t, open)
	default:
		return schemaObject{"type": "integer"}
	}
}

func objectSchema(t reflect.Type, open bool) schemaObject {
	properties, required := schemaObject{}, []any{}
	for f := range schemaFields(t) {
		properties[f.JSON] = schemaOf(f.Type, open)
		if !f.Optional {
			required = append(required, f.JSON)
		}
	}
	s := schemaObject{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	if !open {
		s["additionalProperties"] = false
	}
	return s
}

// eventSchema describes an event with its envelope.
func eventSchema(d event.Data) schemaObject {
	s := schemaObject{
		"type": "object",
		"properties": schemaObject{
			"id":        schemaObject{"type": "string"},
			"timestamp": schemaObject{"type": "string", "format": "date-time"},
			"parentId":  schemaObject{"type": []any{"string", "null"}},
			"ephemeral": schemaObject{"const": true},
			"type":      schemaObject{"const": event.TypeOf(d)},
			"data":      schemaOf(reflect.TypeOf(d), true),
		},
		"required":             []any{"id", "timestamp", "parentId", "type", "data"},
		"additionalProperties": false,
	}
	if !event.Logged(d) {
		s["required"] = append(s["required"].([]any), "ephemeral")
	} else {
		delete(s["properties"].(schemaObject), "ephemeral")
	}
	return s
}

// dialectSchema describes an event in another contract's words.
func dialectSchema(kind dialectType, data any) schemaObject {
	return schemaObject{
		"type": "object",
		"properties": schemaObject{
			"id":        schemaObject{"type": "string"},
			"timestamp": schemaObject{"type": "string", "format": "date-time"},
			"type":      schemaObject{"const": kind},
			"data":      schemaOf(reflect.TypeOf(data), false),
		},
		"required":             []any{"id", "timestamp", "type", "data"},
		"additionalProperties": false,
	}
}
