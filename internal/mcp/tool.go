package mcp

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// toolOf describes a tool to clients. Its schema lets unknown properties pass, since some clients
// add their own to every call.
func toolOf(t Tool) (*mcp.Tool, error) {
	schema := map[string]any{}
	if err := json.Unmarshal(t.Parameters, &schema); err != nil {
		return nil, err
	}
	if schema["type"] != "object" {
		return nil, errors.New("its parameters are no object")
	}
	delete(schema, "additionalProperties")
	changes := !t.ReadOnly
	return &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: schema,
		Annotations: &mcp.ToolAnnotations{Title: t.Title, ReadOnlyHint: t.ReadOnly, IdempotentHint: t.ReadOnly,
			DestructiveHint: &changes, OpenWorldHint: &t.OpenWorld},
		// Some clients only name the tools of a server until a model searches for them.
		Meta: mcp.Meta{"anthropic/alwaysLoad": true},
	}, nil
}

// properties returns the names of the properties a tool knows.
func properties(t Tool) map[string]bool {
	var schema struct{ Properties map[string]json.RawMessage }
	known := map[string]bool{}
	if json.Unmarshal(t.Parameters, &schema) != nil {
		return known
	}
	for name := range schema.Properties {
		known[name] = true
	}
	return known
}

// keep returns arguments without the properties that are not known. Anything but an object stays as
// it is, and so does a property that is there twice: the tool refuses both.
func keep(raw json.RawMessage, known map[string]bool) json.RawMessage {
	if len(bytes.TrimSpace(raw)) == 0 || bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return json.RawMessage("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return raw
	}
	kept := []byte{'{'}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return raw
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return raw
		}
		text, isName := name.(string)
		if !isName || !known[text] {
			continue
		}
		quoted, err := json.Marshal(text)
		if err != nil {
			return raw
		}
		if len(kept) > 1 {
			kept = append(kept, ',')
		}
		kept = append(append(append(kept, quoted...), ':'), value...)
	}
	return append(kept, '}')
}
