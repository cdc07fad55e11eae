package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"webchat/internal/e2e/ports"
)

// codex is the real Codex, which calls tools by names of its own.
var codex = worker{func(t *testing.T, model string) (flags, env []string) {
	bin := installed(t, cached("agents", "node_modules", ".bin"), "codex")
	home := t.TempDir()
	config := fmt.Sprintf("model = \"m\"\nmodel_provider = \"m\"\n[model_providers.m]\nname = \"m\"\n"+
		"base_url = %q\nwire_api = \"responses\"\n", model+"/v1")
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"--backend", "codex"}, []string{"CODEX_HOME=" + home, "PATH=" + bin}
}, func(a act) (act, bool) {
	a.tool = strings.ReplaceAll(a.tool, "-", "_")
	return a, true
}}

// serverCall is a call of a tool of a server that others published, and what comes of it.
type serverCall struct {
	tool, args string
	model      string // is in what the model gets
	output     string // is in the output
	kept       string // is in the output, and in nothing that any model is sent
	answer     func(question string) string
	progress   string // is reported meanwhile
	soaked     bool   // it is not of the small form
}

// serverCalls are of the servers that realServers configures. SITE is an address, WS the workspace.
var serverCalls = []serverCall{
	{tool: "everything-get-sum", args: `{"a":2,"b":3}`, model: "The sum of 2 and 3 is 5."},
	{tool: "everything-get-structured-content", args: `{"location":"Chicago"}`,
		model: `"conditions":"Light rain / drizzle"`, output: `"conditions": "Light rain / drizzle"`,
		kept: `  \"conditions`},
	{tool: "everything-get-annotated-message", args: `{"messageType":"success"}`,
		model: "Displayed get-annotated-message to user (1 line)",
		kept:  "Operation completed successfully"},
	{tool: "everything-get-annotated-message", args: `{"messageType":"debug","includeImage":true}`,
		model: "Debug: Cache hit ratio 0.95", output: "\x89PNG"},
	{tool: "everything-trigger-long-running-operation", args: `{"duration":0.2,"steps":2}`,
		model: "Long running operation completed.", progress: "50 %"},
	{tool: "everything-trigger-elicitation-request", args: `{}`, model: "Name: Ada",
		answer: func(q string) string {
			switch {
			case strings.Contains(q, "Your full, legal name"):
				return "Ada"
			case strings.Contains(q, "favorite fish"), strings.Contains(q, "types of fish"):
				return "Tuna, Trout"
			}
			return "Leave it empty"
		}},
	{tool: "files-read_text_file", args: `{"path":"WS/notes.txt"}`, model: "first note"},
	{tool: "files-read_text_file", args: `{"path":"WS/large.txt"}`, model: "the first line",
		kept: inTheMiddle},
	{tool: "budget-get-budget-data", args: `{}`, model: "Budget Allocator Configuration",
		kept: `presetBudgets`},

	{tool: "everything-get-resource-links", args: `{"count":2}`,
		model:  "demo://resource/dynamic/blob/1",
		output: "[Blob Resource 1](<demo://resource/dynamic/blob/1>)", soaked: true},
	{tool: "everything-get-resource-reference", args: `{"resourceType":"Text","resourceId":1}`,
		model: "Resource 1: This is a plaintext resource", output: "Resource 1: This is", soaked: true},
	{tool: "everything-get-tiny-image", args: `{}`, model: "Here's the image you requested:",
		output: "\x89PNG", soaked: true},
	{tool: "everything-get-roots-list", args: `{}`, model: "URI: file://WS", soaked: true},
	{tool: "everything-trigger-url-elicitation",
		args:   `{"url":"https://docs.example/sign","message":"Sign"}`,
		model:  "User completed the URL elicitation flow",
		answer: func(string) string { return "I opened it" }, soaked: true},
	{tool: "everything-simulate-research-query", args: `{"topic":"pumps"}`,
		model: "requires task augmentation", soaked: true},
	{tool: "files-write_file", args: `{"path":"WS/made.txt","content":"made"}`,
		model: "Successfully wrote to", soaked: true},
	{tool: "files-read_text_file", args: `{"path":"/etc/hostname"}`, model: "Access denied",
		soaked: true},
	{tool: "browser-browser_navigate", args: `{"url":"SITE"}`, model: "A page to look at",
		soaked: true},
	{tool: "browser-browser_take_screenshot", args: `{}`, model: "Screenshot", output: "\x89PNG",
		soaked: true},
}

// realServers configures servers that others published, as scripts/mcp.sh installs them: those
// named, or all.
func realServers(t *testing.T, workspace string, names []string) (flags []string) {
	t.Helper()
	modules := filepath.Join(mcpTools, "node_modules")
	if _, err := os.Stat(filepath.Join(modules, "@playwright", "mcp")); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("servers of MCP are not installed: run scripts/mcp.sh, which needs npm")
		}
		t.Skip("servers of MCP are not installed, so they are not tried: scripts/mcp.sh installs them")
	}
	type object = map[string]any
	servers := object{}
	add := func(name, file string, args ...string) {
		if names == nil || slices.Contains(names, name) {
			servers[name] = object{"type": "stdio", "command": filepath.Join(mcpTools, "node"),
				"args": append([]string{filepath.Join(modules, file)}, args...)}
		}
	}
	add("everything", "@modelcontextprotocol/server-everything/dist/index.js")
	add("files", "@modelcontextprotocol/server-filesystem/dist/index.js", workspace)
	add("budget", "@modelcontextprotocol/server-budget-allocator/dist/index.js", "--stdio")
	add("browser", "@playwright/mcp/cli.js", "--executable-path", chromium(), "--headless",
		"--no-sandbox", "--isolated")
	return []string{"--config", configured(t, servers), "--sandbox", "off"}
}

// configured is a configuration with servers.
func configured(t *testing.T, servers map[string]any) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, text, 0o600); err != nil { // JSON is YAML
		t.Fatal(err)
	}
	return config
}

// chromium is the browser that scripts/setup.sh installs.
func chromium() string {
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser",
		"google-chrome"} {
		if at, err := exec.LookPath(name); err == nil {
			return at
		}
	}
	return "chromium is not installed: scripts/setup.sh does that"
}

// varies is what differs between two runs of a server's.
var varies = regexp.MustCompile(
	`\d+:\d+:\d+( [AP]M)?|\d+-\d+T\d+-\d+-\d+|\d{3,}|"?elicitationId.*|Elicitation ID.*`)

// Servers that others published work through webchat for each agent alike: their tools are offered,
// results are shared out, questions asked, progress shown, and a call is stopped.
func TestRealServersForEachAgent(t *testing.T) {
	forEachAgent(t, []string{"everything", "files", "budget"})
}

// So do all their results, a browser's among them.
func TestSoakServersForEachAgent(t *testing.T) {
	if os.Getenv("WEBCHAT_SOAK") == "" {
		t.Skip("a long run: make soak")
	}
	forEachAgent(t, nil)
}

// forEachAgent tries servers, all if none is named.
func forEachAgent(t *testing.T, servers []string) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<title>A page to look at</title><h1>Here it is</h1>")
	}))
	defer site.Close()
	workers := map[string]worker{"copilot": theCLI, "claude": claude, "codex": codex}
	var mu sync.Mutex // guards what follows
	offered, results := map[string][]string{}, map[string][]string{}
	t.Run("agents", func(t *testing.T) {
		for name, w := range workers {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				g := admit(t, w, servers)
				calls := g.errands(site.URL, servers == nil)
				all := g.turn(calls, nil)
				g.holds(calls, all)
				mu.Lock()
				defer mu.Unlock()
				offered[name] = g.offered()
				for i, c := range calls {
					size := fmt.Sprint(len(all[i].output))
					if c.soaked { // its time is in it
						size = ""
					}
					results[name] = append(results[name], c.tool+" "+size+" "+varies.ReplaceAllString(
						strings.ReplaceAll(all[i].model, g.workspace, "WS"), ""))
				}
				t.Logf("soak: %s made %d calls of real servers, of %d tools", name, len(all),
					len(offered[name]))
				g.stops()
				if servers == nil {
					g.logs()
				}
			})
		}
	})
	for name := range results {
		for other := range results {
			if !slices.Equal(offered[name], offered[other]) {
				t.Errorf("%s is offered %q, %s %q", name, offered[name], other, offered[other])
			}
			if !slices.Equal(results[name], results[other]) {
				t.Errorf("%s gets %q, %s %q", name, results[name], other, results[other])
			}
		}
	}
}

// errands are the calls to make.
func (g *guest) errands(site string, all bool) (calls []serverCall) {
	for _, c := range serverCalls {
		c.args = strings.NewReplacer("WS", g.workspace, "SITE", site).Replace(c.args)
		c.model = strings.ReplaceAll(c.model, "WS", g.workspace)
		if !c.soaked || all {
			calls = append(calls, c)
		}
	}
	return calls
}

// What such a server has for its user works without an agent: prompts and resources.
func TestRealServersForTheUser(t *testing.T) {
	g := admit(t, worker{begin: func(*testing.T, string) (flags, env []string) {
		return []string{"--backend", "offline"}, nil
	}}, []string{"everything"})
	has := func(method, path, body, want string) {
		t.Helper()
		var got json.RawMessage
		if g.request(t, method, "/api/mcp"+path, body, &got); !strings.Contains(string(got), want) {
			t.Errorf("%s %s is %s, without %s", path, body, got, want)
		}
	}
	has("GET", "/prompts", "", `"args-prompt"`)
	has("POST", "/everything/prompt",
		`{"name":"args-prompt","arguments":{"city":"Rome","state":"Lazio"}}`,
		"What's weather in Rome, Lazio?")
	const document = "demo://resource/static/document/features.md"
	has("GET", "/resources", "", document)
	has("POST", "/everything/resource", `{"uri":"`+document+`"}`, "# Everything")
}

// It is the same by each transport.
func TestRealServersByAddress(t *testing.T) {
	realServers(t, "", nil) // they are installed
	file := filepath.Join(mcpTools, "node_modules", "@modelcontextprotocol", "server-everything",
		"dist", "index.js")
	servers := map[string]any{}
	for kind, of := range map[string]struct{ name, path string }{
		"http": {"streamableHttp", "/mcp"}, "sse": {"sse", "/sse"}} {
		port := ports.Free()
		cmd := exec.Command(filepath.Join(mcpTools, "node"), file, of.name)
		cmd.Env = append(os.Environ(), "PORT="+port)
		said := &told{}
		cmd.Stderr = said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		servers[kind] = map[string]string{"type": kind, "url": "http://127.0.0.1:" + port + of.path}
		for again := time.NewTicker(50 * time.Millisecond); ; <-again.C {
			if c, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
				_ = c.Close()
				again.Stop()
				break
			}
			if t.Context().Err() != nil {
				t.Fatal(said)
			}
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := prepare(t, self, []string{"GORACE=atexit_sleep_ms=0", "HOME=" + t.TempDir()}, "--backend",
		"offline", "--config", configured(t, servers))
	p.start(t)
	var list struct {
		Servers []struct {
			Name, State, Failure string
			Tools                []struct{ Name string }
		}
	}
	p.request(t, "GET", "/api/mcp", "", &list)
	for _, s := range list.Servers {
		if s.State != "ready" || len(s.Tools) < 12 {
			t.Errorf("%s: %+v", s.Name, s)
		}
		var got struct{ Text string }
		p.request(t, "POST", "/api/mcp/"+s.Name+"/prompt",
			`{"name":"args-prompt","arguments":{"city":"Rome"}}`, &got)
		if got.Text != "What's weather in Rome?" {
			t.Errorf("by %s its prompt is %q", s.Name, got.Text)
		}
	}
	if len(list.Servers) != len(servers) {
		t.Errorf("found %+v", list)
	}
}
