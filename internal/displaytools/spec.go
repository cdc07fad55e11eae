package displaytools

import (
	"encoding/json"

	"webchat/internal/agent"
)

// What the tools cost a model in every turn: short is a feature.
var (
	fileSpec = agent.ToolSpec{
		Name:        RenderFile,
		Description: "Show a file to the user. You get a confirmation, not the content.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},` +
			`"startLine":{"type":"integer"},"endLine":{"type":"integer"},` +
			`"highlight":{"type":"string","description":"language, if not clear from the file"}},"required":["path"],"additionalProperties":false}`),
	}
	commandSpec = agent.ToolSpec{
		Name:        RunCommand,
		Description: "Run a shell command and show its output to the user. You get the exit code, not the output.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"},` +
			`"cwd":{"type":"string","description":"folder in the workspace"}},"required":["command"],"additionalProperties":false}`),
	}
	imageSpec = agent.ToolSpec{
		Name:        DisplayImage,
		Description: "Show an image file to the user. You get a confirmation.",
		Parameters:  json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`),
	}
)

// Specs returns how the tools are offered.
func Specs() []agent.ToolSpec { return []agent.ToolSpec{fileSpec, commandSpec, imageSpec} }
