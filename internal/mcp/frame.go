package mcp

import (
	"context"
	_ "embed"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// MCP Apps (SEP-1865, stable 2026-01-26): a host that draws frames fetches the page that a tool
// names, draws it apart, and gives it the tool's results with their _meta.
const (
	apps      = "io.modelcontextprotocol/ui" // the extension that hosts advertise
	frameURI  = "ui://webchat/output"
	frameType = "text/html;profile=mcp-app"
	// frameTool is what the frame calls; models are not offered it. Only a frame knows the id of an
	// output, which is in _meta.
	frameTool = "frame_output"
)

//go:embed frame.html
var framePage string

// draws reports whether the client that sends a request draws frames. Qwen Code says that it does,
// and leaves out a server whose tools name a frame.
func draws(req any) bool {
	c, ok := req.(interface {
		ClientInfo() *mcp.Implementation
		ClientCapabilities() *mcp.ClientCapabilities
	})
	if !ok || c.ClientCapabilities() == nil || c.ClientInfo() == nil ||
		strings.HasPrefix(c.ClientInfo().Name, "qwen") {
		return false
	}
	extension, _ := c.ClientCapabilities().Extensions[apps].(map[string]any)
	types, _ := extension["mimeTypes"].([]any)
	return slices.Contains(types, any(frameType))
}

// addFrame offers the frame of outputs to the clients that draw it.
func (s *Server) addFrame(to *mcp.Server) {
	to.AddTool(&mcp.Tool{
		Name:        frameTool,
		Description: "For the frame of webchat: what an output holds.",
		Meta:        mcp.Meta{"ui": map[string]any{"visibility": []string{"app"}}},
		InputSchema: map[string]any{"type": "object",
			"properties": map[string]any{"output": map[string]any{"type": "string"}},
			"required":   []string{"output"}},
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
	}, s.bounded(false, s.frameOutput))
	to.AddResource(&mcp.Resource{URI: frameURI, Name: "webchat", MIMEType: frameType},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
				URI:      frameURI,
				MIMEType: frameType,
				Text:     framePage,
			}}}, nil
		})
	to.AddReceivingMiddleware(s.onlyWhereDrawn)
}

// onlyWhereDrawn keeps the frame from clients that do not draw it, and names it to the others with
// each tool that shows something.
func (s *Server) onlyWhereDrawn(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		drawn := draws(req)
		switch list := res.(type) {
		case *mcp.ListToolsResult:
			if !drawn {
				list.Tools = slices.DeleteFunc(list.Tools, func(t *mcp.Tool) bool {
					return t.Name == frameTool
				})
				break
			}
			for i, t := range list.Tools {
				if slices.ContainsFunc(s.cfg.Tools, func(tool Tool) bool { return tool.Name == t.Name }) {
					named := *t
					named.Meta = mcp.Meta{"ui": map[string]any{"resourceUri": frameURI}}
					maps.Copy(named.Meta, t.Meta)
					list.Tools[i] = &named
				}
			}
		case *mcp.ListResourcesResult:
			if !drawn {
				list.Resources = []*mcp.Resource{}
			}
		}
		return res, err
	}
}

// frameOutput returns what an output of the client's session holds.
func (s *Server) frameOutput(ctx context.Context, req *mcp.CallToolRequest,
	c *running) *mcp.CallToolResult {
	var in struct{ Output string }
	if !draws(req) || json.Unmarshal(req.Params.Arguments, &in) != nil {
		return failure("There is no such tool.")
	}
	const refused = "It cannot be shown here. Open it in webchat."
	g, err := s.guestOf(c.visitor, clientName(req.ClientInfo()))
	if err != nil {
		return failure(refused)
	}
	g.mu.Lock()
	id := g.id
	g.mu.Unlock()
	a, err := s.cfg.Content(ctx, id, in.Output)
	switch {
	case err != nil:
		return failure(refused)
	case strings.HasPrefix(a.MimeType, "image/"):
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{
			Data:     a.Data,
			MIMEType: a.MimeType,
		}}}
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.ToValidUTF8(
		string(a.Data), "\uFFFD")}}}
}
