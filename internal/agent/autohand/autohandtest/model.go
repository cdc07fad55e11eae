package autohandtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// own are the arguments of the CLI's own tools, as it offers them.
var own = map[string][]string{"read_file": {"path"}, "write_file": {"path", "contents"},
	"run_command": {"command"}, "tool_search": {"query"}}

// obey calls the tools that the model wants until it wants none, and returns the last message.
func (s *stage) obey(text string) string {
	var tools []object
	for _, name := range s.offers {
		properties := object{}
		for _, arg := range own[name] {
			properties[arg] = object{"type": "string"}
		}
		if own[name] == nil {
			name = "mcp__webchat__" + name
		}
		tools = append(tools, object{"type": "function",
			"function": object{"name": name, "parameters": object{"type": "object",
				"properties": properties}}})
	}
	messages := []object{{"role": "user", "content": text}}
	for {
		body, _ := json.Marshal(object{"model": "m", "messages": messages, "tools": tools}) // of texts
		var got struct {
			Choices []struct {
				Message struct {
					Content   string
					ToolCalls []struct {
						ID       string
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				}
			}
		}
		r, err := http.Post(s.config.CustomProviders["webchat"].BaseURL+"/chat/completions",
			"application/json", bytes.NewReader(body))
		if err == nil {
			err = json.NewDecoder(r.Body).Decode(&got)
			_ = r.Body.Close()
		}
		if err != nil || len(got.Choices) == 0 {
			panic(fmt.Sprint("no answer of the model: ", err))
		}
		message := got.Choices[0].Message
		if len(message.ToolCalls) == 0 || s.ctx.Err() != nil {
			return message.Content
		}
		f := message.ToolCalls[0].Function
		c := toolCall{tool: f.Name}
		if err := json.Unmarshal([]byte(f.Arguments), &c.args); err != nil {
			panic(err)
		}
		messages = append(messages, object{"role": "assistant", "content": message.Content,
			"tool_calls": []object{{"id": message.ToolCalls[0].ID, "type": "function",
				"function": object{"name": f.Name, "arguments": f.Arguments}}}},
			object{"role": "tool", "tool_call_id": message.ToolCalls[0].ID,
				"content": s.step(message.Content, c)[0]})
	}
}
