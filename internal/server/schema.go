package server

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

// field is a struct field as JSON has it.
type field struct {
	reflect.StructField
	name     string
	optional bool
}

// jsonFields lists the fields of a struct type that travel, embedded ones'
// included.
func jsonFields(t reflect.Type) iter.Seq[field] {
	return func(yield func(field) bool) {
		for _, f := range reflect.VisibleFields(t) {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" || !f.IsExported() || f.Anonymous && name == "" {
				continue
			}
			if name == "" {
				name = f.Name
			}
			if !yield(field{f, name, strings.Contains(options, "omit")}) {
				return
			}
		}
	}
}

// schema is a JSON Schema (2020-12), or anything else of a JSON document.
type schema = map[string]any

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

// schemaOf describes how a Go type travels. Structs of requests are closed; those
// of events are open, because a backend may add fields.
func schemaOf(t reflect.Type, open bool) schema {
	if values, ok := enums[t]; ok {
		return schema{"type": "string", "enum": values}
	}
	switch t {
	case reflect.TypeFor[event.Time]():
		return schema{"type": "string", "format": "date-time"}
	case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[anything]():
		return schema{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem(), open)
	case reflect.String:
		return schema{"type": "string"}
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return schema{"type": "number"}
	case reflect.Slice:
		return schema{"type": "array", "items": schemaOf(t.Elem(), open)}
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": schemaOf(t.Elem(), open)}
	case reflect.Interface:
		return schema{}
	case reflect.Struct:
		return objectSchema(t, open)
	default:
		return schema{"type": "integer"}
	}
}

func objectSchema(t reflect.Type, open bool) schema {
	properties, required := schema{}, []any{}
	for f := range jsonFields(t) {
		properties[f.name] = schemaOf(f.Type, open)
		if !f.optional {
			required = append(required, f.name)
		}
	}
	s := schema{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	if !open {
		s["additionalProperties"] = false
	}
	return s
}

// eventSchema describes an event with its envelope.
func eventSchema(d event.Data) schema {
	s := schema{
		"type": "object",
		"properties": schema{
			"id":        schema{"type": "string"},
			"timestamp": schema{"type": "string", "format": "date-time"},
			"parentId":  schema{"type": []any{"string", "null"}},
			"ephemeral": schema{"const": true},
			"type":      schema{"const": event.TypeOf(d)},
			"data":      schemaOf(reflect.TypeOf(d), true),
		},
		"required":             []any{"id", "timestamp", "parentId", "type", "data"},
		"additionalProperties": false,
	}
	if !event.Logged(d) {
		s["required"] = append(s["required"].([]any), "ephemeral")
	} else {
		delete(s["properties"].(schema), "ephemeral")
	}
	return s
}

// dialectSchema describes an event in another contract's words.
func dialectSchema(kind dialect.Type, data any) schema {
	return schema{
		"type": "object",
		"properties": schema{
			"id":        schema{"type": "string"},
			"timestamp": schema{"type": "string", "format": "date-time"},
			"type":      schema{"const": kind},
			"data":      schemaOf(reflect.TypeOf(data), false),
		},
		"required":             []any{"id", "timestamp", "type", "data"},
		"additionalProperties": false,
	}
}
