package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent/copilot/copilottest"
)

// paintedPage draws its result, and sends when that is painted.
const paintedPage = `<!doctype html><meta charset=utf-8><title>docs</title><h1>Nothing yet</h1><script>
const send = (m) => parent.postMessage({ jsonrpc: '2.0', ...m }, '*')
addEventListener('message', ({ source, data: m }) => {
  if (source !== parent) return
  if (m.method === 'ping') send({ id: m.id, result: {} })
  else if (m.id === 1) send({ method: 'ui/notifications/initialized', params: {} })
  else if (m.method === 'ui/notifications/tool-result') {
    document.querySelector('h1').textContent = m.params.content[0].text
    requestAnimationFrame(() => setTimeout(() => parent.postMessage({ painted: performance.timeOrigin + performance.now() }, '*')))
  }
})
send({ id: 1, method: 'ui/initialize', params: { protocolVersion: '2026-01-26', appInfo: { name: 'docs', version: '1' }, appCapabilities: {} } })
</script>`

// paintedServer is a configuration with a server whose tool has that page.
func paintedServer(b *testing.B) string {
	b.Helper()
	const kind = "text/html;profile=mcp-app"
	s := mcp.NewServer(&mcp.Implementation{Name: "docs", Version: "1"}, nil)
	s.AddResource(&mcp.Resource{URI: "ui://docs/page", Name: "page", MIMEType: kind}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "ui://docs/page", MIMEType: kind, Text: paintedPage}}}, nil
	})
	s.AddTool(&mcp.Tool{Name: "search", Meta: mcp.Meta{"ui": map[string]any{"resourceUri": "ui://docs/page"}}, InputSchema: map[string]any{"type": "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "3 issues found"}}, StructuredContent: map[string]any{"issues": []any{1, 2, 3}}}, nil
	})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true}))
	b.Cleanup(web.Close)
	config := filepath.Join(b.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("mcpServers:\n  docs: {type: http, url: "+web.URL+"}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	return config
}

// BenchmarkFramePaints is how long it takes until the page of a server has painted a result in its
// frame: from when the result is in the page and is opened, and from when the view is chosen.
func BenchmarkFramePaints(b *testing.B) {
	shim := realCopilot(b)
	model := copilottest.New(b)
	s := start(b, "--config", paintedServer(b), "--backend", "copilot", "--copilot-path", shim, "--provider-url", model.URL(), "--model", "fake-1", "--permissions", "allow")
	p := s.open("/")
	p.look(1440, 900, "light")
	p.say("call docs-search {}") // the first prompt makes the session, whose page this becomes
	p.wait(`document.querySelector('#turns [data-slip]')`)
	p.done()
	p.js(`window.now = () => performance.timeOrigin + performance.now()
		addEventListener('message', ({ data }) => { if (data?.painted) painted = data.painted })`)
	shown := 1
	arrives := func() float64 {
		shown++
		p.js(fmt.Sprintf(`window.painted = window.begun = 0
			new MutationObserver((_, o) => {
				const slips = document.querySelectorAll('#turns [data-slip]')
				if (slips.length < %d) return
				o.disconnect()
				begun = now()
				slips[slips.length - 1].click()
			}).observe(document.querySelector('#turns'), { childList: true, subtree: true })`, shown))
		p.say("call docs-search {}")
		p.wait(`window.painted`)
		p.done()
		return eval[float64](p, `painted - begun`)
	}
	chosen := func() float64 {
		view := onDesk + `.querySelector('[data-view=%s]').click()`
		p.js(fmt.Sprintf(view, "tree"))
		p.wait(onDesk + `.querySelector(".rows, .view") && !` + onDesk + `.querySelector(".foreign")`)
		p.js(`window.painted = 0; window.begun = now(); ` + fmt.Sprintf(view, "app"))
		p.wait(`window.painted`)
		return eval[float64](p, `painted - begun`)
	}
	var first, again []float64
	for b.Loop() {
		for range 3 {
			first = append(first, arrives())
			again = append(again, chosen(), chosen(), chosen())
		}
	}
	for unit, list := range map[string][]float64{"arrived-ms": first, "chosen-ms": again} {
		slices.Sort(list)
		b.ReportMetric(list[len(list)/2], unit)
	}
}
