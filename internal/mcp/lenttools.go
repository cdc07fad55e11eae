package mcp

import (
	"webchat/internal/agent"
	"webchat/internal/displaytools"
)

// lentTools are the display tools in the words that users of other programs say.
func lentTools() (tools []Tool) {
	words := map[string]Tool{
		displaytools.RenderFile: {Title: "Show a file", ReadOnly: true, ToolSpec: agent.ToolSpec{
			Description: "Show a file of the workspace to the user in their browser: use it when they say show, open, view, cat or display a file. You get a confirmation, not the content."}},
		displaytools.RunCommand: {Title: "Run a command", OpenWorld: true, ToolSpec: agent.ToolSpec{
			Description: "Run a shell command in the workspace and show its output to the user, live in their browser: for run, test, build, log, diff. You get the exit code, not the output."}},
		displaytools.DisplayImage: {Title: "Show a picture", ReadOnly: true, ToolSpec: agent.ToolSpec{
			Description: "Show an image, picture or screenshot file of the workspace to the user in their browser. You get a confirmation, not the image."}},
	}
	for _, spec := range displaytools.Specs() {
		t := words[spec.Name]
		t.Name, t.Parameters = spec.Name, spec.Parameters
		tools = append(tools, t)
	}
	return tools
}
