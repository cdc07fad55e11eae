package browser

import (
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// hostPage is a program that draws frames of MCP Apps, as far as ours speaks with it. It
// listens before there is a frame, which speaks first.
const hostPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>host</title><link rel="icon" href="data:,">
<script>
const shown = RESULT
addEventListener('message', async ({ source, data }) => {
  const reply = (result) => source.postMessage({ jsonrpc: '2.0', id: data.id, result }, '*')
  if (data.method === 'ui/initialize') reply({ protocolVersion: '2026-01-26', hostInfo: { name: 'host', version: '1' }, hostCapabilities: {}, hostContext: {} })
  else if (data.method === 'ui/notifications/initialized') source.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/tool-result', params: shown }, '*')
  else if (data.method === 'tools/call') reply(await (await fetch('/call', { method: 'POST', body: JSON.stringify(data.params) })).json())
  else if (data.method === 'ui/open-link') { document.title = data.params.url; reply({}) }
})
</script>
<iframe title="webchat" sandbox="allow-scripts allow-same-origin" srcdoc="FRAME"></iframe>`

// A host that draws frames shows what was shown, which its frame fetches by itself: the
// result that its model reads holds none of it.
func TestFrameOfAHost(t *testing.T) {
	s := start(t)
	can := &mcp.ClientCapabilities{Extensions: map[string]any{"io.modelcontextprotocol/ui": map[string]any{"mimeTypes": []string{"text/html;profile=mcp-app"}}}}
	client := s.lent(mcp.Implementation{Name: "host", Version: "1"}, &mcp.ClientOptions{Capabilities: can})
	frame, err := client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "ui://webchat/output"})
	if err != nil {
		t.Fatal(err)
	}
	var shown *mcp.CallToolResult
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			var p mcp.CallToolParams
			if err := json.NewDecoder(r.Body).Decode(&p); err != nil {
				t.Error(err)
			}
			res, err := client.CallTool(r.Context(), &p)
			if err != nil {
				t.Error(err)
			}
			_ = json.NewEncoder(w).Encode(res)
			return
		}
		result, err := json.Marshal(shown)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = strings.NewReplacer("FRAME", html.EscapeString(frame.Contents[0].Text), "RESULT", string(result)).WriteString(w, hostPage)
	}))
	defer host.Close()
	p := s.tab()
	p.expect("escape its sandboxing") // this test looks into the frame
	const within = `document.querySelector('iframe').contentDocument`
	for _, one := range []struct{ tool, path, sees string }{
		{"render_file_contents", "go.mod", within + `.getElementById('text').textContent.includes('module example.com/relay')`},
		{"display_image", "logo.png", within + `.getElementById('picture').naturalWidth === 320`},
	} {
		if shown, err = client.CallTool(t.Context(), &mcp.CallToolParams{Name: one.tool, Arguments: map[string]any{"path": one.path}}); err != nil || shown.IsError {
			t.Fatalf("%v %+v", err, shown)
		}
		p.do(chromedp.Navigate(host.URL))
		p.wait(one.sees)
		p.wait(within + `.getElementById('said').textContent.startsWith('Displayed')`)
	}
	p.js(within + `.getElementById('open').click()`)
	p.wait(`document.title.startsWith('` + s.url + `/api/outputs/out_')`)
}
