package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/displays"
	"webchat/internal/displaytools"
	"webchat/internal/released"
)

// lentTools are the display tools in the words that users of other programs say.
func lentTools() (tools []Tool) {
	for _, spec := range displaytools.Specs() {
		t, _ := displays.ToolOf(spec.Name)
		tools = append(tools, Tool{Title: t.Title, ReadOnly: !t.Acts, OpenWorld: t.Acts,
			ToolSpec: agent.ToolSpec{Name: t.Name, Description: t.Lent, Parameters: spec.Parameters}})
	}
	return tools
}

// readTools are the tools that return what the user released.
func readTools() (tools []Tool) {
	titles := map[string]string{released.ReadOutput: "Read an output",
		released.SearchOutput: "Search an output"}
	for _, spec := range released.Specs() {
		tools = append(tools, Tool{ToolSpec: spec, Title: titles[spec.Name], ReadOnly: true})
	}
	return tools
}

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
	return &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: schema,
		Annotations: &mcp.ToolAnnotations{Title: t.Title, ReadOnlyHint: t.ReadOnly,
			IdempotentHint: t.ReadOnly, DestructiveHint: new(!t.ReadOnly), OpenWorldHint: &t.OpenWorld},
		// Some clients only name the tools of a server until a model searches for them.
		Meta: mcp.Meta{"anthropic/alwaysLoad": true},
	}, nil
}

// properties returns the names of the properties a tool knows.
func properties(t Tool) map[string]json.RawMessage {
	var schema struct{ Properties map[string]json.RawMessage }
	_ = json.Unmarshal(t.Parameters, &schema) // toolOf refuses anything but an object
	return schema.Properties
}

// keep returns arguments without the properties that are not known. Anything but an object stays as
// it is, and so does a property that is there twice: the tool refuses both.
func keep(raw json.RawMessage, known func(string) bool) json.RawMessage {
	if text := bytes.TrimSpace(raw); len(text) == 0 || string(text) == "null" {
		return json.RawMessage("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return raw
	}
	var kept [][]byte
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return raw
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return raw
		}
		text, _ := name.(string)
		if known(text) {
			quoted, err := json.Marshal(text)
			if err != nil {
				return raw
			}
			kept = append(kept, fmt.Appendf(nil, "%s:%s", quoted, value))
		}
	}
	return fmt.Appendf(nil, "{%s}", bytes.Join(kept, []byte(",")))
}
