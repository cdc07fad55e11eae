package canary

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// probeTool is the tool whose results hold a text in each of their parts.
const probeTool = "show_canary"

// part is a place a text can be in.
type part struct {
	id, name string
	canary   string
	relied   bool
	result   func(canary, line string) *mcp.CallToolResult // nil: it is in no result
}

// probe is the MCP server.
type probe struct {
	url    string
	parts  []part
	mcp    *mcp.Server
	server *http.Server
	served chan error

	mu   sync.Mutex // guards made
	made map[string]bool
}

// line is what the model is to read of a result.
func (*probe) line(p part) string { return "Displayed " + p.id + " to user" }

func newProbe(ctx context.Context, parts []part) (*probe, error) {
	p := &probe{served: make(chan error, 1), made: map[string]bool{}, parts: parts}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen as an MCP server: %w", err)
	}
	p.url = "http://" + l.Addr().String() + "/mcp"
	p.mcp = p.serverOf()
	p.server = &http.Server{ReadHeaderTimeout: 10 * time.Second,
		Handler: mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return p.mcp }, nil)}
	go func() { p.served <- p.server.Serve(l) }()
	return p, nil
}

func (p *probe) close() error {
	for s := range p.mcp.Sessions() {
		_ = s.Close() // it says how its connection ended
	}
	err := p.server.Close()
	if e := <-p.served; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// calls are the parts that were asked for.
func (p *probe) calls() map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	made := map[string]bool{}
	for id := range p.made {
		made[id] = true
	}
	return made
}

// of returns the text of a part that is in no result.
func (p *probe) of(id string) string {
	for _, x := range p.parts {
		if x.id == id {
			return x.canary
		}
	}
	return ""
}

func (p *probe) serverOf() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "webchat", Title: p.of("server"), Version: "1"},
		&mcp.ServerOptions{
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
			Instructions: p.of("instructions"),
		})
	// One agent offers its model only tools whose descriptions share a word with what was
	// said, and it says "workspace" with each prompt.
	t := &mcp.Tool{
		Name:        probeTool,
		Title:       p.of("title"),
		Description: "Show a part of the workspace to the user. " + p.of("description"),
		InputSchema: map[string]any{"type": "object",
			"properties": map[string]any{"part": map[string]any{"type": "string"}}},
		Annotations: &mcp.ToolAnnotations{Title: p.of("title"), ReadOnlyHint: true},
		Meta:        mcp.Meta{"anthropic/alwaysLoad": true, "webchat/canary": p.of("title")},
	}
	if p.of("page") != "" {
		p.addPage(s, t)
	}
	s.AddTool(t, p.answer)
	return s
}

// answer returns the part that was asked for, and says on the way how far it is.
func (p *probe) answer(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var args struct{ Part string }
	if err := json.Unmarshal(req.Params.Arguments, &args); err != nil {
		return nil, err
	}
	if token := req.Params.GetProgressToken(); token != nil {
		// it may not want it
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token,
			Progress:      1,
			Message:       p.of("progress"),
		})
	}
	for _, x := range p.parts {
		if x.id == args.Part && x.result != nil {
			p.mu.Lock()
			p.made[x.id] = true
			p.mu.Unlock()
			return x.result(x.canary, p.line(x)), nil
		}
	}
	return nil, fmt.Errorf("there is no part %q", args.Part)
}

// allParts are the rows of the table: where agents were seen to look.
func allParts() []part {
	user := &mcp.Annotations{Audience: []mcp.Role{"user"}}
	text := func(line string) []mcp.Content { return []mcp.Content{&mcp.TextContent{Text: line}} }
	beside := func(c func(canary string) mcp.Content) func(string, string) *mcp.CallToolResult {
		return func(canary, line string) *mcp.CallToolResult {
			return &mcp.CallToolResult{Content: append(text(line), c(canary))}
		}
	}
	link := func(a *mcp.Annotations) func(string) mcp.Content {
		return func(canary string) mcp.Content {
			return &mcp.ResourceLink{URI: "http://127.0.0.1/" + canary, Name: canary, Annotations: a}
		}
	}
	embedded := func(uri, kind string, a *mcp.Annotations) func(string) mcp.Content {
		return func(canary string) mcp.Content {
			return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{
				URI:      uri,
				MIMEType: kind,
				Text:     "<p>" + canary + "</p>",
			}, Annotations: a}
		}
	}
	picture := func(a *mcp.Annotations) func(string) mcp.Content {
		return func(canary string) mcp.Content {
			return &mcp.ImageContent{Data: pictureWith(canary), MIMEType: "image/png", Annotations: a}
		}
	}
	parts := []part{
		{id: "line", name: "the line for the model", result: func(canary,
			line string) *mcp.CallToolResult {
			return &mcp.CallToolResult{Content: text(line + " " + canary)}
		}},
		{
			id:     "meta",
			name:   "_meta of a result",
			relied: true,
			result: func(canary, line string) *mcp.CallToolResult {
				return &mcp.CallToolResult{Meta: mcp.Meta{"webchat/canary": canary}, Content: text(line)}
			},
		},
		{
			id:   "failed-meta",
			name: "_meta of a failure",
			result: func(canary, line string) *mcp.CallToolResult {
				return &mcp.CallToolResult{
					Meta:    mcp.Meta{"webchat/canary": canary},
					Content: text(line),
					IsError: true,
				}
			},
		},
		{id: "block-meta", name: "_meta of a block", result: func(canary,
			line string) *mcp.CallToolResult {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{
				Text: line,
				Meta: mcp.Meta{"webchat/canary": canary},
			}}}
		}},
		{
			id:   "structured",
			name: "structured content",
			result: func(canary, line string) *mcp.CallToolResult {
				return &mcp.CallToolResult{
					Content:           text(line),
					StructuredContent: map[string]any{"canary": canary},
				}
			},
		},
		{
			id:   "failed-structured",
			name: "structured content of a failure",
			result: func(canary, line string) *mcp.CallToolResult {
				return &mcp.CallToolResult{
					Content:           text(line),
					StructuredContent: map[string]any{"canary": canary},
					IsError:           true,
				}
			},
		},
		{
			id:   "user-text",
			name: "text for the user alone",
			result: beside(func(canary string) mcp.Content {
				return &mcp.TextContent{Text: canary, Annotations: user}
			}),
		},
		{id: "link", name: "a link", result: beside(link(nil))},
		{id: "user-link", name: "a link for the user alone", result: beside(link(user))},
		{
			id:     "resource",
			name:   "an embedded resource",
			result: beside(embedded("file:///canary.txt", "text/plain", nil)),
		},
		{
			id:     "user-resource",
			name:   "an embedded resource for the user alone",
			result: beside(embedded("file:///user.txt", "text/plain", user)),
		},
		{id: "ui", name: "an embedded page", result: beside(embedded("ui://canary", "text/html", nil))},
		{id: "picture", name: "a picture", result: beside(picture(nil))},
		{id: "user-picture", name: "a picture for the user alone", result: beside(picture(user))},
		{id: "progress", name: "progress messages", relied: true},
		{id: "description", name: "a tool's description"},
		{id: "title", name: "a tool's title, annotations and _meta"},
		{id: "instructions", name: "the server's instructions"},
		{id: "server", name: "the server's title"},
	}
	for i := range parts {
		if parts[i].canary = secret(); parts[i].id == "picture" || parts[i].id == "user-picture" {
			parts[i].canary = inBase64(parts[i].canary)
		}
	}
	return parts
}

// inBase64 returns how a text begins in base64, wherever it begins at a multiple of
// three bytes.
func inBase64(text string) string {
	return base64.StdEncoding.EncodeToString([]byte(text[:len(text)/3*3]))
}

// pictureWith returns a picture that holds the text which inBase64 made of one.
func pictureWith(canary string) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		panic(err) // a buffer takes everything
	}
	text, err := base64.StdEncoding.DecodeString(canary)
	if err != nil {
		panic(err) // inBase64 made it
	}
	const head = 8 + 25 // the signature and the first chunk
	for pad := 0; ; pad++ {
		if (head+8+len("Comment\x00")+pad)%3 == 0 {
			chunk := append([]byte("tEXtComment\x00"+string(bytes.Repeat([]byte{' '}, pad))), text...)
			out := append([]byte{}, b.Bytes()[:head]...)
			out = binary.BigEndian.AppendUint32(out, uint32(len(chunk)-4))
			out = append(out, chunk...)
			out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(chunk))
			return append(out, b.Bytes()[head:]...)
		}
	}
}
