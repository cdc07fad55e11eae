package browser

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// memoServer is a server of the user's with resources, and a file that configures it.
func memoServer(t *testing.T) (config string) {
	t.Helper()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 400, 300))); err != nil {
		t.Fatal(err)
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "memo", Version: "1"}, &mcp.ServerOptions{
		CompletionHandler: func(_ context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			var fit []string
			for _, room := range []string{"hall", "hangar", "kitchen"} {
				if r.Params.Argument.Name == "room" && strings.HasPrefix(room, r.Params.Argument.Value) {
					fit = append(fit, room)
				}
			}
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: fit}}, nil
		}})
	s.AddTool(&mcp.Tool{Name: "look", Description: "Looks.", InputSchema: map[string]any{"type": "object"}}, nil)
	add := func(uri, name string, c mcp.ResourceContents) {
		s.AddResource(&mcp.Resource{URI: uri, Name: name}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			c.URI = uri
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&c}}, nil
		})
	}
	add("memo://rules", "rules", mcp.ResourceContents{Text: "be kind"})
	add("memo://plan", "plan", mcp.ResourceContents{MIMEType: "image/png", Blob: picture.Bytes()})
	add("memo://all.zip", "all", mcp.ResourceContents{MIMEType: "application/zip", Blob: []byte("PK")})
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "memo://{room}/notes{?day}", Name: "notes of a room", Description: "What was noted in a room"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "noted at " + r.Params.URI}}}, nil
	})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(web.Close)
	config = filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("mcpServers:\n  memo: {type: http, url: "+web.URL+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return config
}

// A template of resources asks in the composer for what it is about, where its server completes it;
// what was typed stays. A picture goes as one, and other bytes are refused by name.
func TestResourcesOfServers(t *testing.T) {
	s := start(t, "--config", memoServer(t))
	if found := s.api("GET", "/api/mcp", nil); !strings.Contains(found, `"state":"ready"`) {
		t.Fatalf("found %s", found)
	}
	p := s.open("/")
	p.look(1060, 800, "light")
	p.expect("422", "400")
	p.compose("Sum up @memo:")
	p.wait(`document.querySelectorAll('#menu [role=option]').length === 4`)
	p.shot("resources of a server")
	p.write("no")
	p.wait(`document.querySelectorAll('#menu [role=option]').length === 1`)
	p.press("ArrowDown", "Enter")
	p.wait(`document.getElementById('prompt').value === '/memo:@notes-of-a-room\nroom: \nday (may stay empty): \n\nSum up'`)
	p.wait(`document.querySelectorAll('#menu [role=option]').length === 3`)
	p.press("Enter") // it needs the room
	p.wait(`document.getElementById('menu').hidden || document.getElementById('composer').ariaBusy === 'false'`)
	p.write("ha")
	p.wait(`document.querySelectorAll('#menu [role=option]').length === 2`)
	p.shot("a template asks")
	p.accessible("completions of a server")
	p.press("ArrowDown", "Enter")
	p.wait(`document.getElementById('prompt').value === '/memo:@notes-of-a-room\nroom: hall\nday (may stay empty): \n\nSum up'`)
	p.write("1")
	p.press("Enter")
	p.has("#chips", "memo: notes of a room hall 1")
	p.wait(`document.getElementById('prompt').value === 'Sum up'`)
	p.is(`document.querySelector('#chips .chip').title`, "noted at memo://hall/notes?day=1")

	p.write(" @memo:pl")
	p.wait(`document.querySelectorAll('#menu [role=option]').length === 1`)
	p.press("ArrowDown", "Enter")
	p.wait(`document.querySelector('#chips .chip:last-child img') && document.querySelector('#chips .chip:last-child').innerText.includes('tokens')`)
	p.shot("resources with a prompt")

	p.write("@memo:al")
	p.wait(`document.querySelectorAll('#menu [role=option]').length === 1`)
	p.press("ArrowDown", "Enter")
	p.has("#toasts", "The resource memo://all.zip of memo is application/zip, neither text nor a picture, so it cannot go with a prompt.")
	p.wait(`document.querySelectorAll('#chips .chip').length === 2`)
	p.press("Enter")
	p.wait(`document.querySelectorAll('#turns .ask-row .chip').length === 2`)
}
