package acptest

import (
	"context"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Strange is main of an MCP server that is not the session's, on standard input and output. Each
// call of its tool leaves a file.
func Strange(file string) {
	s := mcp.NewServer(&mcp.Implementation{Name: "strange", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "strike", Description: "Strikes."},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Struck."}}}, nil,
				os.WriteFile(file, nil, 0o600)
		})
	mcp.AddTool(s, &mcp.Tool{
		Name:        "peek",
		Description: "Peeks.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
	},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Peeked."}}}, nil,
				os.WriteFile(file, nil, 0o600)
		})
	_ = s.Run(context.Background(), &mcp.StdioTransport{}) // until its client goes
}
