package displaytools

import (
	"encoding/json"

	"webchat/internal/agent"
)

// What the tools cost a model in every call: short is a feature, and its bound is a test.
var (
	fileSpec = agent.ToolSpec{
		Final:       true,
		Name:        RenderFile,
		Description: "Show a file to the user. You get a confirmation, not the content.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},` +
			`"startLine":{"type":"integer"},"endLine":{"type":"integer"},` +
			`"highlight":{"type":"string","description":"language"}},"required":["path"]}`),
	}
	commandSpec = agent.ToolSpec{
		Final:       true,
		Name:        RunCommand,
		Description: "Run a shell command and show its output to the user. You get the exit code, not the output.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"},` +
			`"cwd":{"type":"string"}},"required":["command"]}`),
	}
	imageSpec = agent.ToolSpec{
		Final:       true,
		Name:        DisplayImage,
		Description: "Show an image file to the user. You get a confirmation.",
		Parameters:  json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`),
	}
)

// Specs returns how the tools are offered.
func Specs() []agent.ToolSpec { return []agent.ToolSpec{fileSpec, commandSpec, imageSpec} }
