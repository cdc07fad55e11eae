package mcp

import (
	"context"
	_ "embed"
	"encoding/json"
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

// caller is who sends a request.
type caller interface {
	ClientInfo() *mcp.Implementation
	ClientCapabilities() *mcp.ClientCapabilities
}

// draws reports whether a client draws frames. Qwen Code says that it does, and leaves out a server
// whose tools name a frame.
func draws(c caller) bool {
	can, who := c.ClientCapabilities(), c.ClientInfo()
	if can == nil || who == nil || strings.HasPrefix(who.Name, "qwen") {
		return false
	}
	says, _ := can.Extensions[apps].(map[string]any)
	types, _ := says["mimeTypes"].([]any)
	return slices.Contains(types, any(frameType))
}

// readsAudience reports whether a client shows its user what is meant for the user alone, and keeps
// it from its model.
func readsAudience(c *mcp.Implementation) bool {
	return c != nil && (strings.HasPrefix(c.Name, "Visual Studio Code") || c.Name == "goose")
}

// addFrame offers the frame of outputs to the clients that draw it.
func (s *Server) addFrame(p *peer) {
	p.server.AddTool(&mcp.Tool{Name: frameTool, Description: "For the frame of webchat: what an output holds.", Meta: mcp.Meta{"ui": map[string]any{"visibility": []string{"app"}}},
		InputSchema: map[string]any{"type": "object", "properties": map[string]any{"output": map[string]any{"type": "string"}}, "required": []string{"output"}},
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, s.bounded(p, s.frameOutput(p)))
	p.server.AddResource(&mcp.Resource{URI: frameURI, Name: "webchat", MIMEType: frameType},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: frameURI, MIMEType: frameType, Text: framePage}}}, nil
		})
	p.server.AddReceivingMiddleware(s.onlyWhereDrawn)
}

// onlyWhereDrawn keeps the frame from clients that do not draw it, and names it to the others with
// each tool that shows something.
func (s *Server) onlyWhereDrawn(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		c, ok := req.(caller)
		drawn := ok && draws(c)
		switch list := res.(type) {
		case *mcp.ListToolsResult:
			var all []*mcp.Tool
			for _, t := range list.Tools {
				switch {
				case t.Name == frameTool && !drawn:
					continue
				case drawn && slices.ContainsFunc(s.cfg.Tools, func(one Tool) bool { return one.Name == t.Name }):
					named := *t
					named.Meta = mcp.Meta{"ui": map[string]any{"resourceUri": frameURI}}
					for k, v := range t.Meta {
						named.Meta[k] = v
					}
					t = &named
				}
				all = append(all, t)
			}
			list.Tools = all
		case *mcp.ListResourcesResult:
			if !drawn {
				list.Resources = []*mcp.Resource{}
			}
		}
		return res, err
	}
}

// frameOutput returns what an output of the client's session holds.
func (s *Server) frameOutput(p *peer) func(context.Context, *mcp.CallToolRequest, string) *mcp.CallToolResult {
	return func(ctx context.Context, req *mcp.CallToolRequest, _ string) *mcp.CallToolResult {
		var in struct{ Output string }
		if !draws(req) || json.Unmarshal(req.Params.Arguments, &in) != nil {
			return failure("There is no such tool.")
		}
		g, err := s.guestOf(p, clientName(req.ClientInfo()))
		if err != nil {
			return failure("It cannot be shown here. Open it in webchat.")
		}
		g.mu.Lock()
		id := g.id
		g.mu.Unlock()
		a, err := s.cfg.Content(ctx, id, in.Output)
		switch {
		case err != nil:
			return failure("It cannot be shown here. Open it in webchat.")
		case strings.HasPrefix(a.MimeType, "image/"):
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{Data: a.Data, MIMEType: a.MimeType}}}
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.ToValidUTF8(string(a.Data), "\uFFFD")}}}
	}
}
