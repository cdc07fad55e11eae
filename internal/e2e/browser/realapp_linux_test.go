package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"webchat/internal/agent/copilot/copilottest"
)

// withBudget is a configuration with a published server whose tool has a page.
func withBudget(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", "..", ".cache", "mcp"))
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "node_modules", "@modelcontextprotocol", "server-budget-allocator", "dist", "index.js")
	if _, err := os.Stat(program); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("servers of MCP are not installed: run scripts/mcp.sh, which needs npm")
		}
		t.Skip("servers of MCP are not installed, so they are not tried: scripts/mcp.sh installs them")
	}
	config := filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf("mcpServers:\n  budget: {type: stdio, command: %q, args: [%q, --stdio]}\n", filepath.Join(dir, "node"), program)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config
}

// inFrame returns what an expression is in the only frame of the page, which is of another origin.
func (p *page) inFrame(js string) string {
	p.t.Helper()
	tree, err := chromedp.Call(p.ctx, cdppage.GetFrameTree, cdp.Empty{})
	if err != nil || len(tree.FrameTree.ChildFrames) != 1 {
		p.t.Fatalf("no frame, or several: %v", err)
	}
	world, err := chromedp.Call(p.ctx, cdppage.CreateIsolatedWorld, cdppage.CreateIsolatedWorldParams{FrameID: tree.FrameTree.ChildFrames[0].Frame.ID})
	if err != nil {
		p.t.Fatal(err)
	}
	got, err := chromedp.Call(p.ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: js, ContextID: world.ExecutionContextID, ReturnByValue: new(true), AwaitPromise: new(true)})
	if err != nil || got.ExceptionDetails != nil {
		p.t.Fatalf("%s: %v %+v", js, err, got.ExceptionDetails)
	}
	return string(got.Result.Value)
}

// The page of a published server draws its result, as its author made it, and reacts to its user.
func TestRealAppDraws(t *testing.T) {
	shim := realCopilot(t)
	model := copilottest.New(t)
	s := start(t, "--config", withBudget(t), "--backend", "copilot", "--copilot-path", shim, "--provider-url", model.URL(), "--model", "fake-1")
	p := s.open("/")
	p.look(1440, 900, "light")
	p.say(`call budget-get-budget-data {}`)
	p.answer("[data-act=allow-once]")
	p.wait(`document.querySelector('#turns [data-slip]')`)
	p.js(`document.querySelector('#turns [data-slip]').click()`)
	p.wait(onDesk + `?.querySelector('.foreign > iframe') && !` + onDesk + `.querySelector('.foreign').matches('[data-waits]')`)
	p.done()
	// It has the rows of structuredContent, and a chart of them.
	const drawn = `new Promise((ok) => { const look = () => {
		const text = document.body.innerText
		if (/Marketing[^]*Engineer[^]*Allocated: \$100,000/.test(text) && document.querySelector('canvas')?.width) ok(text)
		else requestAnimationFrame(look)
	}; look() })`
	if text := p.inFrame(drawn); !strings.Contains(text, "25.0%") {
		t.Errorf("it draws %s", text)
	}
	const moved = `(() => { const r = document.querySelector('input[type=range]'); r.value = 60; r.dispatchEvent(new Event('input', { bubbles: true })); return document.body.innerText })()`
	if text := p.inFrame(moved); !strings.Contains(text, "60.0%") {
		t.Errorf("moved, it is %s", text)
	}
	p.shot("real-app")
	for _, r := range model.Requests() {
		if strings.Contains(string(r.Body), "presetBudgets") {
			t.Error("the model was sent what is drawn")
		}
	}
}
