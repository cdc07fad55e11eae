package copilot_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/agent/copilot/copilottest"
	"webchat/internal/event"
)

// sent is what the CLI sent to a conversation.
type sent struct {
	mu     sync.Mutex
	events []cli.Event
	first  map[string]chan struct{} // by type: closed at its first event
}

func (s *sent) take(e cli.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.events = append(s.events, e); s.first[e.Type] != nil {
		close(s.first[e.Type])
		s.first[e.Type] = nil
	}
}

// has reports whether an event of a type holds a text.
func (s *sent) has(kind, text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.events, func(e cli.Event) bool { return e.Type == kind && strings.Contains(string(e.Data), text) })
}

// drawing is the address of an MCP server whose tool reports its progress, waits until that has
// arrived, and returns a picture.
func drawing(t *testing.T, arrived <-chan struct{}) string {
	server := mcp.NewServer(&mcp.Implementation{Name: "pic", Version: "1"}, nil)
	picture := dot(t)
	mcp.AddTool(server, &mcp.Tool{Name: "dot", Description: "Draws a dot."}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1, Total: 2, Message: "half way"})
		select {
		case <-arrived:
		case <-ctx.Done():
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{Data: picture, MIMEType: "image/png"}, &mcp.TextContent{Text: "drawn"}}}, nil, err
	})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections) // before that
	return web.URL
}

// What docs/events.md says of rare events and fields is what the CLI sends, and what becomes of it.
func TestRealRareEvents(t *testing.T) {
	const log, shown = "canary5b61aa", "canary90d7c2"
	arrived := make(chan struct{})
	model := copilottest.New(t)
	cfg := real(t, model)
	cfg.MCPServers = map[string]agent.MCPServer{"pic": {Type: "http", URL: drawing(t, arrived)}}
	k := open(t, sharing(t, cfg), fresh("rare"), false)
	s := &sent{first: map[string]chan struct{}{"tool.execution_progress": arrived}}
	copilot.Tap(k.conn, s.take)
	k.host.Tool = func(_ context.Context, c agent.ToolCall) agent.Result {
		if c.Name == "display_image" {
			return agent.Result{Type: agent.Success, TextForModel: "Here it is.", SessionLog: log,
				Binary: []agent.BinaryResult{{Data: base64.StdEncoding.EncodeToString(dot(t)), MimeType: "image/png", Type: "image", Description: shown}}}
		}
		return agent.Result{Type: agent.Rejected, TextForModel: "Not now.", SessionLog: log}
	}
	model.Answer(func(r copilottest.Request) *copilottest.Reply {
		if r.Prompt() == "BREAK" {
			return &copilottest.Reply{Status: http.StatusBadRequest}
		}
		return nil
	})
	helper := func(kind, prompt string) string {
		return `call task {"description":"look","prompt":"` + prompt + `","agent_type":"` + kind + `","mode":"sync","name":"h"}`
	}
	for _, p := range []string{"call pic-dot {}", `call bash {"command":"echo printed","description":"look"}`, "image dot.png",
		helper("explore", "hello"), helper("general-purpose", "BREAK")} {
		if err := k.say(p); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
	before := len(model.Requests())
	if err := k.say("show go.mod"); err != nil || len(model.Requests()) != before+1 {
		t.Errorf("a rejected result: %v, %d calls of the model", err, len(model.Requests())-before)
	}
	pictures := 0
	for _, m := range model.Requests()[before].Messages {
		if slices.Contains(m.Parts, "image_url") {
			pictures++
		}
	}
	if pictures != 2 {
		t.Errorf("%d messages to the model have a picture, not one for each of the two", pictures)
	}
	for _, e := range [][2]string{
		{"assistant.streaming_delta", `"totalResponseSizeBytes":`},
		{"assistant.usage", `"quotaSnapshots":{}`}, // its providers are the user's own
		{"tool.execution_progress", "half way"},
		{"tool.execution_partial_result", "printed"},
		{"tool.execution_complete", `"mcp_result_content_bytes":`},
		{"tool.execution_complete", `"result":{"binaryResultsForLlm":[{"data":`},
		{"tool.execution_complete", shown},
		{"tool.execution_complete", `"error":{"code":"rejected"`},
		{"subagent.selected", `"agentName":"explore"`},
		{"subagent.failed", "scripted refusal"},
	} {
		if !s.has(e[0], e[1]) {
			t.Errorf("the CLI sent no %s with %s", e[0], e[1])
		}
	}
	if s.has("tool.execution_complete", log) {
		t.Error("the CLI was sent a sessionLog")
	}
	var got strings.Builder
	for _, d := range k.host.Events() {
		b, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString(string(event.TypeOf(d)) + " " + string(b) + "\n")
	}
	for _, want := range []string{`"progressMessage":"1.0/2.0 (50%): half way"`, `"partialOutput":"printed\n"`, `"mcp_result_content_bytes":5`,
		`subagent.selected {"toolCallId":"p4-`, `"agentName":"Explore Agent"`, `subagent.failed {"toolCallId":"p5-`} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("the session has no %s in\n%s", want, got.String())
		}
	}
	for _, bad := range []string{"binaryResults", "quotaSnapshots", "totalResponseSizeBytes"} {
		if strings.Contains(got.String(), bad) {
			t.Errorf("the session has %s", bad)
		}
	}
}
